r"""States of nets that see inputs through inner products, in the span of the training vectors.

What the training vectors $P$ (rows) see of the filters is $Z = W P^T$. A gradient is $H P$, with
the derivative $H$ of the loss by $Z$, and a step along it moves $Z$ by $H G$, with the Gram matrix
$G = P P^T$. So rules step $Z$ itself, and never recompute it from $W$: a component that decays to
$10^{-150}$ keeps every digit, where $W_0 + B P$ keeps none below $10^{-16}$ of $W_0$. The
coefficients $B$ of the displacement are summed along, for outputs on other inputs. The same holds
of all training vectors, of a task's, and of an example's own patches.
"""

import dataclasses
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PyTree

from learnscope.data import Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import AbstractInnerProductNet, Params, filters_of, inner, replaced
from learnscope.rules.losses import loss_of
from learnscope.rules.state import AbstractState, Move, WeightState

# One array per array of patches, each (filter, example, *patch): pre-activations or coefficients.
Seen = tuple[Float[Array, "filter n *patch"], ...]
_SMALL = 64  # a Gram matrix of so few vectors costs nothing


def rows_of(leaf: Float[Array, "n *patch width"]) -> Float[Array, "row width"]:
    return leaf.reshape(-1, leaf.shape[-1])


def coefficients_of(move: Move) -> Seen:
    """The coefficients of the training vectors in a move."""
    coefficients: Any = filters_of(move)
    return coefficients


def _flat(leaf: Float[Array, "filter n *patch"]) -> Float[Array, "filter row"]:
    return leaf.reshape(leaf.shape[0], -1)


class Gram(eqx.Module):
    """The inner products of vectors that may be cut after their last coordinate.

    The first few coordinates of all vectors are kept as they are (a signal patch may have one);
    for the other coordinates of the wide ones there is a square matrix.
    """

    first: tuple[Float[Array, "row few"], ...]
    square: Float[Array, "wide wide"]
    wide: tuple[bool, ...] = eqx.field(static=True)

    @staticmethod
    def of(leaves: list[Float[Array, "n *patch width"]]) -> "Gram":
        few = _few([leaf.shape for leaf in leaves])
        tables = [rows_of(leaf) for leaf in leaves]
        wide = tuple(table.shape[1] > few for table in tables)
        most = max(table.shape[1] for table in tables)
        rest = [table[:, few:] for table, is_wide in zip(tables, wide, strict=True) if is_wide]
        whole = [jnp.pad(r, ((0, 0), (0, most - few - r.shape[1]))) for r in rest]
        beyond = jnp.concatenate(whole) if whole else jnp.zeros((0, 1), tables[0].dtype)
        first = [jnp.pad(t[:, :few], ((0, 0), (0, max(0, few - t.shape[1])))) for t in tables]
        return Gram(tuple(first), beyond @ beyond.T, wide)

    def __call__(self, along: Seen) -> Seen:
        """What a move with these coefficients changes of what the vectors see."""
        flat = [_flat(leaf) for leaf in along]
        moved = [jnp.zeros_like(table) for table in flat]
        if self.first[0].shape[1] > 0:
            direct = sum(f @ table for f, table in zip(flat, self.first, strict=True))
            moved = [direct @ table.T for table in self.first]
        if any(self.wide):
            some = [f for f, is_wide in zip(flat, self.wide, strict=True) if is_wide]
            beyond = (some[0] if len(some) == 1 else jnp.concatenate(some, axis=1)) @ self.square
            at = 0
            for i, is_wide in enumerate(self.wide):
                if is_wide:
                    moved[i] = moved[i] + beyond[:, at : at + flat[i].shape[1]]
                    at += flat[i].shape[1]
        return tuple(m.reshape(leaf.shape) for m, leaf in zip(moved, along, strict=True))


def own_gram(x: PyTree[Float[Array, "n *patch width"]]) -> Float[Array, "n patch patch"]:
    """The inner products of each example's own patches."""
    arrays = [leaf.reshape(leaf.shape[0], -1, leaf.shape[-1]) for leaf in jax.tree.leaves(x)]

    def product(left: Array, right: Array) -> Array:
        width = min(left.shape[-1], right.shape[-1])
        return jnp.einsum("npd,nqd->npq", left[..., :width], right[..., :width])

    blocks = [jnp.concatenate([product(a, b) for b in arrays], axis=2) for a in arrays]
    return jnp.concatenate(blocks, axis=1)


