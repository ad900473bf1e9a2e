"""Ways to take the same steps: as a rule defines them, or cheaper where mathematics allows.

The engine takes steps between two recordings in one of these ways. What comes out is the same state
up to rounding (a run that diverges may be found out a step earlier or later); a rule knows nothing
of it.
"""

import dataclasses
from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PyTree

from learnscope.data import FullBatch, Problem, Samples
from learnscope.nets import AbstractInnerProductNet
from learnscope.rules.gradient_descent import GradientDescent
from learnscope.rules.losses import loss_of
from learnscope.rules.per_example_penalty import PerExamplePenalty, penalised_slopes
from learnscope.rules.rule import AbstractRule, State
from learnscope.rules.siamese import AbstractPairRule


class AbstractWay(eqx.Module):
    """`begin` from a state, `step` what that gave, `end` as a state again."""

    @abstractmethod
    def begin(self, state: State) -> Any:
        """What is stepped."""

    @abstractmethod
    def step(self, walk: Any, t: Int[Array, ""], key: Key[Array, ""]) -> Any:
        """Step t."""

    @abstractmethod
    def moving(self, walk: Any) -> PyTree[Array]:
        """What ceases to be finite when a run diverges."""

    @abstractmethod
    def end(self, walk: Any, state: State, t: Int[Array, ""]) -> State:
        """The state after t steps in all, begun from a given one."""


class Plain(AbstractWay):
    """Step by step, as the rule says."""

    rule: AbstractRule
    problem: Problem

    def begin(self, state: State) -> State:
        return state

    def step(self, walk: State, t: Int[Array, ""], key: Key[Array, ""]) -> State:
        state = dataclasses.replace(walk, step=t.astype(walk.step.dtype))
        return self.rule.step(state, self.problem, key)

    def moving(self, walk: State) -> PyTree[Array]:
        return walk.params

    def end(self, walk: State, state: State, t: Int[Array, ""]) -> State:
        return walk


