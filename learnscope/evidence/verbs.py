"""Verbs: what a claim says of a quantity, judged by intervals.

Every axis that was not selected makes cells, and the claim must hold in each of them (`cell`).

- `reproduced`: every cell is inside. `differs`: some cell is outside. `inconclusive`: the rest.
- Fewer than 10 draws (or than a claim states), values that are not finite, and empty selections
  are inconclusive. Where a diverged run answers the claim (`diverged="fails"`), it counts as a
  miss, and a mean differs.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any

import xarray as xr

from learnscope.errors import BadInput
from learnscope.evidence.cell import Cell, Statistic, finding, mean_of, share_of, split
from learnscope.evidence.finding import Finding, weakest
from learnscope.evidence.quantity import DRAWS, Datasets, Quantity, Unanswered


@dataclasses.dataclass(frozen=True)
class Verb:
    """A statement about the datasets of a claim, and how it is judged."""

    text: str
    judge: Callable[[Datasets], Finding]

    def __and__(self, other: "Verb") -> "Verb":
        """Both statements."""

        def judge(data: Datasets) -> Finding:
            return _together(self.judge(data), other.judge(data))

        return Verb(f"{self.text}; {other.text}", judge)

    def given(self, *conditions: "Verb") -> "Verb":
        """The statement, if conditions hold: otherwise nothing follows, and it is inconclusive."""

        def judge(data: Datasets) -> Finding:
            found = self.judge(data)
            for condition in conditions:
                other = condition.judge(data)
                if other.verdict != "reproduced":
                    said = f"{other.interval} ({other.why})" if other.interval else other.why
                    why = f"not given that {condition.text}: {said}"
                    found = found.replace(verdict="inconclusive", why=why)
            return found

        return Verb(f"{self.text}, given that {'; '.join(c.text for c in conditions)}", judge)

    def because(self, reason: str) -> "Verb":
        """The known reason, for when it differs."""

        def judge(data: Datasets) -> Finding:
            found = self.judge(data)
            if found.verdict != "differs":
                return found
            return found.replace(why=f"{found.why}; {reason}".removeprefix("; "))

        return Verb(self.text, judge)


def at_least(quantity: Quantity, bound: float, **settings: Any) -> Verb:
    """The mean is at least a number in every cell."""
    return _means(f"{quantity} ≥ {bound:g}", quantity, bound, math.inf, **settings)


def at_most(quantity: Quantity, bound: float, **settings: Any) -> Verb:
    """The mean is at most a number in every cell."""
    return _means(f"{quantity} ≤ {bound:g}", quantity, -math.inf, bound, **settings)


def above(one: Quantity, other: Quantity | float, by: float = 0.0, **settings: Any) -> Verb:
    """The mean is above a number, or above another quantity's, paired by seed."""
    if isinstance(other, Quantity):
        text, one, other = f"{one} is above {other}{_by(by)}", one - other, 0.0
    else:
        text = f"{one} > {other + by:g}"
    return _means(text, one, other + by, math.inf, strict=True, **settings)


def below(one: Quantity, other: Quantity | float, by: float = 0.0, **settings: Any) -> Verb:
    """The mean is below a number, or below another quantity's, paired by seed."""
    if isinstance(other, Quantity):
        text, one, other = f"{one} is below {other}{_by(by)}", one - other, 0.0
    else:
        text = f"{one} < {other - by:g}"
    return _means(text, one, -math.inf, other - by, strict=True, **settings)


def _by(by: float) -> str:
    return f" by more than {by:g}" if by else ""


def within(quantity: Quantity, target: float | Quantity, by: float, **settings: Any) -> Verb:
    """The mean is within a stated tolerance of a number or of another quantity (equivalence)."""
    shown = target if isinstance(target, Quantity) else f"{target:g}"
    text = f"{quantity} is within {by:g} of {shown}"
    if isinstance(target, Quantity):
        return _means(text, quantity - target, -by, by, **settings)
    return _means(text, quantity, target - by, target + by, **settings)


def rises(quantity: Quantity, dim: str, by: float = 0.0, slack: float = 0.0, **more: Any) -> Verb:
    """From the first to the last value of an axis the mean rises, paired by seed, and between no
    neighbours does it fall (by more than `slack`)."""
    return _trend(quantity, dim, by, slack, 1.0, **more)


def falls(quantity: Quantity, dim: str, by: float = 0.0, slack: float = 0.0, **more: Any) -> Verb:
    """From the first to the last value of an axis the mean falls, paired by seed, and between no
    neighbours does it rise (by more than `slack`)."""
    return _trend(quantity, dim, by, slack, -1.0, **more)


