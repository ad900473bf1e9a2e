"""Nulls: datasets in which a claim cannot be true. A claim that holds there too says nothing.

A null is a function of a dataset that returns another one, or None where it does not apply.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import xarray as xr

from learnscope.evidence.quantity import DRAWS


@dataclasses.dataclass(frozen=True)
class Null:
    """A name, and what takes the place of a dataset."""

    name: str
    apply: Callable[[xr.Dataset], xr.Dataset | None]


def _numbers(data: xr.Dataset) -> list[str]:
    kept = ("diverged_at", "seconds")
    return [str(n) for n, v in data.data_vars.items() if v.dtype.kind in "fiu" and n not in kept]


def _with(data: xr.Dataset, change: Callable[[str, xr.DataArray], xr.DataArray]) -> xr.Dataset:
    return data.assign({name: change(name, data[name]) for name in _numbers(data)})


def absurd(data: xr.Dataset, other: xr.Dataset, size: float) -> xr.Dataset:
    """A dataset with absurd values (of a size, which may be NaN) and attributes where another one
    has others than it has."""
    random = np.random.default_rng(0)
    same = [name for name in _numbers(data) if data[name].equals(other[name])]

    def change(name: str, values: xr.DataArray) -> xr.DataArray:
        return values if name in same else values.copy(data=size * random.normal(size=values.shape))

    marks = {name: 1e30 for name, value in other.attrs.items() if value != data.attrs.get(name)}
    return _with(data, change).assign_attrs(marks)


def _untrained(data: xr.Dataset) -> xr.Dataset | None:
    stepped = "step" in data.coords and data.sizes.get("step", 0) > 1
    return alike("step").apply(data) if stepped and int(data.step[0]) == 0 else None


def _trained(data: xr.Dataset) -> xr.Dataset | None:
    if data.sizes.get("step", 0) < 2:
        return None
    turned = data.isel(step=slice(None, None, -1)).assign_coords(step=data.step)
    end = turned.assign_coords(step=data.step - int(data.step[0]))
    return _untrained(end).assign_coords(step=data.step)  # type: ignore[union-attr]


def _noise(data: xr.Dataset) -> xr.Dataset | None:
    if DRAWS not in data.dims:
        return None
    random = np.random.default_rng(0)

    def mix(name: str, values: xr.DataArray) -> xr.DataArray:
        return values.copy(data=random.permutation(values.values.ravel()).reshape(values.shape))

    return _with(data, mix)


UNTRAINED = Null("untrained", _untrained)
TRAINED = Null("trained", _trained)  # for what holds early only
NOISE_ONLY = Null("noise only", _noise)  # every value at a random place: labels tell nothing


def constant(chance: float = 0.5) -> Null:
    """Predictions do not depend on the input: accuracy at chance, losses as before training."""

    def apply(data: xr.Dataset) -> xr.Dataset | None:
        if not any("accuracy" in name for name in _numbers(data)):
            return None
        start = _untrained(data)

        def at_chance(name: str, values: xr.DataArray) -> xr.DataArray:
            if "accuracy" in name:
                return xr.full_like(values, chance)
            if "loss" in name:
                return xr.full_like(values, -np.log(chance)) if start is None else start[name]
            return values

        return _with(data, at_chance)

    return Null("constant prediction", apply)


def _along(
    name: str, dim: str, change: Callable[[xr.DataArray, np.random.Generator], xr.DataArray]
) -> Null:
    """A null that changes all values along a dim, which must have two entries or more."""

    def apply(data: xr.Dataset) -> xr.Dataset | None:
        if data.sizes.get(dim, 0) < 2:
            return None
        random = np.random.default_rng(0)
        return _with(data, lambda _, v: change(v, random) if dim in v.dims else v)

    return Null(name, apply)


def swapped(dim: str) -> Null:
    """The arms exchange their names: the last takes the place of the first."""
    flip = lambda v, _: v.copy(data=np.flip(v.values, v.get_axis_num(dim)))  # noqa: E731
    return _along(f"{dim} swapped", dim, flip)


def alike(dim: str) -> Null:
    """All arms (or all values of an axis) show the values of the first."""
    same = lambda v, _: xr.zeros_like(v) + v.isel({dim: 0}, drop=True)  # noqa: E731
    return _along(f"the same for every {dim}", dim, same)


def shuffled(dim: str) -> Null:
    """Labels along a dim (classes, say) are permuted at random in every draw."""

    def mix(values: xr.DataArray, random: np.random.Generator) -> xr.DataArray:
        return values.copy(data=random.permuted(values.values, axis=values.get_axis_num(dim)))

    return _along(f"{dim} shuffled", dim, mix)


def scaled(factor: float, *variables: str) -> Null:
    """Some variables times a factor."""

    def change(name: str, values: xr.DataArray) -> xr.DataArray:
        return values * factor if name in variables else values

    words = ", ".join(name.replace("_", " ") for name in variables)
    return Null(f"{words} x {factor:g}", lambda data: _with(data, change))


def shrunk(*variables: str, by: float = 0.7) -> Null:
    """Training has only shrunk the weights: the last values are the first ones times `by`."""

    def apply(data: xr.Dataset) -> xr.Dataset | None:
        start = _untrained(data)
        if start is None:
            return None
        last = data.step == data.step[-1]

        def shrink(name: str, values: xr.DataArray) -> xr.DataArray:
            return values.where(~last, by * values) if name in variables else values

        return _with(start, shrink)

    return Null("weights shrunk", apply)


ALWAYS = (UNTRAINED, constant())  # every claim meets them where they apply
STANDARD = (*ALWAYS, NOISE_ONLY)  # a claim that names no others
