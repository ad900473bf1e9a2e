"""The words about a cell of a stored sweep, with a link to its experiment on the live page."""

import dataclasses
from typing import Any

from dash import html

from learnscope.errors import BadInput
from learnscope.figures.diagram import label
from learnscope.views.explorer.live.state import MOST_SEEDS, nearest
from learnscope.views.explorer.sweeps.reading import Opened
from learnscope.views.explorer.sweeps.side import texts_of
from learnscope.views.explorer.sweeps.state import Chosen


def cell_words(opened: Opened, chosen: Chosen, runs: int, too_large: list[str]) -> list[Any]:
    """The title of a cell, how many of its runs exist, and a link to run it live."""
    places = chosen.position
    axes = [f"{label(opened.data, dim)} = {texts_of(opened.data, dim)[places[dim]]}"
            for dim in opened.dims if dim in places]  # fmt: skip
    title = f"The cell at {', '.join(axes)}" if axes else "All runs"
    total = int(opened.finished.isel(places).size)
    words = f"{runs} of {total} runs are there" if runs else "not run yet"
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


def legends(titles: list[dict[str, Any]]) -> list[html.Div]:
    """The titles and legends of `plots.curves`, laid over it."""
    return [
        html.Div(
            [
                html.B(panel["title"]),
                *(html.Span([html.I(style={"background": key["colour"]}), key["name"]])
                  for key in panel["keys"]),
            ],
            className="legend",
            style={name: panel[name] for name in ("left", "top", "width")},
        )
        for panel in titles
    ]  # fmt: skip
