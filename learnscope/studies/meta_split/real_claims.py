"""What the paper claims on images; `real_checks.py` says how it is checked."""

from functools import partial

from learnscope.lab.ledger import Claim
from learnscope.studies.meta_split import real_checks as checks
from learnscope.studies.meta_split.real import (
    BASE,
    FIVE,
    ONE,
    OUTER,
    RELU,
    REPTILE,
    RESNET,
    SETS,
    SIX,
    SPLITS,
    STATED,
    THREE,
)
from learnscope.studies.meta_split.real_reported import REPORTED, REPTILES, TABLES, column, told

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


def _claim(name: str, id: str, statement: str, where: str, reported: str, check) -> Claim:
    sweep = next(key for key, value in SETS.items() if value == name)
    text = f"{WORDS[name]}: {statement}"
    return Claim(f"{sweep}_{id}", text, where, reported, _SETTING[name], (sweep,), check)


def _shared(name: str) -> list[Claim]:
    """What both columns of Tables 1 to 4 say."""
    rainbow = name == "rainbow"
    printed, reptile = REPORTED[column(name)][BASE][1], REPTILES[column(name)]
    margin = checks.MARGIN if rainbow else 0.0
    more = " by more than 5 points" if rainbow else ""
    return [
        _claim(name, "split", f"train-validation is better than train-train{more}", TABLES[BASE],
               told(name, BASE), partial(checks.split_helps, setting=BASE, margin=margin)),
        _claim(name, "numbers", "the accuracies themselves", TABLES[BASE], told(name, BASE),
               partial(checks.numbers, name=name)),
        _claim(name, "reptile", "FOMAML with a split outperforms Reptile", TABLES[REPTILE],
               f"{printed[0]:.2f} ± {printed[1]:.2f} %, {reptile[0]:.2f} ± {reptile[1]:.2f} %",
               checks.beats_reptile),
    ]  # fmt: skip


def _tables(name: str) -> list[Claim]:
    """Tables 1 to 3."""
    rainbow = name == "rainbow"
    found = [
        _claim(name, "relu", "train-validation is better with ReLU, too", TABLES[RELU],
               told(name, RELU), partial(checks.split_helps, setting=RELU)),
        _claim(name, "activation", "huberised ReLU performs similarly to ReLU", TABLES[RELU],
               told(name, BASE, RELU), partial(checks.alike, other=RELU)),
        _claim(name, "steps", "the gap is larger with more inner steps", TABLES[ONE],
               told(name, ONE, BASE), partial(checks.gap_grows, less=ONE)),
        _claim(name, "rates", "train-validation loses if the outer rate is the larger one",
               TABLES[OUTER], told(name, OUTER), checks.loses),
        _claim(name, "rates_gap", "the gap is larger if the outer rate is the smaller one",
               TABLES[OUTER], told(name, OUTER, BASE), partial(checks.gap_grows, less=OUTER)),
    ]  # fmt: skip
    if rainbow:
        return [
            *found,
            _claim(name, "one_step", "train-validation is better with 1 inner step", TABLES[ONE],
                   told(name, ONE), partial(checks.split_helps, setting=ONE)),
            _claim(name, "outer", "train-validation is better with the larger rate outside",
                   TABLES[OUTER], told(name, OUTER), partial(checks.split_helps, setting=OUTER)),
        ]  # fmt: skip
    return [
        *found,
        _claim(name, "rates_chance", "nothing is learnt if the outer rate is the larger one",
               TABLES[OUTER], told(name, OUTER),
               partial(checks.learns_nothing, setting=OUTER, chance=20.0)),
    ]  # fmt: skip


def _stated(name: str) -> list[Claim]:
    """With the rates that the paper has for miniImageNet, in as few steps."""
    return [
        _claim(name, "stated", "train-validation is better at the stated rates (γ = 0.01, η = "
               "0.001)", TABLES[BASE], told(name, BASE),
               partial(checks.split_helps, setting=STATED)),
    ]  # fmt: skip


def _nets(name: str) -> list[Claim]:
    """Table 5."""
    found = [
        _claim(name, id, f"train-validation is better with {words}, too", TABLES[setting],
               told(name, setting), partial(checks.split_helps, setting=setting))
        for id, setting, words in (("six", SIX, "6 layers"), ("resnet", RESNET, "a ResNet18"))
    ]  # fmt: skip
    return [
        *found,
        *(
            _claim(name, f"deeper_{id}", f"train-validation is better with {words}", "Table 5",
                   paper, partial(checks.rises, settings=pair, splits=SPLITS[1:]))
            for id, words, paper, pair in (
                ("six", "6 layers than with 4", "46.15 to 50.89 %", (BASE, SIX)),
                ("resnet", "a ResNet18 than with 6 layers", "50.89 to 55.32 %", (SIX, RESNET)),
            )
        ),
    ]  # fmt: skip


def _shots(name: str, settings: tuple[str, ...]) -> list[Claim]:
    """Table 6."""
    found = [
        _claim(name, setting.replace(" ", "_"), f"train-validation is better with {setting}",
               TABLES[setting], told(name, setting), partial(checks.split_helps, setting=setting))
        for setting in settings
    ]  # fmt: skip
    return [
        *found,
        _claim(name, "more_shots", "both are better with more examples a class", "Table 6",
               "25.93, 36.23, 38.76 % and 46.15, 59.97, 63.18 % (1, 3, 5)",
               partial(checks.rises, settings=(BASE, *settings), splits=SPLITS)),
    ]  # fmt: skip


REAL_CLAIMS = (
    *_shared("rainbow"),
    *_tables("rainbow"),
    *_shared("omniglot"),
    *_tables("omniglot"),
    *_stated("omniglot"),
    *_nets("omniglot"),
    *_shots("omniglot", (THREE, FIVE)),
    *_shared("cifar-fs"),
    *_shots("cifar-fs", (FIVE,)),
    *_shared("mini-imagenet"),
    *_tables("mini-imagenet"),
    *_nets("mini-imagenet"),
    *_shots("mini-imagenet", (THREE, FIVE)),
)
