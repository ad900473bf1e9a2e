"""A figure for any sweep: every probe against the step."""

import itertools
import math
import textwrap
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from learnscope.errors import BadInput, unknown
from learnscope.figures.style import (
    columns_of,
    curves,
    floor_line,
    headline,
    label_lines,
    legend_below,
    style,
)
from learnscope.figures.words import is_number, place, selected, swept, text, variable

_MOST_LINES = 6
_MOST_PANELS = 4  # of a variable
_LONGEST_LABEL = 32  # letters beside a panel
_NARROWEST = 5.8  # inches
_MOST_ENDS = 3  # in a heading; of more, the first and the last
_FEW_SEEDS = 4  # percentiles of which say less than the runs themselves
_WIDE = 1e3  # a range beyond which an axis is logarithmic


def probe_curves(data: xr.Dataset, hue: str | None = None) -> Figure:
    """Every recorded variable against the step: a line for each setting, the median over its seeds
    with a band from the 10th to the 90th percentile, or, of at most four seeds, every run.

    If there are too many settings to distinguish their lines, the first axis has lines and the
    others have panels side by side. If an axis has too many values, only some are shown, and the
    title says so. Variables with dims of their own (a filter's, a sample's) are shown by their
    maximum.

    With `hue`, the lines are the values of that axis and have their names. If one axis has lines,
    the heading says where the first variable ends; a test variable comes before others.
    """
    axes = [dim for dim in swept(data) if data.sizes[dim] > 1]
    data = data.isel({dim: 0 for dim in swept(data) if dim not in axes})
    floors = {str(name): data[name].attrs.get("floor") for name in data.data_vars}
    drawn = [name for name in floors if name not in floors.values()]
    names = [name for name in drawn if "step" in data[name].dims]
    if not names:
        raise BadInput("this dataset has no steps to draw curves over.")
    if hue is not None and hue not in axes:
        raise unknown("axis with several values", hue, axes)
    lines, facets = _arranged(data, axes, hue)
    few, left_out = _thinned(data, lines, facets)
    shown = [few.isel(dict(zip(facets, at, strict=True)))
             for at in itertools.product(*(range(few.sizes[dim]) for dim in facets))]  # fmt: skip
    several = len(shown) > 1
    across = len(shown) if several else columns_of(len(names))
    rows = len(names) if several else math.ceil(len(names) / across)
    with style():
        figure, grid = plt.subplots(
            rows, across, figsize=(max(3.4 * across, _NARROWEST), 2.9 * rows + 0.6), squeeze=False,
            sharey="row" if several else False,
        )  # fmt: skip
        for panel in grid.flat[len(names) * len(shown) :]:
            panel.set_visible(False)
        for i, name in enumerate(names):
            row = grid[i] if several else [grid.flat[i]]
            own = [d for d in few[name].dims if d not in (*lines, *facets, "seed", "step")]
            for panel, part in zip(row, shown, strict=True):
                _panel(panel, part[name].max(own) if own else part[name], lines, hue)
                if (floor := floors[name]) in part:
                    floor_line(panel, part[floor])
                panel.set_title(place(part, facets), parse_math=False)
            words = ("max of " if own else "") + variable(data, name)
            row[0].set_ylabel("\n".join(textwrap.wrap(words, _LONGEST_LABEL)))
            _scale(row, few[name].max(own) if own else few[name], few)
        if lines:
            _named_lines(figure, grid)
        ending = next((name for name in names if name.startswith("test_")), names[0])
        ends = _ends(few, ending, lines[0]) if hue or (len(lines) == 1 and not facets) else ""
        headline(figure, *filter(None, (ends, _title(data, few), left_out)))
    return figure


def _arranged(data: xr.Dataset, axes: list[str], hue: str | None) -> tuple[list[str], list[str]]:
    """The axes with a line for each value, and those with a panel: categories before numbers."""
    if hue is not None:
        return [hue], sorted(set(axes) - {hue}, key=lambda dim: is_number(data[dim]))
    if math.prod(data.sizes[dim] for dim in axes) <= _MOST_LINES:
        return axes, []
    return axes[:1], sorted(axes[1:], key=lambda dim: is_number(data[dim]))


