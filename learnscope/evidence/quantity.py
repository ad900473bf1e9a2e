"""Quantities: labelled numbers of a sweep, one for every independent draw.

A quantity is a text and a way to read it from the datasets of a claim. What is read has the dim
`seed` (the draws) and the axes of the sweep that were not selected. Quantities are added,
subtracted, multiplied, divided and compared; arms share their seeds, so that differences and ratios
are paired. Nothing is dropped on the way: an empty selection is `Unanswered`, NaN stays NaN.

>>> print(last("test_accuracy", rule="PEGR") - last("test_accuracy", rule="standard"))
(test accuracy at the end, PEGR) - (test accuracy at the end, standard)
"""

import dataclasses
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.evidence.counted import examples_of
from learnscope.evidence.selection import Unanswered, chosen, words
from learnscope.lab.last import after_last_step

Datasets = Mapping[str, xr.Dataset]
DRAWS = "seed"
LEFT_OUT = -math.inf  # a draw that a quantity is not about
_ULPS = 100


@dataclasses.dataclass(frozen=True, eq=False)
class Quantity:
    """A text and how its values are read. Comparisons give hits: 1, 0, or NaN where unanswered."""

    text: str
    read: Callable[[Datasets], xr.DataArray]

    def __str__(self) -> str:
        return self.text

    def of(self, sweep: str) -> "Quantity":
        """Read from one of several sweeps."""
        return Quantity(f"{self.text}, {sweep}", lambda data: self.read({sweep: data[sweep]}))

    def named(self, text: str) -> "Quantity":
        return Quantity(text, self.read)

    def map(self, function: Callable[[xr.DataArray], xr.DataArray], text: str) -> "Quantity":
        """A function of the values; {} in the text stands for the text of this quantity."""
        return Quantity(
            text.replace("{}", self.text), lambda data: _made(function, self.read(data))
        )

    def sel(self, **where: Any) -> "Quantity":
        return self.map(lambda values: chosen(values, where), f"{{}}{words(where)}")

    def isel(self, **where: Any) -> "Quantity":
        """Select by positions on axes, which the text says by their numbers."""
        words = ", ".join(f"{dim} number {i}" for dim, i in where.items())
        return self.map(lambda values: values.isel(where, drop=True), f"{{}} ({words})")

    def max(self, *dims: str) -> "Quantity":
        return self._reduced("max", "largest", dims)

    def min(self, *dims: str) -> "Quantity":
        return self._reduced("min", "smallest", dims)

    def mean(self, *dims: str) -> "Quantity":
        return self._reduced("mean", "mean", dims)

    def _reduced(self, how: str, word: str, dims: tuple[str, ...]) -> "Quantity":
        if DRAWS in dims or not dims:
            raise BadInput(f"{self.text}: name the dims to reduce; seeds are the draws, and stay.")
        text = f"{word} {{}} over {', '.join(dims)}"
        return self.map(lambda values: getattr(values, how)(dims, skipna=False), text)

    def log(self) -> "Quantity":
        """Draws of 0 become infinite, which no verdict counts."""

        def log(values: xr.DataArray) -> xr.DataArray:
            with np.errstate(divide="ignore"):
                return xr.apply_ufunc(np.log, values)

        return self.map(log, "log {}")

    def across(self, dim: str) -> "Quantity":
        """The last value along an axis minus the first."""

        def ends(values: xr.DataArray) -> xr.DataArray:
            return _difference(*(values.isel({dim: i}, drop=True) for i in (-1, 0)))

        return self.map(ends, f"change of {{}} over {dim}")

    def slope(self, dim: str, log: str = "") -> "Quantity":
        """The least-squares slope along an axis, draw by draw; of logarithms of x or y as given."""

        def fit(values: xr.DataArray) -> xr.DataArray:
            if values.sizes[dim] < 2:
                raise Unanswered(f"{dim} has one value, which has no slope")
            x: Any = values[dim].astype(float)
            x, y = np.log(x) if "x" in log else x, np.log(values) if "y" in log else values
            x = x - x.mean()
            return (x * y).mean(dim, skipna=False) / (x**2).mean()

        return self.map(fit, f"slope of {{}} over {dim}" + (" (logarithms)" if log else ""))

    def passage(self, dim: str, level: float, sign: float = 1.0) -> "Quantity":
        """Where along an axis the values first rise above a level (fall below it: sign -1),
        interpolated between the values around it; infinite where they never do."""

        def root(values: xr.DataArray) -> xr.DataArray:
            given = values[dim].astype(float), sign * (values - level)
            return xr.apply_ufunc(_crossing, *given, input_core_dims=[[dim]] * 2, vectorize=True)

        side = "above" if sign > 0 else "below"
        return self.map(root, f"{dim} at which {{}} is {side} {level:g}")

    def among(self, condition: "Quantity") -> "Quantity":
        """Only the draws that meet a condition (hits); how many these are is said with the
        interval. The others are `LEFT_OUT`, and draws of an unanswered condition stay NaN."""

        def keep(values: xr.DataArray, met: xr.DataArray) -> xr.DataArray:
            if not values.attrs.get("among"):  # the logarithm of 0 is left out by nobody
                values = values.where(values != LEFT_OUT)
            kept = values.where(met > 0, met.where(np.isnan(met), LEFT_OUT))
            made = hits_of(kept) if values.attrs.get("examples") == 1 else kept
            return made.assign_attrs(among=True)

        return _combined(self, condition, keep, "among")

    def __sub__(self, other: Any) -> "Quantity":
        return _combined(self, other, _difference, "-")

    def __rsub__(self, other: float) -> "Quantity":
        return self.map(lambda values: other - values, f"{other:g} - ({{}})")

    def __add__(self, other: Any) -> "Quantity":
        return _combined(self, other, operator.add, "+")

    def __mul__(self, other: Any) -> "Quantity":
        return _combined(self, other, operator.mul, "x")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Quantity":
        return _combined(self, other, operator.truediv, "/")

    def __pow__(self, power: float) -> "Quantity":
        return self.map(lambda values: values**power, f"({{}})^{power:g}")

    def __abs__(self) -> "Quantity":
        return self.map(abs, "|{}|")

    def __lt__(self, other: Any) -> "Quantity":
        return _combined(self, other, _hits(operator.lt), "<")

    def __le__(self, other: Any) -> "Quantity":
        return _combined(self, other, _hits(operator.le), "≤")

    def __gt__(self, other: Any) -> "Quantity":
        return _combined(self, other, _hits(operator.gt), ">")

    def __ge__(self, other: Any) -> "Quantity":
        return _combined(self, other, _hits(operator.ge), "≥")

    def __and__(self, other: "Quantity") -> "Quantity":
        return _combined(self, other, lambda a, b: a * b, "and")


