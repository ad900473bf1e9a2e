"""How a run runs: one program a group, vmapped over runs, scanned over steps in segments.

A *run* is one experiment at one seed. The runs of a group differ only in numbers, which are traced,
so that they are a batch axis of one compiled program. A *block* of runs is what a thread or a
cluster's worker computes: in *pieces* that fit a memory budget, one program each, and a piece in
*segments* of the recorded steps, between which progress is told and a checkpoint may be kept.
Within a piece runs are vmapped in *chunks* whose width depends on the experiment alone: rounding in
XLA depends on the width of a batch, so a run's bits do not depend on how a sweep is cut up.
"""

import contextlib
import dataclasses
import functools
import hashlib
import threading
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from learnscope.data import Columns, Frame, Problem, turn
from learnscope.errors import BadInput
from learnscope.lab import coordinates as coords
from learnscope.lab.checkpoint import Checkpoint, Kept
from learnscope.lab.experiment import Experiment
from learnscope.nets import AbstractInnerProductNet, Params
from learnscope.rules import AbstractPairRule, State
from learnscope.rules.way import way_for

# A seed fixes the data, the initial weights and the rule's own randomness, each by its role.
_ROLES = {"data": 0, "init": 1, "training": 2, "memory": 3}
_WIDEST_CHUNK, _CHUNK_BYTES = 10, 2**26
# Freed buffers of this size are used again by the next piece; larger ones cost a page fault each.
_PIECE_BYTES, _ROOMY = 2**25, 2**26
# Bytes of state and training data that a step passes over, times steps: about what a core does in
# a tenth of a second, and in a second or so.
_SEGMENT_WORK, _MOST_SEGMENTS = 3e8, 50
_BLOCK_WORK, _BLOCK_BYTES, _BLOCK_RUNS = 3e9, 2**24, 512
# Two threads that meet a new program at once would both compile it.
_compiling = threading.Lock()
_compiled: set[str] = set()


@dataclasses.dataclass(frozen=True)
class Block:
    """Runs to be computed together: pure data, so that any process can compute it.

    `piece` of them make one program (a multiple of `chunk`); the last piece is filled up.
    """

    experiment: Experiment
    varying: dict[str, np.ndarray]
    seeds: np.ndarray
    coordinates: str
    precision: str
    chunk: int
    piece: int
    segments: int

    @property
    def size(self) -> int:
        return len(self.seeds)

    @property
    def program(self) -> str:
        """What is compiled for it: the same for blocks that share a program."""
        return "|".join(
            map(repr, (self.experiment, sorted(self.varying), self.coordinates, self.precision,
                       self.chunk, self.piece, self.segments))
        )  # fmt: skip

    @property
    def digest(self) -> str:
        """Which runs it has."""
        found = hashlib.sha256(self.program.encode() + self.seeds.astype(np.int64).tobytes())
        for path in sorted(self.varying):
            found.update(path.encode() + self.varying[path].astype(float).tobytes())
        return found.hexdigest()

    def take(self, ids: np.ndarray) -> "Block":
        """Some of its runs."""
        varying = {path: values[ids] for path, values in self.varying.items()}
        return dataclasses.replace(self, varying=varying, seeds=self.seeds[ids])


_Source = dict[str, Any]  # the data model and the net: what a draw depends on
Varying = Mapping[str, Array | np.ndarray]


class _Carry(eqx.Module):
    """A run between segments."""

    state: State
    diverged_at: Int[Array, ""]


def recorded_steps(experiment: Experiment) -> np.ndarray:
    """0 (if it is recorded), every, 2 every, ..., and the last step."""
    steps = np.arange(0, experiment.steps + 1, experiment.record.every)
    steps = steps if steps[-1] == experiment.steps else np.append(steps, experiment.steps)
    return steps if experiment.record.start else steps[1:]


