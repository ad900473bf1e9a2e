"""The ledger: what papers claim, what was measured, and whether the two agree."""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import xarray as xr
from scipy.special import stdtrit

from learnscope.errors import BadInput
from learnscope.markup import html_table

VERDICTS = ("reproduced", "differs", "not run")


@dataclasses.dataclass(frozen=True)
class Finding:
    """What was measured for a claim: in words and numbers, with the verdict and the reason."""

    measured: str
    verdict: str
    why: str = ""

    def __post_init__(self):
        if self.verdict not in VERDICTS:
            raise BadInput(f"verdict = {self.verdict!r} must be one of {', '.join(VERDICTS)}.")


def judged(measured: str, good: bool, why: str) -> Finding:
    """What was measured, reproduced or (for a reason) not."""
    return Finding(measured, "reproduced" if good else "differs", "" if good else why)


@dataclasses.dataclass(frozen=True)
class Claim:
    """A sentence of a paper, where it stands, what it reports, and how it is checked.

    `check` is a function of the datasets of the sweeps named in `needs`. A claim without one is
    listed as not run, with its `reason`.
    """

    id: str
    statement: str
    where: str
    reported: str
    setting: str
    needs: tuple[str, ...] = ()
    check: Callable[..., Finding] | None = None
    reason: str = ""

    def find(
        self, datasets: Mapping[str, xr.Dataset], absent: Mapping[str, str] | None = None
    ) -> Finding:
        """The finding from the datasets at hand; `absent` says why others are not."""
        if self.check is None:
            return Finding("", "not run", self.reason)
        for name in self.needs:
            if absent is not None and name in absent:
                return Finding("", "not run", absent[name])
        missing = [name for name in self.needs if name not in datasets]
        if missing:
            return Finding("", "not run", f"needs {', '.join(missing)}, which was not asked for")
        return self.check(*(datasets[name] for name in self.needs))


@dataclasses.dataclass(frozen=True)
class Entry:
    """One row of the ledger."""

    study: str
    claim: Claim
    finding: Finding

    def to_dict(self) -> dict[str, str]:
        claim, finding = self.claim, self.finding
        return {
            "study": self.study,
            "id": claim.id,
            "where": claim.where,
            "setting": claim.setting,
            "statement": claim.statement,
            "reported": claim.reported,
            "measured": finding.measured,
            "verdict": finding.verdict,
            "why": finding.why,
        }


class Ledger(list[Entry]):
    """Rows in the order of the studies' claims."""

    def count(self, verdict: str) -> int:  # type: ignore[override]
        """How many claims have a verdict."""
        return sum(entry.finding.verdict == verdict for entry in self)

    def summary(self) -> str:
        """One line: how many of each."""
        return ", ".join(f"{self.count(verdict)} {verdict}" for verdict in VERDICTS)

    def _repr_html_(self) -> str:
        names = ("study", "where", "statement", "setting", "reported", "measured", "verdict", "why")
        rows = [[entry.to_dict()[name] for name in names] for entry in self]
        return html_table(names, rows, f"{len(self)} claims: {self.summary()}")

    def to_json(self) -> str:
        return json.dumps([entry.to_dict() for entry in self], indent=2, ensure_ascii=False) + "\n"

    def to_markdown(self) -> str:
        """A table a study."""
        lines = ["# Ledger", "", f"{len(self)} claims: {self.summary()}.", ""]
        for study in dict.fromkeys(entry.study for entry in self):
            lines += [f"## {study}", ""]
            lines += ["| where | claim | setting | paper | measured | verdict |", "|" + "---|" * 6]
            for entry in self:
                if entry.study == study:
                    row = {k: v.replace("|", "\\|") for k, v in entry.to_dict().items()}
                    measured = row["measured"] + (f" ({row['why']})" if row["why"] else "")
                    lines.append(
                        f"| {row['where']} | {row['statement']} | {row['setting']} | "
                        f"{row['reported']} | {measured.strip()} | **{row['verdict']}** |"
                    )
            lines.append("")
        return "\n".join(lines)


def share(hits: xr.DataArray | np.ndarray | Sequence[bool]) -> str:
    """A share of seeds with its 95 % interval (Wilson).

    >>> share([True] * 9 + [False])
    '9/10 [60-98 %]'
    """
    values = np.asarray(hits).ravel()
    _, low, high = wilson(values)
    return f"{int(values.sum())}/{values.size} [{100 * low:.0f}-{100 * high:.0f} %]"


def wilson(hits: xr.DataArray | np.ndarray | Sequence[bool]) -> tuple[float, float, float]:
    """A share and the ends of its 95 % interval (Wilson 1927)."""
    values = np.asarray(hits).ravel()
    n, k, z = values.size, int(values.sum()), 1.959964
    centre = (k + z**2 / 2) / (n + z**2)
    spread = z / (n + z**2) * math.sqrt(k * (n - k) / n + z**2 / 4)
    return k / n, max(0.0, centre - spread), min(1.0, centre + spread)


def mean(values: xr.DataArray | np.ndarray | Sequence[float]) -> str:
    """A mean over seeds with its 95 % interval (Student's).

    >>> mean([0.4, 0.5, 0.6])
    '0.500 ± 0.248'
    """
    numbers = np.asarray(values, float).ravel()
    return f"{numbers.mean():.3f} ± {half_width(numbers):.3f}"


def half_width(values: np.ndarray) -> float:
    """Half of the 95 % interval of a mean, by Student's t; 0 for a single value."""
    n = values.size
    return float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / math.sqrt(n)) if n > 1 else 0.0
