"""The controls of a stored sweep, and the facts that keep them consistent."""

import itertools
from typing import Any

import numpy as np
from dash import dcc, html

from learnscope.figures.diagram import label
from learnscope.views.explorer.site import labelled, named
from learnscope.views.explorer.sweeps.reading import Opened
from learnscope.views.explorer.sweeps.side import texts_of
from learnscope.views.explorer.sweeps.state import LARGEST, MEAN, NONE, Chosen

_MOST_COMPONENTS = 200  # to choose from


def controls(opened: Opened, chosen: Chosen) -> html.Div:
    """All controls, with the chosen values."""
    values, dims = chosen.values(), opened.dims
    names = {name: str(opened.data[name].attrs.get("long_name", name)) for name in opened.variables}
    variables = [{"label": text if text == name else f"{name}: {text}", "value": name}
                 for name, text in names.items()]  # fmt: skip
    fields = {dim: label(opened.data, dim) for dim in dims}
    axes = [{"label": text, "value": dim} for dim, text in fields.items()]
    nothing = {"label": "nothing: a curve over x", "value": NONE}
    rows = [
        _row("of", "Variable", variables, values["of"]),
        _row("x", "x", axes, values["x"]),
        _row("y", "y", [*axes, nothing], values["y"]),
        _row("part", "Component", _parts(opened.own(chosen.of)), values["part"],
             hidden=not opened.own(chosen.of)),
    ]  # fmt: skip
    for dim in dims:
        listed = [{"label": f"mean over {dim}", "value": MEAN}]
        listed += [{"label": text, "value": str(i + 1)}
                   for i, text in enumerate(texts_of(opened.data, dim))]  # fmt: skip
        hidden = dim in chosen.shown or opened.finished.sizes[dim] == 1
        rows.append(_row(f"at.{dim}", fields[dim], listed, values[f"at.{dim}"], hidden=hidden))
    steps = opened.data.sizes["step"]
    sliders = [_slider("step", "after step", steps, chosen.step, hidden=steps == 1)]
    for name, place in (("cell-x", 0), ("cell-y", 1)):
        dim = (chosen.x, chosen.y)[place]
        size = 1 if dim is None else opened.finished.sizes[dim]
        sliders.append(_slider(name, f"cell, {name[-1]}", size, chosen.cell[place], dim is None))
    return html.Div([html.Div(rows, className="choices"), html.Div(sliders, className="sliders")],
                    className="sweep-controls", role="group",
                    **named("What the map shows"))  # fmt: skip


def facts(opened: Opened, chosen: Chosen) -> dict[str, Any]:
    """Texts of the axes, components of the variables, and the first value of each control."""
    return {
        "id": opened.stored.name,
        "first": Chosen.first(opened).values(),
        "steps": np.asarray(opened.data.step.values).tolist(),
        "texts": {dim: texts_of(opened.data, dim) for dim in opened.dims},
        "parts": {name: _parts(opened.own(name)) for name in opened.variables},
        "x": chosen.x, "y": chosen.y or NONE,
    }  # fmt: skip


def _parts(own: dict[str, int]) -> list[dict[str, str]]:
    """The components of a variable to choose from."""
    if not own:
        return [{"label": LARGEST, "value": LARGEST}]
    name = ", ".join(own)
    places = itertools.islice(np.ndindex(*own.values()), _MOST_COMPONENTS)
    texts = [",".join(str(i + 1) for i in place) for place in places]
    return [{"label": f"largest over {name}", "value": LARGEST},
            *({"label": f"{name} {text}", "value": text} for text in texts)]  # fmt: skip


def _row(name: str, text: str, options: list, value: str, hidden: bool = False) -> html.Label:
    if value not in [option["value"] for option in options]:  # a component that is not listed
        options = [*options, {"label": value, "value": value}]
    picker = dcc.Dropdown(options, value, id={"type": "choose", "name": name}, clearable=False,
                          searchable=len(options) > 12)  # fmt: skip
    return labelled(text, picker, id={"type": "choose-row", "name": name}, hidden=hidden)


def _slider(name: str, text: str, size: int, value: int, hidden: bool = False) -> html.Label:
    bar = dcc.Input(id={"type": "choose", "name": name}, type="range", min=0, max=size - 1, step=1,
                    value=value)  # fmt: skip
    inside = [html.Span(text), bar, html.Output("", id=f"{name}-text")]
    return html.Label(inside, id={"type": "choose-row", "name": name}, hidden=hidden)
