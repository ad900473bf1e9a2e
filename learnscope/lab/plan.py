"""Plans: which runs a sweep has, and the boxes of its array in which they are computed and stored.

A sweep is an array with a dim for every axis and one for the seeds. It is cut into equal *boxes* of
one regular grid, so that a box is a chunk of a Zarr array: wholly there or not.
"""

import dataclasses
import functools
import itertools
import json
import math
import os
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.lab import coordinates as coords
from learnscope.lab.engine import Block, Size, recorded_steps, run_size
from learnscope.lab.experiment import Experiment
from learnscope.lab.sweep import Axis, Group, Over, axes, check_names, groups, labels, seed_list
from learnscope.probes import Output

PRECISIONS = ("float32", "float64")
_DIVERGED = Output("first step at which a parameter was not finite", "step")
# Boxes are cut for few cores first and for a few more next; a box by itself costs about as much as
# this many short runs.
_LANES, _BOX_COST = {2: 2, 8: 1}, 2


@functools.cache
def versions() -> dict[str, str]:
    """Of what decides numbers; read from files once."""
    return {name: version(name) for name in ("learnscope", "jax")}


@dataclasses.dataclass(frozen=True)
class Box:
    """Runs that are computed and stored together: where they lie in the sweep's array."""

    number: int
    group: int
    region: tuple[slice, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(part.stop - part.start for part in self.region)

    @property
    def runs(self) -> int:
        return math.prod(self.shape)


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable of the sweep's dataset."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    attributes: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Plan:
    """A sweep before it is run: validated, in its coordinates, with every shape known."""

    experiment: Experiment
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    coordinates: str
    precision: str
    groups: tuple[Group, ...]
    sizes: tuple[Size, ...]

    @staticmethod
    def of(
        experiment: Experiment, over: Over, seeds: Any, coordinates: str, precision: str
    ) -> "Plan":
        if precision not in PRECISIONS:
            raise BadInput(
                f"precision = {precision!r} is not allowed: "
                f"it must be one of {', '.join(PRECISIONS)}."
            )
        if not isinstance(experiment, Experiment):
            raise BadInput(f"experiment = {experiment!r} is not allowed: it must be an Experiment.")
        found, listed = axes(over), seed_list(seeds)
        parts = groups(experiment, found, ambient=False)
        chosen = coords.choose(coordinates, parts)
        if chosen != "compressed":
            parts = groups(experiment, found, ambient=True)
        check_names(found, experiment)
        sizes = tuple(run_size(group.experiment, chosen, precision) for group in parts)
        _check_room(sizes, chosen)
        return Plan(experiment, tuple(found), tuple(listed), chosen, precision, tuple(parts), sizes)

    @functools.cached_property
    def shape(self) -> tuple[int, ...]:
        """Axes and seeds: the dims that every variable starts with."""
        return (*(axis.size for axis in self.axes), len(self.seeds))

    @functools.cached_property
    def dims(self) -> tuple[str, ...]:
        return (*(axis.dim for axis in self.axes), "seed")

    @property
    def runs(self) -> int:
        return math.prod(self.shape)

    @functools.cached_property
    def steps(self) -> np.ndarray:
        """Every step that some group records."""
        return np.unique(np.concatenate([recorded_steps(g.experiment) for g in self.groups]))

    @functools.cached_property
    def box_shape(self) -> tuple[int, ...]:
        """The shape of a box: one value of every axis that is not numeric, some of the others."""
        largest = max(self.sizes, key=lambda size: size.work)
        limit = min(size.block for size in self.sizes)
        free = [d == "seed" or d in self.groups[0].shape for d in self.dims]
        inner = box(tuple(n for n, f in zip(self.shape, free, strict=True) if f),
                    largest.chunk, limit)  # fmt: skip
        sides = iter(inner)
        return tuple(next(sides) if f else 1 for f in free)

    @functools.cached_property
    def boxes(self) -> tuple[Box, ...]:
        """All boxes, in the order of the array."""
        return tuple(self._boxes())

    def _boxes(self) -> Iterator[Box]:
        of_place = {tuple(sorted(g.place.items())): i for i, g in enumerate(self.groups)}
        sides = [range(0, n, b) for n, b in zip(self.shape, self.box_shape, strict=True)]
        structural = set(self.groups[0].place)
        for number, corner in enumerate(itertools.product(*sides)):
            place = {d: c for d, c in zip(self.dims, corner, strict=True) if d in structural}
            region = tuple(
                slice(c, min(c + b, n))
                for c, b, n in zip(corner, self.box_shape, self.shape, strict=True)
            )
            yield Box(number, of_place[tuple(sorted(place.items()))], region)

    def block(self, box: Box, memory: float, keep: np.ndarray | None = None) -> Block:
        """What to compute for a box: all its runs, or those marked in `keep` (flat)."""
        group, size = self.groups[box.group], self.sizes[box.group]
        index = np.indices(box.shape).reshape(len(box.shape), -1)
        at = {
            dim: part.start + rows
            for dim, part, rows in zip(self.dims, box.region, index, strict=True)
        }
        varying = {path: values[at[dim]] for path, (dim, values) in group.varying.items()}
        block = Block(
            group.experiment,
            varying,
            np.asarray(self.seeds)[at["seed"]],
            self.coordinates,
            self.precision,
            size.chunk,
            size.piece(math.prod(self.box_shape), memory),
            size.segments,
        )
        return block if keep is None else block.take(np.flatnonzero(keep))

    def place(self, box: Box, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """A box's values, as the engine returns them, in arrays that fill its region."""
        placed = {}
        steps = np.searchsorted(self.steps, recorded_steps(self.groups[box.group].experiment))
        for name, variable in self.variables.items():
            lead = len(self.shape)
            full = np.full((*box.shape, *variable.shape[lead:]), np.nan, variable.dtype)
            if name == "diverged_at":
                full[...] = values[name].reshape(box.shape)
            elif name in values:
                array = values[name].reshape(*box.shape, *values[name].shape[1:])
                inner = tuple(slice(size) for size in array.shape[lead + 1 :])
                full[(*(slice(None),) * lead, steps, *inner)] = array
            placed[name] = full
        return placed

    @functools.cached_property
    def variables(self) -> dict[str, Variable]:
        """Every variable of the dataset. Groups whose arrays are smaller leave NaN beside them."""
        outputs: dict[str, Output] = {}
        inner: dict[str, tuple[int, ...]] = {}
        for group, size in zip(self.groups, self.sizes, strict=True):
            for probe in group.experiment.probes:
                outputs |= probe.outputs
            for name, shape in size.outputs.items():
                known = inner.get(name, shape)
                inner[name] = tuple(np.maximum(known, shape).astype(int).tolist())
        found = {
            name: Variable(
                (*self.dims, "step", *output.dims),
                (*self.shape, len(self.steps), *inner[name]),
                self.precision,
                {"long_name": output.long_name, "units": output.unit},
            )
            for name, output in outputs.items()
        }
        attributes = {"long_name": _DIVERGED.long_name, "units": _DIVERGED.unit}
        return found | {"diverged_at": Variable(self.dims, self.shape, "float64", attributes)}

    def coords(self) -> xr.Dataset:
        """The dataset's coordinates and attributes, without its variables."""
        found: dict = {
            "seed": list(self.seeds),
            "step": ("step", self.steps, {"units": "step"}),
        }
        for axis in self.axes:
            for position, path in enumerate(axis.fields):
                name = axis.dim if position == 0 else path
                found[name] = (axis.dim, labels(axis, path), {"field": path})
        return xr.Dataset(
            coords=found,
            attrs={
                "experiment": experiment_text(self.experiment),
                "over": json.dumps(
                    {path: labels(axis, path) for axis in self.axes for path in axis.fields}
                ),
                "coordinates_used": self.coordinates,
                "precision": self.precision,
                **versions(),
            },
        )

    def words(self, box: Box, run: int | None = None) -> str:
        """Which settings a box (or one of its runs) holds."""
        if run is not None:
            corner = np.unravel_index(run, box.shape)
            region = tuple(
                slice(part.start + c, part.start + c + 1)
                for part, c in zip(box.region, corner, strict=True)
            )
        else:
            region = box.region
        told = [
            f"{path} = {_range([str(v) for v in labels(axis, path)[part]])}"
            for axis, part in zip(self.axes, region[:-1], strict=True)
            for path in axis.fields
        ]
        return ", ".join([*told, f"seed {_range([str(s) for s in self.seeds[region[-1]]])}"])


def box(shape: Sequence[int], chunk: int, limit: int) -> tuple[int, ...]:
    """The shape of equal boxes for runs that are computed in whole chunks, at most `limit` a box.

    Trailing dims whole, then part of one, then one of each: of these, the one with the least to
    compute, counting what is filled up to whole chunks and cores that would have nothing to do.

    >>> box((100, 100, 10), chunk=10, limit=512)
    (1, 50, 10)
    >>> box((7, 6), chunk=10, limit=512)
    (5, 6)
    """
    best, least = tuple(1 for _ in shape), math.inf
    for split in range(len(shape)):
        whole = math.prod(shape[split + 1 :])
        for side in range(1, shape[split] + 1):
            if side * whole > max(limit, 1):
                break
            count = math.prod(shape[:split]) * -(-shape[split] // side)
            filled = chunk * -(-side * whole // chunk)
            each = filled + _BOX_COST
            cost = sum(weight * each * -(-count // lanes) for lanes, weight in _LANES.items())
            if cost < least or (cost == least and side * whole > math.prod(best)):
                best = (*(1 for _ in shape[:split]), side, *shape[split + 1 :])
                least = cost
    return best


def experiment_text(experiment: Experiment) -> str:
    """The experiment as TOML, or as it prints if it holds code."""
    try:
        return experiment.to_toml()
    except BadInput:
        return repr(experiment)


def _range(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def _check_room(sizes: Sequence[Size], chosen: str) -> None:
    """Say so, before anything is computed, if one run cannot fit this machine."""
    if not hasattr(os, "sysconf"):
        return
    room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    needed = max(size.bytes for size in sizes)
    if needed > room:
        raise BadInput(
            f"one run needs about {needed / 1e9:.3g} GB in {chosen} coordinates, "
            f"and this machine has {room / 1e9:.3g} GB."
        )
