"""Phase diagrams: a heat map over two axes, boundaries in it, and the theory's line."""

import dataclasses
import json
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter

from learnscope import theory
from learnscope.errors import BadInput
from learnscope.evidence.statistics import estimate
from learnscope.figures.setting import number
from learnscope.figures.style import COLOURS
from learnscope.figures.words import is_number, label, text
from learnscope.lab.origin import origin

_HALO = [withStroke(linewidth=3, foreground="white", alpha=0.85)]
_WIDE = 3.0  # a range beyond which an axis may be logarithmic
_THINNEST = 0.02  # least share of an axis for a cell, where there are few
_MOST_TICKS = 12  # of numbers that lie side by side
_MOST_MARKED = 6  # values on a linear axis that all have ticks
_MOST_LETTERS = 40  # below a map, for words on a line


def is_geometric(values: np.ndarray) -> bool:
    """Whether values are spaced more evenly in their logarithms than in themselves.

    >>> is_geometric(np.array([1.0, 10.0, 100.0])), is_geometric(np.array([1.0, 2.0, 3.0, 4.0]))
    (True, False)
    """
    if len(values) < 3 or (values <= 0).any() or values.max() < _WIDE * values.min():
        return False
    return _evenness(np.log(values)) > _evenness(values)


def _evenness(values: np.ndarray) -> float:
    """The least distance of neighbours as a share of the mean one."""
    distances = np.abs(np.diff(values))
    return float(distances.min() / distances.mean())


@dataclasses.dataclass(frozen=True)
class Side:
    """An axis of a map: where its values and the edges of their cells lie, and on which scale.

    Edges are the means of neighbours: geometric ones on a logarithmic axis (`log`), arithmetic ones
    on a `linear` one. Categories, and numbers of which a cell would be too thin to be seen, lie
    side by side (`place`).
    """

    at: np.ndarray
    edges: np.ndarray
    kind: str

    @staticmethod
    def of(values: xr.DataArray) -> "Side":
        """The side for the values of an axis, numbers in rising order.

        >>> Side.of(xr.DataArray([1.0, 100.0, 1e4])).edges
        array([1.e-01, 1.e+01, 1.e+03, 1.e+05])
        """
        if is_number(values) and np.isfinite(values).all():
            at = np.sort(values.values.astype(float))
            kind = "log" if is_geometric(at) else "linear"
            edges = _edges(np.log(at) if kind == "log" else at)
            widths = np.diff(edges)
            if widths.min() >= widths.sum() * min(_THINNEST, 0.5 / len(at)):
                return Side(at, np.exp(edges) if kind == "log" else edges, kind)
        at = np.arange(values.size, dtype=float)
        return Side(at, _edges(at), "place")


def _edges(at: np.ndarray) -> np.ndarray:
    """Midpoints of neighbours, and as far beyond the first and the last."""
    if len(at) == 1:
        return at[0] + np.array([-0.5, 0.5]) * (abs(at[0]) or 1.0)
    inner = (at[1:] + at[:-1]) / 2
    return np.concatenate([[2 * at[0] - inner[0]], inner, [2 * at[-1] - inner[-1]]])


def draw_heat_map(axes: Axes, values: xr.DataArray, x: str, y: str, **settings: Any) -> Any:
    """A coloured cell for each pair of values on two axes; the mesh, for a colour bar."""
    numbers = [dim for dim in (x, y) if is_number(values[dim])]
    table = values.transpose(y, x).sortby(numbers)
    across, up = (Side.of(table[dim]) for dim in (x, y))
    settings = {"cmap": "viridis", "shading": "flat", "rasterized": True} | settings
    mesh = axes.pcolormesh(across.edges, up.edges, np.asarray(table.values, float), **settings)
    axes.grid(False)
    axes.set(xscale="log" if across.kind == "log" else "linear",
             yscale="log" if up.kind == "log" else "linear",
             xlim=across.edges[[0, -1]], ylim=up.edges[[0, -1]],
             xlabel=label(values, x), ylabel=label(values, y))  # fmt: skip
    for dim, side, axis in ((x, across, axes.xaxis), (y, up, axes.yaxis)):
        few = side.kind == "linear" and len(side.at) <= _MOST_MARKED
        if side.kind == "place" or len(side.at) == 1 or few:
            _ticks(axis, side, table[dim])
    return mesh


