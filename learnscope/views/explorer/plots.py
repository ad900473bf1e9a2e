"""Curves over seeds, as plain numbers that `assets/panels.js` draws."""

import dataclasses
import functools
import itertools
import math
from typing import Any

import numpy as np
import xarray as xr

from learnscope.figures.style import quantiles
from learnscope.views.explorer.live.catalogue import presets

_QUANTITIES = ("loss", "accuracy")  # variables with the same last word share a panel
_MOST_COMPONENTS = 6  # most components of a variable with a line each


@dataclasses.dataclass(frozen=True)
class Curve:
    """A quantity against the step, one row per seed."""

    name: str
    values: np.ndarray


@dataclasses.dataclass(frozen=True)
class Panel:
    """Curves with the same axes, and the rounding error of their values at every step."""

    title: str
    lines: tuple[Curve, ...]
    floor: np.ndarray | None = None


def panels(data: xr.Dataset) -> list[Panel]:
    """The panels of a dataset of one setting, without histograms and matrices."""
    together: dict[str, dict[str, xr.Variable]] = {}
    # Variables, not arrays with coordinates: those take milliseconds to make.
    known = {str(name): data.variables[name] for name in data.data_vars}
    floors = {values.attrs.get("floor") for values in known.values()}
    for name, values in known.items():
        dims = [str(dim) for dim in values.dims]
        apart = any(dim.endswith("bin") or dim.startswith("other_") for dim in dims)
        if "step" in dims and name not in floors and not apart:
            together.setdefault(_panel_of(name) or name, {})[name] = values
    drawn = []
    for several in together.values():
        most = _MOST_COMPONENTS if len(several) == 1 else 1
        lines = {name: _lines(name, values, most) for name, values in several.items()}
        first, values = next(iter(several.items()))
        alone = len(several) == 1 and _panel_of(first) not in _QUANTITIES
        title = _text(first, values) if alone else str(_panel_of(first))
        errors = [known[f] for v in several.values() if (f := v.attrs.get("floor")) in known]
        drawn.append(Panel(title, tuple(itertools.chain(*lines.values())), _floor(errors)))
    return drawn


def _floor(errors: list[xr.Variable]) -> np.ndarray | None:
    """The largest rounding error at every step, unless there is none."""
    largest = [v.max([dim for dim in v.dims if dim != "step"]).values for v in errors]
    floor = np.max(largest, 0) if largest else np.zeros(1)
    return floor if (floor > 0).any() else None


@functools.cache
def _panel_of(name: str) -> str | None:
    """The title of the panel that a variable shares with others, as presets or its name say."""
    for preset in presets().values():
        for title, names in preset.panels.items():
            if name in names:
                return title
    return next((word for word in _QUANTITIES if name.split("_")[-1] == word), None)


@functools.cache
def _sizes() -> frozenset[str]:
    """The variables that presets draw without their signs."""
    return frozenset(name for preset in presets().values() for name in preset.sizes)


def _text(name: str, values: xr.Variable) -> str:
    words = str(values.attrs.get("long_name", name))
    return f"|{words}|" if name in _sizes() else words


def _lines(variable: str, values: xr.Variable, most: int) -> tuple[Curve, ...]:
    """The lines of a variable: one per component if there are few, else its largest component."""
    values = values.transpose("seed", "step", ...)
    array = np.asarray(values.values, float).reshape(*values.shape[:2], -1)
    array = np.abs(array) if variable in _sizes() else array
    name = _text(variable, values)
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
    high, low = np.fmax.reduce(array, -1), np.fmin.reduce(array, -1)
    entries = np.where(high >= -low, high, low)
    return entries if (entries[np.isfinite(entries)] <= 0).all() else np.abs(entries)


def curves(data: xr.Dataset, times: dict[str, float]) -> dict[str, Any]:
    """Panels of medians over seeds with 10 to 90 % bands (None where no run is finite), the
    recorded steps, and predicted times."""
    drawn = [{"title": panel.title, "lines": [_numbers(line) for line in panel.lines],
              "floor": None if panel.floor is None else rounded(panel.floor)}
             for panel in panels(data)]  # fmt: skip
    return {"steps": np.asarray(data.step.values).tolist(), "panels": drawn, "times": times}


def _numbers(line: Curve) -> dict[str, Any]:
    named = zip(("low", "middle", "high"), quantiles(line.values), strict=True)
    return {"name": line.name, **{name: rounded(values) for name, values in named}}


def rounded(values: np.ndarray) -> list[float | None]:
    """Numbers for JSON, to five digits; None for those that are not finite."""
    return [float(f"{value:.5g}") if math.isfinite(value) else None for value in values.tolist()]
