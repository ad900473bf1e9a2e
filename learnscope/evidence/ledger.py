"""The ledger: claims of papers, measurements, and whether the two agree."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from learnscope.errors import BadInput
from learnscope.evidence.artefacts import artefacts, counts, head
from learnscope.evidence.cell import FEWEST
from learnscope.evidence.claim import Claim
from learnscope.evidence.finding import VERDICTS, Finding
from learnscope.evidence.page import page
from learnscope.part import html_table

_ROW = ("study", "id", "where", "setting", "statement", "reported", "measured", "verdict", "why")
Abouts = Mapping[str, tuple[str, str]]  # by study: its title, and its paper as Markdown
FOUND = ("measured", "verdict", "why", "interval", "draws", "null", "power")
MADE = ("date", "commit", "scale", "precision", "seeds", "command", "took")
# Empty in older ledgers.
_NEW = ("scope", "flags", "rates", "needed", "sentence", "survives", "interval", "draws", "null",
        "power", *MADE)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Entry:
    """One row of the ledger; `made` says when, at which commit, and how (`MADE`)."""

    study: str
    claim: Claim
    finding: Finding
    made: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def to_dict(self) -> dict[str, str]:
        claim = self.claim
        return {
            "study": self.study, "id": claim.id, "where": claim.where, "setting": claim.setting,
            "statement": claim.statement, "reported": claim.reported,
            **{name: getattr(self.finding, name) for name in FOUND},
            "scope": claim.scope, "flags": "; ".join(claim.flags), "rates": claim.rates,
            "needed": str(claim.draws), "sentence": claim.sentence,
            "survives": "; ".join(claim.survives),
            **{name: self.made.get(name, "") for name in MADE},
        }  # fmt: skip

    @classmethod
    def from_dict(cls, row: Mapping[str, str]) -> "Entry":
        """The row that `to_dict` wrote; its claim can be shown but not checked again."""
        flags = tuple(filter(None, row["flags"].split("; ")))
        claim = Claim(
            row["id"], row["statement"], row["where"], row["reported"], row["setting"],
            scope=row["scope"], flags=flags, rates=row["rates"],
            draws=int(row["needed"] or FEWEST), sentence=row["sentence"],
            survives=tuple(filter(None, row["survives"].split("; "))),
        )  # fmt: skip
        found = Finding(**{name: row[name] for name in FOUND})
        return cls(row["study"], claim, found, {name: row[name] for name in MADE})

    def beside(self, other: "Entry") -> "Entry":
        """This row, judged again at another precision than an older one in the same setting on the
        same draws: where the verdicts disagree, rounding decides, and the claim is inconclusive."""
        one, two = (entry.made.get("precision", "") for entry in (self, other))
        if not (one and two) or set(one.split(", ")) & set(two.split(", ")):
            return self
        runs = [(entry.claim.setting, entry.made.get("seeds")) for entry in (self, other)]
        if runs[0] != runs[1]:
            return self
        found, before = self.finding, other.finding.verdict
        if before != found.verdict:
            why = f"{two}: {before}, {one}: {found.verdict}"
            found = found.replace(verdict="inconclusive", why=f"rounding decides ({why})")
        made = {**self.made, "precision": f"{two}, {one}"}
        return dataclasses.replace(self, finding=found, made=made)


class Ledger(list[Entry]):
    """Rows in the order of the studies' claims."""

    def count(self, verdict: str) -> int:  # type: ignore[override]
        """The number of claims with a verdict."""
        return sum(entry.finding.verdict == verdict for entry in self)

    def unjudged(self, why: str) -> "Ledger":
        """The same measurements without verdicts, for a reason."""
        found = [entry.finding.replace(verdict="not run", why=why) for entry in self]
        pairs = zip(self, found, strict=True)
        return Ledger(dataclasses.replace(entry, finding=each) for entry, each in pairs)

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
        """The rows, each with a seal by which damage is found."""
        rows = [entry.to_dict() for entry in self]
        sealed = [row | {"seal": _seal(row)} for row in rows]
        return json.dumps(sealed, indent=2, ensure_ascii=False) + "\n"

    def to_markdown(self, about: Abouts | None = None) -> str:
        """The artefacts of every study, counted, with a link to the page of each (`pages`); below,
        the title and the paper of each, if they are given."""
        links = {f"[{study}](papers/{study}.md)": of for study, of in self.artefacts().items()}
        said = head([entry.to_dict() for entry in self])
        lines = ["# Ledger", "", said, "", f"{len(self)} claims: {self.summary()}.", ""]
        there = self.artefacts()
        named = [f"- {name}: {'. '.join(words)}." for name, words in (about or {}).items()
                 if name in there]  # fmt: skip
        return "\n".join([*lines, *counts(links), *(["", *named] if named else []), ""])

    def pages(self, about: Abouts | None = None) -> dict[str, str]:
        """One page per study, as Markdown, with the title and the paper of each under its name."""
        rows = [entry.to_dict() for entry in self]
        studies = dict.fromkeys(row["study"] for row in rows)
        return {
            name: page([row for row in rows if row["study"] == name], *(about or {}).get(name, ()))
            for name in studies
        }


def _seal(row: Mapping[str, str]) -> str:
    text = json.dumps({name: v for name, v in row.items() if name != "seal"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_rows(folder: Path) -> tuple[dict[str, str], ...]:
    """The rows of an output folder's ledger; those of older versions have no scope, interval or
    seal."""
    path = folder / "ledger.json"
    if not path.is_file():
        raise BadInput(
            f"{folder} has no ledger.json: `learnscope verify --out {folder}`, or a run of whole "
            "studies, makes it."
        )
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read: {error}; remove it to start anew.") from None
    good = isinstance(rows, list) and all(
        isinstance(row, dict)
        and all(isinstance(row.get(name), str) for name in _ROW)
        and all(isinstance(row.get(name, ""), str) for name in _NEW)
        for row in rows
    )
    if not good or any(row["verdict"] not in VERDICTS for row in rows):
        raise BadInput(f"{path} is not a ledger of learnscope; remove it to start anew.")
    wrong = [row["id"] for row in rows if row.get("seal") != _seal(row)]
    if wrong and any("seal" in row for row in rows):
        raise BadInput(
            f"{path} is damaged: its row '{wrong[0]}' is not what was written; remove it to start "
            "anew."
        )
    return tuple(
        {name: row[name] for name in _ROW} | {name: row.get(name, "") for name in _NEW}
        for row in rows
    )
