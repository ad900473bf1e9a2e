"""The rows of the ledger page: every claim of every study, with what was measured here."""

import functools
from pathlib import Path

from learnscope.errors import BadInput
from learnscope.evidence import VERDICTS, Claim, Finding, FunctionSweep, Sweep
from learnscope.evidence.artefacts import details, setting
from learnscope.evidence.ledger import FOUND, Entry
from learnscope.papers import STUDIES, get
from learnscope.views.explorer.live.state import nearest
from learnscope.views.report.contents import Contents, Part, pictures, read_rows
from learnscope.views.report.page import MARKS
from learnscope.views.template import filled

NOT_HERE = "not run here"
ALL_VERDICTS = (*VERDICTS, NOT_HERE)


def contents(folder: Path) -> tuple[Contents, str | None]:
    """All claims, with the folder's figures; and a problem of the folder's ledger, if any."""
    trouble = None
    try:
        measured = {(row["study"], row["id"]): row for row in read_rows(folder)}
    except BadInput as error:
        measured, trouble = {}, str(error)
    rows = tuple(_row(study.name, claim, measured.pop((study.name, claim.id), None))
                 for study in STUDIES.values() for claim in study.claims)  # fmt: skip
    if measured:
        trouble = (f"{len(measured)} rows of {folder / 'ledger.json'} are of claims that are not "
                   "listed any more; `learnscope verify` writes it again.")  # fmt: skip
    parts = tuple(Part(s, pictures(s, folder / s.name), ()) for s in STUDIES.values())
    return Contents(folder, rows, parts), trouble


def _row(study: str, claim: Claim, measured: dict[str, str] | None) -> dict[str, str]:
    """A claim as it is now, with what was measured here."""
    row = Entry(study, claim, Finding("", "not run", claim.reason)).to_dict()
    if measured is not None:
        row |= {name: measured[name] for name in FOUND}
    elif claim.check is not None:
        row["verdict"] = NOT_HERE
    return row | {"needs": " ".join(claim.needs)}


def table(shown: Contents) -> str:
    """All rows as HTML, which browsers draw faster than Dash components."""
    return filled(__package__, "table.html", contents=shown, details=details, marks=MARKS,
                  setting=setting)  # fmt: skip


@functools.cache
def live_addresses(study: str) -> dict[str, str]:
    """The live page's address for each sweep of a study whose first experiment it can run."""
    addresses = {}
    for name, sweep in get(study).sweeps("laptop").items():
        first = sweep.arms[0] if isinstance(sweep, Sweep) else sweep
        state = None if isinstance(first, FunctionSweep) else nearest(first.experiment)
        if state is not None:
            addresses[name] = "/?" + state.query()
    return addresses
