"""The sweeps page: stored sweeps as maps over any two axes, and the runs of a cell."""

from typing import Any

import flask
from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, html, no_update

from learnscope.errors import BadInput
from learnscope.views.explorer.live.state import fields
from learnscope.views.explorer.plots import curves
from learnscope.views.explorer.site import Site, heading, message
from learnscope.views.explorer.sweeps.listing import listing, share
from learnscope.views.explorer.sweeps.names import study_names
from learnscope.views.explorer.sweeps.plots import picture
from learnscope.views.explorer.sweeps.reading import Opened
from learnscope.views.explorer.sweeps.section import cell_words, section, status
from learnscope.views.explorer.sweeps.state import Chosen

_ABOUT = (
    "Choose a sweep: a map of any variable over any two axes, with the theory's boundary where "
    "there is one. A click on a cell, or the sliders above the map, show the runs of that cell. "
    "This page never changes the store."
)


def layout(site: Site, search: str) -> html.Div:
    """The page at an address."""
    listed, newest = listing(site)
    return html.Div(
        [
            heading("Sweeps", _ABOUT),
            html.Details([html.Summary("Stored sweeps"), *listed], open=True),
            html.Div(section(site, search, newest), id="sweep"),
        ]
    )


def register(app: Dash, site: Site) -> None:
    _register_client(app)

    @app.server.route("/sweeps/names.json")
    def names() -> flask.Response:
        """The study of every stored sweep whose experiment is one of a study's."""
        stored = [each for each in site.store.all() if not isinstance(each, BadInput)]
        texts = {each.name: str(each.attributes.get("experiment")) for each in stored}
        known = {id: study_names().get(text) for id, text in texts.items()}
        return flask.jsonify({id: name for id, name in known.items() if name})

    later: Any = {"prevent_initial_call": True}

    @app.callback(Output("sweep", "children"), Input("location", "search"),
                  State("location", "pathname"), **later)  # fmt: skip
    def another(search: str | None, path: str):
        if path != "/sweeps":
            return no_update
        return section(site, (search or "").lstrip("?"), None)

    @app.callback(Output("sweep-map", "figure"), Output("sweep-status", "children"),
                  Output("sweep-trouble", "children"), Output("sweep-poll", "disabled"),
                  Input("sweep-asked", "data"), Input("sweep-landed", "data"), **later)  # fmt: skip
    def draw(asked: dict[str, Any] | None, landed: int):
        if asked is None:
            return no_update
        try:
            opened, chosen = _asked(site, asked["query"])
            done = bool(opened.finished.all())
            if chosen.x is None:
                return no_update, status(opened, chosen, None), no_update, done
            figure, counted = picture(opened, chosen, bool(asked.get("dark")))
        except BadInput as error:
            return no_update, "", message(str(error)), no_update
        trouble = no_update if asked.get("first") else None
        return figure, status(opened, chosen, counted), trouble, done

    @app.callback(Output("sweep-runs", "data"), Output("sweep-cell", "children"),
                  Input("cell-asked", "data"), Input("sweep-landed", "data"), **later)  # fmt: skip
    def look(asked: dict[str, Any] | None, landed: int):
        if asked is None:
            return no_update
        try:
            opened, chosen = _asked(site, asked["query"])
            data, too_large = opened.trajectories(chosen.position)
        except BadInput as error:
            return None, message(str(error))
        words = cell_words(opened, chosen, data.sizes["seed"], too_large)
        if not data.sizes["seed"]:
            return None, words
        return curves(data, {}) | {"at": chosen.step}, words

    @app.callback(Output("sweep-landed", "data"), Output({"type": "share", "id": ALL}, "children"),
                  Input("sweep-poll", "n_intervals"), State("sweep-facts", "data"),
                  State("sweep-landed", "data"), **later)  # fmt: skip
    def poll(ticks: int, facts: dict[str, Any], landed: int):
        """Look for new runs: only their marks are read."""
        rows = ctx.outputs_list[1]
        try:
            finished = site.store.stored(Opened.listed(site.store, facts["id"])).finished()
        except BadInput:
            return no_update, [no_update] * len(rows)
        there = int(finished.sum())
        if there == landed:
            return no_update, [no_update] * len(rows)
        words = share(there, finished.size)
        return there, [words if r["id"]["id"] == facts["id"] else no_update for r in rows]


def _register_client(app: Dash) -> None:
    """Callbacks that need no server: see `assets/sweeps.js`."""

    def client(name: str, *what: Any, **settings: Any) -> None:
        app.clientside_callback(ClientsideFunction("sweeps", name), *what, **settings)

    def control(name: str, prop: str = "value") -> tuple[Any, str]:
        return {"type": "choose", "name": name}, prop

    changed = [("x",), ("y",), ("part",), ("part", "options"), ("cell-x",), ("cell-y",),
               ("cell-x", "max"), ("cell-y", "max")]  # fmt: skip
    client("shape", *(Output(*control(*words)) for words in changed),
           Output({"type": "choose-row", "name": ALL}, "hidden"),
           *(Input(*control(name)) for name in ("x", "y", "of")), Input("sweep-map", "clickData"),
           *(State(*control(name)) for name in ("part", "cell-x", "cell-y")),
           State("sweep-facts", "data"), State({"type": "choose-row", "name": ALL}, "id"),
           prevent_initial_call=True)  # fmt: skip
    client("choose", Output("sweep-asked", "data"), Output("cell-asked", "data"),
           Input({"type": "choose", "name": ALL}, "value"), Input("sweep-facts", "data"),
           State({"type": "choose", "name": ALL}, "id"), State("sweep-asked", "data"),
           State("cell-asked", "data"))  # fmt: skip
    client("search", Output("sweep-listed", "children"), Input("sweep-search", "value"))
    client("runs", Output("sweep-curves", "className"), Input("sweep-runs", "data"))
    client("frame", Output("sweep-map", "className"), Input("sweep-map", "figure"),
           Input("cell-asked", "data"))  # fmt: skip


def _asked(site: Site, query: str) -> tuple[Opened, Chosen]:
    given = fields(query)
    opened = Opened.of(site.store, given.pop("id", ""))
    return opened, Chosen.parse(given, opened)