def flat(quantity: Quantity, dim: str, by: float, **settings: Any) -> Verb:
    """At every value of an axis the mean is within `by` of the mean over the axis."""
    apart = quantity.map(lambda values: values - values.mean(dim, skipna=False), "{}")
    return _means(f"{quantity} is flat over {dim}, within {by:g}", apart, -by, by, **settings)


def exponent(quantity: Quantity, dim: str, value: float, by: float, **settings: Any) -> Verb:
    """The quantity grows as the given power of an axis: its slope in logarithms, draw by draw."""
    text = f"{quantity} ~ {dim}^{value:g}, within {by:g}"
    return _means(text, quantity.slope(dim, log="xy"), value - by, value + by, **settings)


def most_seeds(hits: Quantity, share: float = 0.9, **settings: Any) -> Verb:
    """The share of draws that hit is at least `share` in every cell (Wilson)."""
    text = f"{hits} in at least {100 * share:g} % of draws"
    return _cells(text, hits, share, math.inf, share_of, **settings)


def few_seeds(hits: Quantity, share: float = 0.1, **settings: Any) -> Verb:
    """The share of draws that hit is at most `share` in every cell (Wilson)."""
    text = f"{hits} in at most {100 * share:g} % of draws"
    return _cells(text, hits, -math.inf, share, share_of, **settings)


def bounded_by(quantity: Quantity, bound: Quantity | float, share: float = 0.9) -> Verb:
    """Over all cells of a draw the largest value is at most the bound, in most draws; the largest
    ratio to the bound is said."""

    def ratio(values: xr.DataArray) -> xr.DataArray:
        return values.max([dim for dim in values.dims if dim != DRAWS], skipna=False)

    worst = (quantity / bound).map(ratio, "{}")
    hits = most_seeds((worst <= 1.0).named("within the bound"), share)

    def judge(data: Datasets) -> Finding:
        found = hits.judge(data)
        if found.verdict == "inconclusive" and not found.measured:
            return found
        largest = float(worst.read(data).max())
        return found.replace(measured=f"largest ratio to the bound {largest:.3g}; {found.measured}")

    shown = bound if isinstance(bound, Quantity) else f"{bound:.4g}"
    return Verb(f"{quantity} ≤ {shown}", judge)


def ordered(*quantities: Quantity, **settings: Any) -> Verb:
    """Each mean is above the next one's, paired by seed."""
    if len(quantities) < 2:
        raise BadInput("ordered needs two quantities or more.")
    pairs = [above(a, b, **settings) for a, b in itertools.pairwise(quantities)]
    verb = pairs[0]
    for pair in pairs[1:]:
        verb &= pair
    return Verb(" > ".join(map(str, quantities)), verb.judge)


def _trend(
    quantity: Quantity, dim: str, by: float, slack: float, sign: float, **settings: Any
) -> Verb:
    def cells(data: Datasets) -> list[Cell]:
        read = quantity.read(data)
        shares = {k: v for k, v in read.attrs.items() if k != "examples" or v > 1}
        values = sign * read
        if values.sizes[dim] < 2:
            raise Unanswered(f"{dim} has one value")
        ends = values.isel({dim: -1}, drop=True) - values.isel({dim: 0}, drop=True)
        steps = values.diff(dim)
        ends.attrs = steps.attrs = shares
        over = f"{'rise' if sign > 0 else 'fall'} over {dim}"
        return [
            *split(ends, by, math.inf, mean_of, strict=True, prefix=over, **settings),
            *split(steps, -slack, math.inf, mean_of, veto=True, prefix="up to", **settings),
        ]

    word = "rises" if sign > 0 else "falls"
    return _verb(f"{quantity} {word} over {dim}{_by(by)}", cells)


def _means(text: str, quantity: Quantity, low: float, high: float, **settings: Any) -> Verb:
    return _cells(text, quantity, low, high, mean_of, **settings)


def _cells(
    text: str, quantity: Quantity, low: float, high: float, statistic: Statistic, **settings: Any
) -> Verb:
    def cells(data: Datasets) -> list[Cell]:
        return list(split(quantity.read(data), low, high, statistic, **settings))

    return _verb(text, cells)


def _verb(text: str, cells: Callable[[Datasets], list[Cell]]) -> Verb:
    def judge(data: Datasets) -> Finding:
        try:
            return finding(text, cells(data))
        except Unanswered as reason:
            return Finding("", "inconclusive", str(reason))

    return Verb(text, judge)


def _together(one: Finding, other: Finding) -> Finding:
    """Both findings: the weaker one decides."""
    verdict = weakest([one.verdict, other.verdict])
    first, second = (one, other) if one.verdict == verdict else (other, one)
    measured = "; ".join(filter(None, [one.measured, other.measured]))
    whys = "; ".join(f.why for f in (first, second) if f.verdict == verdict and f.why)
    return first.replace(measured=measured, why="; ".join(dict.fromkeys(whys.split("; "))))
