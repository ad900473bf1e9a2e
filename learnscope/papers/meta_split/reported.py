"""Numbers of the paper: test losses on synthetic data with their 95 % intervals (Tables 1 to 3)."""

# (setting, split) -> loss, half-width of the interval.
LOSSES: dict[tuple[str, str], tuple[float, float]] = {
    ("5 steps, ReLU", "train-train"): (8.22, 0.42),
    ("5 steps, ReLU", "train-validation"): (4.62, 0.24),
    ("5 steps", "train-train"): (8.50, 0.43),
    ("5 steps", "train-validation"): (4.66, 0.23),
    ("1 step", "train-train"): (7.22, 0.37),
    ("1 step", "train-validation"): (4.81, 0.24),
    ("outer > inner", "train-train"): (5.76, 0.39),
    ("outer > inner", "train-validation"): (5.21, 0.31),
}


def printed(setting: str) -> str:
    """Both numbers of a setting, in words."""
    pairs = [(split, *LOSSES[setting, split]) for split in ("train-train", "train-validation")]
    return "; ".join(f"{split} {loss:.2f} ± {half:.2f}" for split, loss, half in pairs)
