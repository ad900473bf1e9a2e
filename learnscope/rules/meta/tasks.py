"""Split a step into tasks, each with a state of its own, and average the moves that tasks want."""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from learnscope.data import Samples, joined, patch_gram
from learnscope.nets import AbstractInnerProductNet, filters_of, inner, replaced
from learnscope.rules.gram import Gram, Seen, by_patch, from_patches
from learnscope.rules.span import Span, SpanState, coefficients_of
from learnscope.rules.state import AbstractState, Move, WeightState, plus

_UNROLLED = 5  # steps: shorter loops cost more in bookkeeping than in arithmetic
_LOOPED = 1  # the same for deep networks, where a loop compiles in two thirds of the time


class Parts(eqx.Module):
    """The examples of some tasks, in sets that are concatenated task by task. `inner` and `outer`
    are the ranges (from, to) of a task's examples to adapt to and to compute the outer loss of.
    `chosen` are the tasks of the step (none: all)."""

    sets: tuple[Samples, ...]
    inner: tuple[int, int] = eqx.field(static=True)
    outer: tuple[int, int] = eqx.field(static=True)
    chosen: Int[Array, " task"] | None = None

    @property
    def sizes(self) -> list[int]:
        """The number of examples per task in each set."""
        return [part.size // part.groups for part in self.sets]

    @property
    def tasks(self) -> int:
        return self.sets[0].groups if self.chosen is None else self.chosen.shape[0]

    def by_task(self, leaf: Array) -> Array:
        """An array of a set's examples with the chosen tasks as its leading axis."""
        folded = leaf.reshape(self.sets[0].groups, -1, *leaf.shape[1:])
        return folded if self.chosen is None else folded[self.chosen]

    def taken(self) -> "Parts":
        """The chosen tasks as all there are."""
        if self.chosen is None:
            return self
        kept = [Samples(s.x, s.y, {}, s.marks) for s in self.sets]
        flat = lambda leaf: self.by_task(leaf).reshape(-1, *leaf.shape[1:])  # noqa: E731
        some = [jax.tree.map(flat, samples) for samples in kept]
        sets = tuple(dataclasses.replace(s, groups=self.tasks) for s in some)
        return Parts(sets, self.inner, self.outer)

    def together(self, leaves: list[Array]) -> Array:
        """Arrays of the sets' examples as one, by task."""
        return jnp.concatenate([self.by_task(leaf) for leaf in leaves], axis=1)


class Task(eqx.Module):
    """A task: the state that adapts to the inner examples, and the outer ones."""

    state: AbstractState
    inner: Samples
    outer: Samples


class Tasks(eqx.Module):
    """All tasks of a step. `each` holds the arrays of the tasks (leading axis: task), `make` builds
    a task from its slice, and `gather` averages the tasks' moves into one of the whole state. Tasks
    are `vmapped`, or mapped one by one where batches of weights are slow."""

    each: Any
    make: Callable[[Any], Task]
    gather: Callable[[Move], Move]
    vmapped: bool = eqx.field(static=True, default=True)

    def map(self, function: Callable[[Task], Any]) -> Any:
        """Apply a function to every task."""
        mapped = jax.vmap if self.vmapped else lambda one: lambda each: jax.lax.map(one, each)
        return mapped(lambda one: function(self.make(one)))(self.each)

    def mean(self, wanted: Callable[[Task], Move]) -> Move:
        """The mean of the moves that the tasks want."""
        return self.gather(self.map(wanted))


def tasks_of(state: AbstractState, parts: Parts) -> Tasks:
    """The tasks of a step: in weights, or (inner-product nets) in the span of a task's patches."""
    if isinstance(state, SpanState):
        roles = {role for role, *_ in state.vectors.sets}
        if all(samples.role in roles and samples.rows is None for samples in parts.sets):
            return _by_filters(state, parts)
        state = state.weights
    assert isinstance(state, WeightState)
    parts = parts.taken()
    if isinstance(state.net, AbstractInnerProductNet):
        return _by_filters(state, parts)
    return _in_weights(state, parts)


def _in_weights(state: WeightState, parts: Parts) -> Tasks:
    """The tasks of any net."""
    sets = [Samples(part.x, part.y) for part in parts.sets]
    together = jax.tree.map(lambda *leaves: parts.together(list(leaves)), *sets)

    def cut(bounds: tuple[int, int]) -> Samples:
        return jax.tree.map(lambda leaf: leaf[:, slice(*bounds)], together)

    def make(one: Any) -> Task:
        return Task(state.started(state.params), *one)

    def gather(moves: Move) -> Move:
        return jax.tree.map(lambda leaf: leaf.mean(0), moves)

    return Tasks((cut(parts.inner), cut(parts.outer)), make, gather, state.net.vmapped)


def _by_filters(state: AbstractState, parts: Parts) -> Tasks:
    """The tasks of an inner-product net: what filters see of all patches is one product (or, in the
    span of all tasks' patches, known), and so is the mean of what the tasks want."""
    seen, back = jax.vjp(lambda at: _seen(state, at, parts.sets), filters_of(state.point))

    def gather(moves: Move) -> Move:
        along = _unfolded(coefficients_of(moves), seen, parts)
        means = jax.tree.map(lambda leaf: leaf.mean(0), replaced(moves, filters=None))
        return replaced(means, filters=back(along)[0])

    rest, net = replaced(state.point, filters=None), state.net
    assert isinstance(net, AbstractInnerProductNet)

    def folded(some: Seen) -> list[Float[Array, "filter task sample"]]:
        return [jnp.moveaxis(parts.by_task(jnp.moveaxis(z, 1, 0)), 2, 0) for z in by_patch(some)]

    by_set = [folded(some) for some in seen]
    start = tuple(jnp.moveaxis(jnp.concatenate(z, axis=2), 1, 0) for z in zip(*by_set, strict=True))
    labels = parts.together([part.y for part in parts.sets])
    sets = (("inner", *parts.inner), ("outer", *parts.outer))

    def make(one: Any) -> Task:
        z, y, gram = one
        patches, samples = gram.shape[:2]
        square = gram.reshape(patches * samples, -1)
        none = jnp.zeros((patches * samples, 0), square.dtype)
        square = Gram(none, square, (True,) * patches)
        own = jnp.einsum("pnqn->pqn", gram)
        span = Span(square, None, own, None, (None,) * patches, sets)
        still = jax.tree.map(jnp.zeros_like, z)
        own_state = SpanState(
            net=net, start=rest, rest=rest, seen=z, coefficients=still, overlaps={},
            memory=None, step=jnp.zeros((), int), span=span, loss=state.loss,
        )  # fmt: skip
        inner_y, outer_y = y[slice(*parts.inner)], y[slice(*parts.outer)]
        inner, outer = Samples(None, inner_y, role="inner"), Samples(None, outer_y, role="outer")
        return Task(own_state, inner, outer)

    return Tasks((start, labels, _gram(parts)), make, gather)


def _unfolded(moves: Seen, seen: list[Seen], parts: Parts) -> list[Seen]:
    """The tasks' moves (task, filter, sample; one array per patch), over their number, as
    coefficients of all patches of every set."""
    found, at = [], 0
    for some, size, samples in zip(seen, parts.sizes, parts.sets, strict=True):
        own = [jnp.moveaxis(m[..., at : at + size], 0, 1) / parts.tasks for m in moves]
        if parts.chosen is not None:
            none = jnp.zeros((own[0].shape[0], samples.groups, size), own[0].dtype)
            own = [none.at[:, parts.chosen].add(m) for m in own]
        found.append(from_patches([m.reshape(m.shape[0], -1) for m in own], some))
        at += size
    return found


def _seen(state: AbstractState, filters: Any, sets: tuple[Samples, ...]) -> list[Seen]:
    """The inner products of filters with all patches of all sets. Where the first patch of a task's
    examples is a multiple of one vector (the mark `carried`), only that vector is multiplied."""
    carried = all(isinstance(part.x, tuple) and "carried" in part.marks for part in sets)
    if isinstance(state, SpanState) or not carried:
        return [state.preactivations(filters, part) for part in sets]
    times = [part.marks["carried"].reshape(part.groups, -1) for part in sets]
    first = sets[0].x[0].reshape(sets[0].groups, -1, sets[0].x[0].shape[-1])[:, 0]
    (seen,) = inner(filters, first / times[0][:, :1])
    spread = [(seen[:, :, None] * t[None]).reshape(filters.shape[0], -1) for t in times]
    return [(own, *inner(filters, part.x[1:])) for own, part in zip(spread, sets, strict=True)]


def _gram(parts: Parts) -> Float[Array, "task patch sample patch sample"]:
    """The Gram matrix of each task's patches, as the data model gives it or from the patches."""
    if all("gram" in part.marks for part in parts.sets):
        found = parts.together([part.marks["gram"] for part in parts.sets])
    else:
        found = patch_gram(joined(*(Samples(p.x, p.y, groups=p.groups) for p in parts.sets)).x)
        found = found if parts.chosen is None else found[parts.chosen]
    return found.transpose(0, 2, 1, 3, 4)


def descend(
    state: AbstractState, samples: Samples, rate: Array | float, steps: int,
    pull: Array | float | None = None,
) -> AbstractState:  # fmt: skip
    r"""The state after `steps` of gradient descent on the loss of some examples, plus
    $\frac{\lambda}{2}\|W - W_0\|^2$ with $\lambda$ = `pull` if given."""

    def step(at: AbstractState) -> AbstractState:
        along = at.gradient(samples)
        if pull is not None:
            along = plus(along, pull, at.displacement)
        return at.moved(along, -rate)

    if steps > (_UNROLLED if state.net.vmapped else _LOOPED):
        walk = lambda position, _: (step(state.at(position)).position, None)  # noqa: E731
        return state.at(jax.lax.scan(walk, state.position, None, length=steps)[0])
    for _ in range(steps):
        state = step(state)
    return state
