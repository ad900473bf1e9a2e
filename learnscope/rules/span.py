r"""States of nets that see inputs through inner products, in the span of the training vectors.

What the training vectors $P$ (rows) see of the filters is $Z = W P^T$. A gradient is $H P$, with
the derivative $H$ of the loss by $Z$, and a step along it moves $Z$ by $H G$, with the Gram matrix
$G = P P^T$. So rules step $Z$ itself, and never recompute it from $W$: a component that decays to
$10^{-150}$ keeps every digit, where $W_0 + B P$ keeps none below $10^{-16}$ of $W_0$. The
coefficients $B$ of the displacement are summed along, for outputs on other inputs. The same holds
of all training vectors, of a task's, and of an example's own patches.
"""

import dataclasses
import math
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from learnscope.data import Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import AbstractInnerProductNet, Params, filters_of, inner, replaced
from learnscope.rules.gram import (
    Gram,
    Seen,
    Tested,
    by_patch,
    cheapest,
    flat_of,
    generators,
    gram_cost,
    own_gram,
    rows_of,
)
from learnscope.rules.losses import loss_of
from learnscope.rules.state import AbstractState, Move, WeightState

_SMALL = 64  # a Gram matrix of so few vectors costs nothing


def coefficients_of(move: Move) -> Seen:
    """The coefficients of the training vectors in a move."""
    coefficients: Any = filters_of(move)
    return coefficients


class Span(eqx.Module):
    """The vectors of a span state, and their inner products: all that training does not change.

    `x` are generators: patches, and the first axis, of which other patches are multiples (None: the
    state adapts to a task, and its weights are never formed). `times` are these multiples for
    each array of patches (None: its patches are generators). `own` are the inner products of each
    example's patches. `sets` are the names of sets of examples with their first number and the one
    after the last. The others of `gram` are the problem's directions, by name.
    """

    gram: Gram
    test: Tested | None
    own: Float[Array, "patch patch n"]
    x: tuple[Float[Array, "n *patch width"], ...] | None
    times: tuple[Float[Array, "n *patch"] | None, ...]
    sets: tuple[tuple[str, int, int], ...] = eqx.field(static=True)

    @staticmethod
    def of(problem: Problem, start: Params) -> "Span":
        """The span of the training vectors, and of those of the validation halves of tasks."""
        sets, first, bounds = _sets(problem), 0, []
        for samples in sets:
            bounds.append((str(samples.role), first, first + samples.size))
            first += samples.size
        leaves = _leaves(sets)
        x = tuple(generators(leaves))
        times = tuple(leaf[..., 0] if leaf.shape[-1] == 1 else None for leaf in leaves)
        named = [jnp.atleast_2d(rows) for _, rows in sorted(problem.directions.items())]
        gram = Gram.of(x, jnp.concatenate([rows_of(rows) for rows in named]) if named else None)
        test = Tested.of(x, problem.test, filters_of(start))
        return Span(gram, test, own_gram(leaves), x, times, tuple(bounds))

    def patches(self, seen: Seen, samples: Samples) -> Seen:
        """What some examples' patches see, from what the generators see."""
        at, wide = self.within(samples), iter(seen[len(seen) - self.times.count(None) :])
        multiple = lambda times: seen[0].reshape(-1, *(1,) * times.ndim) * times[at][None]  # noqa: E731
        return tuple(next(wide)[:, at] if t is None else multiple(t) for t in self.times)

    def within(self, samples: Samples) -> slice | Int[Array, " n"]:
        """Where some examples are among all."""
        for role, first, last in self.sets:
            if role == samples.role:
                return slice(first, last) if samples.rows is None else first + samples.rows
        raise BadInput("a state in the span of the training vectors knows no other examples.")


def _sets(problem: Problem) -> list[Samples]:
    return [samples for samples in (problem.train, problem.validation) if samples is not None]


def _leaves(sets: list[Samples]) -> tuple[Array, ...]:
    """The arrays of patches of all sets, concatenated along the examples."""
    if len(sets) == 1:
        return tuple(jax.tree.leaves(sets[0].x))
    return tuple(jax.tree.leaves(jax.tree.map(lambda *s: jnp.concatenate(s), *(s.x for s in sets))))


