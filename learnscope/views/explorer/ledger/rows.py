"""The rows of the ledger page: every claim of every study, with what was measured here."""

import dataclasses
import functools
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from learnscope.errors import BadInput
from learnscope.evidence import VERDICTS, Arm, Claim, Finding, FunctionSweep, Study, Sweep, Verb
from learnscope.evidence.artefacts import details, setting
from learnscope.evidence.ledger import FOUND, Entry
from learnscope.lab import Experiment
from learnscope.papers import STUDIES, get
from learnscope.part.template import filled
from learnscope.views.explorer.live.state import nearest
from learnscope.views.report.contents import Contents, Part, pictures, read_rows
from learnscope.views.report.page import MARKS

NOT_HERE = "not run here"
# A wheel holds the published ledger beside this module, a checkout in docs/.
_PUBLISHED = (Path(__file__).parent / "published", Path(__file__).parents[4] / "docs")
ALL_VERDICTS = (*VERDICTS, NOT_HERE)


@functools.cache
def published() -> dict[tuple[str, str], dict[str, str]]:
    """The published rows, by study and claim; none in an installation without them."""
    folder = next((f for f in _PUBLISHED if (f / "ledger.json").is_file()), None)
    rows = read_rows(folder) if folder else ()
    return {(row["study"], row["id"]): row for row in rows}


def contents(folder: Path) -> tuple[Contents, str | None]:
    """All claims, with the folder's figures; and a problem of the folder's ledger, if any. That
    there is none, as before the first `learnscope verify`, is no problem."""
    trouble, measured = None, {}
    if (folder / "ledger.json").exists():
        try:
            measured = {(row["study"], row["id"]): row for row in read_rows(folder)}
        except BadInput as error:
            trouble = str(error)
    rows = tuple(_row(study.name, claim, measured.pop((study.name, claim.id), None))
                 for study in STUDIES.values() for claim in study.claims)  # fmt: skip
    if measured:
        trouble = (f"{len(measured)} rows of {folder / 'ledger.json'} are of claims that are not "
                   "listed any more; `learnscope verify` writes it again.")  # fmt: skip
    parts = tuple(Part(s, pictures(s, folder / s.name), ()) for s in STUDIES.values())
    return Contents(folder, rows, parts), trouble


def _row(study: str, claim: Claim, measured: dict[str, str] | None) -> dict[str, str]:
    """A claim as it is now, with what was measured here, and what was published. It is `judged` by
    what was measured here, if anything was, or else by what was published."""
    row = Entry(study, claim, Finding("", "not run", claim.reason)).to_dict()
    if measured is not None:
        row |= {name: measured[name] for name in FOUND}
    elif claim.check is not None:
        row["verdict"] = NOT_HERE
    known = published().get((study, claim.id), {})
    open_here = row["verdict"] in ("not run", NOT_HERE)
    judged = known.get("verdict", row["verdict"]) if open_here else row["verdict"]
    return row | {
        "needs": " ".join(claim.needs), "judged": judged, "published": known.get("verdict", ""),
        "published_found": known.get("measured", "") or known.get("why", ""),
        "published_at": ", ".join(filter(None, (known.get("date"), known.get("commit")))),
    }  # fmt: skip


def table(shown: Contents) -> str:
    """All rows as HTML, which browsers draw faster than Dash components."""
    return filled(__package__, "table.html", contents=shown, details=details, marks=MARKS,
                  setting=setting, studies=STUDIES)  # fmt: skip


@functools.cache
def live_addresses(name: str) -> dict[str, str]:
    """The live page's address of every claim of a study, by its id, if a page can run the
    experiment that it is about: the arm and the values that its check selects."""
    study = get(name)
    sweeps, known, found = study.sweeps("laptop"), {}, {}
    for claim in study.claims:
        for experiment in (_about(claim, sweeps[need]) for need in claim.needs):
            if experiment is not None:
                text = experiment.to_toml()
                if text not in known:
                    known[text] = nearest(experiment)
                if known[text] is not None:
                    found.setdefault(claim.id, "/?" + known[text].query())
    return found


def _about(claim: Claim, sweep: Any) -> Experiment | None:
    """The experiment of a sweep that a claim is about: of the first arm that its check names, with
    the values that it selects on axes; else of the first arm, before anything is swept."""
    if isinstance(sweep, FunctionSweep):
        return None
    if not isinstance(sweep, Sweep):
        return sweep.experiment
    said = claim.check.text if isinstance(claim.check, Verb) else ""
    arm = _first_named(sweep.arms, said) or _first_named(sweep.arms, claim.statement)
    arm = arm or sweep.arms[0]
    experiment = arm.experiment
    for axis in arm.axes:
        chosen = re.search(rf", {re.escape(axis.dim)} = ([^\s,;)]+)", said)
        for path, value in _selected(arm, axis, chosen[1] if chosen else "").items():
            experiment = experiment.replace(path, value)
    return experiment


def _first_named(arms: tuple[Arm, ...], said: str) -> Arm | None:
    """The arm that a text names first, if it names any; of two at one place, the longer name."""
    at = {arm.label: re.search(rf"(?<!\w){re.escape(arm.label)}(?!\w)", said) for arm in arms}
    named = [arm for arm in arms if arm.label and at[arm.label]]
    return min(named, key=lambda arm: (at[arm.label].start(), -len(arm.label)), default=None)  # type: ignore[union-attr]


def _selected(arm: Arm, axis: Any, text: str) -> Mapping[str, Any]:
    """The fields of an axis where its label is what a text says; none if nowhere."""
    labels = arm.names.get(axis.dim) or axis.labels(next(iter(axis.fields)))
    for label, values in zip(labels, axis.settings(), strict=True):
        try:
            if math.isclose(float(label), float(text), rel_tol=1e-4):
                return values
        except (TypeError, ValueError):
            if str(label) == text:
                return values
    return {}


@dataclasses.dataclass(frozen=True)
class Head:
    """What a study's own page begins with."""

    study: Study
    verdicts: Mapping[str, int]

    @staticmethod
    def of(name: str, shown: Contents) -> "Head":
        judged = [row["judged"] for row in shown.rows if row["study"] == name]
        counted = {verdict: judged.count(verdict) for verdict in ALL_VERDICTS}
        return Head(get(name), {verdict: n for verdict, n in counted.items() if n})

    @property
    def cited(self) -> str:
        """Authors, year and title; the address stands beside it."""
        return re.sub(r"\[?\*(.*?)\*(\]\(.*?\))?$", r"\1", self.study.reference)
