"""The paper's claims on images; `real_checks.py` has the checks."""

from collections.abc import Callable
from functools import partial

from learnscope.evidence import Claim
from learnscope.papers.meta_split import real
from learnscope.papers.meta_split import real_checks as checks
from learnscope.papers.meta_split import real_reported as paper

WORDS = {
    "rainbow": "RainbowMNIST", "omniglot": "Omniglot (in place of miniImageNet)",
    "cifar-fs": "CIFAR-FS (in place of miniImageNet)", "mini-imagenet": "miniImageNet",
}  # fmt: skip
# At laptop scale; `learnscope verify meta_split --scale paper --data DIR` runs the published one.
_SETTING = {
    "rainbow": "10 ways, 2 + 2 images a class, 14 x 14, Conv4(16), Adam, γ = 0.1, η = 0.01 as "
    "stated, 2 tasks a step, T = 150, 16 fresh tasks (laptop scale)",
    "omniglot": "5 ways, 1 + 2 images a class, 14 x 14, Conv4(16), Adam, γ = 0.3, η = 0.01, 4 "
    "tasks a step, T = 150, 50 fresh tasks (laptop scale)",
    "cifar-fs": "5 ways, 1 + 2 images a class, 16 x 16, Conv4(16), Adam, γ = 0.3, η = 0.01, 4 "
    "tasks a step, T = 150, 50 fresh tasks (laptop scale; 60 images a class)",
    "mini-imagenet": "5 ways, 1 shot, Conv4 (`--scale paper --data DIR`: γ = 0.01, η = 0.001, 84 x "
    "84, T = 60 000)",
}


def _claim(
    name: str, id: str, statement: str, *settings: str, where: str = "", reported: str = "",
    check: Callable,
) -> Claim:  # fmt: skip
    """A claim about a data set; by default the paper reports the settings' rows of its tables."""
    sweep = next(key for key, value in real.SETS.items() if value == name)
    where = where or paper.TABLES[settings[0]]
    reported = reported or paper.printed(name, *settings)
    text = f"{WORDS[name]}: {statement}"
    return Claim(f"{sweep}_{id}", text, where, reported, _SETTING[name], (sweep,), check)


def _better(name: str, id: str, words: str, setting: str, margin: float = 0.0) -> Claim:
    """Train-validation is better than train-train in a setting."""
    check = partial(checks.split_helps, setting=setting, margin=margin)
    where = real.BASE if setting == real.STATED else setting
    return _claim(name, id, f"train-validation is better {words}", where, check=check)


def _shared(name: str) -> list[Claim]:
    """The claims of both columns of Tables 1 to 4."""
    more, margin = (" by more than 5 points", checks.MARGIN) if name == "rainbow" else ("", 0.0)
    column = paper.column(name)
    both = paper.REPORTED[column][real.BASE][1], paper.REPTILES[column]
    return [
        _better(name, "split", f"than train-train{more}", real.BASE, margin),
        _claim(name, "numbers", "the accuracies themselves", real.BASE,
               check=partial(checks.numbers, name=name)),
        _claim(name, "reptile", "FOMAML with a split outperforms Reptile",
               where=paper.TABLES[real.REPTILE],
               reported=", ".join(f"{value:.2f} ± {half:.2f} %" for value, half in both),
               check=checks.beats_reptile),
    ]  # fmt: skip


def _tables(name: str) -> list[Claim]:
    """Tables 1 to 3."""
    claims = [
        _better(name, "relu", "with ReLU, too", real.RELU),
        _claim(name, "activation", "huberised ReLU performs similarly to ReLU", real.BASE,
               real.RELU, where=paper.TABLES[real.RELU],
               check=partial(checks.alike, other=real.RELU)),
        _claim(name, "steps", "the gap is larger with more inner steps", real.ONE, real.BASE,
               check=partial(checks.gap_grows, less=real.ONE)),
        _claim(name, "rates", "train-validation loses if the outer rate is the larger one",
               real.OUTER, check=checks.loses),
        _claim(name, "rates_gap", "the gap is larger if the outer rate is the smaller one",
               real.OUTER, real.BASE, check=partial(checks.gap_grows, less=real.OUTER)),
    ]  # fmt: skip
    if name == "rainbow":
        claims.append(_better(name, "one_step", "with 1 inner step", real.ONE))
        claims.append(_better(name, "outer", "with the larger rate outside", real.OUTER))
    else:
        check = partial(checks.learns_nothing, setting=real.OUTER, chance=20.0)
        words = "nothing is learnt if the outer rate is the larger one"
        claims.append(_claim(name, "rates_chance", words, real.OUTER, check=check))
    return claims


def _nets(name: str) -> list[Claim]:
    """Table 5."""
    deeper = (
        ("six", "6 layers than with 4", "46.15 to 50.89 %", (real.BASE, real.SIX)),
        ("resnet", "a ResNet18 than with 6 layers", "50.89 to 55.32 %", (real.SIX, real.RESNET)),
    )
    return [
        _better(name, "six", "with 6 layers, too", real.SIX),
        _better(name, "resnet", "with a ResNet18, too", real.RESNET),
        *(
            _claim(name, f"deeper_{id}", f"train-validation is better with {words}",
                   where="Table 5", reported=printed,
                   check=partial(checks.rises, settings=pair, splits=real.SPLITS[1:]))
            for id, words, printed, pair in deeper
        ),
    ]  # fmt: skip


def _shots(name: str, settings: tuple[str, ...]) -> list[Claim]:
    """Table 6."""
    check = partial(checks.rises, settings=(real.BASE, *settings), splits=real.SPLITS)
    return [
        *(_better(name, shots.replace(" ", "_"), f"with {shots}", shots) for shots in settings),
        _claim(name, "more_shots", "both are better with more examples per class", where="Table 6",
               reported="25.93, 36.23, 38.76 % and 46.15, 59.97, 63.18 % (1, 3, 5)", check=check),
    ]  # fmt: skip


REAL_CLAIMS = (
    *_shared("rainbow"),
    *_tables("rainbow"),
    *_shared("omniglot"),
    *_tables("omniglot"),
    # The paper's rates for miniImageNet, with as few steps.
    _better("omniglot", "stated", "at the stated rates (γ = 0.01, η = 0.001)", real.STATED),
    *_nets("omniglot"),
    *_shots("omniglot", (real.THREE, real.FIVE)),
    *_shared("cifar-fs"),
    *_shots("cifar-fs", (real.FIVE,)),
    *_shared("mini-imagenet"),
    *_tables("mini-imagenet"),
    *_nets("mini-imagenet"),
    *_shots("mini-imagenet", (real.THREE, real.FIVE)),
)
