"""The ledger page: the claims of all studies, each leading to its figure and live experiment."""

from typing import Any

import flask
from dash import ClientsideFunction, Dash, Input, Output, dcc, html

from learnscope.errors import BadInput, unknown
from learnscope.studies import STUDIES, get
from learnscope.views.explorer.ledger.rows import ALL_VERDICTS, contents, live_addresses, table
from learnscope.views.explorer.live.state import fields
from learnscope.views.explorer.site import Site, heading, labelled, message, named
from learnscope.views.report.contents import pictures

_ABOUT = (
    "What papers claim, what they report, and what was measured here: the numbers of learnscope "
    "verify. A figure opens on this page; a live experiment is what a claim was checked on, "
    "before anything is swept."
)
_FILTERS = ("study", "verdict", "text")
_ALL = "all"


def layout(site: Site, search: str) -> html.Div:
    """The page at an address."""
    shown, trouble = contents(site.out)
    told = [message(trouble)] if trouble else []
    try:
        held = _parse(search)
    except BadInput as error:
        held = dict.fromkeys(_FILTERS, "")
        told.append(message(f"This link cannot be shown: {error}"))
    counts = {v: sum(row["verdict"] == v for row in shown.rows) for v in ALL_VERDICTS}
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    study = _choice("ledger-study", {s.name: f"{s.name}: {s.title}" for s in STUDIES.values()},
                    held["study"])  # fmt: skip
    verdict = _choice("ledger-verdict", {v: f"{v} ({n})" for v, n in counts.items()},
                      held["verdict"])  # fmt: skip
    text = dcc.Input(held["text"], id="ledger-text", type="text", placeholder="words of a claim")
    return html.Div(
        [
            heading("Ledger", _ABOUT),
            *told,
            html.P(f"{len(shown.rows)} claims: {summary}."),
            html.Div(
                [
                    labelled("Study", study),
                    labelled("Verdict", verdict),
                    labelled("Text", text),
                    html.Output("", id="ledger-shown", role="status"),
                ],
                className="filters",
                role="search",
            ),
            html.Div(id="ledger-table", className="scroll"),
            html.Dialog(id="ledger-figure", **named("Figure")),
            dcc.Store("ledger-rows", data=table(shown)),
        ]
    )


def _choice(id: str, options: dict[str, str], chosen: str) -> dcc.Dropdown:
    listed = [{"label": _ALL, "value": _ALL}]
    listed += [{"label": text, "value": value} for value, text in options.items()]
    return dcc.Dropdown(listed, chosen or _ALL, id=id, clearable=False, searchable=False)


def _parse(search: str) -> dict[str, str]:
    """The filters that an address tells."""
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
    def client(name: str, *what: Any) -> None:
        app.clientside_callback(ClientsideFunction("ledger", name), *what)

    client(
        "show",
        Output("ledger-shown", "children"),
        Input("ledger-rows", "data"),
        Input("ledger-study", "value"),
        Input("ledger-verdict", "value"),
        Input("ledger-text", "value"),
    )

    @app.server.route("/figure/<study>/<name>.png")
    def figure(study: str, name: str) -> flask.Response:
        """A figure that the output folder holds, by a name that the study lists."""
        drawn = {p.name: p.file for p in pictures(get(study), site.out / get(study).name)}
        if name not in drawn:
            raise unknown(f"figure of {study} in the output folder", name, drawn)
        return flask.send_file(drawn[name].resolve(), mimetype="image/png")

    @app.server.route("/ledger/live/<study>.json")
    def live(study: str) -> flask.Response:
        return flask.jsonify(live_addresses(get(study).name))