def last(variable: str, **where: Any) -> Quantity:
    """A variable at the last recorded step, where the axes have the given values."""
    return _variable(variable, where, "at the end").map(after_last_step, "{}")


def first(variable: str, **where: Any) -> Quantity:
    """A variable of the untrained network: at step 0."""

    def start(values: xr.DataArray) -> xr.DataArray:
        if int(values.step[0]) != 0:
            raise Unanswered(f"{variable} was not recorded before training")
        return values.isel(step=0, drop=True)

    return _variable(variable, where, "untrained").map(start, "{}")


def at(variable: str, step: float, **where: Any) -> Quantity:
    """A variable at the last record up to a step."""

    def there(values: xr.DataArray) -> xr.DataArray:
        return chosen(values, {"step": slice(None, step)}).isel(step=-1, drop=True)

    return _variable(variable, where, f"at step {step:g}").map(there, "{}")


def every(variable: str, until: float = math.inf, **where: Any) -> Quantity:
    """A variable at every recorded step up to one; the dim `step` stays."""
    when = "" if until == math.inf else f"up to step {until:g}"
    up_to = {"step": slice(None, until)}
    return _variable(variable, where, when).map(lambda values: chosen(values, up_to), "{}")


def change(variable: str, **where: Any) -> Quantity:
    """How far training moved a variable: its last value minus that of the untrained network."""
    return (last(variable, **where) - first(variable, **where)).named(
        f"change of {variable.replace('_', ' ')} in training{words(where)}"
    )


def first_passage(
    variable: str, below: float | None = None, above: float | None = None, **where: Any
) -> Quantity:
    """The step at which a variable first passes a level, interpolated between the records around
    it; infinite where it never does."""
    level, sign = (below, -1.0) if above is None else (above, 1.0)
    if level is None or (below is not None and above is not None):
        raise BadInput(f"first_passage of {variable} needs one of below and above.")

    side = "below" if sign < 0 else "above"
    named = f"step at which {variable.replace('_', ' ')} is {side} {level:g}{words(where)}"
    return _variable(variable, where).passage("step", level, sign).named(named)


