"""Which coordinates a sweep runs in: ambient, rotated, or compressed in law.

No part is trusted on its word. The first time that an experiment would be compressed in a process,
a small copy of it (few examples, a narrow net, a dimension above the rank, numbers near 1) is run
for three steps in double precision, in the form that would be used and in all coordinates, from the
same draw. Data models that draw in compressed coordinates are also compared in law, by moments of
inner products.
"""

import contextlib
import dataclasses
import functools
import math
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from learnscope.data import Problem, Samples
from learnscope.engine import law, size, train
from learnscope.engine.draw import draw_one, source_of, traced
from learnscope.engine.experiment import Experiment, Keyed, in_law, obstacle, room
from learnscope.engine.program import Program, computed
from learnscope.errors import BadInput, refuse_value, why_of
from learnscope.nets import AbstractInnerProductNet, Params
from learnscope.part import AbstractPart, Allowed, allowed, allowed_kind, shape_path
from learnscope.part.canonical import hashable, own_code
from learnscope.space import Basis, Columns, Frame, one_array, padded, random

COORDINATES = ("auto", "ambient", "rotate", "compressed")
_USUAL = (0.1, 1.0)
_FEW = 3  # the most that a count of the small copy is lowered to
_WIDER = 4  # its dimension, over the coordinates that it needs
_LARGEST = 2**28  # bytes of a copy that is still small
_CLOSE, _ROUNDING = 1e-9, 1e-15  # relative; absolute, of sums of numbers near 1


def choose(asked: str, programs: Sequence[Program]) -> tuple[str, str | None]:
    """The coordinates for a whole sweep (`ambient`, `rotate` or `compressed`), and why they are
    ambient if that was not asked for.

    One choice for all of it, since a seed's draw is the same only in the same coordinates, and
    comparisons within a sweep are paired. `auto` compresses if every experiment allows it.
    """
    for program in programs:
        _forget_changed(program.experiment)
    if asked not in COORDINATES:
        refuse_value("coordinates", asked, f"it must be one of {', '.join(COORDINATES)}")
    if asked == "ambient":
        return "ambient", None
    if asked == "rotate" and any(program.experiment.data.sets > 1 for program in programs):
        raise BadInput(
            "coordinates = 'rotate' is not possible: every step draws new vectors, which no "
            "rotation holds; use 'compressed', 'ambient' or 'auto'."
        )
    drawn = all(in_law(program.experiment) for program in programs)
    chosen = "compressed" if drawn and asked != "rotate" else "rotate"
    reasons = (obstacle(program.experiment, program.dims) for program in programs)
    reason, tried = next(filter(None, reasons), None), False
    if reason is None:
        trials = (objection(program.strongest, chosen) for program in programs)
        reason, tried = next(filter(None, trials), None), True
    if reason is None:
        return chosen, None
    if asked != "auto":
        raise BadInput(
            f"coordinates = {asked!r} is not possible: {reason}; use 'ambient' or 'auto'."
        )
    if tried:  # not what the parts say of themselves
        dims = max(dim for program in programs for dim in program.dims)
        warnings.warn(f"{reason}, so the run uses all {dims:.0f} coordinates.", stacklevel=4)
    return "ambient", reason


_traced: dict[Any, str] = {}


def _forget_changed(experiment: Experiment) -> None:
    """Drop what was traced and tried, if a class or function of a user's own has changed since: a
    notebook's cell with a function that it calls, say, which JAX does not look at again."""
    now = dict(own_code(experiment))
    changed = any(_traced.get(code, digest) != digest for code, digest in now.items())
    _traced.update(now)
    if changed:
        jax.clear_caches()
        _tried.cache_clear()
        law.differing.cache_clear()


def objection(experiment: Experiment, coordinates: str) -> str | None:
    """Why compressing this experiment would change it, or None if a trial shows no difference. What
    is tried has values of its own (`_usual`): no answer rests on an effect too small to be seen, or
    on what a process tried before."""
    mistake = None
    for small in map(_usual, copies(experiment)):
        try:
            return _tried(Keyed((*hashable(small), coordinates), small))
        except _Unfit as unfit:
            mistake = unfit.__cause__
    if mistake is not None:  # of the parts themselves, not of the copy's size
        raise mistake
    return f"{type(experiment.data).__name__} has no small copy, by which to try it"


class _Unfit(Exception):
    """A small copy whose parts do not fit together."""


@functools.lru_cache(maxsize=1024)
def _tried(trial: Keyed) -> str | None:
    small, coordinates = trial.experiment, trial.key[-1]
    name, span = type(small.data).__name__, small.data.span
    try:
        size.check_fit(small)
    except Exception as error:
        raise _Unfit from error
    if size.run_size(small, "ambient", "float64").bytes > _LARGEST:
        raise _Unfit
    with jax.enable_x64(True):
        fixed = traced(small, "float64", coordinates)
        problem, _ = jax.eval_shape(lambda: _draw(fixed, coordinates))
        if problem.batches.fresh:
            # Models with sets of filters for it are drawn anew in a frame that is turned.
            if small.data.sets == 1:
                return f"{name} draws new examples that no fixed span holds"
            return _untraceable(fixed, coordinates)
        try:
            if coordinates == "compressed":
                if problem.frame.used != span:
                    return f"{name} used {problem.frame.used} coordinates where its span is {span}"
                if (what := law.other_law(small)) is not None:
                    return f"{name} drew {what} of another law in compressed coordinates"
            return _other_path(small, fixed, coordinates)
        except Exception as error:  # of the run, which will say more
            return f"a trial of {type(small.rule).__name__} on {name} failed ({why_of(error)})"