class InSpan(AbstractWay):
    r"""Gradient descent on the full batch, with a per-example penalty or without, in the
    coefficients of the training vectors.

    Filters see examples as $Z = W X^T$ and the gradient is $H X$, where $H$ is the loss's
    derivative by $Z$. So $W_t = W_0 + B_t X$ with $B_{t+1} = B_t - \eta H_t$, and
    $Z_t = Z_0 + B_t X X^T$: one product with an n x n matrix a step, in place of two with X. Groups
    of patches that are only a few coordinates wide (a signal) stay in coordinates: their part $D$
    of the weights is added to the first columns.
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
        """Coordinates that are kept as such."""
        return max((group.shape[1] for group in self.narrow), default=0)

    def begin(self, state: State) -> tuple[Array, Array, Array, Array]:
        """Z_0 of the wide group, W_0 in the few coordinates, B and D."""
        filters = state.params["filters"]
        seen = filters[:, : self.wide.shape[1]] @ self.wide.T
        moved = jnp.zeros((filters.shape[0], self.wide.shape[0]), filters.dtype)
        return seen, filters[:, : self.few], moved, jnp.zeros_like(filters[:, : self.few])

    def step(self, walk: Any, t: Int[Array, ""], key: Key[Array, ""]) -> Any:
        seen, start, moved, direct = walk
        cut = self.wide[:, : self.few]
        filters = start + direct + moved @ cut
        wide = seen + moved @ self.gram + direct @ cut.T
        narrow = iter([filters[:, : group.shape[1]] @ group.T for group in self.narrow])
        every = tuple(wide if is_wide else next(narrow) for is_wide in self.order)
        back = iter(self.narrow)
        for gradient, is_wide in zip(self._by_seen(every, t), self.order, strict=True):
            if is_wide:
                moved = moved - self.rule.rate * gradient
            else:
                group = next(back)
                direct = direct.at[:, : group.shape[1]].add(-self.rule.rate * gradient @ group)
        return seen, start, moved, direct

    def _by_seen(self, every: tuple[Array, ...], t: Int[Array, ""]) -> tuple[Array, ...]:
        """What the rule descends along, by what is seen."""

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

    def moving(self, walk: Any) -> PyTree[Array]:
        return walk[2:]

    def end(self, walk: Any, state: State, t: Int[Array, ""]) -> State:
        _, _, moved, direct = walk
        filters = state.params["filters"]
        filters = filters.at[:, : self.wide.shape[1]].add(moved @ self.wide)
        filters = filters.at[:, : self.few].add(direct)
        step = t.astype(state.step.dtype)
        return dataclasses.replace(state, params={"filters": filters}, step=step)


class Turning(AbstractWay):
    """Fresh examples in compressed coordinates: a step leaves the weights' span, and the frame
    turns after them, so that the trained filters again have the first coordinates after the
    features, a target's the next, and those at the start the last."""

    rule: AbstractPairRule
    problem: Problem

    def begin(self, state: State) -> State:
        return state

    def step(self, walk: State, t: Int[Array, ""], key: Key[Array, ""]) -> State:
        state = dataclasses.replace(walk, step=t.astype(walk.step.dtype))
        return self._turned(self.rule.step(state, self.problem, key))

    def _turned(self, state: State) -> State:
        span = self.problem.directions["features"].shape[0]
        with_target = self.rule.targets > 0

        def sets(state: State) -> list[Array]:
            kept = [state.memory.target["filters"]] if with_target else []
            return [state.params["filters"], *kept, state.start["filters"]]

        found = sets(state)
        beyond = jnp.concatenate([rows[:, span:] for rows in found])
        # R of a QR decomposition holds the rows' coordinates in the basis Q.
        triangle = jnp.linalg.qr(beyond.T, mode="r").T
        triangle = jnp.pad(triangle, ((0, 0), (0, beyond.shape[1] - triangle.shape[1])))
        size = found[0].shape[0]
        new = [
            jnp.concatenate([rows[:, :span], triangle[i * size : (i + 1) * size]], axis=1)
            for i, rows in enumerate(found)
        ]
        return eqx.tree_at(sets, state, new)

    def moving(self, walk: State) -> PyTree[Array]:
        return walk.params

    def end(self, walk: State, state: State, t: Int[Array, ""]) -> State:
        return walk


def way_for(rule: AbstractRule, state: State, problem: Problem, steps: int) -> AbstractWay:
    """The cheaper way for so many steps in a row; it depends on shapes alone."""
    if isinstance(rule, AbstractPairRule) and rule.draws and not problem.frame.ambient:
        return Turning(rule, problem)
    if not _may_stay_in_span(rule, state, problem):
        return Plain(rule, problem)
    assert isinstance(rule, GradientDescent | PerExamplePenalty)
    groups, order = _groups(problem)
    (wide,) = [group for group, is_wide in zip(groups, order, strict=True) if is_wide]
    (n, width), filters = wide.shape, state.params["filters"].shape[0]
    plain = 2 * steps * width * filters
    in_span = steps * n * filters + n * width + 2 * width * filters
    return InSpan.of(rule, state, problem) if in_span < plain else Plain(rule, problem)


def _may_stay_in_span(rule: AbstractRule, state: State, problem: Problem) -> bool:
    return (
        isinstance(rule, GradientDescent | PerExamplePenalty)
        # One that derives from them may have a gradient of its own.
        and type(rule) in (GradientDescent, PerExamplePenalty)
        and (rule.optimiser, rule.options) == ("sgd", {})
        and isinstance(state.net, AbstractInnerProductNet)
        and set(state.params) == {"filters"}
        and isinstance(problem.batches, FullBatch)
        and problem.train.groups == 1
        and isinstance(problem.train.x, tuple)
        and all(group.ndim == 2 for group in problem.train.x)
    )


def _groups(problem: Problem) -> tuple[tuple[Array, ...], tuple[bool, ...]]:
    """The groups of training patches, and which is the wide one."""
    groups = problem.train.x
    widest = max(range(len(groups)), key=lambda i: groups[i].shape[1])
    return groups, tuple(i == widest for i in range(len(groups)))