def _ticks(axis: Axis, side: Side, values: xr.DataArray) -> None:
    """A tick at every value; at some, if they are many numbers."""
    few = slice(None, None, -(-len(side.at) // _MOST_TICKS) if is_number(values) else None)
    short = side.kind == "linear" and len(side.at) > 1
    names = [
        number(round(v) if abs(v) >= 100 else v) if short else text(v) for v in values.values[few]
    ]
    aslant = isinstance(axis, XAxis) and sum(map(len, names)) > _MOST_LETTERS
    look: dict[str, Any] = {"rotation": 25, "ha": "right"} if aslant else {}
    axis.set_ticks(side.at[few], names, **look)
    axis.set_minor_locator(NullLocator())


def predicted(data: xr.Dataset | xr.DataArray, attributes: dict[str, Any], x: str, y: str):
    """The theory's value of field x at every position on the dim y; NaN where there is none."""
    try:
        experiment = origin(attributes).experiment
    except BadInput:
        return np.full(data.sizes[y], np.nan)
    fields = {str(c.attrs.get("field", n)): c.values for n, c in data.coords.items()
              if c.dims == (y,)}  # fmt: skip
    found = []
    for i in range(data.sizes[y]):
        setting = experiment
        try:
            for path, values in fields.items():
                setting = setting.replace(path, values[i].item())
        except BadInput:
            return np.full(data.sizes[y], np.nan)
        value = theory.boundary(setting, x)
        found.append(np.nan if value is None else value)
    return np.array(found, float)


def theory_line(
    data: xr.Dataset | xr.DataArray, attributes: dict[str, Any], x: str, y: str
) -> tuple[np.ndarray, np.ndarray] | None:
    """The theory's boundary as points in the plane of two axes; None if there is none.

    `attributes` has the text of the experiment at the values of all other axes. Where other fields
    change together with the one that theory predicts, there is no line.
    """
    for along, across in ((x, y), (y, x)):
        zipped = sum(coord.dims == (across,) for coord in data.coords.values()) > 1
        if zipped or not is_number(data[along]):
            continue
        line = predicted(data, attributes, label(data, across), along)
        if np.isfinite(line).any():
            order = np.argsort(data[along].values)
            at, line = data[along].values[order], line[order]
            return (at, line) if along == x else (line, at)
    return None


def draw_line(axes: Axes, x: np.ndarray, y: np.ndarray, text: str, **settings: Any) -> None:
    """A line that stands out on a heat map, within its limits."""
    limits = axes.get_xlim(), axes.get_ylim()
    settings = {"color": COLOURS[3], "linewidth": 1.6} | settings
    axes.plot(x, y, label=text, path_effects=_HALO, **settings)
    axes.set_xlim(limits[0])
    axes.set_ylim(limits[1])


def draw_boundary(axes: Axes, found: xr.Dataset) -> None:
    """A boundary with its band over y, the fitted power and the theory's line."""
    dim = str(found.boundary.dims[0])
    where = found[dim].values.astype(float)
    crossed = np.isfinite(found.boundary.values)
    axes.fill_between(
        where[crossed], found.low.values[crossed], found.high.values[crossed],
        color=COLOURS[0], alpha=0.2, linewidth=0,
        label=f"{100 * found.attrs['level']:.0f} % band, {found.attrs['seeds']} seeds",
    )  # fmt: skip
    axes.plot(where[crossed], found.boundary.values[crossed], "o", color=COLOURS[0], markersize=4,
              label=f"{found.attrs['of']} = {found.attrs['at']:g}")  # fmt: skip
    if np.isfinite(found.attrs["exponent"]) and crossed.sum() > 1:
        u = np.log(where[crossed])
        v = np.log(found.boundary.values[crossed])
        slope = found.attrs["exponent"]
        fit = np.exp(slope * (u - u.mean()) + v.mean())
        known = estimate(slope, found.attrs["exponent_error"], found.attrs["seeds"])
        text = f"fit: exponent {slope:.4f}, 95 % [{known.low:.4f}, {known.high:.4f}]"
        axes.plot(where[crossed], fit, color=COLOURS[0], linewidth=1, label=text)
        axes.set(xscale="log", yscale="log")
        if found.boundary.max() < 30 * found.boundary.min():
            # Plain numbers: powers of ten would be too few to read the axis by.
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
    line = predicted(found, found.attrs, found.attrs["x"], dim)
    if np.isfinite(line).any():
        axes.plot(where, line, "--", color=COLOURS[3], label="theory, constant 1")
    fields = json.loads(found.attrs["y"])
    axes.set_xlabel(fields[0] + (f" (with {', '.join(fields[1:])})" if fields[1:] else ""))
    axes.set_ylabel(found.attrs["x"])
