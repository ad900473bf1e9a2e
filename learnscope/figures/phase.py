"""Figures of phase diagrams: any probe over any two axes, and boundaries."""

import itertools
import json
import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from learnscope.errors import BadInput, unknown
from learnscope.evidence.statistics import estimate
from learnscope.figures.diagram import Side, draw_boundary, draw_heat_map, draw_line, theory_line
from learnscope.figures.setting import same_parts, setting
from learnscope.figures.style import columns_of, headline, plain_ticks, style
from learnscope.figures.words import brief, is_number, place, selected, swept, variable
from learnscope.lab import Experiment
from learnscope.lab.last import after_last_step
from learnscope.lab.origin import origin
from learnscope.probes.probe import RESERVED

_MOST_LINES = 8
_BELOW: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.15), "fontsize": 7,
                          "ncols": 2}  # fmt: skip
_MOST_PANELS = 24
_FEWEST = 3  # values on each of two axes, for a map to say more than curves


def heat_map(
    data: xr.Dataset,
    of: str | None = None,
    x: str | None = None,
    y: str | None = None,
    boundary: xr.Dataset | None = None,
) -> Figure:
    """A probe after the last step over two axes of a sweep, with the theory's boundary.

    Cells are means over seeds only. A further axis of categories (rules, nets, names) has a panel
    for every value; on a further axis of numbers, one value must be selected. Dims of the probe's
    own are shown by their maximum. The theory's line is that of the experiment in its panel.
    Without `of`, every probe is drawn; without `x` and `y`, the sweep's last two axes of numbers
    are used. `boundary` is a result of `learnscope.boundary` to draw on top.
    """
    x, y, facets = _axes(data, x, y)
    data = data.isel({dim: 0 for dim in swept(data) if dim not in (x, y, *facets)})
    names = _names(data, of, x, y)
    sizes = [data.sizes[dim] for dim in facets]
    panels = len(names) * math.prod(sizes)
    if panels > _MOST_PANELS:
        choose = [f"of={names[0]!r}"] * (len(names) > 1)
        choose += [f".sel({dim}={data[dim][0].item()!r})" for dim in facets]
        raise BadInput(
            f"a figure has at most {_MOST_PANELS} heat maps, and this one would have {panels}: "
            f"choose some of them, as with {' or '.join(choose)}."
        )
    if boundary is not None and boundary.boundary.dims[0] not in (x, y):
        raise BadInput(f"this boundary is over {boundary.boundary.dims[0]}, not over {x} or {y}.")
    places = itertools.product(*map(range, sizes))
    shown = [data.isel(dict(zip(facets, at, strict=True))) for at in places]
    with style():
        figure, blocks = _grid(len(names), len(shown))
        gaps = False
        for name, block in zip(names, blocks, strict=True):
            mesh, words, finite = _block(block, shown, name, x, y, facets)
            figure.colorbar(mesh, ax=block, label=words)
            gaps = gaps or not finite
            for panel, part in zip(block, shown, strict=True):
                if "place" not in (Side.of(data[x]).kind, Side.of(data[y]).kind):
                    _lines(panel, part, x, y, boundary, len(shown) > 1)
        headline(figure, *_reach(data, names, blocks), _title(data, gaps))
    return figure


def _axes(data: xr.Dataset, x: str | None, y: str | None) -> tuple[str, str, list[str]]:
    """The two axes of a map, and those with a panel for each value."""
    dims = swept(data)
    if len(dims) < 2:
        raise BadInput(f"a heat map needs two axes, and this sweep has {len(dims)}.")
    for name in (x, y):
        if name is not None and name not in dims:
            raise unknown("axis of this sweep", name, dims)
    # The last axes of numbers are taken, then those of categories, then those of a single value.
    free = sorted(dims, key=lambda dim: (data.sizes[dim] > 1, is_number(data[dim])))
    free = [dim for dim in free if dim not in (x, y)]
    x = x or free.pop()
    y = y or free.pop()
    if x == y:
        raise BadInput(f"x and y are both '{x}'; a heat map needs two axes.")
    further = [dim for dim in dims if dim not in (x, y) and data.sizes[dim] > 1]
    for dim in further:
        if is_number(data[dim]):
            raise BadInput(
                f"a heat map has two axes, and no mean is taken over '{dim}': select one of its "
                f"{data.sizes[dim]} values, as in .sel({dim}={data[dim][0].item()!r})."
            )
    return x, y, further


def _names(data: xr.Dataset, of: str | None, x: str, y: str) -> list[str]:
    """The variables to draw: what was recorded at every step, or what is left of it."""
    can = [str(n) for n, values in data.data_vars.items() if {x, y} <= set(values.dims)]
    if of is not None and of not in can:
        raise unknown("variable of this sweep", of, can)
    stepwise = [name for name in can if "step" in data[name].dims]
    recorded = stepwise or [name for name in can if name not in RESERVED]
    return recorded if of is None else [of]


def _grid(names: int, places: int) -> tuple[Figure, list[list[Axes]]]:
    """A figure, and the panels of every variable: together, if each has several."""
    across = columns_of(places if places > 1 else names)
    cells = across * math.ceil(places / across) if places > 1 else 1  # of a variable
    rows = math.ceil(names * cells / across)
    size = (4.6 * across, 3.8 * rows + 0.4)
    figure, grid = plt.subplots(rows, across, figsize=size, squeeze=False)
    blocks = [list(grid.flat[i * cells : i * cells + places]) for i in range(names)]
    for panel in {*grid.flat} - {panel for block in blocks for panel in block}:
        panel.remove()
    return figure, blocks


