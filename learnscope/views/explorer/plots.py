"""Plots of the explorer, as plain tables that Plotly draws: building them takes no time."""

import dataclasses
import math
from typing import Any

import numpy as np
import xarray as xr

from learnscope.studies.drawing import COLOURS

# Variables that race share a panel; every other one has a panel of its own.
_TOGETHER = (
    ("signal and noise", ("signal_learning", "noise_memorisation")),
    ("features and noise learnt", ("shared_feature", "task_feature", "training_noise",
                                   "validation_noise")),
    ("what a logit is made of", ("explicit_own", "explicit_other", "implicit_own",
                                 "implicit_other")),
    ("components of the weights", ("relevant_component", "background_component")),
    ("loss", ("loss", "test_loss", "adapted_test_loss", "pair_loss", "population_loss")),
    ("accuracy", ("train_accuracy", "test_accuracy", "adapted_test_accuracy")),
    ("decomposition", ("gamma", "rho_bar", "rho_underbar")),
    ("cosine to the truth", ("cosine_max", "cosine_mean", "cosine_median")),
    ("active neurons", ("active_share", "active_share_least")),
)  # fmt: skip
# Histograms and matrices, which a curve does not tell.
_LEFT_OUT = {"diverged_at", "noise_gram", "correlation", "correlation_share", "cosine_share",
             "head", "population_correlation"}  # fmt: skip
_MOST_COLUMNS = 3
# Pixels of a panel: its title, a line of its legend, a gap, the plot, and what
# stands below it.
_TITLE, _LEGEND, _GAP, _PLOT, _BELOW, _MARGIN = 22, 18, 8, 190, 56, 14
_MOST_COMPONENTS = 6  # of a variable, to be drawn one by one
_BAND = (0.1, 0.5, 0.9)
_WIDE = 1e3  # a range beyond which an axis is logarithmic


@dataclasses.dataclass(frozen=True)
class Line:
    """A quantity against the step, a row a seed."""

    name: str
    values: np.ndarray


@dataclasses.dataclass(frozen=True)
class Panel:
    title: str
    lines: tuple[Line, ...]


def panels(data: xr.Dataset) -> list[Panel]:
    """What is drawn of a dataset of one setting: dims `seed` and `step`, and a variable's own."""
    names = [str(n) for n in data.data_vars if "step" in data[n].dims and n not in _LEFT_OUT]
    found = []
    for title, wanted in _TOGETHER:
        there = [name for name in wanted if name in names]
        if there:
            most = _MOST_COMPONENTS if len(there) == 1 else 1
            lines = tuple(line for name in there for line in _lines(data[name], most))
            found.append(Panel(title, lines))
            names = [name for name in names if name not in there]
    return found + [Panel(_text(data[n]), _lines(data[n], _MOST_COMPONENTS)) for n in names]


def _text(values: xr.DataArray) -> str:
    return str(values.attrs.get("long_name", values.name))


def _lines(values: xr.DataArray, most: int) -> tuple[Line, ...]:
    """A variable as it is, component by component if they are few, else by its largest."""
    values = values.transpose("seed", "step", ...)
    array = np.asarray(values.values, float).reshape(*values.shape[:2], -1)
    name = _text(values)
    if values.ndim == 2:
        return (Line(name, array[..., 0]),)
    if array.shape[-1] <= most:
        places = np.ndindex(*values.shape[2:])
        return tuple(
            Line(f"{name} {', '.join(str(i + 1) for i in place)}", array[..., k])
            for k, place in enumerate(places)
        )
    return (Line(f"{name}, largest", largest(array)),)


def largest(array: np.ndarray) -> np.ndarray:
    """The size of the largest entry on the last axis; with its sign, where all that are found share
    one: else the sign jumps between seeds and steps.

    >>> largest(np.array([[1.0, -3.0, np.nan], [2.0, 0.0, 1.0]]))
    array([3., 2.])
    >>> largest(np.array([[-1.0, -3.0, np.nan], [-2.0, 0.0, -1.0]]))
    array([-3., -2.])
    """
    sizes = np.where(np.isnan(array), -1.0, np.abs(array))
    found = np.take_along_axis(array, sizes.argmax(-1)[..., None], -1)[..., 0]
    return found if (found[np.isfinite(found)] <= 0).all() else np.abs(found)


