"""The live page: move a slider, and the experiment is trained anew."""

import time
from typing import Any

import numpy as np
import xarray as xr
from dash import ALL, MATCH, ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from learnscope.errors import BadInput
from learnscope.views.explorer import export
from learnscope.views.explorer.catalogue import DEFAULT, presets
from learnscope.views.explorer.controls import controls
from learnscope.views.explorer.plots import curves
from learnscope.views.explorer.site import Site, graph, heading, message, named
from learnscope.views.explorer.state import State as Shown
from learnscope.views.explorer.told import tell
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
            html.Div(id="refusal", role="alert"),
            html.Div(
                [
                    html.Aside(
                        [
                            html.Label([html.Span("Start from"), picker], className="slot"),
                            html.Div(controls(shown), id="controls"),
                            _exports(),
                        ],
                        **named("Settings"),
                    ),
                    html.Section(
                        [
                            html.P("", id="status", role="status"),
                            html.Div([html.Div(id="curves"), html.Div(id="legends")], id="over"),
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
    clear = {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "height": 300}
    hidden = {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
    return {"data": [], "layout": clear | hidden}


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

    @app.callback(Output("answered", "data"), Input("asked", "data"), prevent_initial_call=True)
    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        """All that `assets/live.js` draws, in one piece: that is fastest."""
        begun = time.perf_counter()
        done = {"id": asked["id"], "query": asked["query"]}
        try:
            shown = Shown.parse(asked["query"])
            data = site.trainer.run(shown)
        except BadInput as error:
            return done | {"refusal": str(error)}
        told = tell(shown.experiment)
        figure, legends = curves(data, told.times, bool(asked.get("dark")))
        words = _status(data, shown, told.times, time.perf_counter() - begun)
        return done | {"figure": figure, "legends": legends, "theory": told.tables,
                       "status": words}  # fmt: skip

    @app.callback(Output("frames", "data"), Input("answered", "data"), prevent_initial_call=True)
    def picture(answered: dict[str, Any]):
        if "refusal" in answered:
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
        State({"type": "slider", "path": MATCH}, "id"),
        State("defaults", "data"),
        prevent_initial_call=True,
    )
    client(
        "ask",
        Output("asked", "data"),
        Input({"type": "slider", "path": ALL}, "value"),
        Input({"type": "field", "path": ALL}, "value"),
        Input("answered", "data"),
        State({"type": "slider", "path": ALL}, "id"),
        State({"type": "field", "path": ALL}, "id"),
        State("defaults", "data"),
        State("asked", "data"),
    )
    client(
        "draw",
        Output("at", "max"),
        Output("at", "value"),
        Input("answered", "data"),
        Input("tick", "n_intervals"),
        State("at", "value"),
        State("at", "max"),
        prevent_initial_call=True,
    )
    client(
        "look",
        Output("weights", "figure"),
        Output("at-text", "children"),
        Input("at", "value"),
        Input("frames", "data"),
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
    client("address", Output("copy", "content"), Input("copy", "n_clicks"))


def _status(data: xr.Dataset, shown: Shown, times: dict[str, float], seconds: float) -> str:
    diverged = int(np.isfinite(data.diverged_at.values).sum())
    seeds = f"{shown.seeds} seed{'s' * (shown.seeds != 1)}"
    told = f"{seeds}, {shown.experiment.steps} steps, {data.attrs['coordinates_used']}"
    told += f" coordinates: {1000 * seconds:.0f} ms."
    if times:
        dashed = ", ".join(f"{name} {value:.0f}" for name, value in times.items())
        told += f" Dashed: {dashed}."
    return told + (f" {diverged} of {seeds} diverged." if diverged else "")
