"""Which paper's setting is this? The nearest preset, and what differs from it."""

import dataclasses
import math
from importlib import import_module
from typing import Any

_SLOTS = ("data", "net", "rule")
_KIND, _WORD = 10.0, 1.0  # a part of another kind; another choice, or a field of one side only


@dataclasses.dataclass(frozen=True)
class Nearest:
    """The study and preset that an experiment is closest to. `differences` holds, by path, the
    experiment's value and the preset's; `distance` is 0 where all numbers and choices agree."""

    study: str
    preset: str
    title: str
    link: str
    distance: float
    differences: dict[str, tuple[Any, Any]]

    def __str__(self) -> str:
        lines = [f"{self.preset}: {self.title} (study {self.study}; {self.link})"]
        rows = [(path, f"{one}", f"{two}") for path, (one, two) in self.differences.items()]
        if not rows:
            return f"{lines[0]}\nThis is its preset."
        rows = [("", "here", "there"), *rows]
        wide = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join([*lines, *("  ".join(map(str.ljust, row, wide)).rstrip() for row in rows)])


def nearest(experiment: Any) -> Nearest:
    """The preset of a paper that an experiment is nearest to, and the differences.

    Another kind of data, net or rule counts 10, another choice 1, and a number the logarithm (base
    10) of the ratio, at most 1. What is recorded does not count.

    >>> import learnscope as ls
    >>> experiment = ls.Experiment(
    ...     data=ls.data.SignalNoise(dim=500, train=20, test=1000, signal=1.0, noise=1.0),
    ...     net=ls.nets.PatchCNN(width=10, activation="relu2", second_layer="sum"),
    ...     rule=ls.rules.PerExamplePenalty(rate=0.02, weight=0.01, until=800), steps=1500)
    >>> ls.theory.nearest(experiment).study
    'pegr'
    """
    there = flat(experiment)
    found = []
    for study in import_module("learnscope.papers").studies().values():
        for preset in study.presets():
            here = flat(preset.experiment)
            paths = [path for path in {**there, **here} if there.get(path) != here.get(path)]
            gaps = {path: (there.get(path), here.get(path)) for path in paths}
            off = sum(gap(path, *values) for path, values in gaps.items())
            found.append(Nearest(study.name, preset.name, preset.title, study.link, off, gaps))
    return min(found, key=lambda each: each.distance)


def flat(experiment: Any) -> dict[str, Any]:
    """What defines an experiment, by path; the kinds of its parts come first."""
    table = experiment.to_dict()
    parts = {slot: table[slot] for slot in _SLOTS}
    held: dict[str, Any] = {slot: part["kind"] for slot, part in parts.items()}
    for slot, part in parts.items():
        held |= {f"{slot}.{name}": value for name, value in part.items() if name != "kind"}
    return held | {"steps": table["steps"]}


def gap(path: str, one: Any, two: Any) -> float:
    """How far two values of a field are apart.

    >>> gap("data.dim", 400, 800) < gap("data.dim", 400, 4000) == gap("data.dim", 4, 4e9) == 1
    True
    """
    if path in _SLOTS:
        return _KIND
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (one, two))
    if not numbers or one * two <= 0:
        return _WORD
    return min(_WORD, abs(math.log10(one / two)))