def compute(
    block: Block,
    advance: Callable[[float], None] = lambda runs: None,
    checkpoint: Checkpoint | None = None,
) -> dict[str, np.ndarray]:
    """All recorded variables of a block, as NumPy arrays (run, step, ...), and `diverged_at`.

    `advance` is told after each segment how many runs (or what part of one) it came to. With a
    `checkpoint`, long runs continue from the last segment that was kept.
    """
    if checkpoint is not None:
        checkpoint.runs = block.digest
    kept = None if checkpoint is None else checkpoint.load()
    done = [] if kept is None else kept.done
    program = block.program
    for start in range(block.piece * len(done), block.size, block.piece):
        # The last piece is filled up with its last run, so that all have one shape: one program.
        ids = np.arange(start, start + block.piece).clip(max=block.size - 1)
        share = min(block.piece, block.size - start)

        def keep(segment: int, carry: Any, recorded: list) -> None:
            if checkpoint is not None:
                checkpoint.offer(done, segment, carry, recorded)

        def told(part: float, runs: int = share) -> None:
            advance(runs * part)

        values = _piece(block.take(ids), program, told, kept, keep)
        done.append({name: array[:share] for name, array in values.items()})
        kept = None
    return {name: np.concatenate([piece[name] for piece in done]) for name in done[0]}


def _piece(
    block: Block,
    program: str,
    advance: Callable[[float], None],
    kept: Kept | None,
    keep: Callable[[int, Any, list], None],
) -> dict[str, np.ndarray]:
    """All recorded variables of one piece; `advance` is told the part of it that was done."""
    with jax.enable_x64(block.precision == "float64"):
        dtype = np.dtype(block.precision)
        fixed = _traced(block.experiment, dtype, block.coordinates == "compressed")
        varying = {path: values.astype(dtype) for path, values in block.varying.items()}
        seeds = block.seeds.astype(np.uint32)
        room = _room(block.experiment, block.coordinates)
        drawn = {path: v for path, v in varying.items() if path.startswith(("data.", "net."))}
        segments, recorded_at = _segments(block.experiment, block.segments)
        first, recorded = 0, []

        def segment(number: int, carry: _Carry) -> _Carry:
            bounds = segments[number]
            carry, values = _segment(fixed, varying, seeds, problem, carry, bounds, block.chunk)
            recorded.append(jax.device_get(values))
            advance(1 / len(segments))
            if number + 1 < len(segments):
                keep(number + 1, carry, recorded)
            return carry

        with _compiling if program not in _compiled else contextlib.nullcontext():
            source = _source(fixed)
            problem, params = _draw(source, drawn, seeds, block.coordinates, room, block.chunk)
            carry = _start(fixed, varying, seeds, problem, params, block.chunk)
            if kept is not None:
                first, carry, recorded = kept.segment, kept.into(carry), kept.recorded
                advance(first / len(segments))
            carry = segment(first, carry)
            _compiled.add(program)
        for number in range(first + 1, len(segments)):
            carry = segment(number, carry)
        variables = {
            name: np.concatenate([part[name] for part in recorded], axis=1)[:, recorded_at]
            for name in recorded[0]
        }
        diverged = np.asarray(carry.diverged_at)
        return variables | {"diverged_at": np.where(diverged < 0, np.nan, diverged)}


def _shapes(experiment: Experiment, coordinates: str, precision: str) -> tuple[Any, Any, Any]:
    """The shapes of one run's problem, carry and probe values, without computing them."""
    with jax.enable_x64(precision == "float64"):
        fixed = _traced(experiment, np.dtype(precision), coordinates == "compressed")
        room = _room(experiment, coordinates)
        source, seed = _source(fixed), np.uint32(0)
        # A problem may hold its data model (`Fresh`), whose ambient dimension is a Python number.
        problem, params = jax.eval_shape(lambda: _draw_one(source, seed, coordinates, room))
        carry = eqx.filter_eval_shape(_start_one, fixed, seed, problem, params)
        _check_outputs(experiment, problem, carry.state)
        return problem, carry, eqx.filter_eval_shape(_measure, fixed, carry.state, problem)


