"""Where a limit starts: the settings and the overlaps of a result of `run`."""

import itertools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from learnscope.errors import BadInput
from learnscope.papers.online.theory.moments import Overlap
from learnscope.papers.online.theory.scope import obstacle

OVERLAPS = {
    "teacher_overlap": ("filter", "direction"),
    "student_overlap": ("filter", "other_filter"),
}
SECOND = {"second_layer": ("filter",)}


class Place(NamedTuple):
    """Where a student is: its overlaps, and the second layer if that is trained."""

    overlap: Overlap
    second: Float[Array, " filter"] | None = None


def each(
    experiment: Any, start: xr.Dataset | None, solved: Callable[[Any, Place], Any],
    names: dict[str, tuple[str, ...]],
) -> xr.Dataset:  # fmt: skip
    """Arrays with the given names and dims, for every setting and seed of a start."""
    begin = _start(experiment) if start is None else _first(start, experiment)
    tables = {**OVERLAPS, **SECOND}
    own = {dim for dims in tables.values() for dim in dims}
    others = [str(d) for d in begin.teacher_overlap.dims if d not in own]
    axes = [dim for dim in others if dim != "seed"]
    found: list[tuple[np.ndarray, ...]] = []
    for place in itertools.product(*(range(begin.sizes[dim]) for dim in axes)):
        one = begin.isel(dict(zip(axes, place, strict=True)))
        setting = _setting(experiment, one)
        one = _trimmed(one, setting.net.rows)
        with jax.enable_x64(True):
            rows = [_rows(setting, one, name) for name in tables if name in one]
            at = Place(Overlap(*rows[:2]), rows[2] if setting.net.readout else None)
            values = map(np.asarray, solved(setting, at))
        found.append(tuple(_padded(v, dims, begin) for v, dims in zip(values, names.values(),
                                                                       strict=True)))  # fmt: skip
    variables = {}
    for (name, dims), values in zip(names.items(), zip(*found, strict=True), strict=True):
        whole = np.stack(values).reshape(*(begin.sizes[d] for d in axes), *values[0].shape)
        if "seed" not in others:
            whole = whole.squeeze(len(axes))
        variables[name] = ((*axes, *(["seed"] if "seed" in others else []), *dims), whole)
    coords = {n: c for n, c in begin.coords.items() if not own & set(c.dims) and n != "step"}
    return xr.Dataset(variables).assign_coords(coords).transpose(*others, ...)


def _trimmed(one: xr.Dataset, width: int) -> xr.Dataset:
    """Without the empty places of wider nets on the same axis."""
    extra = one.isel({dim: slice(width, None) for dim in ("filter", "other_filter")})
    if not all(bool(values.isnull().all()) for values in extra.values()):
        return one
    return one.isel({dim: slice(width) for dim in ("filter", "other_filter")})


def _padded(values: np.ndarray, dims: tuple[str, ...], begin: xr.Dataset) -> np.ndarray:
    """Values in the sizes that a start's dims have."""
    before = values.ndim - len(dims)
    sizes = zip(dims, values.shape[before:], strict=True)
    short = [begin.sizes.get(d, n) - n if d.endswith("filter") else 0 for d, n in sizes]
    ends = [(0, 0)] * before + [(0, count) for count in short]
    return np.pad(values, ends, constant_values=np.nan)


def _rows(setting: Any, one: xr.Dataset, name: str) -> Array:
    """A table of a start, for every seed."""
    dims = {**OVERLAPS, **SECOND}[name]
    width, count = setting.net.rows, setting.data.directions
    right = dict(zip(dims, {"direction": (width, count)}.get(dims[-1], (width, width)),
                     strict=False))  # fmt: skip
    sizes = {dim: one.sizes[dim] for dim in dims}
    if sizes != right:
        said, must = (", ".join(f"{n} of {d}" for d, n in each.items()) for each in (sizes, right))
        raise BadInput(f"start's {name} has the sizes {said}; the experiment's are {must}.")
    values = one[name].transpose(..., *dims).values
    return jnp.asarray(values, float).reshape(-1, *values.shape[values.ndim - len(dims) :])


def _setting(experiment: Any, one: xr.Dataset) -> Any:
    """The experiment of one position of a start's axes."""
    for name, coord in one.coords.items():
        path = coord.attrs.get("field")
        if coord.ndim == 0 and path is not None:
            if path in json.loads(one.attrs.get("parts", "{}")):
                raise BadInput(f"start has parts on the axis '{name}': solve for one at a time.")
            experiment = experiment.replace(path, coord.item())
    why = obstacle(experiment)
    if why is not None:
        raise BadInput(f"there is no limit for a setting of start: {why}.")
    return experiment


def _start(experiment: Any) -> xr.Dataset:
    width, count = experiment.net.rows, experiment.data.directions
    if experiment.net.readout:
        raise BadInput("a trained second layer starts at random: limit needs a start, a result of "
                       "run with the probes Overlaps and SecondLayer.")  # fmt: skip
    square = float(experiment.net.scale) ** 2 * float(experiment.data.dim)
    teacher, student = np.zeros((width, count)), square * np.eye(width)
    variables = zip(OVERLAPS.items(), (teacher, student), strict=True)
    return xr.Dataset({name: (dims, table) for (name, dims), table in variables})


def _first(start: xr.Dataset, experiment: Any) -> xr.Dataset:
    names = OVERLAPS | (SECOND if experiment.net.readout else {})
    missing = [name for name in names if name not in start]
    if missing:
        probe = "SecondLayer" if missing == list(SECOND) else "Overlaps"
        raise BadInput(f"start has no {', '.join(missing)}: run it with the probe {probe}.")
    kept = start[list(names)]
    kept = kept.isel(step=0, drop=True) if "step" in kept.dims else kept
    own = {dim for dims in names.values() for dim in dims}
    for dim in set(kept.teacher_overlap.dims) - own - {"seed"}:
        if not any(c.dims == (dim,) and "field" in c.attrs for c in kept.coords.values()):
            raise BadInput(f"start has the dim '{dim}', which is no field of the experiment: solve "
                           "for one of its values at a time.")  # fmt: skip
    return kept
