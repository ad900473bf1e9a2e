"""The ledger: claims of papers, measurements, and whether the two agree."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from learnscope.errors import BadInput
from learnscope.evidence.claim import Claim
from learnscope.evidence.finding import VERDICTS, Finding, weakest
from learnscope.part import html_table

_ROW = ("study", "id", "where", "setting", "statement", "reported", "measured", "verdict", "why")
_NEW = ("scope", "flags", "interval", "draws", "null")  # empty in ledgers of older versions
FOUND = ("measured", "verdict", "why", "interval", "draws", "null")
# An artefact counts under the first of these scopes in which all that is said of it is reproduced.
COUNTED = ("as stated", "regime", "reading", "asymptotic", "")
COLUMNS = (*(scope or "no scope given" for scope in COUNTED), *VERDICTS[1:])


@dataclasses.dataclass(frozen=True)
class Entry:
    """One row of the ledger."""

    study: str
    claim: Claim
    finding: Finding

    def to_dict(self) -> dict[str, str]:
        claim = self.claim
        return {
            "study": self.study, "id": claim.id, "where": claim.where, "setting": claim.setting,
            "statement": claim.statement, "reported": claim.reported,
            **{name: getattr(self.finding, name) for name in FOUND},
            "scope": claim.scope, "flags": "; ".join(claim.flags),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, row: Mapping[str, str]) -> "Entry":
        """The row that `to_dict` wrote; its claim can be shown but not checked again."""
        flags = tuple(filter(None, row["flags"].split("; ")))
        claim = Claim(
            row["id"], row["statement"], row["where"], row["reported"], row["setting"],
            scope=row["scope"], flags=flags,
        )  # fmt: skip
        return cls(row["study"], claim, Finding(**{name: row[name] for name in FOUND}))


class Ledger(list[Entry]):
    """Rows in the order of the studies' claims."""

    def count(self, verdict: str) -> int:  # type: ignore[override]
        """The number of claims with a verdict."""
        return sum(entry.finding.verdict == verdict for entry in self)

    def summary(self) -> str:
        """The number of claims with each verdict, in one line."""
        return ", ".join(f"{self.count(verdict)} {verdict}" for verdict in VERDICTS)

    def artefacts(self) -> dict[str, dict[str, str]]:
        """The strongest verdict that every artefact deserves, by study (`strongest`)."""
        return artefacts(entry.to_dict() for entry in self)

    def _repr_html_(self) -> str:
        names = ("study", "where", "statement", "setting", "reported", "measured", "verdict", "why")
        rows = [[entry.to_dict()[name] for name in names] for entry in self]
        return html_table(names, rows, f"{len(self)} claims: {self.summary()}")

    def to_json(self) -> str:
        return json.dumps([entry.to_dict() for entry in self], indent=2, ensure_ascii=False) + "\n"

    def to_markdown(self) -> str:
        """The artefacts of every study, counted; then one table of claims per study."""
        found = self.artefacts()
        used = [c for c in COLUMNS if any(c in of.values() for of in found.values())]
        lines = ["# Ledger", "", head(found), "", f"{len(self)} claims: {self.summary()}.", ""]
        lines += [f"| artefacts of | {' | '.join(used)} |", "|" + "---|" * (len(used) + 1)]
        for study, of in found.items():
            counts = (str(list(of.values()).count(column)) for column in used)
            lines.append(f"| {study} | {' | '.join(counts)} |")
        for study in found:
            lines += ["", f"## {study}", ""]
            lines += ["| where | claim | setting | paper | measured | verdict |", "|" + "---|" * 6]
            lines += [_line(entry.to_dict()) for entry in self if entry.study == study]
        return "\n".join([*lines, ""])


def head(found: Mapping[str, Mapping[str, str]]) -> str:
    """How many artefacts came to what, in one sentence."""
    all_of = [verdict for of in found.values() for verdict in of.values()]
    counts = [f"{all_of.count(c)} {c}" for c in COLUMNS if c in all_of]
    return f"{len(all_of)} artefacts: {', '.join(counts)}." if all_of else "No artefacts."


def artefacts(rows: Iterable[Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """The strongest verdict of every artefact (the `where` of claims), by study."""
    places: dict[str, dict[str, list[Mapping[str, str]]]] = {}
    for row in rows:
        places.setdefault(row["study"], {}).setdefault(row["where"], []).append(row)
    found = {study: {place: strongest(of) for place, of in by.items()}
             for study, by in places.items()}  # fmt: skip
    return {study: {p: v for p, v in of.items() if v} for study, of in found.items()}


def strongest(rows: Iterable[Mapping[str, str]]) -> str:
    """The strongest verdict that rows about one artefact deserve; empty if none is about the paper.

    All that is said in one scope must be reproduced there. What differs in a reading refutes
    nothing while the paper's own setting is open; what is fitted counts for nothing.
    """
    scopes: dict[str, list[str]] = {}
    for row in rows:
        if not row["scope"].startswith("beyond"):
            fitted = row["scope"].startswith("fitted") and row["verdict"] == "reproduced"
            verdict = "inconclusive" if fitted else row["verdict"]
            scopes.setdefault(row["scope"], []).append(verdict)
    judged = {scope: weakest(verdicts) for scope, verdicts in scopes.items()}
    for kind in COUNTED:
        if any(s.partition(":")[0] == kind and v == "reproduced" for s, v in judged.items()):
            return kind or "no scope given"
    own = [v for s, v in judged.items() if s.partition(":")[0] in ("as stated", "regime")]
    left = own or list(judged.values())
    return next((v for v in ("inconclusive", "differs", "not run") if v in left), "")


def _line(row: Mapping[str, str]) -> str:
    row = {name: text.replace("|", "\\|") for name, text in row.items()}
    more = "; ".join(filter(None, [row["why"], details(row)]))
    measured = row["measured"] + (f" ({more})" if more else "")
    return (
        f"| {row['where']} | {row['statement']} | {setting(row)} | {row['reported']} | "
        f"{measured.strip()} | **{row['verdict']}** |"
    )


def setting(row: Mapping[str, str]) -> str:
    """A row's setting, with its scope and flags."""
    return "; ".join(filter(None, [row["setting"], row["scope"], row["flags"]]))


def details(row: Mapping[str, str]) -> str:
    """The interval that decides, its independent draws, and the nulls, as text."""
    draws = f"{row['draws']} draws" if row["draws"] not in ("", "exact") else row["draws"]
    null = f"null: {row['null']}" if row["null"] else ""
    return "; ".join(filter(None, [row["interval"], draws, null]))


def read_rows(folder: Path) -> tuple[dict[str, str], ...]:
    """The rows of an output folder's ledger; those of older versions have no scope or interval."""
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
        isinstance(row, dict)
        and all(isinstance(row.get(name), str) for name in _ROW)
        and all(isinstance(row.get(name, ""), str) for name in _NEW)
        for row in rows
    )
    if not good or any(row["verdict"] not in VERDICTS for row in rows):
        raise BadInput(f"{path} is not a ledger of learnscope; remove it to have it anew.")
    return tuple(
        {name: row[name] for name in _ROW} | {name: row.get(name, "") for name in _NEW}
        for row in rows
    )