def _block(
    panels: list[Axes], shown: list[xr.Dataset], name: str, x: str, y: str, facets: list[str]
) -> tuple[Any, str, bool]:
    """A variable in a panel for every place, on one scale of colours; what that scale is, and
    whether everything is finite."""
    own = [dim for dim in shown[0][name].dims if dim not in (x, y, "seed", "step")]
    tables, whole = [], True
    for data in shown:
        values = after_last_step(data[name])
        values = (values.max(own) if own else values).compute()
        there = np.isfinite(values)
        whole = whole and bool(there.all())
        values = values.where(there)
        tables.append(values.mean("seed") if "seed" in values.dims else values)
    finite = np.concatenate([table.values[np.isfinite(table.values)] for table in tables])
    limits = {"vmin": finite.min(), "vmax": finite.max()} if finite.size else {}
    mesh = None
    for panel, data, table in zip(panels, shown, tables, strict=True):
        mesh = draw_heat_map(panel, table, x, y, **limits)
        panel.set_title(place(data, facets), parse_math=False)
        panel.set_facecolor("0.8")
    return mesh, ("max of " if own else "") + variable(shown[0], name), whole


def _reach(data: xr.Dataset, names: list[str], blocks: list[list[Axes]]) -> list[str]:
    """From where to where the colours of a single variable go, if they are not all the same."""
    low, high = blocks[0][0].collections[0].get_clim()
    if len(names) > 1 or low is None or high is None or low == high:
        return []
    words = variable(data, names[0])
    return [f"{words[0].upper()}{words[1:]} from {low:.2g} to {high:.2g}"]


def _title(data: xr.Dataset, gaps: bool) -> str:
    """The step, what means are over, and the values of fields that do not vary."""
    words = [f"step {int(data.step.values.flat[-1])}"] if "step" in data.coords else []
    if "seed" in data.dims:
        seeds = data.sizes["seed"]
        words.append(f"mean over {seeds} seeds" if seeds > 1 else "one seed")
    gone = "as far as finite (grey: none is)" if gaps else ""
    return ", ".join(filter(None, [*words, gone, selected(data)]))


def _lines(
    panel: Axes, data: xr.Dataset, x: str, y: str, boundary: xr.Dataset | None, several: bool
) -> None:
    """The theory's boundary along whichever axis theory gives it, and a measured one; among
    several panels only in that of its experiment."""
    experiment = setting(data, x, y)
    line = None
    if experiment is not None:
        line = theory_line(data, {"experiment": experiment.to_toml()}, x, y)
    if line is not None and _inside(panel, *line):
        draw_line(panel, *line, "theory, constant 1")
    if boundary is not None and not (several and _elsewhere(boundary, experiment)):
        dim = str(boundary.boundary.dims[0])
        at, found = boundary[dim].values.astype(float), boundary.boundary.values
        first, second = (found, at) if dim == y else (at, found)
        marks = {"color": "white", "linestyle": "", "marker": "o", "markersize": 4}
        draw_line(panel, first, second, "found by bisection", markeredgecolor="black", **marks)
    if panel.get_legend_handles_labels()[0]:
        panel.legend(**_BELOW)


def _inside(panel: Axes, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether a line may be seen within the limits of a panel."""
    sides = (panel.get_xlim(), x), (panel.get_ylim(), y)
    return all(low <= np.nanmax(at) and np.nanmin(at) <= high for (low, high), at in sides)


def _elsewhere(boundary: xr.Dataset, experiment: Experiment | None) -> bool:
    """Whether a measured boundary is of another experiment, or of one that is not known."""
    if experiment is None:
        return True
    measured = origin(boundary.attrs).experiment
    fields = [boundary.attrs["x"], *json.loads(boundary.attrs["y"])]
    return not same_parts(experiment, measured, fields)


def has_map(data: xr.Dataset) -> bool:
    """Whether a sweep has two axes with enough values for a map, at most two axes of numbers, and
    few enough categories."""
    sizes = [data.sizes[dim] for dim in swept(data)]
    if sum(size >= _FEWEST for size in sizes) < 2:
        return False
    try:
        x, y, facets = _axes(data, None, None)
    except BadInput:
        return False
    panels = math.prod(data.sizes[dim] for dim in facets) * len(_names(data, None, x, y))
    return panels <= _MOST_PANELS


def boundary_figure(found: xr.Dataset) -> Figure:
    """A boundary with its band, the fitted exponent and the theory's line; and the responses. The
    heading says how the boundary grows, if that is known."""
    dim = str(found.boundary.dims[0])
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.2))
        if np.isfinite(found.boundary).any() and np.issubdtype(found[dim].dtype, np.number):
            draw_boundary(left, found)
            left.legend(**_BELOW)
            headline(figure, *_growth(found))
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
            right.legend(**_BELOW)
        for axes in (left, right):
            plain_ticks(axes)
        left.set_title(f"{found.attrs['x']} at {found.attrs['of']} = {found.attrs['at']:g}")
    return figure


def _growth(found: xr.Dataset) -> list[str]:
    """The fitted power in words, none if there is none."""
    slope, error = (found.attrs[name] for name in ("exponent", "exponent_error"))
    if not (np.isfinite(slope) and np.isfinite(error)):
        return []
    does = "grows" if slope > 0 else "falls"
    fitted = brief(estimate(slope, error, found.attrs["seeds"]))
    fields = " with ".join(json.loads(found.attrs["y"]))
    return [f"The boundary of {found.attrs['x']} {does} as a power of {fields}: {fitted}"]
