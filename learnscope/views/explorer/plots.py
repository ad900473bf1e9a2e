"""Plots as plain dictionaries for Plotly, which are quicker to build than its own objects."""

import dataclasses
import math
from typing import Any

import numpy as np
import xarray as xr

from learnscope.figures.style import COLOURS
from learnscope.views.explorer.live.catalogue import presets

_QUANTITIES = ("loss", "accuracy")  # variables with the same last word share a panel
_MOST_COLUMNS = 3
# Pixels of a panel: title, line of the legend, gap, plot, space below.
_TITLE, _LEGEND, _GAP, _PLOT, _BELOW, _MARGIN = 22, 18, 8, 190, 56, 14
_MOST_COMPONENTS = 6  # most components of a variable with a line each
_BAND = (0.1, 0.5, 0.9)
_WIDE = 1e3  # a range beyond which an axis is logarithmic


@dataclasses.dataclass(frozen=True)
class Curve:
    """A quantity against the step, one row per seed."""

    name: str
    values: np.ndarray


@dataclasses.dataclass(frozen=True)
class Panel:
    title: str
    lines: tuple[Curve, ...]


def panels(data: xr.Dataset) -> list[Panel]:
    """The panels of a dataset of one setting, without histograms and matrices."""
    together: dict[str, list[xr.DataArray]] = {}
    floors = {values.attrs.get("floor") for values in data.data_vars.values()}
    for name, values in data.drop_vars(floors & set(data.data_vars)).data_vars.items():
        dims = [str(dim) for dim in values.dims]
        if "step" in dims and not any(d.endswith("bin") or d.startswith("other_") for d in dims):
            together.setdefault(_panel_of(str(name)) or str(name), []).append(values)
    drawn = []
    for several in together.values():
        most = _MOST_COMPONENTS if len(several) == 1 else 1
        title = _panel_of(str(several[0].name)) or _text(several[0])
        drawn.append(Panel(title, tuple(line for one in several for line in _lines(one, most))))
    return drawn


def _panel_of(name: str) -> str | None:
    """The title of the panel that a variable shares with others, as presets or its name say."""
    for preset in presets().values():
        for title, names in preset.panels.items():
            if name in names:
                return title
    return next((word for word in _QUANTITIES if name.split("_")[-1] == word), None)


def _text(values: xr.DataArray) -> str:
    return str(values.attrs.get("long_name", values.name))


def _lines(values: xr.DataArray, most: int) -> tuple[Curve, ...]:
    """The lines of a variable: one per component if there are few, else its largest component."""
    values = values.transpose("seed", "step", ...)
    array = np.asarray(values.values, float).reshape(*values.shape[:2], -1)
    name = _text(values)
    if values.ndim == 2:
        return (Curve(name, array[..., 0]),)
    if array.shape[-1] <= most:
        places = [", ".join(str(i + 1) for i in place) for place in np.ndindex(*values.shape[2:])]
        return tuple(Curve(f"{name} {p}", array[..., k]) for k, p in enumerate(places))
    return (Curve(f"{name}, largest", largest(array)),)


def largest(array: np.ndarray) -> np.ndarray:
    """The entry of largest size along the last axis: signed if no such entry is positive, else its
    size, since a sign would jump between seeds and steps.

    >>> largest(np.array([[1.0, -3.0, np.nan], [2.0, 0.0, 1.0]]))
    array([3., 2.])
    >>> largest(np.array([[-1.0, -3.0, np.nan], [-2.0, 0.0, -1.0]]))
    array([-3., -2.])
    """
    sizes = np.where(np.isnan(array), -1.0, np.abs(array))
    entries = np.take_along_axis(array, sizes.argmax(-1)[..., None], -1)[..., 0]
    return entries if (entries[np.isfinite(entries)] <= 0).all() else np.abs(entries)