def _few(shapes: list[tuple[int, ...]]) -> int:
    """The number of coordinates to keep: a product costs least."""
    return min({0, *(shape[-1] for shape in shapes)}, key=lambda few: gram_cost(shapes, few))


def gram_cost(shapes: list[tuple[int, ...]], few: int) -> int:
    """The multiplications of a product with a Gram matrix, for one filter."""
    rows = [(_size(shape[:-1]), shape[-1]) for shape in shapes]
    wide = sum(n for n, width in rows if width > few)
    return 2 * few * sum(n for n, _ in rows) + wide**2


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


class Span(eqx.Module):
    """The vectors that a span state sees: what stays the same during training.

    `own` are the inner products of each example's patches. `sets` are the names of sets of examples
    with their first number and the one after the last. `directions` are the
    inner products of the vectors (rows) with each named direction. `x` are the vectors themselves
    (None: the state is one of adaptation, of which nobody asks for weights).
    """

    gram: Gram
    own: Float[Array, "n patch patch"]
    x: tuple[Float[Array, "n *patch width"], ...] | None
    directions: dict[str, tuple[Float[Array, "row *count"], ...]]
    sets: tuple[tuple[str, int, int], ...] = eqx.field(static=True)

    @staticmethod
    def of(problem: Problem) -> "Span":
        """The span of the training vectors, and of those of the validation halves of tasks."""
        sets, first, bounds = _sets(problem), 0, []
        for samples in sets:
            bounds.append((samples.role, first, first + samples.size))
            first += samples.size
        x = _leaves(sets)

        def along(rows: Array) -> tuple[Array, ...]:
            flat = rows.reshape(-1, rows.shape[-1])
            products = [rows_of(leaf) @ flat[:, : leaf.shape[-1]].T for leaf in x]
            return tuple(p.reshape(-1, *rows.shape[:-1]) for p in products)

        directions = {name: along(rows) for name, rows in problem.directions.items()}
        gram, own = Gram.of(list(x)), own_gram(x)
        return Span(gram, own, x, directions, tuple(bounds))

    def within(self, samples: Samples) -> slice | Int[Array, " n"]:
        """Where some examples are among all."""
        for role, first, last in self.sets:
            if role == samples.role:
                return slice(first, last) if samples.rows is None else first + samples.rows
        raise BadInput("a state in the span of the training vectors knows no other examples.")


def _sets(problem: Problem) -> list[Samples]:
    held = [] if problem.validation is None else [problem.validation]
    return [
        dataclasses.replace(samples, role=role)
        for samples, role in zip([problem.train, *held], ("train", "validation"), strict=False)
    ]


def _leaves(sets: list[Samples]) -> tuple[Array, ...]:
    """The arrays of patches of all sets, concatenated along the examples."""
    if len(sets) == 1:
        return tuple(jax.tree.leaves(sets[0].x))
    return tuple(jax.tree.leaves(jax.tree.map(lambda *s: jnp.concatenate(s), *(s.x for s in sets))))


