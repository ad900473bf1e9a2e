"""The rows of the ledger page: every claim of every study, with what was measured here."""

import functools
from html import escape
from pathlib import Path

from learnscope.errors import BadInput
from learnscope.lab.ledger import VERDICTS, Claim
from learnscope.studies import STUDIES, Computed, Line, Sweep, get
from learnscope.views.explorer.live.state import nearest
from learnscope.views.report.contents import Contents, Part, pictures, read_rows
from learnscope.views.report.page import MARKS

NOT_HERE = "not run here"
ALL_VERDICTS = (*VERDICTS, NOT_HERE)


def contents(folder: Path) -> tuple[Contents, str | None]:
    """All claims, in the order of the studies, with the figures that the folder holds; and a word
    on what is wrong with the folder's ledger."""
    trouble = None
    try:
        measured = {(row["study"], row["id"]): row for row in read_rows(folder)}
    except BadInput as error:
        measured, trouble = {}, str(error)
    rows = tuple(_row(study.name, claim, measured.pop((study.name, claim.id), None))
                 for study in STUDIES.values() for claim in study.claims)  # fmt: skip
    if measured:
        trouble = (f"{len(measured)} rows of {folder / 'ledger.json'} are of claims that are not "
                   "listed any more; `learnscope verify` makes it anew.")  # fmt: skip
    parts = tuple(Part(s, pictures(s, folder / s.name), ()) for s in STUDIES.values())
    return Contents(folder, rows, parts), trouble


def _row(study: str, claim: Claim, measured: dict[str, str] | None) -> dict[str, str]:
    if measured is not None:
        found = {name: measured[name] for name in ("measured", "verdict", "why")}
    elif claim.check is None:
        found = {"measured": "", "verdict": "not run", "why": claim.reason}
    else:
        found = {"measured": "", "verdict": NOT_HERE, "why": ""}
    return {"study": study, "id": claim.id, "where": claim.where, "setting": claim.setting,
            "statement": claim.statement, "reported": claim.reported, **found,
            "needs": " ".join(claim.needs)}  # fmt: skip


def table(shown: Contents) -> str:
    """All rows as HTML, which a browser draws at once; everything in it is escaped."""
    names = ("where", "claim", "paper", "here", "verdict", "leads to")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "\n".join(_html(shown, row) for row in shown.rows)
    return f'<table class="ledger"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _html(shown: Contents, row: dict[str, str]) -> str:
    told = {name: escape(value) for name, value in row.items()}
    verdict = told["verdict"]
    why = f'<p class="aside">{told["why"]}</p>' if told["why"] else ""
    drawn = shown.pictures_of(row)
    links = "".join(
        f'<a class="figure" href="/figure/{p.study}/{p.name}.png" title="{escape(p.title)}" '
        f'data-command="learnscope run {p.study}.{p.name}">{escape(p.name)}</a> '
        for p in drawn
    )
    if not drawn:
        links = '<span class="aside">no figure here</span>'
    kind = verdict.replace(" ", "-")
    return (
        f'<tr data-study="{told["study"]}" data-verdict="{verdict}" data-needs="{told["needs"]}">'
        f'<td data-name="where"><strong>{told["study"]}</strong><br>{told["where"]}</td>'
        f'<td data-name="claim">{told["statement"]}<p class="aside">{told["setting"]}</p></td>'
        f'<td data-name="paper">{told["reported"]}</td>'
        f'<td data-name="here">{told["measured"]}{why}</td>'
        f'<td data-name="verdict" class="verdict {kind}">{MARKS.get(verdict, "·")} {verdict}</td>'
        f'<td data-name="leads to">{links}<span class="live"></span></td></tr>'
    )


@functools.cache
def live_addresses(study: str) -> dict[str, str]:
    """The live page's address of every sweep of a study whose first experiment it can run."""
    found = {}
    for name, sweep in get(study).sweeps("laptop").items():
        match sweep:
            case Sweep(arms=(arm, *_)):
                experiment = arm.experiment
            case Line():
                experiment = sweep.experiment
            case Computed():
                continue
            case _:
                continue
        state = nearest(experiment)
        if state is not None:
            found[name] = "/?" + state.query()
    return found