class SpanState(AbstractState):
    """The filters' inner products with the training vectors (`seen`), and parameters other than
    filters (`rest`). `coefficients` are those of the filters' displacement. `overlaps` are the
    filters' inner products with the problem's directions; they are stepped too."""

    net: AbstractInnerProductNet
    start: Params
    rest: Params
    seen: Seen
    coefficients: Seen
    overlaps: dict[str, Float[Array, "filter *count"]]
    memory: Any
    step: Int[Array, ""]
    span: Span | None
    loss: str = eqx.field(static=True)

    @staticmethod
    def of(state: WeightState, problem: Problem) -> "SpanState":
        """A state before its first step, in the span of the training vectors."""
        net, filters = state.net, filters_of(state.params)
        span = Span.of(problem, state.params)
        assert isinstance(net, AbstractInnerProductNet) and span.x is not None
        seen = inner(filters, span.x)
        return SpanState(
            net=net,
            start=state.params,
            rest=replaced(state.params, filters=None),
            seen=seen,
            coefficients=jax.tree.map(jnp.zeros_like, seen),
            overlaps={
                name: jnp.tensordot(filters, rows, (1, -1))
                for name, rows in problem.directions.items()
            },
            memory=None,
            step=state.step,
            span=span,
            loss=state.loss,
        )

    @property
    def vectors(self) -> Span:
        assert self.span is not None, "a bare state has no vectors: see `within`"
        return self.span

    @property
    def params(self) -> Params:
        x = self.vectors.x
        assert x is not None
        filters = filters_of(self.start)
        pad = np.pad if isinstance(filters, np.ndarray) else jnp.pad  # a state may be NumPy's
        for leaf, along in zip(x, self.coefficients, strict=True):
            width = ((0, 0), (0, filters.shape[1] - leaf.shape[-1]))
            filters = filters + pad(flat_of(along) @ rows_of(leaf), width)
        return replaced(self.rest, filters=filters)

    @property
    def weights(self) -> WeightState:
        return WeightState(
            net=self.net, params=self.params, start=self.start, memory=self.memory, step=self.step,
            loss=self.loss,
        )  # fmt: skip

    def preactivations(self, filters: Seen, samples: Samples) -> Seen:
        return self.vectors.patches(filters, samples)

    def own_gram(self, samples: Samples) -> Float[Array, "patch patch n"]:
        return self.vectors.own[..., self.vectors.within(samples)]

    def outputs(self, samples: Samples) -> Float[Array, "n ..."]:
        tested = self.vectors.test
        if samples.role == "test" and samples.rows is None and tested is not None:
            seen = tested.seen(self.vectors.gram, self.coefficients, self.seen)
            return self.net.read(self.rest, seen)
        if samples.role not in {role for role, *_ in self.vectors.sets}:
            return self(samples.x)
        return self.net.read(self.rest, self.preactivations(self.seen, samples))

    def losses(self, samples: Samples) -> Float[Array, " n"]:
        return loss_of(self.loss, self.outputs(samples), samples.y)

    def losses_at(self, point: PyTree[Array], samples: Samples) -> Float[Array, " n"]:
        seen = self.preactivations(coefficients_of(point), samples)
        outputs = self.net.read(replaced(point, filters=None), seen)
        return loss_of(self.loss, outputs, samples.y)

    def change(self, move: Move) -> PyTree[Array]:
        return replaced(move, filters=self.vectors.gram(coefficients_of(move)))

    def moved(self, move: Move, by: Any = None) -> Self:
        if by is not None:
            move = jax.tree.map(lambda leaf: by * leaf, move)
        along = coefficients_of(move)
        added = lambda a, b: jax.tree.map(jnp.add, a, b)  # noqa: E731
        change, across = self.vectors.gram.both(along)
        overlaps, at = {}, 0
        for name, before in sorted(self.overlaps.items()):
            count = math.prod(before.shape[1:])
            overlaps[name] = before + across[:, at : at + count].reshape(before.shape)
            at += count
        return dataclasses.replace(
            self,
            rest=added(self.rest, replaced(move, filters=None)),
            seen=added(self.seen, change),
            coefficients=added(self.coefficients, along),
            overlaps=overlaps,
        )

    @property
    def displacement(self) -> Move:
        start = replaced(self.start, filters=None)
        rest = jax.tree.map(lambda now, before: now - before, self.rest, start)
        return replaced(rest, filters=self.coefficients)

    @property
    def point(self) -> PyTree[Array]:
        return replaced(self.rest, filters=self.seen)

    @property
    def position(self) -> PyTree[Array]:
        return self.rest, self.seen, self.coefficients, self.overlaps

    def at(self, position: PyTree[Array]) -> Self:
        rest, seen, coefficients, overlaps = position
        return dataclasses.replace(
            self, rest=rest, seen=seen, coefficients=coefficients, overlaps=overlaps
        )

    def started(self, point: PyTree[Array]) -> Self:
        rest, seen = replaced(point, filters=None), filters_of(point)
        still = jax.tree.map(jnp.zeros_like, self.coefficients)
        return dataclasses.replace(self, start=rest, rest=rest, seen=seen, coefficients=still)

    def overlap(self, name: str, vectors: Float[Array, "*count dim"]) -> Float[Array, "filter ..."]:
        return self.overlaps[name]

    def hidden(self, samples: Samples, name: str) -> Float[Array, "filter n"]:
        if not self._steps(samples, name):
            return self.weights.hidden(samples, name)
        return by_patch(self.preactivations(self.seen, samples))[dict(samples.aliases)[name]]

    def _steps(self, samples: Samples, name: str) -> bool:
        """Whether hidden vectors are among those whose products are stepped."""
        known = samples.role in {role for role, *_ in self.vectors.sets}
        return known and name in dict(samples.aliases)

    def rounding(self, samples: Samples, name: str) -> Float[Array, ""]:
        if not self._steps(samples, name):
            return self.weights.rounding(samples, name)
        return jnp.zeros((), self.seen[0].dtype)

    def shares(
        self, problem: Problem, direction: str, name: str
    ) -> tuple[Float[Array, " filter"], Float[Array, "filter n"]]:
        wide = [times is None for times in self.vectors.times]
        number = dict(problem.train.aliases).get(name)
        # A patch of one coordinate is a multiple of the only direction there is.
        lone = list(problem.directions) == [direction] and problem.directions[direction].ndim == 1
        held = wide == [i == number for i in range(len(wide))] and len(wide) > 1
        if not (lone and held) or self.coefficients[-1].shape[1:] != problem.train.y.shape:
            return self.weights.shares(problem, direction, name)
        axis, along = self.coefficients
        return axis[:, 0] / problem.directions[direction][0], along

    def within(self, problem: Problem) -> Self:
        return dataclasses.replace(self, span=Span.of(problem, self.start))

    def holding(self, bare: Self) -> Self:
        return dataclasses.replace(bare, span=self.span)

    @property
    def bare(self) -> Self:
        return dataclasses.replace(self, span=None)


def spanned(state: WeightState, problem: Problem, examples: int) -> SpanState | None:
    """The state in the span of the training vectors, if a step of so many examples costs no more
    there. The choice depends on shapes alone; ambient runs are in weights, as a script's are."""
    if problem.frame.ambient or not isinstance(state.net, AbstractInnerProductNet):
        return None
    leaves = _leaves(_sets(problem))
    shapes = [leaf.shape for leaf in leaves]
    count, wide = sum(math.prod(s[:-1]) for s in shapes), sum(map(math.prod, shapes))
    share = examples / sum(samples.size for samples in _sets(problem))
    reduced = [leaf.shape for leaf in generators(leaves)]
    cost = gram_cost(reduced, cheapest(reduced))
    # In weights a step on many tasks multiplies what their examples have in common only once.
    pays = problem.train.groups == 1 and cost <= 2 * share * wide
    return SpanState.of(state, problem) if pays or count <= _SMALL else None
