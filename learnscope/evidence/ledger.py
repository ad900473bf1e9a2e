"""The ledger: claims of papers, measurements, and whether the two agree."""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from scipy.special import stdtrit

from learnscope.errors import BadInput
from learnscope.part import html_table

_ROW = ("study", "id", "where", "setting", "statement", "reported", "measured", "verdict", "why")
VERDICTS = ("reproduced", "differs", "not run")


@dataclasses.dataclass(frozen=True)
class Finding:
    """The measurement for a claim, in words and numbers, with the verdict and the reason."""

    measured: str
    verdict: str
    why: str = ""

    def __post_init__(self):
        if self.verdict not in VERDICTS:
            raise BadInput(f"verdict = {self.verdict!r} must be one of {', '.join(VERDICTS)}.")


def judged(measured: str, good: bool, why: str) -> Finding:
    """A finding: reproduced if `good`, otherwise different for the reason `why`."""
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
        """The finding from the given datasets; `absent` gives reasons for missing ones."""
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

    @classmethod
    def from_dict(cls, row: Mapping[str, str]) -> "Entry":
        """The row that `to_dict` wrote; its claim can be shown but not checked again."""
        claim = Claim(row["id"], row["statement"], row["where"], row["reported"], row["setting"])
        return cls(row["study"], claim, Finding(row["measured"], row["verdict"], row["why"]))


class Ledger(list[Entry]):
    """Rows in the order of the studies' claims."""

    def count(self, verdict: str) -> int:  # type: ignore[override]
        """The number of claims with a verdict."""
        return sum(entry.finding.verdict == verdict for entry in self)

    def summary(self) -> str:
        """The number of claims with each verdict, in one line."""
        return ", ".join(f"{self.count(verdict)} {verdict}" for verdict in VERDICTS)

    def _repr_html_(self) -> str:
        names = ("study", "where", "statement", "setting", "reported", "measured", "verdict", "why")
        rows = [[entry.to_dict()[name] for name in names] for entry in self]
        return html_table(names, rows, f"{len(self)} claims: {self.summary()}")

    def to_json(self) -> str:
        return json.dumps([entry.to_dict() for entry in self], indent=2, ensure_ascii=False) + "\n"

    def to_markdown(self) -> str:
        """One table per study."""
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


def read_rows(folder: Path) -> tuple[dict[str, str], ...]:
    """The rows of an output folder's ledger."""
    path = folder / "ledger.json"
    if not path.is_file():
        raise BadInput(
            f"{folder} has no ledger.json: `learnscope verify --out {folder}`, or a run of whole "
            "studies, makes it."
        )
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read: {error}; remove it to have it anew.") from None
    good = isinstance(rows, list) and all(
        isinstance(row, dict) and all(isinstance(row.get(name), str) for name in _ROW)
        for row in rows
    )
    if not good or any(row["verdict"] not in VERDICTS for row in rows):
        raise BadInput(f"{path} is not a ledger of learnscope; remove it to have it anew.")
    return tuple({name: row[name] for name in _ROW} for row in rows)


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


def above(values: xr.DataArray | np.ndarray | Sequence[float]) -> bool:
    """Whether a mean is above 0 with 95 % confidence: its interval (Student's) lies above 0.

    >>> above([0.4, 0.5, 0.6]), above([-0.1, 0.5, 0.6]), above([0.5])
    (True, False, False)
    """
    numbers = np.asarray(values, float).ravel()
    return bool(numbers.size > 1 and numbers.mean() - half_width(numbers) > 0)
