"""The ledger page: the claims of all studies, with links to figures and live experiments."""

import dataclasses
from typing import Any

import flask
from dash import ClientsideFunction, Dash, Input, Output, dcc, html

from learnscope.errors import BadInput, unknown
from learnscope.evidence.artefacts import head
from learnscope.papers import STUDIES, get
from learnscope.views.explorer.ledger.rows import (
    ALL_VERDICTS,
    NOT_HERE,
    Head,
    contents,
    live_addresses,
    table,
)
from learnscope.views.explorer.live.state import fields
from learnscope.views.explorer.site import Site, heading, labelled, message, named
from learnscope.views.report.contents import pictures
from learnscope.views.report.page import MARKS

_ABOUT = (
    "What papers claim and report, the verdicts that come with learnscope, and those measured "
    "here. Figures open on this page. A live experiment has the arm and the values that "
    "a claim's check selects."
)
_FILTERS = ("study", "verdict", "text")
_ALL = "all"


def layout(site: Site, search: str, study: str = "") -> html.Div:
    """The page at an address; of one study, if it is named."""
    shown, trouble = contents(site.out)
    troubles = [message(trouble)] if trouble else []
    try:
        held = _parse(search)
        if study:
            held["study"] = get(study).name
            rows = tuple(row for row in shown.rows if row["study"] == study)
            shown = dataclasses.replace(shown, rows=rows)
    except BadInput as error:
        held, study = dict.fromkeys(_FILTERS, ""), ""
        troubles.append(message(f"This link cannot be shown: {error}"))
    counts = {v: sum(row["judged"] == v for row in shown.rows) for v in ALL_VERDICTS}
    here = sum(row["verdict"] not in ("not run", NOT_HERE) for row in shown.rows)
    judged = [row | {"verdict": "not run" if row["judged"] == NOT_HERE else row["judged"]}
              for row in shown.rows]  # fmt: skip
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    studies = _choice("ledger-study", {s.name: f"{s.name}: {s.title}" for s in STUDIES.values()},
                      held["study"])  # fmt: skip
    verdict = _choice("ledger-verdict", {v: f"{v} ({n})" for v, n in counts.items()},
                      held["verdict"])  # fmt: skip
    text = dcc.Input(held["text"], id="ledger-text", type="text", placeholder="words of a claim")
    controls = [labelled("Study", studies, hidden=bool(study)),
                labelled("Verdict", verdict), labelled("Text", text),
                html.Output("", id="ledger-shown", role="status")]  # fmt: skip
    return html.Div(
        [
            *(_of_study(Head.of(study, shown)) if study else [heading("Ledger", _ABOUT)]),
            *troubles,
            html.P([f"{head(judged)} {len(judged)} claims: {summary}. ", *_whose(here, trouble)]),
            html.Div(controls, className="filters", role="search"),
            html.Div(id="ledger-table", className="scroll"),
            html.Dialog(id="ledger-figure", **named("Figure")),
            dcc.Store("ledger-rows", data=table(shown)),
        ]
    )


def _whose(here: int, trouble: str | None) -> list[Any]:
    """Whose verdicts these are."""
    if here:
        return [f"{here} verdicts are those of this machine, the others are the published ones."]
    published = "These are the published verdicts"
    if trouble:
        return [f"{published}."]
    return [f"{published}; ", html.Code("learnscope verify"), " measures them on this machine."]


def _of_study(shown: Head) -> list[Any]:
    """A study's own head: title, citation, links, and a bar of verdicts."""
    study, counts = shown.study, shown.verdicts
    links: list[Any] = [dcc.Link("All studies", href="/ledger")]
    links += [dcc.Link(f"Live: {each.title}", href=f"/?preset={each.name}")
              for each in study.presets()]  # fmt: skip
    if study.link:
        links.insert(0, html.A("The paper", href=study.link, target="_blank", rel="noopener"))
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    parts = [html.Span(f"{MARKS.get(verdict, '·')} {count}", title=f"{count} {verdict}",
                       className=verdict.replace(" ", "-"), style={"flexGrow": count})
             for verdict, count in counts.items()]  # fmt: skip
    bar = html.Div(parts, className="verdicts", role="img", **named(words))
    return [heading(study.title, shown.cited), html.P(links, className="links"), bar]


def _choice(id: str, options: dict[str, str], chosen: str) -> dcc.Dropdown:
    listed = [{"label": _ALL, "value": _ALL}]
    listed += [{"label": text, "value": value} for value, text in options.items()]
    return dcc.Dropdown(listed, chosen or _ALL, id=id, clearable=False, searchable=False)


def _parse(search: str) -> dict[str, str]:
    """The filters of an address."""
    given = fields(search)
    for name in given:
        if name not in _FILTERS:
            raise unknown("field of an address", name, _FILTERS)
    held = {name: given.get(name, "") for name in _FILTERS}
    for name, allowed in (("study", STUDIES), ("verdict", ALL_VERDICTS)):
        if held[name] and held[name] not in allowed:
            raise unknown(name, held[name], allowed)
    return held


def register(app: Dash, site: Site) -> None:
    filters = [Input(f"ledger-{name}", "value") for name in _FILTERS]
    show = ClientsideFunction("ledger", "show"), Output("ledger-shown", "children")
    app.clientside_callback(*show, Input("ledger-rows", "data"), filters)

    @app.server.route("/figure/<study>/<name>.png")
    def figure(study: str, name: str) -> flask.Response:
        """A figure of the output folder, by its name in the study."""
        drawn = {p.name: p.file for p in pictures(get(study), site.out / get(study).name)}
        if name not in drawn:
            raise unknown(f"figure of {study} in the output folder", name, drawn)
        return flask.send_file(drawn[name].resolve(), mimetype="image/png")

    @app.server.route("/ledger/live/<study>.json")
    def live(study: str) -> flask.Response:
        return flask.jsonify(live_addresses(get(study).name))
