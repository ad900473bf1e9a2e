"""Equivalent ways to execute a rule's steps: as the rule defines them, or cheaper.

A run uses one way from start to end. The choice follows from shapes alone, and states for probes
are copies, so recording changes no digit. All ways agree up to rounding (divergence may be noticed
a step earlier or later), and rules do not depend on them.
"""

import dataclasses
from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PyTree

from learnscope.data import FullBatch, Problem, Samples
from learnscope.nets import AbstractInnerProductNet, filters_of, replaced
from learnscope.rules.gradient_descent import GradientDescent
from learnscope.rules.losses import loss_of
from learnscope.rules.per_example_penalty import PerExamplePenalty, penalised_slopes
from learnscope.rules.rule import AbstractRule, State
from learnscope.rules.siamese import AbstractPairRule


class AbstractWay(eqx.Module):
    """A way to execute steps: `begin` turns a state into a walk, `step` steps the walk, and `state`
    reads a state from it."""

    @abstractmethod
    def begin(self, state: State) -> Any:
        """The walk before the first step."""

    @abstractmethod
    def step(self, walk: Any, t: Int[Array, ""], key: Key[Array, ""]) -> Any:
        """The walk after step t."""

    @abstractmethod
    def moving(self, walk: Any) -> PyTree[Array]:
        """The arrays that are checked for divergence."""

    @abstractmethod
    def state(self, walk: Any, t: Int[Array, ""]) -> State:
        """The state after t steps in total, for probes."""


class Plain(AbstractWay):
    """The steps as the rule defines them."""

    rule: AbstractRule
    problem: Problem

    def begin(self, state: State) -> State:
        return state

    def step(self, walk: State, t: Int[Array, ""], key: Key[Array, ""]) -> State:
        state = dataclasses.replace(walk, step=t.astype(walk.step.dtype))
        return self.rule.step(state, self.problem, key)

    def moving(self, walk: State) -> PyTree[Array]:
        return walk.params

    def state(self, walk: State, t: Int[Array, ""]) -> State:
        return walk


class Displaced(eqx.Module):
    """A walk in the span: the first state, its pre-activations (Z_0), and the displacement, as
    coefficients of the wide vectors (B) and in the first few coordinates (D)."""

    first: State
    seen: Float[Array, "filter n"]
    moved: Float[Array, "filter n"]
    direct: Float[Array, "filter few"]


class InSpan(AbstractWay):
    r"""Gradient descent on the full batch, with or without a per-example penalty, in
    coefficients of the training vectors.

    Filters see examples as $Z = W X^T$ and the gradient is $H X$, where $H$ is the loss's
    derivative by $Z$. So $W_t = W_0 + B_t X$ with $B_{t+1} = B_t - \eta H_t$, and
    $Z_t = Z_0 + B_t X X^T$: one product with an n x n matrix per step, instead of two with X.
    Patches that are only a few coordinates wide (a signal) stay in coordinates: their contribution
    $D$ to the weights is added to the first columns.
    """

    rule: GradientDescent | PerExamplePenalty
    net: AbstractInnerProductNet
    examples: Samples
    wide: Float[Array, "n dim"]
    gram: Float[Array, "n n"]
    narrow: tuple[Float[Array, "n few"], ...]
    order: tuple[bool, ...] = eqx.field(static=True)
    loss: str = eqx.field(static=True)

    @staticmethod
    def of(rule: GradientDescent | PerExamplePenalty, state: State, problem: Problem) -> "InSpan":
        groups, order = _groups(problem)
        (wide,) = [group for group, is_wide in zip(groups, order, strict=True) if is_wide]
        narrow = tuple(group for group, is_wide in zip(groups, order, strict=True) if not is_wide)
        assert isinstance(state.net, AbstractInnerProductNet)
        return InSpan(
            rule, state.net, problem.train, wide, wide @ wide.T, narrow, order, state.loss
        )

    @property
    def few(self) -> int:
        """The number of coordinates of D."""
        return max((group.shape[1] for group in self.narrow), default=0)

    def begin(self, state: State) -> Displaced:
        filters = filters_of(state.params)
        seen = filters[:, : self.wide.shape[1]] @ self.wide.T
        moved = jnp.zeros((filters.shape[0], self.wide.shape[0]), filters.dtype)
        return Displaced(state, seen, moved, jnp.zeros_like(filters[:, : self.few]))

    def step(self, walk: Displaced, t: Int[Array, ""], key: Key[Array, ""]) -> Displaced:
        moved, direct = walk.moved, walk.direct
        cut = self.wide[:, : self.few]
        filters = filters_of(walk.first.params)[:, : self.few] + direct + moved @ cut
        wide = walk.seen + moved @ self.gram + direct @ cut.T
        narrow = iter([filters[:, : group.shape[1]] @ group.T for group in self.narrow])
        every = tuple(wide if is_wide else next(narrow) for is_wide in self.order)
        back = iter(self.narrow)
        for gradient, is_wide in zip(self._by_seen(every, t), self.order, strict=True):
            if is_wide:
                moved = moved - self.rule.rate * gradient
            else:
                group = next(back)
                direct = direct.at[:, : group.shape[1]].add(-self.rule.rate * gradient @ group)
        return Displaced(walk.first, walk.seen, moved, direct)

    def _by_seen(self, every: tuple[Array, ...], t: Int[Array, ""]) -> tuple[Array, ...]:
        """The rule's gradient by the pre-activations."""

        def loss(every):
            return loss_of(self.loss, self.net.read({}, every), self.examples.y).mean()

        def plain():
            return jax.grad(loss)(every)

        rule = self.rule
        if isinstance(rule, GradientDescent):
            return plain()
        weight = rule.weight if rule.half else 2 * rule.weight

        def penalised():
            return penalised_slopes(self.net, {}, every, self.examples, self.loss, weight)[0]

        return jax.lax.cond(t < rule.until, penalised, plain)

    def moving(self, walk: Displaced) -> PyTree[Array]:
        return walk.moved, walk.direct

    def state(self, walk: Displaced, t: Int[Array, ""]) -> State:
        filters = filters_of(walk.first.params)
        filters = filters.at[:, : self.wide.shape[1]].add(walk.moved @ self.wide)
        filters = filters.at[:, : self.few].add(walk.direct)
        step = t.astype(walk.first.step.dtype)
        params = replaced(walk.first.params, filters=filters)
        return dataclasses.replace(walk.first, params=params, step=step)