class SpanState(AbstractState):
    """What training vectors see of the filters (`seen`), and parameters other than filters
    (`rest`). `coefficients` are those of the filters' displacement. `overlaps` are the filters'
    inner products with the problem's directions; they are stepped too."""

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
        net, span, filters = state.net, Span.of(problem), filters_of(state.params)
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
        for leaf, along in zip(x, self.coefficients, strict=True):
            filters = filters.at[:, : leaf.shape[-1]].add(_flat(along) @ rows_of(leaf))
        return replaced(self.rest, filters=filters)

    @property
    def weights(self) -> WeightState:
        return WeightState(
            net=self.net, params=self.params, start=self.start, memory=self.memory, step=self.step,
            loss=self.loss,
        )  # fmt: skip

    def seen_of(self, samples: Samples) -> Seen:
        """The pre-activations of some examples."""
        at = self.vectors.within(samples)
        return tuple(leaf[:, at] for leaf in self.seen)

    def outputs(self, samples: Samples) -> Float[Array, "n ..."]:
        if samples.role not in {role for role, *_ in self.vectors.sets}:
            return self(samples.x)
        return self.net.read(self.rest, self.seen_of(samples))

    def losses(self, samples: Samples) -> Float[Array, " n"]:
        return loss_of(self.loss, self.outputs(samples), samples.y)

    def _slope(self, samples: Samples) -> Any:
        def mean_loss(rest: Params, seen: Seen) -> Array:
            return loss_of(self.loss, self.net.read(rest, seen), samples.y).mean()

        return jax.grad(mean_loss, argnums=(0, 1))

    def gradient(self, samples: Samples) -> Move:
        rest, seen = self._slope(samples)(self.rest, self.seen_of(samples))
        return replaced(rest, filters=self.placed(seen, samples))

    def curvature(self, samples: Samples, move: Move) -> Move:
        at = self.vectors.within(samples)
        shift = tuple(leaf[:, at] for leaf in self.vectors.gram(coefficients_of(move)))
        here, along = (self.rest, self.seen_of(samples)), (replaced(move, filters=None), shift)
        rest, seen = jax.jvp(self._slope(samples), here, along)[1]
        return replaced(rest, filters=self.placed(seen, samples))

    def placed(self, slopes: Seen, samples: Samples) -> Seen:
        """Derivatives by the pre-activations of some examples as coefficients of all vectors."""
        at = self.vectors.within(samples)
        if isinstance(at, slice) and slopes[0].shape == self.seen[0].shape:
            return slopes
        pairs = zip(self.seen, slopes, strict=True)
        return tuple(jnp.zeros_like(leaf).at[:, at].add(slope) for leaf, slope in pairs)

    def moved(self, move: Move, by: Any = None) -> Self:
        if by is not None:
            move = jax.tree.map(lambda leaf: by * leaf, move)
        along = coefficients_of(move)
        added = lambda a, b: jax.tree.map(jnp.add, a, b)  # noqa: E731
        flat = [_flat(leaf) for leaf in along]

        def overlap(products: tuple[Array, ...]) -> Array:
            each = [jnp.tensordot(f, p, 1) for f, p in zip(flat, products, strict=True)]
            return sum(each[1:], each[0])

        directions = {name: self.vectors.directions[name] for name in self.overlaps}
        return dataclasses.replace(
            self,
            rest=added(self.rest, replaced(move, filters=None)),
            seen=added(self.seen, self.vectors.gram(along)),
            coefficients=added(self.coefficients, along),
            overlaps={name: self.overlaps[name] + overlap(p) for name, p in directions.items()},
        )

    def dot(self, one: Move, other: Move) -> Float[Array, ""]:
        other = replaced(other, filters=self.vectors.gram(coefficients_of(other)))
        each = jax.tree.map(lambda a, b: jnp.sum(a * b), one, other)
        return jnp.sum(jnp.stack(jax.tree.leaves(each)))

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
        aliases = dict(samples.aliases)
        if samples.role in {role for role, *_ in self.vectors.sets} and name in aliases:
            return by_patch(self.seen_of(samples))[aliases[name]]
        return filters_of(self.params) @ samples.vectors[name].T

    @property
    def rounding(self) -> Float[Array, ""]:
        return jnp.zeros((), self.seen[0].dtype)

    def within(self, problem: Problem) -> Self:
        return dataclasses.replace(self, span=Span.of(problem))

    def holding(self, bare: Self) -> Self:
        return dataclasses.replace(bare, span=self.span)

    @property
    def bare(self) -> Self:
        return dataclasses.replace(self, span=None)


def by_patch(seen: Seen) -> list[Float[Array, "filter n"]]:
    """The arrays of every patch; patches are arrays of their own, or an axis of one."""
    arrays = [leaf.reshape(*leaf.shape[:2], -1) for leaf in seen]
    return [leaf[:, :, i] for leaf in arrays for i in range(leaf.shape[2])]


def spanned(state: WeightState, problem: Problem, examples: int) -> SpanState | None:
    """The state in the span of the training vectors, if a step of so many examples costs no more
    there. The choice depends on shapes alone; ambient runs are in weights, as a script's are."""
    if problem.frame.ambient or not isinstance(state.net, AbstractInnerProductNet):
        return None
    shapes = [leaf.shape for leaf in _leaves(_sets(problem))]
    count, wide = sum(_size(s[:-1]) for s in shapes), sum(_size(s) for s in shapes)
    share = examples / sum(samples.size for samples in _sets(problem))
    cost = gram_cost(shapes, _few(shapes))
    return SpanState.of(state, problem) if cost <= 2 * share * wide or count <= _SMALL else None