def _check_outputs(experiment: Experiment, problem: Problem, state: State) -> None:
    """Say so if the net has not one output for each of the data's classes."""
    classes = experiment.data.labels
    if classes is None or isinstance(experiment.rule, AbstractPairRule):
        return
    shape = eqx.filter_eval_shape(lambda state, x: state(x), state, problem.train.x).shape
    outputs = shape[1] if len(shape) == 2 else 1
    if outputs != classes:
        data, net = type(experiment.data).__name__, type(experiment.net).__name__
        hint = " (classes=2 is one output, for labels +1 and -1)" if outputs == 1 else ""
        raise BadInput(
            f"{data} has {classes} classes, and {net} has {outputs} output{'s' * (outputs != 1)}"
            f"{hint}: it must have one a class."
        )


@dataclasses.dataclass(frozen=True)
class Size:
    """What one run of an experiment takes.

    The shapes it records at a step; memory while it runs and of what it records, in bytes; and its
    work: steps times the bytes that a step passes over.
    """

    outputs: dict[str, tuple[int, ...]]
    bytes: int
    recorded: int
    work: float
    vmapped: bool = True

    @property
    def chunk(self) -> int:
        """How many runs are vmapped: by the experiment alone."""
        if not self.vmapped:
            return 1
        return max(1, min(_WIDEST_CHUNK, _CHUNK_BYTES // self.bytes))

    @property
    def segments(self) -> int:
        """In how many segments it is computed: by the experiment alone."""
        return int(np.clip(self.work * self.chunk // _SEGMENT_WORK, 1, _MOST_SEGMENTS))

    @property
    def block(self) -> int:
        """The most runs that are computed, stored or lost together: a second or so of work, but no
        less than a chunk, a part of which would cost as much."""
        by_work = max(1, _BLOCK_WORK // self.work // self.chunk) * self.chunk
        return int(max(1, min(_BLOCK_RUNS, _BLOCK_BYTES // self.recorded, by_work)))

    def piece(self, runs: int, memory: float) -> int:
        """How many of so many runs make one program: whole chunks that about fit a memory budget,
        chosen so that pieces come out even."""
        chunks = -(-runs // self.chunk)
        fitting = max(1, int(min(_PIECE_BYTES, memory) // self.bytes // self.chunk))
        sizes = range(max(1, fitting // 2), fitting + 1 + (fitting // 4 if memory > _ROOMY else 0))
        best = min(sizes, key=lambda size: (size * -(-chunks // size), -size))
        return self.chunk * min(best, chunks)


def run_size(experiment: Experiment, coordinates: str, precision: str) -> Size:
    """The size of one run, without computing it."""
    fixed = _traced(experiment, np.dtype(precision), coordinates == "compressed")
    leaves, structure = jax.tree.flatten(fixed)
    # Values of traced numbers size nothing; ambient dimensions are not traced.
    sizing = tuple(leaf for leaf in leaves if not isinstance(leaf, np.ndarray))
    room = _room(experiment, coordinates)
    return _size_of(_Sized((structure, sizing, room, coordinates, precision), experiment))


@dataclasses.dataclass(frozen=True)
class _Sized:
    """An experiment as far as its size depends on it: tracing takes as long as a short run."""

    key: tuple
    experiment: Experiment = dataclasses.field(compare=False)


@functools.lru_cache(maxsize=256)
def _size_of(sized: _Sized) -> Size:
    experiment, (*_, coordinates, precision) = sized.experiment, sized.key
    problem, carry, values = _shapes(experiment, coordinates, precision)
    recorded = _bytes(values) * len(recorded_steps(experiment))
    # The problem and its draw, the state with working copies of it, and the records.
    total = 2 * _bytes(problem) + 6 * _bytes(carry) + recorded
    batch = eqx.filter_eval_shape(lambda p: p.batch(jax.random.key(0)), problem)
    step = experiment.net.passes * (_bytes(batch) + 2 * _bytes(carry))
    work = max(1, experiment.steps) * step
    outputs = {name: value.shape for name, value in values.items()}
    return Size(outputs, max(1, total), max(1, recorded), max(1.0, work), experiment.net.vmapped)


def _bytes(tree: Any) -> int:
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def _traced(experiment: Experiment, dtype: np.dtype, compressed: bool) -> Experiment:
    """The experiment with its numbers as arrays; ambient dimensions stay Python's, for shapes."""

    def convert(leaf):
        if isinstance(leaf, bool) or not isinstance(leaf, int | float):
            return leaf
        return leaf if isinstance(leaf, int) and not compressed else np.asarray(leaf, dtype)

    return jax.tree.map(convert, experiment)


def _source(experiment: Experiment) -> _Source:
    return {"data": experiment.data, "net": experiment.net}


def _room(experiment: Experiment, coordinates: str) -> coords.Room | None:
    return coords.room(experiment) if coordinates == "compressed" else None


def _with(tree: Any, values: Mapping[str, Array]) -> Any:
    """An experiment (or its source) with traced numbers put in their places."""
    if not values:
        return tree
    return eqx.tree_at(
        lambda inner: [_at(inner, path) for path in values], tree, list(values.values())
    )


def _at(tree: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(tree, tuple):
            tree = tree[int(name)]
        else:
            tree = tree[name] if isinstance(tree, Mapping) else getattr(tree, name)
    return tree


def _key(seed: Array, role: str) -> Array:
    return jax.random.fold_in(jax.random.key(seed), _ROLES[role])


def _test_by_columns(problem: Problem) -> Problem:
    """Compressed test patches, which no rule learns from, stored as probes read them fastest."""
    if not isinstance(problem.test.x, tuple):
        return problem
    columns = tuple(Columns.of(group) for group in problem.test.x)
    return eqx.tree_at(lambda p: p.test.x, problem, columns)


def _draw_one(
    source: _Source, seed: Any, how: str, room: coords.Room | None
) -> tuple[Problem, Params]:
    """One problem and its initial parameters, in the chosen coordinates."""
    data, net = source["data"], source["net"]
    frame = None
    if room is not None:
        frame = Frame(data.dim, room.rank, seen=room.seen, room=room.span)
    problem = data.sample(_key(seed, "data"), frame)
    params = net.init(_key(seed, "init"), problem)
    if how == "rotate":
        assert isinstance(net, AbstractInnerProductNet)
        directions, rest = problem.span()
        onto = turn(directions, [*rest, params["filters"]])
        problem, params = problem.project(onto), net.project(params, onto)
    return _test_by_columns(problem), params


def _each_run(one: Callable[..., Any], chunk: int, *runs: Any) -> Any:
    """A function of one run for all of them, vmapped a chunk at a time."""
    if chunk == 1:
        return jax.lax.map(lambda run: one(*run), runs)
    return jax.lax.map(lambda run: one(*run), runs, batch_size=chunk)


def _draw_runs(
    source: _Source,
    varying: Varying,
    seeds: Array | np.ndarray,
    how: str,
    room: coords.Room | None,
    chunk: int,
) -> tuple[Problem, Params]:
    def one(values, seed):
        return _draw_one(_with(source, values), seed, how, room)

    return _each_run(one, chunk, varying, seeds)


# Drawing is nearly all random bits, which XLA takes long to optimise for little: at level 1 it
# compiles three times faster. It depends on data and net only, so that all rules share it.
_LEVEL: Any = {"compiler_options": {"xla_backend_optimization_level": 1}}
_draw = eqx.filter_jit(_draw_runs, **_LEVEL)


def _start_one(experiment: Experiment, seed: Array, problem: Problem, params: Params) -> _Carry:
    state = experiment.rule.init(experiment.net, problem, _key(seed, "memory"), params)
    return _Carry(state, jnp.full((), -1, state.step.dtype))


@eqx.filter_jit
def _start(
    fixed: Experiment,
    varying: Varying,
    seeds: Array | np.ndarray,
    problem: Problem,
    params: Params,
    chunk: int,
) -> _Carry:
    """The state of every run before its first step."""

    def one(values, seed, problem, params):
        return _start_one(_with(fixed, values), seed, problem, params)

    return _each_run(one, chunk, varying, seeds, problem, params)


def _measure(experiment: Experiment, state: State, problem: Problem) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for probe in experiment.probes:
        value = probe(state, problem)
        found |= value if isinstance(value, dict) else dict.fromkeys(probe.outputs, value)
    return found


@eqx.filter_jit
def _segment(
    fixed: Experiment,
    varying: Varying,
    seeds: Array | np.ndarray,
    problem: Problem,
    carry: _Carry,
    bounds: Int[Array, "interval 3"] | np.ndarray,
    chunk: int,
) -> tuple[_Carry, dict[str, Array]]:
    """Steps of each interval [from, to), then the probes, if it is to be recorded; for all runs of
    the block."""

    def one(values, seed, problem, carry):
        experiment = _with(fixed, values)
        key = _key(seed, "training")

        way = way_for(experiment.rule, carry.state, problem, experiment.record.every)
        shapes = eqx.filter_eval_shape(_measure, experiment, carry.state, problem)
        unread = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)

        def step(t, walked):
            walk, diverged_at = walked
            # The loop's own counter, which all runs share: a rule's `lax.cond` on it stays one.
            walk = way.step(walk, t, jax.random.fold_in(key, t))
            # Infinity and NaN times 0 are NaN, and so is their sum: cheaper than `isfinite`.
            leaves = jax.tree.leaves(way.moving(walk))
            finite = jnp.all(jnp.stack([(leaf * 0).sum() == 0 for leaf in leaves]))
            first = ~finite & (diverged_at < 0)
            return walk, jnp.where(first, t + 1, diverged_at).astype(diverged_at.dtype)

        def interval(carry, bound):
            walked = way.begin(carry.state), carry.diverged_at
            walk, diverged_at = jax.lax.fori_loop(bound[0], bound[1], step, walked)
            state = way.end(walk, carry.state, bound[1])
            measured = jax.lax.cond(
                bound[2], lambda: _measure(experiment, state, problem), lambda: unread
            )
            return _Carry(state, diverged_at), measured

        return jax.lax.scan(interval, carry, bounds)

    return _each_run(one, chunk, varying, seeds, problem, carry)


def _segments(experiment: Experiment, wanted: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Intervals of steps in equally long segments, each with whether it ends at a recorded step;
    and which ones do."""
    steps = recorded_steps(experiment)
    pieces = -(-wanted // max(1, len(steps) - 1))
    starts = np.concatenate([[0], steps[:-1]])
    cuts = [np.linspace(a, b, (pieces if b > a else 1) + 1).astype(np.int32)
            for a, b in zip(starts, steps, strict=True)]  # fmt: skip
    intervals = np.concatenate([np.stack([cut[:-1], cut[1:]], axis=1) for cut in cuts])
    recorded_at = np.cumsum([len(cut) - 1 for cut in cuts]) - 1
    is_recorded = np.isin(np.arange(len(intervals)), recorded_at).astype(np.int32)
    length = -(-len(intervals) // wanted)
    missing = -len(intervals) % length
    padding = np.repeat([[steps[-1], steps[-1], 0]], missing, axis=0).astype(np.int32)
    padded = np.concatenate(
        [np.column_stack([intervals, is_recorded]), padding.reshape(-1, 3)]
    ).astype(np.int32)
    return list(padded.reshape(-1, length, 3)), recorded_at