def curves(
    data: xr.Dataset, times: dict[str, float], dark: bool = False, most: int = _MOST_COLUMNS
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Every panel, at most so many beside each other: the median over seeds, a band from 10 to
    90 %, and the theory's times; and the panels' titles and legends, to be laid over it (Plotly's
    own take longer to draw than curves)."""
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
            found = quantiles(line.values)
            if found is not None:
                lowest, highest = min(lowest, found.min()), max(highest, found.max())
            traces += band(line, found, steps, COLOURS[k % len(COLOURS)], number)
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
    """A panel's title, and what each colour stands for."""
    names = [line.name for line in panel.lines]
    keys = [] if names == [panel.title] else [
        {"name": name, "colour": COLOURS[k % len(COLOURS)]} for k, name in enumerate(names)
    ]  # fmt: skip
    left, right = place.across
    return {"title": panel.title, "keys": keys, "left": f"{100 * left:.2f}%",
            "top": f"{place.top:.0f}px", "width": f"{100 * (right - left):.2f}%"}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where a panel's plot is, in shares of the figure, and where its title, in pixels."""

    across: tuple[float, float]
    up: tuple[float, float]
    top: float


def _places(lines: list[int], most: int) -> tuple[list[_Place], int]:
    """A place a panel, legends above plots where nothing is covered; and the figure's height."""
    columns = min(most, 2 if len(lines) in (2, 4) else len(lines))
    rows = [lines[i : i + columns] for i in range(0, len(lines), columns)]
    above = [_TITLE + _LEGEND * max(row) + _GAP for row in rows]
    total = sum(above) + (_PLOT + _BELOW) * len(rows)
    left = 0.1 if most == 1 else 0.04  # room for an axis's numbers, in shares of the width
    found, top = [], 0.0
    for row, height in zip(rows, above, strict=True):
        plot = top + height
        for column in range(len(row)):
            found.append(_Place(
                (column / columns + left, (column + 1) / columns - 0.015),
                (1 - (plot + _PLOT) / total, 1 - plot / total),
                top + _MARGIN / 2,
            ))  # fmt: skip
        top = plot + _PLOT + _BELOW
    return found, total + _MARGIN


def quantiles(values: np.ndarray) -> np.ndarray | None:
    """Quantiles over the seeds that are finite (rows: 10, 50, 90 %), at steps where any is."""
    finite = np.isfinite(values)
    there = finite.any(0)
    if not there.any():
        return None
    kept = values[:, there]
    if finite.all():
        return np.quantile(kept, _BAND, axis=0)
    return np.nanquantile(np.where(finite[:, there], kept, np.nan), _BAND, axis=0)


def band(
    line: Line, found: np.ndarray | None, steps: np.ndarray, colour: str, number: str
) -> list[dict[str, Any]]:
    """A line's median and band, from its quantiles, in the panel of that number."""
    if found is None:
        found = np.full((3, 0), np.nan)
    at = steps[np.isfinite(line.values).any(0)][: found.shape[1]]
    where = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
    low, middle, high = found
    shared = where | {"type": "scatter", "mode": "lines"}
    band = shared | {
        "x": np.concatenate([at, at[::-1]]).tolist(),
        "y": _rounded(np.concatenate([low, high[::-1]])),
        "fill": "toself", "fillcolor": _faint(colour), "line": {"width": 0},
        "hoverinfo": "skip",
    }  # fmt: skip
    if len(at) == 1:  # of a run that diverges at once: no line without a mark
        shared["mode"] = "markers"
    median = shared | {
        "x": at.tolist(), "y": _rounded(middle), "name": line.name,
        "line": {"color": colour, "width": 2},
    }  # fmt: skip
    return [band, median]


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.5g}") for value in values]


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.2)"


def _marks(
    times: dict[str, float], steps: np.ndarray, count: int, dark: bool
) -> list[dict[str, Any]]:
    """In every panel a line at the step that is looked at (moved by the page), and dashed ones at
    the theory's times."""
    colour = "#cccccc" if dark else "#555555"
    found = []
    for i in range(count):
        number = "" if i == 0 else str(i + 1)
        where = {"type": "line", "xref": f"x{number}", "yref": f"y{number} domain",
                 "y0": 0, "y1": 1}  # fmt: skip
        last = float(steps[-1])
        found.append(where | {"x0": last, "x1": last, "name": "now",
                              "line": {"color": colour, "width": 1}})  # fmt: skip
        found += [where | {"x0": time, "x1": time,
                           "line": {"color": colour, "width": 1, "dash": "dash"}}
                  for time in times.values()]  # fmt: skip
    return found


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
