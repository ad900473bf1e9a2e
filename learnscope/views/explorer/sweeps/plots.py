"""Plots of a stored sweep: a variable over two axes as a map, over one as a curve."""

import dataclasses
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.figures.diagram import theory_line
from learnscope.figures.style import COLOURS, quantiles
from learnscope.views.explorer.plots import rounded
from learnscope.views.explorer.sweeps.reading import Opened
from learnscope.views.explorer.sweeps.side import Side
from learnscope.views.explorer.sweeps.state import Chosen

_MOST_CELLS = 250_000
_WIDE = 1e3  # a range of values beyond which colours are logarithmic
_HEIGHT = 460


@dataclasses.dataclass(frozen=True)
class Counted:
    """The number of cells, of blank cells (no run yet), and of runs without a finite value."""

    cells: int
    blank: int
    infinite: int


def picture(opened: Opened, chosen: Chosen, dark: bool) -> tuple[dict[str, Any], Counted]:
    """The chosen map or curve."""
    shown = chosen.shown
    cells = int(np.prod([opened.finished.sizes[dim] for dim in shown]))
    if cells > _MOST_CELLS:
        raise BadInput(f"a map of {cells} cells is too large for a page: at most {_MOST_CELLS}.")
    at = chosen.others | {"step": chosen.step}
    values, there = opened.cells(chosen.of, at, shown, chosen.part)
    finite = there & np.isfinite(values)
    blank = ~there.any("run")
    counted = Counted(cells, int(blank.sum()), int((there & ~finite).sum()))
    draw = _map if chosen.y is not None else _curve
    return draw(opened, chosen, values.where(finite), there, dark), counted


def mean(values: xr.DataArray) -> xr.DataArray:
    """The mean over finite runs; NaN where there are none."""
    count = values.notnull().sum("run")
    return values.sum("run") / count.where(count > 0)


def text_of(opened: Opened, chosen: Chosen) -> str:
    """The chosen variable, in words."""
    attributes = opened.data[chosen.of].attrs
    text = str(attributes.get("long_name", chosen.of))
    unit = str(attributes.get("units", "1"))
    if opened.own(chosen.of):
        text += (", largest component" if chosen.part is None
                 else f", component {', '.join(str(i + 1) for i in chosen.part)}")  # fmt: skip
    return text + (f" ({unit})" if unit not in ("1", "") else "")


