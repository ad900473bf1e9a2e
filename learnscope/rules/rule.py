"""The interface of a rule."""

import dataclasses
from abc import abstractmethod
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from learnscope.data import Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import AbstractInnerProductNet, AbstractNet, Params, filters_of, replaced
from learnscope.part import AbstractPart, Number
from learnscope.rules import optimiser as opt
from learnscope.rules.state import AbstractState, Move, WeightState
from learnscope.space import turned

S = TypeVar("S", bound=AbstractState)


@property
def no_reason(rule: Any) -> None:
    """The `basis_dependence` or the `fresh_obstacle` of a rule that has none."""


class AbstractRule(AbstractPart):
    """A rule: `init` makes the first state, `step` the next one; both are pure."""

    loss: eqx.AbstractVar[str]

    def init(
        self, net: AbstractNet, problem: Problem, key: Key[Array, ""], params: Params | None = None
    ) -> WeightState:
        """The state before the first step; `params` continues from given parameters."""
        params = net.init(key, problem) if params is None else params
        step = jnp.zeros((), int)
        state = WeightState(
            net=net, params=params, start=params, memory=None, step=step, loss=self.loss
        )
        return dataclasses.replace(state, memory=self.prepare(state, problem, key))

    @abstractmethod
    def prepare(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Any:
        """The rule's memory before the first step of a state that has none."""

    @abstractmethod
    def step(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> AbstractState:
        """One step."""

    def evaluated(self, state: AbstractState) -> AbstractState:
        """The state that probes read; a rule that averages weights shows the average here."""
        return state

    def refreshed(self, state: AbstractState, problem: Problem) -> AbstractState:
        """The state after a step on fresh examples, ready for new ones.

        In compressed coordinates the first ones are those of the directions and the initial
        filters, which stay. A step on fresh examples adds as many as there are filters at most;
        the frame is turned, so that these are free again, unless the examples are used once more.
        """
        if problem.frame.ambient:
            return state
        frame, filters = problem.frame, filters_of(state.params)
        assert isinstance(state.net, AbstractInnerProductNet)
        first = frame.used + state.net.rows
        if filters.shape[0] > (frame.seen or frame.rank) - first:
            raise BadInput(f"{type(state.net).__name__} has more filters than it says (moving).")
        kept, now = problem.batches.reused(), turned(filters, first)
        new = replaced(state.params, filters=now if kept is None else jnp.where(kept, filters, now))
        return eqx.tree_at(lambda state: state.params, state, new)

    @property
    @abstractmethod
    def basis_dependence(self) -> str | None:
        """Why the run would depend on the coordinates' basis, or None if it does not."""

    @property
    def pair_filters(self) -> int | None:
        """The sets of filters that a step on pairs of views uses; None for a rule that learns from
        labelled examples."""
        return None

    @property
    def reuses_batch(self) -> bool:
        """Whether a step meets its examples more than once: fresh ones then keep coordinates of
        their own until it is done."""
        return False

    @property
    def fresh_obstacle(self) -> str | None:
        """Why fresh examples cannot be compressed, or None if they can."""
        return f"{type(self).__name__} may meet a fresh example twice in a step"


class AbstractGradientRule(AbstractRule):
    """A rule that passes a gradient to an Optax optimiser at every step."""

    rate: eqx.AbstractVar[Number]
    optimiser: eqx.AbstractVar[str | opt.Factory]
    options: eqx.AbstractVar[dict[str, Any]]

    def __check_init__(self):
        opt.check_optimiser(type(self).__name__, self.optimiser, self.options)

    @abstractmethod
    def gradient(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Move:
        """The gradient that the optimiser descends along."""

    @property
    def basis_dependence(self) -> str | None:
        return opt.basis_dependence(self.optimiser)

    def prepare(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Any:
        return opt.build(self.optimiser, self.rate, self.options).init(state.point)

    def step(self, state: S, problem: Problem, key: Key[Array, ""]) -> S:
        transform = opt.build(self.optimiser, self.rate, self.options)
        gradient = self.gradient(state, problem, key)
        if jax.tree.structure(gradient) != jax.tree.structure(state.point):
            must, returned = jax.tree.structure(state.point), jax.tree.structure(gradient)
            raise BadInput(
                f"{type(self).__name__}.gradient must return a tree like the parameters, {must}, "
                f"not {returned}."
            )
        # A transform that uses parameters, such as weight decay, is not linear in moves.
        params = state.params if isinstance(state, WeightState) else None
        updates, memory = transform.update(gradient, state.memory, params)
        return state.moved(updates).after(memory)


class AbstractPenalty(AbstractGradientRule):
    """A gradient rule with a penalty on squared gradient norms, in the first `until` steps."""

    weight: eqx.AbstractVar[Number]
    until: eqx.AbstractVar[Number]
    half: eqx.AbstractVar[bool]

    @abstractmethod
    def penalised(self, state: AbstractState, batch: Samples, weight: Number) -> Move:
        """The gradient of the loss plus `weight` times half the squared norm."""

    def gradient(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Move:
        """The penalised gradient in steps below `until`, then the plain one, at no extra cost."""
        batch = problem.batch(key)
        weight = self.weight if self.half else 2 * self.weight
        return jax.lax.cond(
            state.step < self.until,
            lambda: self.penalised(state, batch, weight),
            lambda: state.gradient(batch),
        )
