"""The verdict on representations: whether they have collapsed, and why it is said."""

import dataclasses
import math
import numbers
from typing import Any, Literal

from learnscope.errors import BadInput

Verdict = Literal[
    "complete collapse",
    "dimensional collapse",
    "partial collapse",
    "no sign of collapse",
    "too few examples to tell",
]


@dataclasses.dataclass(frozen=True)
class Thresholds:
    """Where a verdict changes; `collapse_report` says what each one means."""

    dead: float = 1e-4
    duplicate: float = 0.99
    dimensional: float = 0.05
    copies: float = 0.95
    partial: float = 0.2
    lost: float = 0.25
    examples_per_direction: float = 10.0

    @classmethod
    def check(cls, **values: Any) -> "Thresholds":
        """From what a user gives."""
        given = {name: _number(value) for name, value in values.items()}
        for name, value in given.items():
            allowed, good = {
                "examples_per_direction": ("at least 2", 2 <= value < math.inf),
                "dead": ("between 0 and 1", 0 < value < 1),
            }.get(name, ("more than 0 and at most 1", 0 < value <= 1))
            if not good:
                raise BadInput(f"{name} = {values[name]!r} is not allowed: it must be {allowed}.")
        found = cls(**given)
        if found.dimensional > found.partial:
            raise BadInput(
                f"dimensional = {found.dimensional:g} is not allowed: "
                f"it must be at most partial = {found.partial:g}."
            )
        return found


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What a verdict rests on."""

    examples: int
    units: int
    varying: int
    effective_rank: float
    mean_correlation: float | None
    dead: int
    copies: int
    empty: int


def judge(seen: Evidence, limits: Thresholds) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict and its reasons, in words."""
    if not seen.varying:
        return "complete collapse", ("no unit varies over the examples, up to rounding",)
    if seen.units == 1:
        return "no sign of collapse", ("its one unit varies, and can collapse in no other way",)
    share = (seen.effective_rank - 1) / (seen.units - 1)
    size = f"the effective rank is {seen.effective_rank:.4g} of {seen.units}"
    strong = []
    if share <= limits.dimensional:
        strong.append(size)
    if seen.mean_correlation is not None and seen.mean_correlation >= limits.copies:
        strong.append(f"units are nearly copies: mean |correlation| {seen.mean_correlation:.3g}")
    least = limits.examples_per_direction
    enough = seen.examples > seen.units and seen.examples >= least
    # Few directions are seen by fewer examples than units, if they are many to a direction.
    if strong and (enough or seen.examples >= least * max(1.0, seen.effective_rank)):
        return "dimensional collapse", tuple(strong)
    if not enough:
        needed = max(seen.units + 1, math.ceil(least))
        bound = f"{seen.examples} examples of {seen.units} units"
        if seen.examples <= seen.units:
            bound += f" have a rank of at most {seen.examples - 1}, whatever the units are"
        reason = f"{bound}; at least {needed} are needed, better {max(10 * seen.units, needed)}"
        return "too few examples to tell", (reason,)
    weak = [size] if share <= limits.partial else []
    if seen.dead + seen.copies >= limits.lost * seen.units:
        weak.append(f"{_units(seen.dead, 'dead')}, {_units(seen.copies, 'copies of others')}")
    if seen.empty >= limits.lost * seen.units:
        weak.append(f"{seen.empty} of {seen.units} directions have no variance")
    if weak:
        return "partial collapse", tuple(weak)
    return "no sign of collapse", (size,)


def _units(count: int, what: str) -> str:
    return f"{count} {'unit is' if count == 1 else 'units are'} {what}"


def _number(value: Any) -> float:
    """NaN, which no limit allows, for what is none."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return float(value) if real else math.nan
