"""The size of one run, traced and not computed; from it follow batches, segments and blocks."""

import contextlib
import dataclasses
import functools
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from learnscope.data import Problem
from learnscope.engine import faults, train
from learnscope.engine.draw import draw_one, source_of, traced
from learnscope.engine.experiment import Experiment, Keyed, room
from learnscope.errors import BadInput, refuse_value
from learnscope.part import shape_path, value_at
from learnscope.part.units import amount
from learnscope.rules import AbstractState


@dataclasses.dataclass(frozen=True)
class Limits:
    """How far work is cut. Work is the bytes of state and training data that a step passes over,
    times steps: a core does about `speed` of it in a second, and no step in less than `step`."""

    speed: float = 3e9
    step: float = 5e-6
    batch_runs: int = 10
    batch_bytes: int = 2**26
    segment_work: float = 3e8
    segments: int = 50  # of a run of less than as many seconds
    block_work: float = 3e9
    block_runs: int = 512
    block_results: int = 2**24  # bytes
    block_bytes: int = 2**25  # freed buffers up to this size are used again without page faults


LIMITS = Limits()
PRECISIONS = ("float32", "float64")
_MOST_RECORDED = 10**7
_MOST_FILTERS = 10**7  # theory is asked about more, but no run has them


@dataclasses.dataclass(frozen=True)
class Size:
    """What one run takes: shapes recorded at a step, and at the end; bytes of memory, bytes
    recorded, work."""

    outputs: dict[str, tuple[int, ...]]
    finals: dict[str, tuple[int, ...]]
    bytes: int
    recorded: int
    work: float
    vmapped: bool = True

    @property
    def batch(self) -> int:
        """Runs vmapped together: by the experiment alone, since rounding in XLA depends on it."""
        most = min(LIMITS.batch_runs, LIMITS.batch_bytes // self.bytes)
        return max(1, most) if self.vmapped else 1

    def seconds(self, steps: int) -> float:
        """What a batch should take on one core."""
        return max(self.work * self.batch / LIMITS.speed, steps * LIMITS.step)

    @property
    def segments(self) -> int:
        """Segments of a run: by the experiment alone. Those of long runs are about a second, so
        that little is lost between two checkpoints."""
        work = self.work * self.batch
        most = max(LIMITS.segments, work // LIMITS.speed)
        return int(np.clip(work // LIMITS.segment_work, 1, most))

    @property
    def block(self) -> int:
        """The most runs of a block: about a second of work, within memory, but at least a batch."""
        by_work = max(1, LIMITS.block_work // self.work // self.batch) * self.batch
        by_memory = max(1, LIMITS.block_bytes // self.bytes // self.batch) * self.batch
        by_results = LIMITS.block_results // self.recorded
        return int(max(1, min(LIMITS.block_runs, by_results, by_work, by_memory)))


def check_precision(precision: str) -> None:
    if precision not in PRECISIONS:
        refuse_value("precision", precision, f"it must be one of {', '.join(PRECISIONS)}")


def run_size(experiment: Experiment, coordinates: str, precision: str) -> Size:
    """The size of one run."""
    if (filters := getattr(experiment.net, "rows", 0)) > _MOST_FILTERS:
        name = type(experiment.net).__name__
        raise BadInput(f"{name} has {filters:,} filters; a run has at most {_MOST_FILTERS:,}.")
    leaves, structure = jax.tree.flatten(traced(experiment, precision, coordinates))
    # Values of arrays size nothing; ambient dimensions are not traced.
    sizing = tuple(v.shape if isinstance(v, np.ndarray | jax.Array) else v for v in leaves)
    key = (structure, sizing, room(experiment, coordinates), coordinates, precision)
    return _size_of(Keyed(key, experiment))  # tracing takes as long as a short run


@functools.lru_cache(maxsize=256)
def _size_of(sized: Keyed) -> Size:
    experiment, (*_, coordinates, precision) = sized.experiment, sized.key
    problem, carry, values, last = shapes(experiment, coordinates, precision)
    recorded = _bytes(values) * len(train.recorded_steps(experiment)) + _bytes(last)
    # The problem and its draw, the state with working copies of it, and the records.
    total = 2 * _bytes(problem) + 6 * _bytes(carry) + recorded
    with jax.enable_x64(precision == "float64"):
        batch = eqx.filter_eval_shape(lambda p: p.batch(jax.random.key(0)), problem)
    step = experiment.net.passes * (_bytes(batch) + 2 * _bytes(carry))
    work = max(1, experiment.steps) * step
    outputs, finals = ({name: v.shape for name, v in each.items()} for each in (values, last))
    return Size(
        outputs, finals, max(1, total), max(1, recorded), max(1.0, work), experiment.net.vmapped
    )


def shapes(experiment: Experiment, coordinates: str, precision: str) -> tuple[Any, ...]:
    """The shapes of one run's problem, carry, probe values and final parameters."""
    with jax.enable_x64(precision == "float64"), faults.explained():
        fixed = traced(experiment, precision, coordinates)
        given, seed = (coordinates, room(experiment, coordinates)), np.uint32(0)
        problem, params = eqx.filter_eval_shape(draw_one, source_of(fixed), seed, *given)
        carry = eqx.filter_eval_shape(train.start_one, fixed, seed, problem, params)
        state = eqx.filter_eval_shape(train.state_of, fixed, carry, problem, 0)
        _check_classes(experiment, problem, state)
        values = faults.outputs(fixed, problem, state)
        faults.check_step(fixed, problem, state, jax.eval_shape(lambda: jax.random.key(0)))
        last = eqx.filter_eval_shape(train.final, fixed, seed, problem, carry)
        return problem, carry, values, last


def check_fit(experiment: Experiment) -> None:
    """Trace a run's draw, start, probes and first step in ambient coordinates, computing nothing:
    parts that do not fit together raise what they would raise in a run."""
    problem, carry, *_ = shapes(experiment, "ambient", "float32")
    fixed = traced(experiment, "float32", "ambient")
    with jax.enable_x64(False), faults.explained():
        eqx.filter_eval_shape(train.advance, fixed, np.uint32(0), problem, carry, 0, 1)


def _check_classes(experiment: Experiment, problem: Problem, state: AbstractState) -> None:
    """Refuse a net without one output per class of the data."""
    classes = experiment.data.labels
    if classes is None or experiment.rule.pair_filters is not None:
        return
    shape = eqx.filter_eval_shape(lambda state, x: state(x), state, problem.train.x).shape
    outputs = shape[1] if len(shape) == 2 else 1
    if outputs != classes:
        data, net = type(experiment.data).__name__, type(experiment.net).__name__
        hint = " (classes=2 is one output, for labels +1 and -1)" if outputs == 1 else ""
        raise BadInput(
            f"{data} has {classes} classes, and {net} has {outputs} output{'s' * (outputs != 1)}"
            f"{hint}: it must have one per class."
        )


def _bytes(tree: Any) -> int:
    # A problem may hold its data model (`Fresh`), whose ambient dimension is a Python number.
    leaves = [leaf for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype")]
    return sum(leaf.size * leaf.dtype.itemsize for leaf in leaves)


def machine_memory() -> float:
    """The bytes of memory that this process may use; infinite where the system does not say."""
    if not hasattr(os, "sysconf"):
        return math.inf
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with contextlib.suppress(OSError, ValueError):  # of a container; "max" is none
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    with contextlib.suppress(ImportError, AttributeError):
        import resource

        if (soft := resource.getrlimit(resource.RLIMIT_AS)[0]) != resource.RLIM_INFINITY:
            limits.append(soft)
    return min(limits)


def run_sizes(
    listed: Sequence[Experiment], coordinates: str, precision: str, why: str | None = None
) -> tuple[Size, ...]:
    """The size of a run of each experiment; runs too large for this machine are refused. `why` is
    why they are not compressed."""
    memory, because = machine_memory(), f" ({why})" if why else ""
    for experiment in listed:
        count = experiment.steps // experiment.record.every
        if count > _MOST_RECORDED:  # said before the steps are listed
            raise BadInput(
                f"one run would record {count:,} steps, and at most {_MOST_RECORDED:,} are: "
                f"record.every = {experiment.record.every} must be larger."
            )
        path = shape_path(experiment.data)
        if path is not None and coordinates != "compressed":  # JAX cannot trace such an array
            vector = value_at(experiment.data, path) * np.dtype(precision).itemsize
            if vector > memory:
                raise BadInput(
                    f"one run needs more than {amount(vector)} in {coordinates} coordinates"
                    f"{because}, and this machine has {amount(memory)}."
                )
    try:
        sizes = tuple(run_size(experiment, coordinates, precision) for experiment in listed)
        # Rotated vectors are drawn in all dimensions first.
        drawn = listed if coordinates == "rotate" else ()
        whole = [run_size(experiment, "ambient", precision).bytes for experiment in drawn]
    except (OverflowError, MemoryError) as error:
        raise BadInput(f"one run has arrays that are too large: {error}.") from error
    if (needed := max([*whole, *(size.bytes for size in sizes)])) > memory:
        raise BadInput(
            f"one run needs about {amount(needed)} in {coordinates} coordinates"
            f"{because}, and this machine has {amount(memory)}."
        )
    return sizes
