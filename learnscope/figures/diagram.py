"""Phase diagrams: a heat map over two axes, boundaries in it, and the theory's line."""

import json
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from learnscope import theory
from learnscope.errors import BadInput
from learnscope.figures.style import COLOURS
from learnscope.lab import Experiment

_HALO = [withStroke(linewidth=3, foreground="white", alpha=0.85)]
# Neighbours whose ratios differ by less than this, over a range of more than that: logarithmic.
_EVEN, _WIDE = 1.05, 3.0


def is_geometric(values: np.ndarray) -> bool:
    """Whether values are spaced evenly in their logarithms rather than in themselves.

    >>> is_geometric(np.array([1.0, 10.0, 100.0])), is_geometric(np.array([1.0, 2.0, 3.0, 4.0]))
    (True, False)
    """
    if len(values) < 3 or (values <= 0).any() or values.max() < _WIDE * values.min():
        return False
    ratios = values[1:] / values[:-1]
    return bool(ratios.max() < _EVEN * ratios.min())


def draw_heat_map(axes: Axes, values: xr.DataArray, x: str, y: str, **settings: Any) -> Any:
    """A coloured cell for each pair of values on two axes; the mesh, for a colour bar."""
    table = values.transpose(y, x)
    sides = [np.asarray(table[dim].values) for dim in (x, y)]
    numeric = [np.issubdtype(side.dtype, np.number) for side in sides]
    at = [s.astype(float) if n else np.arange(len(s)) for s, n in zip(sides, numeric, strict=True)]
    settings = {"cmap": "viridis", "shading": "nearest", "rasterized": True} | settings
    mesh = axes.pcolormesh(*at, np.asarray(table.values, float), **settings)
    axes.grid(False)
    for side, number, set_scale, set_ticks in zip(
        sides, numeric, (axes.set_xscale, axes.set_yscale), (axes.set_xticks, axes.set_yticks),
        strict=True,
    ):  # fmt: skip
        if not number:
            set_ticks(np.arange(len(side)), [str(v) for v in side])
        elif is_geometric(side.astype(float)):
            set_scale("log")
    axes.set(xlabel=label(values, x), ylabel=label(values, y))
    return mesh


def label(values: xr.DataArray | xr.Dataset, dim: str) -> str:
    """An axis by its field, such as `data.noise`."""
    return str(values[dim].attrs.get("field", dim))


def predicted(data: xr.Dataset | xr.DataArray, attributes: dict[str, Any], x: str, y: str):
    """The theory's value of field x at every position on the dim y; NaN where there is none."""
    try:
        experiment = Experiment.from_toml(attributes["experiment"])
    except (BadInput, KeyError):
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
    """The theory's boundary as points in the plane of two axes; None if there is none."""
    for along, across in ((x, y), (y, x)):
        if not np.issubdtype(data[along].dtype, np.number):
            continue
        line = predicted(data, attributes, label(data, across), along)
        if np.isfinite(line).any():
            at = data[along].values
            return (at, line) if along == x else (line, at)
    return None


def draw_line(axes: Axes, x: np.ndarray, y: np.ndarray, text: str, **settings: Any) -> None:
    """A line that stands out on a heat map, within its limits."""
    limits = axes.get_xlim(), axes.get_ylim()
    settings = {"color": COLOURS[3], "linewidth": 1.6} | settings
    axes.plot(x, y, label=text, path_effects=_HALO, **settings)
    axes.set_xlim(limits[0])
    axes.set_ylim(limits[1])


def draw_boundary(axes: Axes, found: xr.Dataset, show_theory: bool = True) -> None:
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
        text = f"fit: exponent {slope:.4f} ± {found.attrs['exponent_error']:.4f}"
        axes.plot(where[crossed], fit, color=COLOURS[0], linewidth=1, label=text)
        axes.set(xscale="log", yscale="log")
        if found.boundary.max() < 30 * found.boundary.min():
            # Plain numbers: powers of ten would be too few to read the axis by.
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
    line = predicted(found, found.attrs, found.attrs["x"], dim)
    if show_theory and np.isfinite(line).any():
        axes.plot(where, line, "--", color=COLOURS[3], label="theory, constant 1")
    fields = json.loads(found.attrs["y"])
    axes.set_xlabel(fields[0] + (f" (with {', '.join(fields[1:])})" if fields[1:] else ""))
    axes.set_ylabel(found.attrs["x"])
