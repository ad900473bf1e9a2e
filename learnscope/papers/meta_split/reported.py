"""Numbers of the paper with their 95 % intervals (Tables 1 to 6)."""

from learnscope.papers.meta_split import real

# setting -> (train-train, train-validation), each a value and the half-width of its interval.
Pair = tuple[tuple[float, float], tuple[float, float]]
SYNTHETIC: dict[str, Pair] = {  # test losses
    "5 steps": ((8.50, 0.43), (4.66, 0.23)),
    "5 steps, ReLU": ((8.22, 0.42), (4.62, 0.24)),
    "1 step": ((7.22, 0.37), (4.81, 0.24)),
    "outer > inner": ((5.76, 0.39), (5.21, 0.31)),
}
RAINBOW: dict[str, Pair] = {  # accuracies in percent
    real.BASE: ((65.32, 0.54), (87.52, 0.20)),
    real.RELU: ((68.70, 0.51), (87.68, 0.21)),
    real.ONE: ((79.76, 0.41), (85.83, 0.25)),
    real.OUTER: ((64.82, 0.48), (66.13, 0.31)),
}
MINI_IMAGENET: dict[str, Pair] = {
    # Table 3 prints 20.00 ± 0.10 for train-train; all other tables print this.
    real.BASE: ((25.93, 1.10), (46.15, 1.36)),
    real.RELU: ((27.19, 1.23), (46.73, 1.32)),
    real.ONE: ((25.09, 1.11), (25.17, 1.04)),
    real.OUTER: ((20.00, 0.00), (20.00, 0.00)),
    real.SIX: ((26.89, 1.18), (50.89, 1.39)),
    real.RESNET: ((35.63, 1.26), (55.32, 1.43)),
    real.THREE: ((36.23, 0.82), (59.97, 1.02)),
    real.FIVE: ((38.76, 0.66), (63.18, 0.90)),
}
REPTILES = {"rainbow": (84.97, 0.26), "mini-imagenet": (45.19, 1.31)}
TABLES = {
    real.BASE: "Table 1", real.RELU: "Table 1", real.ONE: "Table 2", real.OUTER: "Table 3",
    real.SIX: "Table 5", real.RESNET: "Table 5", real.THREE: "Table 6", real.FIVE: "Table 6",
}  # fmt: skip


def column(name: str) -> dict[str, Pair]:
    """The column of the paper that a data set stands for."""
    return RAINBOW if name == "rainbow" else MINI_IMAGENET


def printed(pairs: dict[str, Pair], *settings: str) -> str:
    """Both numbers of some settings, in words.

    >>> printed(RAINBOW, "1 step")
    'train-train 79.76 ± 0.41, train-validation 85.83 ± 0.25'
    """
    parts = []
    for setting in settings:
        (same, a), (apart, b) = pairs[setting]
        words = f"train-train {same:.2f} ± {a:.2f}, train-validation {apart:.2f} ± {b:.2f}"
        parts.append(words if len(settings) == 1 else f"{setting}: {words}")
    return "; ".join(parts)
