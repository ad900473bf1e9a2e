"""Cells: the places of a sweep at which a claim must hold, and their verdicts.

A cell is inside if its 95 % interval lies inside what is claimed. It is outside if its interval,
widened for the number of cells (Bonferroni), lies wholly outside: among many cells one is outside
by chance.
"""

import contextlib
import contextvars
import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.evidence.finding import Finding, weakest
from learnscope.evidence.quantity import DRAWS, LEFT_OUT
from learnscope.evidence.statistics import (
    LEVEL,
    Interval,
    estimate,
    proportion,
    share_of_many,
    student,
)

FEWEST = 10  # independent draws that a verdict needs, unless a claim states another number
_needed = contextvars.ContextVar("draws that the claim at hand needs", default=FEWEST)
_SHOWN = 6  # cells that are written out
_ALIKE = 1e-6  # the width of an interval of accuracies that are all the same
_MOST = 10**6  # draws that are worth a number
_ULPS = 100 * float(np.finfo(np.float32).eps)
Statistic = Callable[[xr.DataArray, float], Interval]


@contextlib.contextmanager
def needing(draws: int) -> Iterator[None]:
    """Judge with another number of independent draws than `FEWEST`."""
    token = _needed.set(draws)
    try:
        yield
    finally:
        _needed.reset(token)


@dataclasses.dataclass(frozen=True)
class Cell:
    """Values at one place of a sweep, and what is claimed of their statistic: low to high.

    A `veto` only counts if it is outside: it shows that nothing speaks against the claim. A
    `strict` claim excludes the ends.
    """

    place: str
    values: xr.DataArray
    low: float
    high: float
    statistic: Statistic
    diverged: str = "unanswered"
    veto: bool = False
    strict: bool = False
    needed: int = dataclasses.field(default_factory=_needed.get)

    def interval(self, level: float = LEVEL) -> Interval:
        return self.statistic(self.values, level)

    def problem(self) -> str:
        """Why there can be no verdict; empty if there can be one."""
        found, lost = self.interval(), int((~np.isfinite(self.values)).sum())
        if lost:
            return f"{lost} of {self.values.size} draws are not finite"
        if found.draws is not None and found.draws < self.needed:
            return f"{found.draws} independent draws, and a verdict needs {self.needed}"
        return ""

    def verdict(self, cells: int) -> str:
        problem = self.problem()
        if problem and not (self.diverged == "fails" and self.values.size >= self.needed):
            return "inconclusive"
        if problem:
            return "differs"
        wide = self.interval(1 - (1 - LEVEL) / cells)
        if _clear(wide.high, self.low) or _clear(self.high, wide.low):
            return "differs"
        found = self.interval()
        inside = self._holds(self.low, found.low) and self._holds(found.high, self.high)
        return "reproduced" if inside or self.veto else "inconclusive"

    def _holds(self, less: float, more: float) -> bool:
        """Whether less <= more: clearly, or attained exactly where the claim is not strict."""
        return _clear(less, more) or (less == more and not self.strict)

    def claimed(self) -> str:
        """What is claimed, as text."""
        more, less = (">", "<") if self.strict else ("≥", "≤")
        if math.isinf(self.high):
            return f"{more} {self.low:.4g}"
        if math.isinf(self.low):
            return f"{less} {self.high:.4g}"
        return f"in [{self.low:.4g}, {self.high:.4g}]"

    def margin(self) -> float:
        """How far the interval is inside; negative if it is not."""
        found = self.interval()
        return min(found.low - self.low, self.high - found.high)

    def decided_by(self) -> str:
        """How many draws with the same middle and spread would decide, as text."""
        found = self.interval()
        draws, ends = found.draws or 0, [e for e in (self.low, self.high) if math.isfinite(e)]
        far = min((abs(found.middle - end) for end in ends), default=0.0)
        wide = found.high - found.low
        if not draws or not math.isfinite(wide + far) or far <= _ULPS * abs(found.middle):
            return ""
        if self.statistic is share_of:
            sizes = (round(1.02**k) for k in range(math.ceil(math.log(_MOST, 1.02))))
            n = next((n for n in sizes if n > draws and self._clears(n, found.middle)), _MOST)
            while n < _MOST and n > draws + 1 and self._clears(n - 1, found.middle):
                n -= 1
        else:
            n = min(_MOST, math.ceil(draws * (wide / 2 / far) ** 2) + 1)
        return f"{'more than ' * (n == _MOST)}{n} draws like these would decide"

    def _clears(self, draws: int, share: float) -> bool:
        wide = share_of_many(share * draws, draws)
        return all(not wide.low <= end <= wide.high for end in (self.low, self.high))

    def text(self) -> str:
        named = f"{self.place}: " if self.place else ""
        if np.isfinite(self.values).all():
            return f"{named}{self.interval()}"
        return f"{named}{int((~np.isfinite(self.values)).sum())} of {self.values.size} not finite"


