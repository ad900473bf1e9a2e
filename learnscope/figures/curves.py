"""A figure for any sweep: every probe against the step."""

import itertools
import math

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.figure import Figure

from learnscope.figures.style import curves, style

_MOST_LINES = 6
_WIDE = 1e3  # a range beyond which an axis is logarithmic


def probe_curves(data: xr.Dataset) -> Figure:
    """One panel per variable, one line per value of the first axis; the band is over the rest.

    Variables with dims of their own (a filter's, a sample's) are shown by their maximum.
    """
    names = [name for name in data.data_vars if "step" in data[name].dims]
    axes_of_sweep = [d for d in data.diverged_at.dims if d != "seed"]
    hue = next((dim for dim in axes_of_sweep if data.sizes[dim] > 1), None)
    if hue is not None and data.sizes[hue] > _MOST_LINES:
        keep = [round(i * (data.sizes[hue] - 1) / (_MOST_LINES - 1)) for i in range(_MOST_LINES)]
        data = data.isel({hue: keep})
    columns = 2 if len(names) in (2, 4) else min(3, len(names))
    rows = math.ceil(len(names) / columns)
    with style():
        figure, grid = plt.subplots(
            rows, columns, figsize=(3.4 * columns, 2.9 * rows + 0.6), squeeze=False
        )
        for panel, name in itertools.zip_longest(grid.flat, names):
            if name is None:
                panel.set_visible(False)
                continue
            values = data[name]
            inner = [d for d in values.dims if d not in (*axes_of_sweep, "seed", "step")]
            values = values.max(inner) if inner else values
            pooled = [d for d in axes_of_sweep if d != hue]
            if pooled:
                values = values.stack(run=[*pooled, "seed"]).drop_vars([*pooled, "seed", "run"])
                values = values.rename(run="seed")
            line = values if hue is not None else values.expand_dims(all=["all runs"])
            curves(panel, line, hue or "all", f"{hue} = {{}}" if hue else "{}")
            low, high = float(line.min()), float(line.max())
            if low > 0 and high > _WIDE * low:
                panel.set_yscale("log")
            text = data[name].attrs.get("long_name", name)
            unit = data[name].attrs.get("units", "1")
            panel.set_ylabel(
                ("max of " if inner else "") + text + (f" ({unit})" if unit != "1" else "")
            )
            panel.set_xlabel("step")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 3))
        runs = math.prod(data.diverged_at.shape)
        figure.suptitle(
            f"median and 10-90 % of {runs} runs, {data.attrs.get('coordinates_used', '')}"
        )
    return figure
