"""The live page: move a slider, and the experiment is trained anew."""

import time
from typing import Any

import numpy as np
import xarray as xr
from dash import ALL, MATCH, ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from learnscope import theory
from learnscope.errors import BadInput
from learnscope.lab import Experiment
from learnscope.views.explorer import export
from learnscope.views.explorer.catalogue import DEFAULT, presets
from learnscope.views.explorer.controls import controls
from learnscope.views.explorer.plots import curves
from learnscope.views.explorer.site import Site, graph, heading, message
from learnscope.views.explorer.state import State as Shown
from learnscope.views.explorer.weights import pictures

_ABOUT = (
    "Move a slider: the experiment is trained anew, in as few coordinates as it takes. Lines are "
    "medians over seeds, bands hold 10 to 90 %; dashed lines are the theory's times."
)
_FRAME_MS = 120  # of playing


def layout(site: Site, search: str) -> html.Div:
    """The page at an address; a bad one is told, and the first preset shown."""
    trouble = None
    try:
        shown = Shown.parse(search)
    except BadInput as error:
        shown, trouble = Shown.of(DEFAULT), message(f"This link cannot be shown: {error}")
    options = [{"label": f"{p.name}: {p.title}", "value": p.name} for p in presets().values()]
    picker = dcc.Dropdown(options, shown.start, id="preset", clearable=False, searchable=False)
    every = shown.experiment.record.every
    last = -(-shown.experiment.steps // every)
    at = last if shown.step is None else min(last, shown.step // every)
    return html.Div(
        [
            heading("Live", _ABOUT),
            html.Div(trouble, id="trouble"),
            html.Div(
                [
                    html.Aside(
                        [
                            html.Label([html.Span("Start from"), picker], className="slot"),
                            html.Div(controls(shown), id="controls"),
                            _exports(),
                        ],
                        **{"aria-label": "Settings"},
                    ),
                    html.Section(
                        [
                            html.P("", id="status", role="status"),
                            graph("curves", figure=_empty()),
                            _player(at, last),
                            html.Div(
                                [
                                    html.Div(
                                        [
                                            html.H2("Weights"),
                                            html.P("", id="weights-text"),
                                            graph("weights", figure=_empty()),
                                        ],
                                        className="half",
                                    ),
                                    html.Div(id="theory", className="half"),
                                ],
                                className="row",
                            ),
                        ],
                        className="results",
                    ),
                ],
                className="columns",
            ),
            *[dcc.Store(name) for name in ("asked", "answered", "frames")],
        ]
    )


def _player(at: int, last: int) -> html.Div:
    return html.Div(
        [
            html.Button("Play", id="play", type="button"),
            html.Label(
                [
                    html.Span("step"),
                    dcc.Input(id="at", type="range", min=0, max=last, step=1, value=at),
                ]
            ),
            html.Output("", id="at-text"),
            dcc.Interval("tick", interval=_FRAME_MS, disabled=True),
        ],
        className="player",
    )


def _exports() -> html.Div:
    names = {"py": "Python", "toml": "TOML", "pdf": "PDF", "nc": "NetCDF"}
    links = [html.A(names[kind], id=f"export-{kind}", href="#", className="button")
             for kind in export.KINDS]  # fmt: skip
    copy = dcc.Clipboard(id="copy", title="Copy the link to this page")
    return html.Div([html.H2("Take away"), *links, copy], className="exports")


def _empty() -> dict[str, Any]:
    return {"data": [], "layout": {"xaxis": {"visible": False}, "yaxis": {"visible": False},
                                   "height": 300}}  # fmt: skip


def register(app: Dash, site: Site) -> None:
    _register_client(app)

    @app.callback(
        Output("controls", "children"),
        Input("preset", "value"),
        Input({"type": "kind", "slot": ALL}, "value"),
        State({"type": "kind", "slot": ALL}, "id"),
        State("defaults", "data"),
        State("asked", "data"),
        prevent_initial_call=True,
    )
    def changed(start: str, kinds: list[str], ids: list[dict], defaults: dict, asked: dict | None):
        """Other controls, when another part is picked; what the other parts hold stays."""
        if start != defaults["preset"]:
            return controls(Shown.of(start))
        picked = dict(zip((i["slot"] for i in ids), kinds, strict=True))
        new = {slot for slot, kind in picked.items() if kind != defaults["kinds"][slot]}
        if not new:
            return no_update
        words = [f"preset={start}"]
        words += [f"{slot}={kind}" for slot, kind in picked.items()]
        old = (asked or {}).get("query", "").split("&")
        words += [w for w in old if w.partition("=")[0].partition(".")[0] not in (*new, "preset")
                  and w.partition("=")[0] not in picked]  # fmt: skip
        try:
            return controls(Shown.parse("&".join(filter(None, words))))
        except BadInput:  # what was there does not go with what was picked
            only = [f"{slot}={kind}" for slot, kind in picked.items()]
            return controls(Shown.parse("&".join([f"preset={start}", *only])))

    @app.callback(
        Output("curves", "figure"),
        Output("theory", "children"),
        Output("status", "children"),
        Output("trouble", "children"),
        Output("answered", "data"),
        Input("asked", "data"),
        prevent_initial_call=True,
    )
    def answer(asked: dict[str, Any]):
        begun = time.perf_counter()
        done = {"id": asked["id"], "query": asked["query"], "good": False}
        try:
            shown = Shown.parse(asked["query"])
            data = site.trainer.run(shown)
        except BadInput as error:
            return no_update, no_update, "", message(str(error)), done
        experiment = shown.experiment
        times, beside = _theory(experiment)
        figure = curves(data, times, bool(asked.get("dark")))
        words = _status(data, shown, time.perf_counter() - begun)
        trouble = no_update if asked.get("first") else None
        return figure, beside, words, trouble, done | {"good": True}

    @app.callback(Output("frames", "data"), Input("answered", "data"), prevent_initial_call=True)
    def picture(answered: dict[str, Any]):
        if not answered["good"]:
            return no_update
        try:
            return pictures(Shown.parse(answered["query"]), site.trainer)
        except BadInput as error:
            return {"kind": "none", "why": str(error)}


def _register_client(app: Dash) -> None:
    """What needs no server: see `assets/live.js`."""

    def client(name: str, *what: Any, **settings: Any) -> None:
        app.clientside_callback(ClientsideFunction("learnscope", name), *what, **settings)

    client(
        "sync",
        Output({"type": "slider", "path": MATCH}, "value"),
        Output({"type": "field", "path": MATCH}, "value"),
        Input({"type": "slider", "path": MATCH}, "value"),
        Input({"type": "field", "path": MATCH}, "value"),
        State({"type": "scale", "path": MATCH}, "data"),
        prevent_initial_call=True,
    )
    client(
        "ask",
        Output("asked", "data"),
        Input({"type": "field", "path": ALL}, "value"),
        Input("answered", "data"),
        State({"type": "field", "path": ALL}, "id"),
        State("defaults", "data"),
        State("asked", "data"),
    )
    client(
        "look",
        Output("weights", "figure"),
        Output("weights-text", "children"),
        Output("at-text", "children"),
        Input("at", "value"),
        Input("frames", "data"),
        Input("curves", "figure"),
        State("asked", "data"),
    )
    client(
        "range",
        Output("at", "max"),
        Output("at", "value"),
        Input("curves", "figure"),
        Input("tick", "n_intervals"),
        State("at", "value"),
        State("at", "max"),
        prevent_initial_call=True,
    )
    client(
        "play",
        Output("tick", "disabled"),
        Output("play", "children"),
        Input("play", "n_clicks"),
        State("tick", "disabled"),
        prevent_initial_call=True,
    )
    client(
        "links",
        *[Output(f"export-{kind}", "href") for kind in export.KINDS],
        Input("asked", "data"),
        prevent_initial_call=True,
    )
    client("address", Output("copy", "content"), Input("copy", "n_clicks"))


def _theory(experiment: Experiment) -> tuple[dict[str, float], list[Any]]:
    """The theory's times within the run, and its tables; nothing if no theory is about it."""
    try:
        prediction = theory.predict(experiment)
    except BadInput:
        kinds = " x ".join(type(p).__name__ for p in (experiment.data, experiment.net,
                                                      experiment.rule))  # fmt: skip
        return {}, [html.H2("Theory"), html.P(f"No theory here is about {kinds}.")]
    times = {
        name.replace("_", " "): float(value)
        for name, value in prediction.items()
        if ("time" in name or "stage" in name or name.startswith("T"))
        and isinstance(value, int | float)
        and 0 < value < experiment.steps
    }
    rows = [(name.replace("_", " "), _number(value), prediction.meanings.get(name, ""))
            for name, value in prediction.items()]  # fmt: skip
    found = [html.H2("What theory predicts"), _table(("", "value", "meaning"), rows)]
    try:
        checked = theory.conditions(experiment)
    except BadInput:
        return times, found
    rows = [(c.statement, f"{c.left:.3g} {c.relation} {c.right:.3g}", _number(c.margin),
             "holds" if c.holds else "fails") for c in checked]  # fmt: skip
    held = sum(c.holds for c in checked)
    title = f"Its conditions: {held} of {len(checked)} hold"
    return times, [*found, html.H2(title), _table(("condition", "here", "margin", ""), rows)]


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(names: tuple[str, ...], rows: list[tuple[str, ...]]) -> html.Div:
    head = html.Thead(html.Tr([html.Th(name, scope="col") for name in names]))
    body = html.Tbody([html.Tr([html.Td(cell, className=cell if cell in ("holds", "fails") else "")
                                for cell in row]) for row in rows])  # fmt: skip
    return html.Div(html.Table([head, body]), className="scroll")


def _status(data: xr.Dataset, shown: Shown, seconds: float) -> str:
    diverged = int(np.isfinite(data.diverged_at.values).sum())
    seeds = f"{shown.seeds} seed{'s' * (shown.seeds != 1)}"
    told = f"{seeds}, {shown.experiment.steps} steps, {data.attrs['coordinates_used']}"
    told += f" coordinates: {1000 * seconds:.0f} ms."
    return told + (f" {diverged} of {seeds} diverged." if diverged else "")
