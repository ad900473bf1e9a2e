"""The verdict on representations: whether they have collapsed, and the reasons."""

import dataclasses
import math
import numbers
from typing import TYPE_CHECKING, Any, Literal

from learnscope.errors import refuse_value

if TYPE_CHECKING:
    from learnscope.tools.collapse_value import CollapseReport

Verdict = Literal["complete collapse", "dimensional collapse", "partial collapse",
                  "no sign of collapse", "too few examples to tell"]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Thresholds:
    """The thresholds of the verdicts; `collapse_report` describes them."""

    dead: float = 1e-4
    duplicate: float = 0.99
    dimensional: float = 0.05
    copies: float = 0.95
    partial: float = 0.2
    lost: float = 0.25
    examples_per_direction: float = 10.0

    @classmethod
    def check(cls, **values: Any) -> "Thresholds":
        """Check a user's thresholds."""
        given = {name: _number(value) for name, value in values.items()}
        for name, value in given.items():
            allowed, good = {
                "examples_per_direction": ("at least 2", 2 <= value < math.inf),
                "dead": ("between 0 and 1", 0 < value < 1),
            }.get(name, ("more than 0 and at most 1", 0 < value <= 1))
            if not good:
                refuse_value(name, values[name], f"it must be {allowed}")
        limits = cls(**given)
        if limits.dimensional > limits.partial:
            must = f"it must be at most partial = {limits.partial:g}"
            refuse_value("dimensional", limits.dimensional, must)
        return limits


def judge(seen: "CollapseReport") -> tuple[Verdict, tuple[str, ...]]:
    """The verdict on the numbers of a report, and its reasons."""
    limits, empty = seen.thresholds, seen.empty_directions
    dead, copies = len(seen.dead), seen.copies
    if dead == seen.units:
        return "complete collapse", ("no unit varies over the examples, up to rounding",)
    if seen.units == 1:
        return "no sign of collapse", ("its one unit varies, and can collapse in no other way",)
    fraction = (seen.effective_rank - 1) / (seen.units - 1)
    size = f"the effective rank is {seen.effective_rank:.4g} of {seen.units}"
    strong = []
    if fraction <= limits.dimensional:
        strong.append(size)
    if seen.mean_correlation is not None and seen.mean_correlation >= limits.copies:
        strong.append(f"units are nearly copies: mean |correlation| {seen.mean_correlation:.3g}")
    least = limits.examples_per_direction
    enough = seen.examples > seen.units and seen.examples >= least
    # Fewer examples than units are enough, if there are many per direction.
    if strong and (enough or seen.examples >= least * max(1.0, seen.effective_rank)):
        return "dimensional collapse", tuple(strong)
    if not enough:
        needed = max(seen.units + 1, math.ceil(least))
        bound = f"{seen.examples} examples of {seen.units} units"
        if seen.examples <= seen.units:
            bound += f" have a rank of at most {seen.examples - 1}, whatever the units are"
        reason = f"{bound}; at least {needed} are needed, better {max(10 * seen.units, needed)}"
        return "too few examples to tell", (reason,)
    weak = [size] if fraction <= limits.partial else []
    if dead + copies >= limits.lost * seen.units:
        weak.append(f"{_units(dead, 'dead')}, {_units(copies, 'copies of others')}")
    if empty >= limits.lost * seen.units:
        weak.append(f"{empty} of {seen.units} directions have no variance")
    if weak:
        return "partial collapse", tuple(weak)
    return "no sign of collapse", (size,)


def _units(count: int, what: str) -> str:
    return f"{count} {'unit is' if count == 1 else 'units are'} {what}"


def _number(value: Any) -> float:
    """A real number as a float; anything else becomes NaN, which no threshold allows."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return float(value) if real else math.nan
