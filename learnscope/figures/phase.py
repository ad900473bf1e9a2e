"""Figures of phase diagrams: any probe over any two axes, and boundaries."""

import math

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from learnscope.errors import BadInput, unknown
from learnscope.figures.diagram import draw_boundary, draw_heat_map, draw_line, theory_line
from learnscope.figures.style import style

_MOST_LINES = 8
_FEWEST = 3  # values on each of two axes, for a map to say more than curves


def heat_map(
    data: xr.Dataset,
    of: str | None = None,
    x: str | None = None,
    y: str | None = None,
    boundary: xr.Dataset | None = None,
) -> Figure:
    """A probe after the last step over two axes of a sweep, with the theory's boundary.

    Means over seeds; other axes of the sweep are averaged over too, and dims of the probe's own are
    shown by their maximum. Without `of` there is one panel per probe; without `x` and `y` the
    sweep's last two axes are taken. `boundary` is a result of `learnscope.boundary` to draw on top.
    """
    swept = [str(dim) for dim in data.diverged_at.dims if dim != "seed"]
    if len(swept) < 2:
        raise BadInput(f"a heat map needs two axes, and this sweep has {len(swept)}.")
    for name in (x, y):
        if name is not None and name not in swept:
            raise unknown("axis of this sweep", name, swept)
    free = [dim for dim in swept if dim not in (x, y)]
    x = x or free.pop()
    y = y or free.pop()
    if x == y:
        raise BadInput(f"x and y are both '{x}'; a heat map needs two axes.")
    names = [str(n) for n in data.data_vars if "step" in data[n].dims]
    if of is not None and of not in names:
        raise unknown("variable of this sweep", of, names)
    names = names if of is None else [of]
    columns = 2 if len(names) in (2, 4) else min(3, len(names))
    rows = math.ceil(len(names) / columns)
    with style():
        figure, grid = plt.subplots(
            rows, columns, figsize=(4.6 * columns, 3.8 * rows + 0.4), squeeze=False
        )
        for panel in grid.flat[len(names) :]:
            panel.set_visible(False)
        for panel, name in zip(grid.flat, names, strict=False):
            last = data[name].isel(step=-1)
            inner = [d for d in last.dims if d not in (*swept, "seed")]
            values = last.max(inner) if inner else last
            averaged = values.mean([d for d in values.dims if d not in (x, y)])
            mesh = draw_heat_map(panel, averaged, x, y)
            unit = data[name].attrs.get("units", "1")
            text = ("max of " if inner else "") + data[name].attrs.get("long_name", name)
            figure.colorbar(mesh, ax=panel, label=text + (f" ({unit})" if unit != "1" else ""))
            _lines(panel, data, x, y, boundary)
        seeds = data.sizes["seed"]
        over = f"{seeds} seed{'s' * (seeds > 1)}" + (f" and {', '.join(free)}" if free else "")
        figure.suptitle(f"step {int(data.step[-1])}, mean over {over}")
    return figure


def _lines(panel, data: xr.Dataset, x: str, y: str, boundary: xr.Dataset | None) -> None:
    """The theory's boundary along whichever axis theory gives it, and a measured one."""
    line = theory_line(data, data.attrs, x, y)
    if line is not None:
        draw_line(panel, *line, "theory, constant 1")
        panel.legend(loc="best", frameon=True, framealpha=0.9)
    if boundary is not None:
        dim = str(boundary.boundary.dims[0])
        at, found = boundary[dim].values.astype(float), boundary.boundary.values
        first, second = (found, at) if dim == y else (at, found)
        marks = {"color": "white", "linestyle": "", "marker": "o", "markersize": 4}
        draw_line(panel, first, second, "found by bisection", markeredgecolor="black", **marks)
        panel.legend(loc="best", frameon=True, framealpha=0.9)


def has_map(data: xr.Dataset) -> bool:
    """Whether a sweep has two axes with enough values for a map."""
    sizes = [data.sizes[dim] for dim in data.diverged_at.dims if dim != "seed"]
    return sum(size >= _FEWEST for size in sizes) >= 2


def boundary_figure(found: xr.Dataset) -> Figure:
    """A boundary with its band, the fitted exponent and the theory's line; and the responses."""
    dim = str(found.boundary.dims[0])
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.2))
        if np.isfinite(found.boundary).any() and np.issubdtype(found[dim].dtype, np.number):
            draw_boundary(left, found)
            left.legend(loc="best", fontsize=8)
        else:
            left.text(0.5, 0.5, "no boundary to draw:\nsee `status`", ha="center", va="center")
            left.set_axis_off()
        numeric = np.issubdtype(found[dim].dtype, np.number)
        few = found.sizes[dim] <= _MOST_LINES or not numeric
        colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, found.sizes[dim]))
        for i, colour in enumerate(colours):
            value = found[dim].values[i]
            text = f"{dim} = {value:g}" if numeric else f"{dim} = {value}"
            look = {"color": colour, "linewidth": 0.8, "markersize": 3}
            right.plot(found.tried[i], found["mean"][i], ".-", label=text if few else None, **look)
        if not few:
            values = found[dim].values.astype(float)
            norm = LogNorm if values.min() > 0 else Normalize
            scale = ScalarMappable(norm(values.min(), values.max()), "viridis")
            figure.colorbar(scale, ax=right, label=found[dim].attrs.get("field", dim))
        right.axhline(found.attrs["at"], color="0.4", linestyle=":", linewidth=1)
        if float(found.tried.min()) > 0:
            right.set_xscale("log")
        right.set(xlabel=found.attrs["x"], ylabel=found["mean"].attrs["long_name"],
                  title="responses that were tried")  # fmt: skip
        if few:
            right.legend(fontsize=7)
        left.set_title(f"{found.attrs['x']} at {found.attrs['of']} = {found.attrs['at']:g}")
    return figure