def _untraceable(fixed: Experiment, coordinates: str) -> str | None:
    """Why a step on fresh examples cannot be taken in compressed coordinates, or None."""

    def step() -> train.Carry:
        problem, params = _draw(fixed, coordinates)
        carry = train.start_one(fixed, np.uint32(0), problem, params)
        return train.advance(fixed, np.uint32(0), problem, carry, 0, 1)

    try:
        jax.eval_shape(step)
    except BadInput as error:
        return why_of(error)
    return None


def copies(experiment: Experiment) -> Iterator[Experiment]:
    """The experiment with smaller counts, in a dimension above its rank (if it has one)."""
    all_, two = ("data", "net", "rule"), ("data", "net")
    few, more = ({slot: _lowered(getattr(experiment, slot), low) for slot in all_}
                 for low in (2, _FEW))  # fmt: skip
    for changed, parts in ((two, few), (two, more), (all_, few), (all_, more), (two[:1], few),
                           (two[1:], few), ((), few)):  # fmt: skip
        with contextlib.suppress(BadInput):  # of parts that do not go together
            small = dataclasses.replace(experiment, **{slot: parts[slot] for slot in changed})
            path = shape_path(small.data)
            if path is not None and isinstance(small.net, AbstractInnerProductNet):
                rank = small.data.span + small.data.sets * small.net.moving
                small = small.replace(f"data.{path}", _WIDER * rank)
            yield small


def _lowered(part: Any, low: int) -> Any:
    """A part with its counts as low as it accepts (but not below `low`), one after the other."""
    for field in 2 * dataclasses.fields(part):  # twice: one count may hold another one up
        value = getattr(part, field.name)
        if isinstance(value, AbstractPart):
            part = _with(part, field.name, _lowered(value, low))
        elif allowed_kind(part, field.name) == "count" and isinstance(value, int | tuple):
            each = value if isinstance(value, tuple) else (value,)  # one count per class, say
            for lower in range(low, min(max(each), _FEW + 1)):
                fewer = tuple(min(one, lower) for one in each)
                new = fewer if isinstance(value, tuple) else lower
                if (changed := _with(part, field.name, new)) is not part:
                    part = changed
                    break
    return part


def _usual(part: Any) -> Any:
    """A part whose numbers are 0.1 or 1, whichever is nearer; tuples are scaled as a whole.

    What is special keeps its value: 0, infinity, the ends of what is allowed, whole numbers.
    """
    changes = {}
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if isinstance(value, AbstractPart):
            changes[field.name] = _usual(value)
        elif isinstance(value, tuple) and all(isinstance(each, AbstractPart) for each in value):
            changes[field.name] = tuple(map(_usual, value))
        elif (limits := allowed(part, field.name)) is not None and limits.kind == "number":
            several = isinstance(value, tuple)
            largest = max(value, key=abs) if several else value
            new = largest if limits.whole or limits.shape else _near(largest, limits)
            if new != largest:
                scaled = tuple(v * (new / largest) for v in value) if several else new
                changes[field.name] = scaled
    try:
        return dataclasses.replace(part, **changes) if changes else part
    except BadInput:  # fields that hold each other up
        for name, value in changes.items():
            part = _with(part, name, value)
        return part


def _near(value: Any, limits: Allowed) -> Any:
    """The usual value inside the limits that is nearest to a number; special ones as they are."""
    if not isinstance(value, float) or value == 0 or not limits.low < value < limits.high:
        return value
    near = sorted(_USUAL, key=lambda usual: abs(math.log(usual / abs(value))))
    signed = (math.copysign(usual, value) for usual in near)
    return next((usual for usual in signed if limits.low < usual < limits.high), value)


def _with(part: Any, name: str, value: Any) -> Any:
    try:
        return part.replace(name, value)
    except BadInput:
        return part


def _draw(fixed: Experiment, coordinates: str) -> tuple[Problem, Params]:
    return draw_one(source_of(fixed), np.uint32(0), coordinates, room(fixed, coordinates))


def _other_path(small: Experiment, fixed: Experiment, coordinates: str) -> str | None:
    """Which part does something else in compressed coordinates, or None."""
    reason = _differs(small, fixed, coordinates, True)
    if reason is not None and _differs(small, fixed, coordinates, False) is None:
        name = type(small.rule).__name__
        return f"{name} takes a move for weights, or changes examples (a norm is state.dot(g, g))"
    return reason


