"""The live page: move a slider, and the experiment is trained again.

Dash lays the page out; then `assets/live.js` asks the server three questions and draws the answers
with Plotly itself, since Dash's own callbacks would take longer than training.
"""

import functools
import time
from collections.abc import Callable

import flask
import numpy as np
import xarray as xr
from dash import ClientsideFunction, Dash, Input, Output, dcc, html

from learnscope.errors import BadInput
from learnscope.views.explorer.live import export
from learnscope.views.explorer.live.catalogue import SLOTS, choices, preset
from learnscope.views.explorer.live.controls import controls
from learnscope.views.explorer.live.state import State
from learnscope.views.explorer.live.theory import Theory
from learnscope.views.explorer.live.training import MOST_DIM
from learnscope.views.explorer.live.weights import pictures
from learnscope.views.explorer.plots import curves
from learnscope.views.explorer.site import Site, graph, message, named

_ABOUT = (
    "Lines are medians over seeds; bands hold 10 to 90\u00a0%. Vertical dotted lines are times "
    "that theory predicts; horizontal ones are rounding errors."
)
_PAGE = "X-Page"  # header of the page's own requests
_NAMES = {"py": "Python", "toml": "TOML", "pdf": "PDF", "nc": "NetCDF"}


def layout(site: Site, search: str) -> html.Div:
    """The page at an address. A bad address is reported, and the first preset shown."""
    trouble = None
    try:
        state = State.parse(search)
    except BadInput as error:
        state, trouble = State.parse(""), message(f"This link cannot be shown: {error}")
    links = [html.A(_NAMES[kind], id=f"export-{kind}", href="#", className="button")
             for kind in export.KINDS]  # fmt: skip
    copy = html.Button("Copy link", id="copy", type="button")
    inside = [html.Div(id="controls"), html.H2("Take away"), html.Div([*links, copy]),
              html.P("Point at a control to read what it is.", id="help")]  # fmt: skip
    settings = html.Aside(inside, id="sheet", **named("Settings"))
    toggle = html.Button("Settings", id="sheet-toggle", type="button")
    play = html.Button("Play", id="play", type="button")
    step = [html.Label(id="at-label"), html.Output("", id="at-text")]
    tour = html.Button("Tour", id="tour", type="button", hidden=True)
    pin = html.Button("Pin this run", id="pin", type="button")
    track = html.Div(html.Div(id="bar"), className="track")
    weights = [html.H2("Weights"), html.P("", id="weights-text"), html.Div(id="weights")]
    below = [html.Div(weights, className="half"), html.Div(id="theory", className="half")]
    results = html.Section(
        [
            html.P("", id="guide", role="status"),
            html.P("", id="verdict", role="status"),
            html.Div([pin, tour, html.P("", id="pinned", role="status")], className="pinning"),
            html.Div([track, html.P("Loading the page.", id="waited")], id="progress"),
            html.P("", id="warning", role="status"),
            html.Div([html.Div(id="curves"), html.Div(id="legends")], id="over", className="over"),
            html.Div([play, *step], className="player"),
            html.P("", id="status"),
            html.P(_ABOUT, className="aside"),
            html.Div(below, className="row"),
        ],
        id="results",
        className="results",
    )
    return html.Div(
        [
            html.H1("Live", className="unseen"),
            html.Div(id="presets", role="group", **named("Start from")),
            html.Div(id="about"),
            html.Div(trouble, id="trouble"),
            html.Div(html.Div(id="refusal", role="alert"), id="refusals"),
            html.Div([settings, results], className="columns"),
            toggle,
            dcc.Store("start", data=controls(state)),
            dcc.Store("started"),
            html.Div(graph("unseen", figure={}), hidden=True),  # makes Dash load Plotly
        ],
        className="live",
    )


def register(app: Dash, site: Site) -> None:
    client = ClientsideFunction("learnscope", "live")
    app.clientside_callback(client, Output("started", "data"), Input("start", "data"))

    @app.server.route("/live/controls")
    @_refusing
    def shown_controls() -> flask.Response:
        return flask.jsonify(controls(_asked()))

    @app.server.route("/live/kinds")
    @_refusing
    def kinds() -> flask.Response:
        state = _asked()
        return flask.jsonify({slot: choices(state.start, slot, state.experiment) for slot in SLOTS})

    @app.server.route("/live/answer")
    @_refusing
    def answer() -> flask.Response:
        begun = time.perf_counter()
        state = _asked()
        data = site.trainer.run(state.watched, state.seeds)
        theory = Theory.of(state.experiment)
        status = _status(data, state, theory.times, time.perf_counter() - begun)
        watched = [type(probe).__name__ for probe in state.watched.probes]
        return flask.jsonify(
            **curves(data, theory.times), theory=theory.tables(), watched=watched, status=status,
            warning=_warning(data), verdict=theory.verdict(preset(state.start), data),
            settings=state.settings(), most_dim=data.encoding[MOST_DIM],
        )  # fmt: skip

    @app.server.route("/live/weights")
    @_refusing
    def weights() -> flask.Response:
        return flask.jsonify(pictures(_asked(), site.trainer))


def _refusing(answer: Callable[[], flask.Response]) -> Callable[[], flask.Response]:
    """Send refusals to the page as ordinary answers: browsers log other codes as errors."""

    @functools.wraps(answer)
    def answered() -> flask.Response:
        try:
            return answer()
        except BadInput as error:
            if _PAGE not in flask.request.headers:
                raise
            return flask.jsonify({"refusal": str(error)})

    return answered


def _asked() -> State:
    return State.parse(flask.request.query_string.decode("ascii", "replace"))


def _status(data: xr.Dataset, state: State, times: dict[str, float], seconds: float) -> str:
    seeds = f"{state.seeds} seed{'s' * (state.seeds != 1)}"
    run = f"{seeds}, {state.experiment.steps} steps, {data.attrs['coordinates_used']} coordinates"
    dotted = ", ".join(f"{name} {value:.0f}" for name, value in times.items())
    took = f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
    return f"{run}: {took}." + (f" Dotted: {dotted}." if times else "")


def _warning(data: xr.Dataset) -> str:
    """How many runs diverged, if any did."""
    at = data.diverged_at.values[np.isfinite(data.diverged_at.values)]
    if not at.size:
        return ""
    diverged = f"{at.size} of {data.sizes['seed']} runs diverged, the first at step {at.min():.0f}"
    lower = "Lower the rate, the weight, or the noise, whose squared norm grows with the dimension."
    return f"{diverged}: curves end there. {lower}"
