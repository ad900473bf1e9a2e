"""`CollapseReport`: the result of `collapse_report`, and its printed form."""

import dataclasses
import textwrap
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from learnscope.tools.collapse_verdict import Thresholds, Verdict

_WIDTH = 96
_MOST_SHOWN = 12  # units on one line
_MOST_GROUPS = 6


@dataclasses.dataclass(frozen=True, eq=False)
class Histogram:
    """A histogram of the correlations of pairs of units."""

    edges: Float[np.ndarray, "bins+1"]
    counts: Int[np.ndarray, "bins"]


@dataclasses.dataclass(frozen=True)
class Duplicates:
    """Units that are copies of each other, their signs relative to the first, and the smallest
    |correlation| of any two (copies of copies may be below the threshold)."""

    units: tuple[int, ...]
    signs: tuple[int, ...]
    least: float

    def __str__(self) -> str:
        both = list(zip(self.units, self.signs, strict=True))
        shown = " = ".join(f"{'-' if sign < 0 else ''}{unit}" for unit, sign in both[:_MOST_SHOWN])
        return shown + (f" = ... ({len(both)} units)" if len(both) > _MOST_SHOWN else "")


@dataclasses.dataclass(frozen=True, eq=False)
class CollapseReport:
    """The result of `collapse_report`, which describes the fields; arrays are read-only."""

    examples: int
    units: int
    verdict: Verdict
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    effective_rank: float
    effective_rank_singular: float
    effective_rank_standardised: float
    participation_ratio: float
    singular_values: Float[np.ndarray, "components"]
    variance_shares: Float[np.ndarray, "components"]
    empty_directions: int
    mean_correlation: float | None
    correlation_quantiles: dict[float, float]
    histogram: Histogram
    signed_histogram: Histogram
    dead: tuple[int, ...]
    duplicates: tuple[Duplicates, ...]
    deviations: Float[np.ndarray, "units"]
    correlation: Float[np.ndarray, "units units"]
    thresholds: Thresholds

    @property
    def copies(self) -> int:
        """The number of redundant units: all but one of every group of duplicates."""
        return sum(len(group.units) - 1 for group in self.duplicates)

    def directions(self, share: float) -> int:
        """The number of principal directions that have this fraction of the variance."""
        if not self.variance_shares.any():
            return 0
        held = np.cumsum(self.variance_shares)
        return min(int(np.searchsorted(held, share * (1 - 1e-12))) + 1, len(held))

    def to_dict(self, correlation: bool = True) -> dict[str, Any]:
        """All fields as plain values, for JSON; with or without the correlation matrix."""
        return _plain(self, () if correlation else ("correlation",))

    def __str__(self) -> str:
        size = f"{self.examples} examples x {self.units} unit{'s' * (self.units != 1)}"
        rank = f"{self.effective_rank:.4g} of {self.units}, by variances"
        standard = f"{self.effective_rank_standardised:.4g} by variances with units standardised"
        lines = [
            ("representations", size),
            ("effective rank", f"{rank} (participation ratio {self.participation_ratio:.4g})"),
            ("", f"{self.effective_rank_singular:.4g} by singular values, {standard}"),
            ("variance", self._variance_line()),
            ("|correlation|", self._correlation_line()),
            ("dead units", self._dead_line()),
            *self._duplicate_lines(),
            ("verdict", f"{self.verdict}: {'; '.join(self.reasons)}."),
            *(("note", f"{note}.") for note in self.notes),
        ]
        gap = " " * 18
        return "\n".join(
            textwrap.fill(text, _WIDTH, initial_indent=f"{name:<18}", subsequent_indent=gap)
            for name, text in lines
        )

    def _variance_line(self) -> str:
        if not self.variance_shares.any():
            return "none"
        held = ", ".join(f"{share:.0%} in {self.directions(share)}" for share in (0.9, 0.95, 0.99))
        first = f"{100 * self.variance_shares[0]:.4g}% in the first direction"
        return f"{first}; {held}; none in {self.empty_directions}"

    def _correlation_line(self) -> str:
        if self.mean_correlation is None:
            return "not defined: fewer than two units vary"
        quantiles = ", ".join(f"{q:.0%}: {v:.2g}" for q, v in self.correlation_quantiles.items())
        return f"mean {self.mean_correlation:.3g}; quantiles {quantiles}"

    def _dead_line(self) -> str:
        if not self.dead:
            return "none"
        rest = ", ..." if len(self.dead) > _MOST_SHOWN else ""
        return f"{len(self.dead)}: {', '.join(map(str, self.dead[:_MOST_SHOWN]))}{rest}"

    def _duplicate_lines(self) -> list[tuple[str, str]]:
        shown = [str(group) for group in self.duplicates[:_MOST_GROUPS]] or ["none"]
        more = len(self.duplicates) - _MOST_GROUPS
        shown += [f"... and {more} more groups"] if more > 0 else []
        return [("" if k else "duplicate units", text) for k, text in enumerate(shown)]


def _plain(value: Any, without: tuple[str, ...] = ()) -> Any:
    """A value as JSON has it; of a dataclass, all fields but some."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value) if field.name not in without]
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {f"{level:g}": number for level, number in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray) else value