def curves(
    data: xr.Dataset, times: dict[str, float], dark: bool = False, most: int = _MOST_COLUMNS
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figure (medians over seeds, 10 to 90 % bands, predicted times) with at most `most` panels
    side by side; then titles and legends for the page to overlay, which is faster than Plotly's
    own."""
    drawn = panels(data)
    steps = np.asarray(data.step.values)
    traces: list[dict[str, Any]] = []
    layout = base_layout(dark) | {"uirevision": "same", "hovermode": "x", "showlegend": False}
    layout["meta"] = {"steps": steps.tolist()}
    places, layout["height"] = _places([len(p.lines) for p in drawn], most)
    titles = []
    for i, (panel, place) in enumerate(zip(drawn, places, strict=True)):
        number = "" if i == 0 else str(i + 1)
        lowest, highest = math.inf, -math.inf
        for k, line in enumerate(panel.lines):
            limits = quantiles(line.values)
            if limits is not None:
                lowest, highest = min(lowest, limits.min()), max(highest, limits.max())
            traces += band(line, limits, steps, COLOURS[k % len(COLOURS)], number)
        log = lowest > 0 and highest > _WIDE * lowest
        layout[f"xaxis{number}"] = {"domain": place.across, "anchor": f"y{number}",
                                    "title": {"text": "step", "standoff": 4}}  # fmt: skip
        layout[f"yaxis{number}"] = {"domain": place.up, "anchor": f"x{number}",
                                    "type": "log" if log else "linear",
                                    "exponentformat": "power", "nticks": 6}  # fmt: skip
        titles.append(_title(panel, place))
    layout["shapes"] = _marks(times, steps, len(drawn), dark)
    return {"data": traces, "layout": layout}, titles


def _title(panel: Panel, place: "_Place") -> dict[str, Any]:
    """A panel's title, and the name of each colour."""
    names = [line.name for line in panel.lines]
    keys = [] if names == [panel.title] else [
        {"name": name, "colour": COLOURS[k % len(COLOURS)]} for k, name in enumerate(names)
    ]  # fmt: skip
    left, right = place.across
    return {"title": panel.title, "keys": keys, "left": f"{100 * left:.2f}%",
            "top": f"{place.top:.0f}px", "width": f"{100 * (right - left):.2f}%"}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class _Place:
    """The place of a panel's plot, in fractions of the figure, and of its title, in pixels."""

    across: tuple[float, float]
    up: tuple[float, float]
    top: float


def _places(lines: list[int], most: int) -> tuple[list[_Place], int]:
    """The places of all panels, with legends above the plots, and the figure's height."""
    columns = min(most, 2 if len(lines) in (2, 4) else len(lines))
    rows = [lines[i : i + columns] for i in range(0, len(lines), columns)]
    above = [_TITLE + _LEGEND * max(row) + _GAP for row in rows]
    total = sum(above) + (_PLOT + _BELOW) * len(rows)
    left = 0.1 if most == 1 else 0.04  # room for an axis's numbers, as a fraction
    places, top = [], 0.0
    for row, height in zip(rows, above, strict=True):
        plot = top + height
        for column in range(len(row)):
            places.append(_Place(
                (column / columns + left, (column + 1) / columns - 0.015),
                (1 - (plot + _PLOT) / total, 1 - plot / total),
                top + _MARGIN / 2,
            ))  # fmt: skip
        top = plot + _PLOT + _BELOW
    return places, total + _MARGIN


def quantiles(values: np.ndarray) -> np.ndarray | None:
    """Quantiles (10, 50, 90 %) over finite seeds, at the steps that have any."""
    finite = np.isfinite(values)
    there = finite.any(0)
    if not there.any():
        return None
    kept = values[:, there]
    if finite.all():
        return np.quantile(kept, _BAND, axis=0)
    return np.nanquantile(np.where(finite[:, there], kept, np.nan), _BAND, axis=0)


def band(
    line: Curve, limits: np.ndarray | None, steps: np.ndarray, colour: str, number: str
) -> list[dict[str, Any]]:
    """The median and the band of a line in a numbered panel, from its quantiles."""
    if limits is None:
        limits = np.full((3, 0), np.nan)
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    at = steps[np.isfinite(line.values).any(0)][: limits.shape[1]]
    low, middle, high = limits
    shared = {"xaxis": f"x{number}", "yaxis": f"y{number}", "type": "scatter", "mode": "lines"}
    band = shared | {
        "x": np.concatenate([at, at[::-1]]).tolist(), "fill": "toself",
        "y": _rounded(np.concatenate([low, high[::-1]])), "line": {"width": 0},
        "fillcolor": f"rgba({red},{green},{blue},0.2)", "hoverinfo": "skip",
    }  # fmt: skip
    if len(at) == 1:  # a run that diverges at once: draw a marker, not a line
        shared["mode"] = "markers"
    median = shared | {"x": at.tolist(), "y": _rounded(middle), "name": line.name,
                       "line": {"color": colour, "width": 2}}  # fmt: skip
    return [band, median]


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.5g}") for value in values]


def _marks(
    times: dict[str, float], steps: np.ndarray, count: int, dark: bool
) -> list[dict[str, Any]]:
    """In every panel, a line at the current step and dashed ones at predicted times."""
    colour = "#cccccc" if dark else "#555555"
    marks = []
    for i in range(count):
        number = "" if i == 0 else str(i + 1)
        axes = {"xref": f"x{number}", "yref": f"y{number} domain"}
        where = axes | {"type": "line", "y0": 0, "y1": 1}
        look, last = {"color": colour, "width": 1}, float(steps[-1])
        marks.append(where | {"x0": last, "x1": last, "name": "now", "line": look})
        marks += [where | {"x0": time, "x1": time, "line": look | {"dash": "dash"}}
                  for time in times.values()]  # fmt: skip
    return marks


def base_layout(dark: bool) -> dict[str, Any]:
    """Colours and margins of every plot."""
    text, grid = ("#e6e6e6", "#3d3d3d") if dark else ("#222222", "#dddddd")
    axis = {"gridcolor": grid, "zerolinecolor": grid, "linecolor": grid, "automargin": False}
    return {
        "font": {"color": text, "size": 12, "family": "system-ui, sans-serif"},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 8, "r": 8, "t": _MARGIN, "b": 0},
        "template": {"layout": {"xaxis": axis, "yaxis": axis}},
    }  # fmt: skip
