"""The rows of the ledger page: every claim of every study, with what was measured here."""

import functools
from pathlib import Path

from learnscope.errors import BadInput
from learnscope.evidence import VERDICTS, Claim, Finding, FunctionSweep, Sweep
from learnscope.evidence.artefacts import details, setting
from learnscope.evidence.ledger import FOUND, Entry
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
def live_addresses(study: str) -> dict[str, str]:
    """The live page's address for each sweep of a study whose first experiment it can run."""
    addresses = {}
    for name, sweep in get(study).sweeps("laptop").items():
        first = sweep.arms[0] if isinstance(sweep, Sweep) else sweep
        state = None if isinstance(first, FunctionSweep) else nearest(first.experiment)
        if state is not None:
            addresses[name] = "/?" + state.query()
    return addresses
