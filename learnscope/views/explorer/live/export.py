"""Downloads: the experiment, the figure, the data."""

import tempfile
import threading
from pathlib import Path

import flask
import xarray as xr
from dash import Dash

from learnscope.errors import unknown
from learnscope.evidence.output import Output
from learnscope.figures.curves import probe_curves
from learnscope.views.explorer.live.state import State
from learnscope.views.explorer.site import Site

KINDS = {"py": "text/x-python", "toml": "application/toml", "pdf": "application/pdf",
         "nc": "application/x-netcdf"}  # fmt: skip
_drawing = threading.Lock()  # matplotlib draws one figure at a time


def register(app: Dash, site: Site) -> None:
    @app.server.route("/export/live.<kind>")
    def exported(kind: str) -> flask.Response:
        if kind not in KINDS:
            raise unknown("kind of file", kind, KINDS)
        state = State.parse(flask.request.query_string.decode("ascii", "replace"))
        name = f"learnscope-{state.start}.{kind}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return flask.Response(_content(kind, state, site), mimetype=KINDS[kind], headers=headers)


def _content(kind: str, state: State, site: Site) -> bytes:
    if kind == "py":
        return python_text(state).encode()
    if kind == "toml":
        return f"seeds = {state.seeds}\n{state.watched.to_toml()}".encode()
    return as_file(kind, site.trainer.run(state.watched, state.seeds))


def python_text(state: State) -> str:
    """A script that runs the same experiment."""
    return (
        "import learnscope as ls\n\n"
        f"experiment = {state.watched.to_python()}\n"
        f"result = ls.run(experiment, seeds={state.seeds})\n"
        "result.learnscope.curves()\n"
    )


def as_file(kind: str, data: xr.Dataset) -> bytes:
    """A dataset as NetCDF, or its curves as PDF."""
    with tempfile.TemporaryDirectory() as folder:
        output = Output(folder)
        if kind == "nc":
            return output.dataset("data", data).read_bytes()
        with _drawing:
            paths = output.figure("figure", probe_curves(data))
        return next(Path(path) for path in paths if path.suffix == ".pdf").read_bytes()