def computed(text: str, function: Callable[..., xr.DataArray], *sweeps: str) -> Quantity:
    """What a function of the datasets (of the named sweeps, or of the only one) returns: values
    with the dim `seed`, and axes."""

    def read(data: Datasets) -> xr.DataArray:
        return function(*([data[name] for name in sweeps] if sweeps else [_only(data)]))

    return Quantity(text, read)


def exact(text: str, function: Callable[..., float], *sweeps: str) -> Quantity:
    """A number without draws: from mathematics, not from samples."""

    def read(data: Datasets) -> xr.DataArray:
        used = [data[name] for name in sweeps] if sweeps else data.values()
        return xr.DataArray(float(function(*used)), attrs={"exact": True})

    return Quantity(text, read)


def _variable(name: str, where: Mapping[str, Any], when: str = "") -> Quantity:
    def read(data: Datasets) -> xr.DataArray:
        dataset = _only(data)
        if name not in dataset:
            raise Unanswered(f"{name} was not recorded")
        values = chosen(dataset[name], where).astype(float).reset_coords(drop=True)
        values.attrs = {"examples": examples_of(dataset, name)} if "accuracy" in name else {}
        return values

    return Quantity(f"{name.replace('_', ' ')} {when}".strip() + words(where), read)


def _made(function: Callable[..., xr.DataArray], *values: xr.DataArray) -> xr.DataArray:
    """A function of values, which is exact if all of them are. A share is one of the fewest
    examples of any (`examples`); what a function says itself stands."""
    made, shares = function(*values), [v.attrs["examples"] for v in values if "examples" in v.attrs]
    hits = made.attrs.get("hits", False)
    found = made.attrs.get("examples") if hits else min(shares, default=None)
    exact = all(value.attrs.get("exact") for value in values)
    among = any(value.attrs.get("among") for value in (made, *values))
    made.attrs = {name: True for name, is_so in (("exact", exact), ("among", among)) if is_so}
    # A difference that is the same in every draw is no share of draws.
    apart = len(values) > 1 and found == 1 and not hits
    if found is not None and len(shares) in (0, len(values)) and not apart:
        made.attrs["examples"] = found
    return made


def hits_of(found: xr.DataArray) -> xr.DataArray:
    """Mark 1 and 0 as hits: shares of draws."""
    return found.assign_attrs(hits=True, examples=1)


def _only(data: Datasets) -> xr.Dataset:
    if len(data) != 1:
        raise BadInput(f"say which of {', '.join(data)} is read: quantity.of(name).")
    return next(iter(data.values()))


def _difference(one: Any, other: Any) -> xr.DataArray:
    """one - other, and exactly 0 where that is within 100 ulps (float32) of either."""
    apart = one - other
    floor = _ULPS * np.finfo(np.float32).eps * np.maximum(abs(one), abs(other))
    return apart.where(~(abs(apart) <= floor), 0.0)


def _hits(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], xr.DataArray]:
    """1 where a comparison holds, 0 where not, NaN where a value is not a number; what was left out
    stays so."""

    def hits(a: Any, b: Any) -> xr.DataArray:
        found = hits_of(compare(a, b).astype(float).where(~np.isnan(a) & ~np.isnan(b)))
        for one in (a, b):
            if isinstance(one, xr.DataArray) and one.attrs.get("among"):
                found = found.where(one != LEFT_OUT, LEFT_OUT)
        return found

    return hits


def _combined(one: Quantity, other: Any, operation: Callable[..., Any], sign: str) -> Quantity:
    if not isinstance(other, Quantity):
        return one.map(lambda values: operation(values, other), f"{{}} {sign} {_short(other)}")

    def read(data: Datasets) -> xr.DataArray:
        with xr.set_options(arithmetic_join="exact"):
            return _made(operation, one.read(data), other.read(data))

    return Quantity(f"({one.text}) {sign} ({other.text})", read)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "its bound"


def _crossing(steps: np.ndarray, excess: np.ndarray) -> float:
    """The first root of a piecewise linear function that ends its first negative stretch."""
    if np.isnan(excess).any():
        return math.nan
    passed = np.flatnonzero(excess >= 0)
    if passed.size == 0:
        return math.inf
    k = int(passed[0])
    if k == 0:
        return float(steps[0])
    share = excess[k - 1] / (excess[k - 1] - excess[k])
    return float(steps[k - 1] + share * (steps[k] - steps[k - 1]))
