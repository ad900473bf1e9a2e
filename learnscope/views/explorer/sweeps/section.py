"""One stored sweep on the sweeps page: its definition, its controls, and the words of a cell."""

import dataclasses
from typing import Any

import numpy as np
from dash import dcc, html

from learnscope.errors import BadInput
from learnscope.figures.diagram import label
from learnscope.views.explorer.live.state import MOST_SEEDS, fields, nearest
from learnscope.views.explorer.site import Site, graph, message
from learnscope.views.explorer.sweeps.controls import controls, facts
from learnscope.views.explorer.sweeps.listing import share
from learnscope.views.explorer.sweeps.plots import Counted, text_of
from learnscope.views.explorer.sweeps.reading import Opened
from learnscope.views.explorer.sweeps.side import texts_of
from learnscope.views.explorer.sweeps.state import Chosen

_POLL_MS = 2000


def section(site: Site, search: str, newest: str | None) -> list[Any]:
    """The sweep that the address names, or the newest; errors become messages."""
    try:
        given = fields(search)
        name = given.pop("id", newest)
        if name is None:
            return []
        opened = Opened.of(site.store, name, check=True)
    except BadInput as error:
        return [message(f"This link cannot be shown: {error}" if search else str(error))]
    trouble = None
    try:
        chosen = Chosen.parse(given, opened)
    except BadInput as error:
        chosen, trouble = Chosen.first(opened), message(f"This link cannot be shown: {error}")
    has_map = chosen.x is not None
    there = int(opened.finished.sum())
    return [
        html.H2(f"Sweep {name}"),
        _definition(opened),
        html.Div(trouble, id="sweep-trouble"),
        controls(opened, chosen) if has_map else None,
        html.P("", id="sweep-status", role="status"),
        html.Div(graph("sweep-map", figure=_empty()), hidden=not has_map),
        html.Div(id="sweep-cell", role="status"),
        html.Div([html.Div(), html.Div()], id="sweep-curves", className="over", hidden=True),
        dcc.Store("sweep-facts", data=facts(opened, chosen)),
        dcc.Store("sweep-asked"),
        dcc.Store("cell-asked"),
        dcc.Store("sweep-runs"),
        dcc.Store("sweep-landed", data=there),
        dcc.Interval("sweep-poll", interval=_POLL_MS, disabled=there == opened.finished.size),
    ]  # fmt: skip


def _definition(opened: Opened) -> html.Div:
    """The experiment and its axes, in words."""
    axes = []
    for dim in opened.axes:
        values = opened.data[dim].values
        ends = f"{len(values)}: {values[0]} to {values[-1]}"
        listed = ends if len(values) > 3 else ", ".join(map(str, values))
        axes.append(f"{opened.data[dim].attrs.get('field', dim)} ({listed})")
    seeds = opened.finished.sizes["seed"]
    steps = opened.data.step.values
    words = f"{seeds} seed{'s' * (seeds != 1)}, {int(steps[-1])} steps"
    words = f"Over {' x '.join(axes)}; {words}." if axes else f"No axes; {words}."
    text = str(opened.data.attrs["experiment"])
    return html.Div([html.P(words), html.Details([html.Summary("Experiment"), html.Pre(text)])])


def _empty() -> dict[str, Any]:
    """No plot yet."""
    blank, clear = {"visible": False}, "rgba(0,0,0,0)"
    return {"data": [], "layout": {"xaxis": blank, "yaxis": blank, "height": 200,
                                   "paper_bgcolor": clear, "plot_bgcolor": clear}}  # fmt: skip


def status(opened: Opened, chosen: Chosen, counted: Counted | None) -> str:
    """What the map shows, and how many of its runs exist."""
    finished = opened.finished
    there, total = int(finished.sum()), finished.size
    text = f"{share(there, total).capitalize()} runs are done."
    if counted is None:
        return text
    means = ", ".join(chosen.averaged)
    how = "mean" if chosen.y is not None else "median and 10 to 90 %"
    over = f", {how} over {means}" if means else ""
    step = int(np.asarray(opened.data.step.values)[chosen.step])
    after = f" after step {step}" if "step" in opened.data[chosen.of].dims else ""
    text = f"{text_of(opened, chosen)}{after}{over}. {text}"
    if counted.blank:
        cells = "cell is" if counted.blank == 1 else "cells are"
        text += f" {counted.blank} of {counted.cells} {cells} blank: not run yet."
    if counted.infinite:
        runs = "run" if counted.infinite == 1 else "runs"
        without = "did not diverge" if chosen.of == "diverged_at" else "without a finite value"
        text += f" {counted.infinite} {runs} {without}."
    return text[:1].upper() + text[1:]


def cell_words(opened: Opened, chosen: Chosen, runs: int, too_large: list[str]) -> list[Any]:
    """The title of a cell, how many of its runs exist, and a link to run it live."""
    places = chosen.position
    axes = [f"{label(opened.data, dim)} = {texts_of(opened.data, dim)[places[dim]]}"
            for dim in opened.dims if dim in places]  # fmt: skip
    title = f"The cell at {', '.join(axes)}" if axes else "All runs"
    total = int(opened.finished.isel(places).size)
    words = f"{runs} of {total} runs are done" if runs else "not run yet"
    if runs > 1:
        words += ": medians, and bands from 10 to 90 %"
    sentences = [f"{words[:1].upper()}{words[1:]}."]
    if too_large:
        sentences.append(f"Too large to be drawn here: {', '.join(too_large)}.")
    return [html.H2(title), html.P([" ".join(sentences), " ", _live(opened, chosen)])]


def _live(opened: Opened, chosen: Chosen) -> Any:
    averaged = [dim for dim in chosen.averaged if dim != "seed"]
    if averaged:
        return f"Choose a value of {', '.join(averaged)} to run it live."
    try:
        state = nearest(opened.experiment(chosen.position))
    except BadInput:  # it holds code, or was stored by another version
        state = None
    if state is None:
        return "It cannot be run on the live page."
    seeds = min(opened.finished.sizes["seed"], MOST_SEEDS)
    query = dataclasses.replace(state, seeds=seeds).query()
    return html.A("Run it live", href="/?" + query, id="cell-live")