def _thinned(data: xr.Dataset, lines: list[str], facets: list[str]) -> tuple[xr.Dataset, str]:
    """Some values of axes that have too many, from the first to the last; and which axes those
    are."""
    keep: dict[str, list[int]] = {}
    for dims, room in ((lines, _MOST_LINES), (facets, _MOST_PANELS)):
        for dim in dims:
            size = data.sizes[dim]
            most = min(room, size)
            room = max(room // most, 1)
            if most < size:
                keep[dim] = [round(i * (size - 1) / max(most - 1, 1)) for i in range(most)]
    said = [f"{len(at)} of {data.sizes[dim]} values of {dim}" for dim, at in keep.items()]
    return data.isel(keep), f"shown: {', '.join(said)}" if said else ""


def _panel(panel: Axes, values: xr.DataArray, lines: list[str], hue: str | None) -> None:
    """A variable's lines: of all settings on the axes `lines`, with the names of those axes; names
    on an axis `hue` stand alone."""
    values = values if "seed" in values.dims else values.expand_dims("seed")
    there = [dim for dim in lines if dim in values.dims]
    places = itertools.product(*(range(values.sizes[dim]) for dim in there))
    settings = [values.isel(dict(zip(there, at, strict=True))) for at in places]
    said = [place(each, there) if hue is None else _named(each, hue) for each in settings]
    names = xr.DataArray(said, dims="line", name="line")
    runs = values.sizes["seed"] <= _FEW_SEEDS
    drawn = xr.concat([each.reset_coords(drop=True) for each in settings], names)
    curves(panel, drawn, "line", runs=runs)
    panel.set_xlabel("step")


def _scale(row: Any, values: xr.DataArray, data: xr.Dataset) -> None:
    """The scale of a variable's panels: logarithmic over a wide range, and that of runs that stay
    finite, which would be flat lines beside one that does not."""
    diverged = _diverged(data)
    kept = values if diverged.all() else values.where(~diverged)
    low, high = float(kept.min()), float(kept.max())
    log = low > 0 and high > _WIDE * low
    for panel in row:
        if log:
            panel.set_yscale("log")
        if diverged.any() and low < high:
            reach = (high / low) ** 0.05 if log else 0.05 * (high - low)
            panel.set_ylim((low / reach, high * reach) if log else (low - reach, high + reach))


def _diverged(data: xr.Dataset) -> xr.DataArray:
    """Which runs did not stay finite, as far as is known."""
    return data["diverged_at"].notnull() if "diverged_at" in data else xr.DataArray(False)


def _named_lines(figure: Figure, grid: Any) -> None:
    """Names beside the last panel of every row, where its lines end; below all panels, in as many
    columns as there is room for, if they are many or long."""
    last = [[panel for panel in row if panel.get_visible()][-1] for row in grid]
    if all([label_lines(panel, below=False) for panel in last]):
        return
    names = [name for axes in figure.axes for name in axes.get_legend_handles_labels()[1]]
    room = int(12 * figure.get_figwidth() / (max(map(len, names)) + 8))
    columns = max(1, min(room, len(set(names)), 3))
    figure.set_figheight(figure.get_figheight() + 0.18 * (len(set(names)) / columns - 1))
    legend_below(figure, figure.axes, columns)


def _ends(data: xr.Dataset, name: str, hue: str) -> str:
    """Where a variable ends for every value of an axis, over all that else is swept."""
    last = data[name].isel(step=-1)
    middle = last.median([dim for dim in last.dims if dim != hue])
    kept = middle if middle.size <= _MOST_ENDS else middle[[0, -1]]
    said = [f"{f'{float(one):.3g}' if np.isfinite(one) else 'no number'} ({_named(one, hue)})"
            for one in kept]  # fmt: skip
    words = variable(data, name)
    return f"{words[0].upper()}{words[1:]} at step {last.step.item()}: {', '.join(said)}"


def _named(values: xr.DataArray, hue: str) -> str:
    """A value of an axis: a number with the axis's name, a name alone."""
    return place(values, [hue]) if is_number(values[hue]) else text(values[hue].values[()])


def _title(data: xr.Dataset, shown: xr.Dataset) -> str:
    """What lines and bands are, the values of fields that do not vary, and what diverged."""
    seeds, used = data.sizes.get("seed", 0), data.attrs.get("coordinates_used", "")
    spread = "every run" if seeds <= _FEW_SEEDS else "10-90 %"
    of = {0: "", 1: "one seed"}.get(seeds, f"median and {spread} of {seeds} seeds")
    gone = _diverged(shown)
    many = f"{int(gone.sum())} of {gone.size} runs diverged" if gone.any() else ""
    return ", ".join(filter(None, [of, used, selected(data), many]))