def _map(
    opened: Opened, chosen: Chosen, values: xr.DataArray, there: xr.DataArray, dark: bool
) -> dict[str, Any]:
    assert chosen.x is not None and chosen.y is not None
    sides = x, y = [Side.of(opened.data, dim) for dim in (chosen.x, chosen.y)]
    table, count = mean(values).values, there.sum("run").values
    runs = there.sizes["run"]
    good = table[np.isfinite(table)]
    log = bool(good.size and good.min() > 0 and good.max() > _WIDE * good.min())
    text = text_of(opened, chosen)
    bar: dict[str, Any] = {"title": {"text": text, "side": "right"}, "exponentformat": "power"}
    if log:
        powers = np.arange(np.floor(np.log10(good.min())), np.ceil(np.log10(good.max())) + 1)
        powers = powers[:: -(-len(powers) // 12)]
        bar |= {"tickvals": powers.tolist(), "ticktext": [f"10<sup>{p:.0f}</sup>" for p in powers]}
    heat = {
        "type": "heatmap", "x": x.edges.tolist(), "y": y.edges.tolist(),
        "z": _numbers(np.log10(table, where=np.isfinite(table) & log, out=table.copy())),
        "text": _hover(x, y, table, count, runs), "hoverinfo": "text", "colorscale": "Viridis",
        "colorbar": bar, "name": text,
    }  # fmt: skip
    traces: list[dict[str, Any]] = [heat]
    line = _theory(opened, chosen) if "place" not in (x.kind, y.kind) else None
    if line is not None:
        ends = {"type": "scatter", "mode": "lines", "x": _numbers(line[0]), "y": _numbers(line[1]),
                "hoverinfo": "skip"}  # fmt: skip
        traces += [
            ends | {"line": {"color": "white", "width": 5}, "showlegend": False},
            ends | {"line": {"color": COLOURS[3], "width": 2.5}, "name": "theory, constant 1"},
        ]
    i, j = chosen.cell
    layout = _look(dark) | {
        "xaxis": sides[0].layout(), "yaxis": sides[1].layout(), "height": _HEIGHT,
        "hovermode": "closest", "plot_bgcolor": "#2b2f36" if dark else "#e4e6ea",
        "shapes": _frame(x.edges, i, y.edges, j),
        "meta": {"x": x.edges.tolist(), "y": y.edges.tolist()},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "margin": {"l": 60, "r": 10, "t": 36, "b": 50}, "uirevision": f"{chosen.x} {chosen.y}",
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _hover(x: Side, y: Side, table: np.ndarray, count: np.ndarray, runs: int) -> list[list[str]]:
    def words(i: int, j: int) -> str:
        place = f"{x.title} = {x.texts[j]}<br>{y.title} = {y.texts[i]}<br>"
        if not count[i, j]:
            return place + "not run yet"
        several = f", mean of {count[i, j]} of {runs} runs" if runs > 1 else ""
        value = f"{table[i, j]:.5g}" if np.isfinite(table[i, j]) else "not finite"
        return place + value + several

    return [[words(i, j) for j in range(table.shape[1])] for i in range(table.shape[0])]


def _frame(x: np.ndarray, i: int, y: np.ndarray, j: int) -> list[dict[str, Any]]:
    """A frame around the chosen cell, visible on any colour; the page moves it."""
    where = {"name": "cell", "type": "rect", "x0": float(x[i]), "x1": float(x[i + 1]),
             "y0": float(y[j]), "y1": float(y[j + 1])}  # fmt: skip
    return [where | {"line": {"color": colour, "width": width}}
            for colour, width in (("black", 5), ("white", 2))]  # fmt: skip


def _curve(
    opened: Opened, chosen: Chosen, values: xr.DataArray, there: xr.DataArray, dark: bool
) -> dict[str, Any]:
    assert chosen.x is not None
    side, text = Side.of(opened.data, chosen.x), text_of(opened, chosen)
    array = np.asarray(values.transpose("run", chosen.x).values, float)
    low, middle, high = limits = quantiles(array)
    drawn = np.isfinite(middle)
    at = side.at[drawn]
    shared = {"type": "scatter", "line": {"color": COLOURS[0], "width": 2}}
    ends = np.concatenate([low[drawn], high[drawn][::-1]])
    traces = [
        {"type": "scatter", "mode": "lines", "fill": "toself", "fillcolor": COLOURS[0] + "33",
         "x": np.concatenate([at, at[::-1]]).tolist(), "y": rounded(ends), "line": {"width": 0},
         "hoverinfo": "skip"},
        shared | {"mode": "lines+markers", "x": at.tolist(), "y": rounded(middle[drawn]),
                  "name": text, "marker": {"size": 8},
                  "customdata": np.flatnonzero(drawn).tolist()},  # positions of the values
    ]  # fmt: skip
    here_at = float(side.at[chosen.cell[0]])
    here = {"name": "cell", "type": "line", "line": {"color": COLOURS[3], "width": 2},
            "x0": here_at, "x1": here_at, "y0": 0, "y1": 1, "yref": "paper"}  # fmt: skip
    known = limits[:, drawn]
    log = bool(known.size) and known.min() > 0 and known.max() > _WIDE * known.min()
    layout = _look(dark) | {
        "xaxis": side.layout() | {"showgrid": True}, "height": _HEIGHT, "hovermode": "closest",
        "yaxis": {"title": {"text": text, "standoff": 10}, "type": "log" if log else "linear",
                  "automargin": True, "exponentformat": "power"},
        "showlegend": False, "shapes": [here],
        "meta": {"x": side.at.tolist(), "y": None},
        "margin": {"l": 60, "r": 10, "t": 20, "b": 50}, "uirevision": chosen.x,
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _look(dark: bool) -> dict[str, Any]:
    """The colours of style.css."""
    text, grid = ("#e9eaec", "#2c323b") if dark else ("#1a1d21", "#e3e5e9")
    axis = {"gridcolor": grid, "zerolinecolor": grid, "linecolor": grid, "automargin": False}
    return {
        "font": {"color": text, "size": 12, "family": "system-ui, sans-serif"},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "template": {"layout": {"xaxis": axis, "yaxis": axis}},
    }  # fmt: skip


def _theory(opened: Opened, chosen: Chosen) -> tuple[np.ndarray, np.ndarray] | None:
    """The theory's boundary in the plane of the map, if every other axis has one value there."""
    assert chosen.x is not None and chosen.y is not None
    if "seed" in chosen.shown or set(chosen.averaged) - {"seed"}:
        return None
    try:
        text = opened.experiment(chosen.others).to_toml()
    except BadInput:  # it holds code, or another version stored it
        return None
    return theory_line(opened.data, {"experiment": text}, chosen.x, chosen.y)


def _numbers(values: np.ndarray) -> list[Any]:
    """Numbers for JSON, with None for those that are not finite."""
    numbers = np.asarray(values, float)
    rounded = np.char.mod("%.6g", numbers.ravel()).astype(float).reshape(numbers.shape)
    listed = rounded.astype(object)
    listed[~np.isfinite(rounded)] = None
    return listed.tolist()