class Turning(AbstractWay):
    """Fresh examples in compressed coordinates. A step leaves the span of the weights; the frame is
    then turned, so that the trained filters again use the first coordinates after the features, the
    target's the next, and the initial filters the last."""

    rule: AbstractPairRule
    problem: Problem

    def begin(self, state: State) -> State:
        return state

    def step(self, walk: State, t: Int[Array, ""], key: Key[Array, ""]) -> State:
        state = dataclasses.replace(walk, step=t.astype(walk.step.dtype))
        return self._turned(self.rule.step(state, self.problem, key))

    def _turned(self, state: State) -> State:
        features = self.problem.directions["features"].shape[0]
        with_target = self.rule.targets > 0

        def sets(state: State) -> list[Array]:
            targets = [state.memory.target] if with_target else []
            return [filters_of(params) for params in (state.params, *targets, state.start)]

        filters = sets(state)
        beyond = jnp.concatenate([rows[:, features:] for rows in filters])
        # R of a QR decomposition holds the rows' coordinates in the basis Q.
        triangle = jnp.linalg.qr(beyond.T, mode="r").T
        triangle = jnp.pad(triangle, ((0, 0), (0, beyond.shape[1] - triangle.shape[1])))
        size = filters[0].shape[0]
        new = [
            jnp.concatenate([rows[:, :features], triangle[i * size : (i + 1) * size]], axis=1)
            for i, rows in enumerate(filters)
        ]
        return eqx.tree_at(sets, state, new)

    def moving(self, walk: State) -> PyTree[Array]:
        return walk.params

    def state(self, walk: State, t: Int[Array, ""]) -> State:
        return walk


def way_for(rule: AbstractRule, walk: Any, problem: Problem) -> AbstractWay:
    """The way of a run, given its first state or its walk. It depends on shapes alone.

    A step in the span costs one product with an n x n matrix, a plain step two with n x width.
    """
    state = walk.first if isinstance(walk, Displaced) else walk
    if isinstance(rule, AbstractPairRule) and rule.draws and not problem.frame.ambient:
        return Turning(rule, problem)
    if not _may_stay_in_span(rule, state, problem):
        return Plain(rule, problem)
    assert isinstance(rule, GradientDescent | PerExamplePenalty)
    n, width = max((group.shape for group in _groups(problem)[0]), key=lambda shape: shape[1])
    return InSpan.of(rule, state, problem) if n < 2 * width else Plain(rule, problem)


def _may_stay_in_span(rule: AbstractRule, state: State, problem: Problem) -> bool:
    return (
        isinstance(rule, GradientDescent | PerExamplePenalty)
        # A derived class may have a gradient of its own.
        and type(rule) in (GradientDescent, PerExamplePenalty)
        and (rule.optimiser, rule.options) == ("sgd", {})
        and isinstance(state.net, AbstractInnerProductNet)
        and len(jax.tree.leaves(state.params)) == 1  # filters alone
        and isinstance(problem.batches, FullBatch)
        and problem.train.groups == 1
        and isinstance(problem.train.x, tuple)
        and all(group.ndim == 2 for group in problem.train.x)
    )


def _groups(problem: Problem) -> tuple[tuple[Array, ...], tuple[bool, ...]]:
    """The arrays of training patches, and which of them is the widest."""
    groups = problem.train.x
    widest = max(range(len(groups)), key=lambda i: groups[i].shape[1])
    return groups, tuple(i == widest for i in range(len(groups)))
