"""Plans: the programs of a sweep, and the blocks in which its runs are computed and stored.

A sweep is an array with a dim for every axis and one for the seeds. It is cut into equal *blocks*
of one regular grid, so that a block is a chunk of a Zarr array: wholly there or not.
"""

import dataclasses
import functools
import hashlib
import itertools
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from learnscope.engine.experiment import Experiment
from learnscope.engine.size import Size, check_precision, run_sizes
from learnscope.engine.train import recorded_steps
from learnscope.engine.trial import choose
from learnscope.errors import BadInput, refuse_value
from learnscope.lab import sweep
from learnscope.lab.sweep import Axis, Over, Program
from learnscope.part import field_kind
from learnscope.part.canonical import own_code
from learnscope.part.code import versions
from learnscope.part.units import amount
from learnscope.probes import Output

Recorded = list[dict[str, np.ndarray]]  # by a segment each: variables (run by step, ...)
Plans = list[tuple["Plan", float]]  # plans, and how many times as many runs each stands for
_BLOCK_BYTES = 1000  # that a block itself takes
_MOST_RUNS = 10**8


@dataclasses.dataclass(frozen=True)
class Block:
    """Runs that are computed, stored and lost together: a region of the sweep's array."""

    number: int
    program: int
    region: tuple[slice, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(side.stop - side.start for side in self.region)

    @property
    def runs(self) -> int:
        return math.prod(self.shape)

    @property
    def places(self) -> np.ndarray:
        """The positions of all runs along every dim (dim by run)."""
        return np.mgrid[self.region].reshape(len(self.region), -1)


@dataclasses.dataclass(frozen=True)
class Runs:
    """The runs of a block as pure data, so that any process can compute them.

    They are padded to `padded` runs, whole batches, so that all blocks reuse one compiled program.
    """

    experiment: Experiment
    varying: dict[str, np.ndarray]
    seeds: np.ndarray
    coordinates: str
    precision: str
    batch: int
    padded: int
    segments: int

    @property
    def size(self) -> int:
        return len(self.seeds)

    @property
    def digest(self) -> str:
        """A digest of the runs, by which a checkpoint is recognised."""
        varying = {path: values.tolist() for path, values in sorted(self.varying.items())}
        common = dataclasses.replace(self, varying={}, seeds=np.zeros(0))
        text = repr((common, varying, self.seeds.tolist()))
        return hashlib.sha256(text.encode()).hexdigest()

    def take(self, ids: np.ndarray) -> "Runs":
        """The runs at some positions."""
        varying = {path: values[ids] for path, values in self.varying.items()}
        return dataclasses.replace(self, varying=varying, seeds=self.seeds[ids])


def blank(dims: Sequence[str], shape: Sequence[int], dtype: str, attributes: Any) -> xr.Variable:
    """A variable of NaN, which takes no memory."""
    return xr.Variable(dims, np.broadcast_to(np.array(np.nan, dtype), shape), attributes)


@dataclasses.dataclass(frozen=True)
class Plan:
    """A sweep before it is run: validated, in its coordinates, with every shape known."""

    experiment: Experiment
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    coordinates: str
    precision: str
    programs: tuple[Program, ...]
    sizes: tuple[Size, ...]
    why_ambient: str | None = None  # where `auto` could not compress

    @staticmethod
    def of(
        experiment: Experiment,
        over: Over = None,
        seeds: Any = 1,
        coordinates: str = "auto",
        precision: str = "float32",
    ) -> "Plan":
        check_precision(precision)
        if not isinstance(experiment, Experiment):
            refuse_value("experiment", experiment, "it must be an Experiment")
        swept, listed = tuple(sweep.axes(over)), tuple(sweep.seed_list(seeds))
        if math.prod(axis.size for axis in swept) * len(listed) > _MOST_RUNS:
            raise BadInput(f"the sweep has too many runs: {_MOST_RUNS:,} are allowed.")
        split = sweep.programs(experiment, swept)
        sweep.check_numbers(split, precision)
        chosen, why = choose(coordinates, split)
        sized = any(field_kind(split[0].experiment, path) == "shape" for path in split[0].varying)
        if sized and chosen != "compressed":
            split = sweep.programs(experiment, swept, ambient=True)
        sizes = run_sizes([program.experiment for program in split], chosen, precision, why)
        return Plan(experiment, swept, listed, chosen, precision, tuple(split), sizes, why)

    @functools.cached_property
    def shape(self) -> tuple[int, ...]:
        """The sizes of axes and seeds: the dims that every variable starts with."""
        return (*(axis.size for axis in self.axes), len(self.seeds))

    @functools.cached_property
    def dims(self) -> tuple[str, ...]:
        return (*(axis.dim for axis in self.axes), "seed")

    @property
    def runs(self) -> int:
        return math.prod(self.shape)

    @functools.cached_property
    def steps(self) -> np.ndarray:
        """Every step that some program records."""
        return np.unique(np.concatenate([recorded_steps(p.experiment) for p in self.programs]))

    @functools.cached_property
    def block_shape(self) -> tuple[int, ...]:
        """The shape of a block: 1 along axes that are not numeric, some values of the others."""
        largest = max(self.sizes, key=lambda size: size.work)
        limit = min(size.block for size in self.sizes)
        structural = self.programs[0].place
        free = [n for n, d in zip(self.shape, self.dims, strict=True) if d not in structural]
        sides = iter(sweep.block_shape(free, largest.batch, limit))
        return tuple(1 if d in structural else next(sides) for d in self.dims)

    @functools.cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, in the order of the array."""
        of_place = {tuple(p.place.values()): i for i, p in enumerate(self.programs)}
        structural = [self.dims.index(dim) for dim in self.programs[0].place]
        sides = [
            [slice(c, min(c + b, n)) for c in range(0, n, b)]
            for n, b in zip(self.shape, self.block_shape, strict=True)
        ]
        return tuple(
            Block(number, of_place[tuple(region[at].start for at in structural)], region)
            for number, region in enumerate(itertools.product(*sides))
        )

    def runs_of(self, block: Block, keep: np.ndarray | None = None) -> Runs:
        """The runs to compute for a block: all of them, or those marked in `keep`."""
        program, size = self.programs[block.program], self.sizes[block.program]
        at = dict(zip(self.dims, block.places, strict=True))
        runs = Runs(
            program.experiment,
            {path: values[at[dim]] for path, (dim, values) in program.varying.items()},
            np.asarray(self.seeds)[at["seed"]],
            self.coordinates,
            self.precision,
            size.batch,
            size.batch * -(-math.prod(self.block_shape) // size.batch),
            size.segments,
        )
        return runs if keep is None else runs.take(np.flatnonzero(keep))

    def blank(self, block: Block) -> "KnownRuns":
        """A block of which no run is known."""
        values = {
            name: np.full((*block.shape, *v.shape[len(self.shape) :]), np.nan, v.dtype)
            for name, v in self.variables.items()
        }
        return KnownRuns(np.zeros(block.shape, bool), values)

    def place(self, block: Block, known: "KnownRuns", values: dict[str, np.ndarray]) -> None:
        """Put the values of a block's other runs, as a worker returns them, beside known ones."""
        new = np.flatnonzero(~known.mask)
        steps = np.searchsorted(self.steps, recorded_steps(self.programs[block.program].experiment))
        for name, array in values.items():
            full = known.values[name]
            full = full.reshape(block.runs, *full.shape[len(block.shape) :])  # a view
            stepwise = "step" in self.variables[name].dims
            inner = [steps] if stepwise else []
            inner += map(np.arange, array.shape[1 + stepwise :])
            full[np.ix_(new, *inner)] = array

    @functools.cached_property
    def variables(self) -> dict[str, xr.Variable]:
        """Every variable of the dataset. Smaller arrays of a program leave NaN beside them."""
        outputs: dict[str, Output] = {}
        inner: dict[str, tuple[int, ...]] = {}
        for program, size in zip(self.programs, self.sizes, strict=True):
            for probe in program.experiment.probes:
                outputs |= probe.outputs
            for name, shape in (size.outputs | size.finals).items():
                inner[name] = tuple(map(max, inner.get(name, shape), shape))
        found = {}
        for name in (*outputs, *(name for name in inner if name not in outputs)):
            if name in outputs:
                dims, shape = ("step", *outputs[name].dims), (len(self.steps), *inner[name])
                said = outputs[name].attributes.items()  # xarray writes the unit 1 beside axes
                attributes = {key: text for key, text in said if (key, text) != ("units", "1")}
            else:
                shape, dims = inner[name], tuple(f"{name}_{i}" for i in range(len(inner[name])))
                attributes = {"long_name": f"{name.removeprefix('final_')} after the last step"}
            lead = (*self.dims, *dims), (*self.shape, *shape)
            found[name] = blank(*lead, self.precision, attributes)
        meaning = {"long_name": "first step at which a parameter was not finite", "units": "step"}
        return found | {"diverged_at": blank(self.dims, self.shape, "float64", meaning)}

    @functools.cached_property
    def bytes(self) -> int:
        """The size of all variables."""
        return sum(variable.nbytes for variable in self.variables.values())

    def check_fits(self, there: float, where: str) -> None:
        """Refuse a sweep that does not fit so many bytes, before anything is allocated."""
        blocks = math.prod(-(-n // b) for n, b in zip(self.shape, self.block_shape, strict=True))
        if (needed := max(self.bytes, blocks * _BLOCK_BYTES)) > there:
            raise BadInput(
                f"the results of {self.runs:,} runs take {amount(needed)}, and there are "
                f"{amount(there)} in {where}."
            )

    def coords(self) -> xr.Dataset:
        """The dataset's coordinates and attributes, without its variables."""
        over = {path: axis.labels(path) for axis in self.axes for path in axis.fields}
        coords = {"seed": list(self.seeds), "step": ("step", self.steps)}
        for axis in self.axes:
            coords |= axis.coords()
        return xr.Dataset(
            coords=coords,
            attrs={
                "experiment": self.experiment.text(),
                "over": json.dumps(over),
                **sweep.part_tables(self.axes),
                "coordinates_used": self.coordinates,
                **({"why_ambient": self.why_ambient} if self.why_ambient else {}),
                "precision": self.precision,
                "draw": self._draw(),
                **versions(),
            },
        )

    def _draw(self) -> str:
        """How seeds were drawn. Data models and nets of learnscope draw the same in both
        precisions; a user's own may not."""
        how = "compressed" if self.coordinates == "compressed" else "ambient"
        parts = [(p.experiment.data, p.experiment.net) for p in self.programs]
        own = any(isinstance(code, type) for code, _ in own_code(parts))
        return f"{how}, {self.precision}" if own else how

    def words(self, block: Block, run: int | None = None) -> str:
        """The settings of a block, or of one of its runs."""
        ends = block.places[:, [0, -1] if run is None else [run, run]]
        settings = [
            f"{path} = {_range(axis.labels(path), *at)}"
            for axis, at in zip(self.axes, ends[:-1], strict=True)
            for path in axis.fields
        ]
        return ", ".join([*settings, f"seed {_range(self.seeds, *ends[-1])}"])


def nominal(plans: Plans) -> float:
    """Seconds by the size of arrays and the number of steps alone."""
    return sum(
        times * max(1, plan.runs / len(plan.programs) / size.batch)
        * size.seconds(program.experiment.steps)
        for plan, times in plans
        for program, size in zip(plan.programs, plan.sizes, strict=True)
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class KnownRuns:
    """The runs of a block that need not be computed (`mask`), and arrays of the block with their
    values (NaN elsewhere)."""

    mask: np.ndarray
    values: dict[str, np.ndarray]


def joined(recorded: Recorded) -> dict[str, np.ndarray]:
    """What several segments recorded, one after the other."""
    return {name: np.concatenate([values[name] for values in recorded], 1) for name in recorded[0]}


def _range(names: Sequence[Any], first: int, last: int) -> str:
    return str(names[first]) if first == last else f"{names[first]} to {names[last]}"
