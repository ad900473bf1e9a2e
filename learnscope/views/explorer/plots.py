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
_COLUMNS, _PANEL_HEIGHT = 3, 250
_MOST_COMPONENTS = 6  # of a variable, to be drawn one by one
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
            lines = tuple(line for name in there for line in _lines(data[name]))
            found.append(Panel(title, lines))
            names = [name for name in names if name not in there]
    return found + [Panel(_text(data[name]), _lines(data[name])) for name in names]


def _text(values: xr.DataArray) -> str:
    return str(values.attrs.get("long_name", values.name))


def _lines(values: xr.DataArray) -> tuple[Line, ...]:
    """A variable as it is, component by component if there are few, else by its largest."""
    values = values.transpose("seed", "step", ...)
    array = np.asarray(values.values, float).reshape(*values.shape[:2], -1)
    name = _text(values)
    if values.ndim == 2:
        return (Line(name, array[..., 0]),)
    if array.shape[-1] <= _MOST_COMPONENTS:
        places = np.ndindex(*values.shape[2:])
        return tuple(
            Line(f"{name} {', '.join(str(i + 1) for i in place)}", array[..., k])
            for k, place in enumerate(places)
        )
    return (Line(f"{name}, largest", largest(array)),)


def largest(array: np.ndarray) -> np.ndarray:
    """The entry of largest size on the last axis, with its sign.

    >>> largest(np.array([[1.0, -3.0, np.nan], [2.0, 0.0, 1.0]]))
    array([-3.,  2.])
    """
    sizes = np.where(np.isnan(array), -1.0, np.abs(array))
    return np.take_along_axis(array, sizes.argmax(-1)[..., None], -1)[..., 0]


def curves(
    data: xr.Dataset, times: dict[str, float], dark: bool = False, columns: int = _COLUMNS
) -> dict[str, Any]:
    """Every panel: the median over seeds, a band from 10 to 90 %, and the theory's times."""
    drawn = panels(data)
    steps = np.asarray(data.step.values)
    rows = math.ceil(len(drawn) / columns)
    traces: list[dict[str, Any]] = []
    layout = base_layout(dark) | {"height": _PANEL_HEIGHT * rows + 40, "annotations": [],
                                  "uirevision": "same", "meta": {"steps": steps.tolist()}}  # fmt: skip
    for i, panel in enumerate(drawn):
        row, column = divmod(i, columns)
        number = "" if i == 0 else str(i + 1)
        left, bottom = column / columns + 0.035, 1 - (row + 1) / rows + 0.2 / rows
        right, top = (column + 1) / columns - 0.015, 1 - row / rows - 0.13 / rows
        lowest, highest = math.inf, -math.inf
        for k, line in enumerate(panel.lines):
            found = quantiles(line.values)
            if found is not None:
                lowest, highest = min(lowest, found.min()), max(highest, found.max())
            traces += band(line, found, steps, COLOURS[k % len(COLOURS)], number)
        log = lowest > 0 and highest > _WIDE * lowest
        last_row = i + columns >= len(drawn)
        layout[f"xaxis{number}"] = {"domain": [left, right], "anchor": f"y{number}",
                                    "title": {"text": "step"} if last_row else None}  # fmt: skip
        layout[f"yaxis{number}"] = {"domain": [bottom, top], "anchor": f"x{number}",
                                    "type": "log" if log else "linear",
                                    "exponentformat": "power"}  # fmt: skip
        if log:
            layout[f"yaxis{number}"] |= {"dtick": 1 if highest < 1e6 * lowest else None}
        layout["annotations"].append(_title(panel.title, (left + right) / 2, top))
        layout[f"legend{number}"] = {
            "x": left, "y": top, "xanchor": "left", "yanchor": "top", "font": {"size": 10},
            "bgcolor": "rgba(20,20,20,.6)" if dark else "rgba(255,255,255,.65)",
        }  # fmt: skip
    layout["shapes"] = _marks(times, steps, len(drawn), dark)
    return {"data": traces, "layout": layout}


def quantiles(values: np.ndarray) -> np.ndarray | None:
    """Quantiles over the seeds that are finite (rows: 10, 50, 90 %), at steps where any is."""
    finite = np.isfinite(values)
    there = finite.any(0)
    if not there.any():
        return None
    masked = np.where(finite, values, np.nan)[:, there]
    return np.nanquantile(masked, [0.1, 0.5, 0.9], axis=0)


def band(
    line: Line, found: np.ndarray | None, steps: np.ndarray, colour: str, number: str
) -> list[dict[str, Any]]:
    """A line's median and band, from its quantiles, in the panel of that number."""
    if found is None:
        found = np.full((3, 0), np.nan)
    at = steps[np.isfinite(line.values).any(0)][: found.shape[1]]
    where = {"xaxis": f"x{number}", "yaxis": f"y{number}", "legend": f"legend{number}"}
    low, middle, high = found
    shared = where | {"type": "scatter", "mode": "lines", "legendgroup": line.name}
    band = shared | {
        "x": np.concatenate([at, at[::-1]]).tolist(),
        "y": _rounded(np.concatenate([low, high[::-1]])),
        "fill": "toself", "fillcolor": _faint(colour), "line": {"width": 0},
        "hoverinfo": "skip", "showlegend": False,
    }  # fmt: skip
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


def _title(text: str, x: float, y: float) -> dict[str, Any]:
    return {"text": text, "x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "center",
            "yanchor": "bottom", "showarrow": False, "font": {"size": 13}}  # fmt: skip


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
        for name, time in times.items():
            found.append(where | {
                "x0": time, "x1": time, "line": {"color": colour, "width": 1, "dash": "dash"},
                "label": {"text": name if i == 0 else "", "font": {"size": 9, "color": colour},
                          "textangle": -90, "textposition": "start"},
            })  # fmt: skip
    return found


def base_layout(dark: bool) -> dict[str, Any]:
    """Colours and margins of every plot."""
    text, grid = ("#e6e6e6", "#3d3d3d") if dark else ("#222222", "#dddddd")
    axis = {"gridcolor": grid, "zerolinecolor": grid, "linecolor": grid, "automargin": False}
    return {
        "font": {"color": text, "size": 12, "family": "system-ui, sans-serif"},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 30, "r": 10, "t": 30, "b": 40},
        "template": {"layout": {"xaxis": axis, "yaxis": axis}},
        "hovermode": "x",
    }  # fmt: skip