def _clear(less: float, more: float) -> bool:
    """Whether less < more by over 100 ulps (float32)."""
    if math.isinf(less) or math.isinf(more):
        return less < more
    return more - less > _ULPS * max(abs(less), abs(more))


def mean_of(values: xr.DataArray, level: float) -> Interval:
    if DRAWS in values.dims:
        found = student(values, level)
        alike = "examples" in values.attrs and found.high - found.low < _ALIKE
        return _pooled(found, values.attrs["examples"], level) if alike else found
    middle = float(values)
    if "error" in values.attrs:
        return estimate(middle, values.attrs["error"], values.attrs["draws"], level)
    return Interval(middle, middle, middle)


def _pooled(found: Interval, examples: int, level: float) -> Interval:
    """The interval of a share that is the same in every draw, and of a difference of such: by the
    examples of all draws together."""
    size = min(abs(found.middle), 1.0)
    many = (found.draws or 0) * examples
    wide = share_of_many(size * many, many, level)
    low, high = found.middle + wide.low - size, found.middle + wide.high - size
    if size == 0.0:
        low = -high
    return dataclasses.replace(found, low=low, high=high)


def share_of(values: xr.DataArray, level: float) -> Interval:
    return proportion(values, level) if DRAWS in values.dims else mean_of(values, level)


def split(
    values: xr.DataArray, low: float, high: float, statistic: Statistic,
    diverged: str = "unanswered", veto: bool = False, strict: bool = False, prefix: str = "",
) -> Iterator[Cell]:  # fmt: skip
    """A cell for every place on the axes that were not selected."""
    if diverged not in ("unanswered", "fails"):
        raise BadInput(f"diverged = {diverged!r} must be 'unanswered' or 'fails'.")
    if DRAWS not in values.dims and not {"exact", "error"} & set(values.attrs):
        raise BadInput("a quantity lost its seeds: they are the draws (`exact` has none).")
    if statistic is share_of and diverged == "fails":
        values = values.fillna(0.0)
    dims = [dim for dim in values.dims if dim != DRAWS]
    for place in np.ndindex(*(values.sizes[dim] for dim in dims)):
        here = values.isel(dict(zip(dims, place, strict=True)))
        here = here[here.values != LEFT_OUT] if values.attrs.get("among") else here
        where = ", ".join(f"{dim} = {_label(values, dim, i)}" for dim, i in zip(dims, place))  # noqa: B905
        yield Cell(f"{prefix} {where}".strip(), here, low, high, statistic, diverged, veto, strict)


def _label(values: xr.DataArray, dim: Any, index: int) -> str:
    if dim not in values.coords:
        return str(index)
    label = values[dim].values[index]
    return f"{label:.4g}" if isinstance(label, float | int | np.number) else str(label)


def finding(text: str, cells: list[Cell]) -> Finding:
    verdicts = [cell.verdict(len(cells)) for cell in cells]
    verdict = weakest(verdicts)
    deciding = [c for c, v in zip(cells, verdicts, strict=True) if v == verdict and not c.veto]
    deciding = deciding or [c for c, v in zip(cells, verdicts, strict=True) if v == verdict]
    worst = min(deciding, key=Cell.margin)
    shown = [cell for cell in cells if not cell.veto or cell is worst]
    words = "; ".join(cell.text() for cell in shown)
    if len(shown) > _SHOWN:
        good = sum(v == "reproduced" for v in verdicts)
        words = f"{good} of {len(cells)} cells inside; nearest {worst.text()}"
    why = ""
    if verdict == "differs":
        outside = [c.place for c, v in zip(cells, verdicts, strict=True) if v == verdict if c.place]
        many = f" and {len(outside) - 3} more" if len(outside) > 3 else ""
        why = f"not at {', '.join(outside[:3])}{many}" if outside else "outside what is claimed"
    elif verdict == "inconclusive":
        open_ = "; ".join(filter(None, ["the interval holds the bound", worst.decided_by()]))
        why = worst.problem() or open_
    found = worst.interval()
    draws = "exact" if found.draws is None else str(found.draws)
    ends = "" if math.isnan(found.middle) else f"{found}, claimed {worst.claimed()}"
    if verdict == "differs" and not ends:  # diverged runs decide
        ends = f"{proportion(np.isfinite(worst.values))} of draws finite, claimed 1"
    seen = found.seen if worst.statistic is mean_of else math.nan
    power = f"would have seen a difference of {seen:.2g}" if math.isfinite(seen) else ""
    return Finding(f"{text}: {words}", verdict, why, ends, draws, power=power)
