"""The interface of a rule, and the state that it steps."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, PyTree

from learnscope.data import Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import AbstractNet, Params
from learnscope.part import AbstractPart, Number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import loss_of


class State(eqx.Module):
    """The state of training: the net, its parameters now and at the start, and the rule's memory.

    Probes measure movement from `start`. `memory` belongs to the rule: an optimiser's moments, a
    prediction head, ...
    """

    net: AbstractNet
    params: Params
    start: Params
    memory: Any
    step: Int[Array, ""]
    loss: str = eqx.field(static=True)

    def __call__(self, x: PyTree[Float[Array, "n ..."]]) -> Float[Array, "n ..."]:
        """The outputs of the current network, not to be differentiated."""
        return self.net.evaluate(self.params, x)

    def losses(self, params: Params, samples: Samples) -> Float[Array, " n"]:
        """The loss of every example at given parameters."""
        return loss_of(self.loss, self.net(params, samples.x), samples.y)

    def gradient(self, samples: Samples) -> Params:
        """The gradient of the mean loss of some examples."""
        return jax.grad(lambda params: self.losses(params, samples).mean())(self.params)

    def advance(self, params: Params, memory: Any) -> "State":
        """The state after a step."""
        return State(self.net, params, self.start, memory, self.step + 1, self.loss)


class AbstractRule(AbstractPart):
    """A rule: `init` makes the first state, `step` the next one; both are pure."""

    loss: eqx.AbstractVar[str]

    def init(
        self, net: AbstractNet, problem: Problem, key: Key[Array, ""], params: Params | None = None
    ) -> State:
        """The state before the first step; `params` continues from given parameters."""
        params = net.init(key, problem) if params is None else params
        memory = self.prepare(net, params, problem, key)
        return State(net, params, params, memory, jnp.zeros((), int), self.loss)

    @abstractmethod
    def prepare(self, net: AbstractNet, params: Params, problem: Problem, key: Key) -> Any:
        """The rule's memory before the first step."""

    @abstractmethod
    def step(self, state: State, problem: Problem, key: Key[Array, ""]) -> State:
        """One step."""

    def evaluated(self, state: State) -> State:
        """The state that probes read; a rule that averages weights shows the average here."""
        return state

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
    def gradient(self, state: State, problem: Problem, key: Key[Array, ""]) -> Params:
        """The gradient that the optimiser descends along."""

    @property
    def basis_dependence(self) -> str | None:
        return opt.basis_dependence(self.optimiser)

    def prepare(self, net: AbstractNet, params: Params, problem: Problem, key: Key) -> Any:
        return opt.build(self.optimiser, self.rate, self.options).init(params)

    def step(self, state: State, problem: Problem, key: Key[Array, ""]) -> State:
        transform = opt.build(self.optimiser, self.rate, self.options)
        gradient = self.gradient(state, problem, key)
        if jax.tree.structure(gradient) != jax.tree.structure(state.params):
            must, returned = jax.tree.structure(state.params), jax.tree.structure(gradient)
            raise BadInput(
                f"{type(self).__name__}.gradient must return a tree like the parameters, {must}, "
                f"not {returned}."
            )
        updates, memory = transform.update(gradient, state.memory, state.params)
        return state.advance(optax.apply_updates(state.params, updates), memory)


class AbstractPenalty(AbstractGradientRule):
    """A gradient rule with a penalty on squared gradient norms, in the first `until` steps."""

    weight: eqx.AbstractVar[Number]
    until: eqx.AbstractVar[Number]
    half: eqx.AbstractVar[bool]

    @abstractmethod
    def penalised(self, state: State, batch: Samples, weight: Number) -> Params:
        """The gradient of the loss plus `weight` times half the squared norm."""

    def gradient(self, state: State, problem: Problem, key: Key[Array, ""]) -> Params:
        """The penalised gradient in steps below `until`, then the plain one, at no extra cost."""
        batch = problem.batch(key)
        weight = self.weight if self.half else 2 * self.weight
        return jax.lax.cond(
            state.step < self.until,
            lambda: self.penalised(state, batch, weight),
            lambda: state.gradient(batch),
        )