def _differs(small: Experiment, fixed: Experiment, coordinates: str, span: bool) -> str | None:
    """Which part does something else in compressed coordinates (in the span of the training vectors
    or in weights), or None: the same draw and steps in both."""
    ambient, dim = traced(small, "float64", "ambient"), int(small.data.dim)

    def stories() -> tuple[Any, Any]:
        problem, params = _draw(fixed, coordinates)
        if coordinates == "compressed":
            form = jax.eval_shape(lambda: _draw(ambient, "ambient")[0].train.x)
            whole = _lifted(problem, params, fixed, dim, form)
        else:
            whole = _draw(ambient, "ambient")
        return _story(fixed, problem, params, span), _story(ambient, *whole)

    one, other = computed(stories)
    for step in range(4):
        if step > 1 and any(_exploded(other[name][:step]) for name in ("outputs", "filters")):
            break
        differing = [
            name for name in one
            if not _same(one[name][step], other[name][step], step and other[name][step - 1])
        ]  # fmt: skip
        if "outputs" in differing or "filters" in differing:
            if step == 0:
                return f"{type(small.net).__name__} has other outputs in another basis"
            return f"{type(small.rule).__name__} moved differently in two bases"
        # Where outputs cancel, their signs are those of rounding errors, and so are accuracies.
        signs = [np.sign(story["outputs"][step]) for story in (one, other)]
        for probe in small.probes if np.array_equal(*signs) else ():
            floors = {output.floor for output in probe.outputs.values()}
            for name in differing:
                if name in probe.outputs and name not in floors:
                    return f"{type(probe).__name__} reads another {name} in another basis"
    return None


def _story(
    experiment: Experiment, problem: Problem, params: Params, span: bool = False
) -> dict[str, Array]:
    """What does not depend on the basis: before the first step, and after three steps of a run."""
    net, last, seed = experiment.net, experiment.steps - 1, np.uint32(0)
    assert isinstance(net, AbstractInnerProductNet)

    def read(carry: train.Carry, bounds: Array) -> tuple[train.Carry, dict[str, Array]]:
        carry = train.advance(experiment, seed, problem, carry, bounds[0], bounds[1])
        state = train.state_of(experiment, carry, problem, bounds[1])
        filters = jnp.concatenate([net.vectors(state.params), net.vectors(state.start)])
        seen = {"outputs": state(problem.train.x), "filters": filters @ filters.T}
        return carry, seen | train.measure(experiment, state, problem)

    bounds = jnp.array([[0, 0], *([at, at + 1] for at in (0, last // 2, last))])
    return jax.lax.scan(read, train.start_one(experiment, seed, problem, params, span), bounds)[1]


def _same(one: np.ndarray, other: np.ndarray, before: Any) -> bool:
    """Whether values agree to 1e-9, or to a thousandth of their last change if that is less; what
    is below rounding is 0. Of values by coordinates, the inner products are compared."""
    if one.shape != other.shape:
        rows = [np.atleast_2d(values) for values in (one, other)]
        one, other = (values @ np.swapaxes(values, -1, -2) for values in rows)
        before = other
    finite = np.isfinite(one) & np.isfinite(other)
    one, other, before = (np.where(finite, v, 0) for v in (one, other, before))
    largest, change = (np.abs(v).max(initial=0) for v in (other, other - before))
    allowed = max(min(_CLOSE * largest, 1e-3 * change), 1e-12 * largest, _ROUNDING)
    return bool(np.abs(one - other).max(initial=0) <= allowed)


def _exploded(values: np.ndarray) -> bool:
    """Whether values grew so much in the last step that rounding may have grown with them."""
    before, after = (np.abs(v).max(initial=0) for v in values[-2:])
    return not np.isfinite(after) or after > 1e6 * before > 0


def _lifted(
    problem: Problem, params: Params, experiment: Experiment, dim: int, form: Any
) -> tuple[Problem, Params]:
    """A compressed draw, written in all `dim` coordinates of a random basis; `form` is the shape
    of ambient inputs."""
    rank, net = problem.frame.rank, experiment.net
    assert isinstance(net, AbstractInnerProductNet)
    onto = Basis(jnp.linalg.qr(random.normal(jax.random.key(1), (dim, rank)))[0])

    def whole(tree: Any) -> Any:
        return jax.tree.map(lambda vectors: onto(padded(vectors, rank)), tree)

    def samples(stored: Samples | None) -> Any:
        if stored is None:
            return None
        given: Samples = Columns.undone(stored)
        x = given.x
        if isinstance(x, tuple) and isinstance(form, jax.ShapeDtypeStruct):  # patches in one array
            x = one_array(x, rank).reshape(given.size, *form.shape[1:-1], rank)
        return dataclasses.replace(given, x=whole(x), vectors=whole(given.vectors))

    lifted = dataclasses.replace(
        problem,
        train=samples(problem.train),
        test=samples(problem.test),
        validation=samples(problem.validation),
        directions=whole(problem.directions),
        frame=Frame.of_dimension(dim),
        factors=None if problem.factors is None else problem.factors.project(onto),
    )
    return lifted, net.project(params, onto)
