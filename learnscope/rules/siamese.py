"""Base classes of rules that align two views, and their memory."""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, PyTree

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.nets import AbstractNet, Params, filters_of
from learnscope.part import Number
from learnscope.rules.heads import Head, apply_head, initial_head
from learnscope.rules.rule import AbstractRule
from learnscope.rules.state import AbstractState
from learnscope.space import turned

NORMALISATIONS = ("batch", "l2", "none")
TARGETS = ("shared", "ema")


class Siamese(eqx.Module):
    """The memory of a rule with a prediction head: the head, the parameters of the target network
    (None: the encoder is its own target), and the rest of what the rule remembers."""

    head: Head
    target: Params | None
    rest: Any
    normalise: str = eqx.field(static=True)

    def loss(self, net: AbstractNet, params: Params, one: PyTree, other: PyTree) -> Array:
        r"""$\frac12$ mean $\|\tilde F - \tilde G\|^2$ of two views at given parameters."""
        target = params if self.target is None else self.target
        predicted = apply_head(self.head, net(params, one))
        return misaligned(predicted, net(target, other), self.normalise)


def normalised(outputs: Float[Array, "n neuron"], how: str) -> Float[Array, "n neuron"]:
    """The outputs, normalised per neuron over the batch (`batch`, equation 3.1), per example over
    the neurons (`l2`), or not at all. Exact zeros stay 0."""
    if how == "none":
        return outputs
    axis = 0 if how == "batch" else 1
    if how == "batch":
        outputs = outputs - outputs.mean(0, keepdims=True)
    # Divide by the largest output first: squares of small outputs would underflow.
    largest = jax.lax.stop_gradient(jnp.abs(outputs).max(axis, keepdims=True))
    outputs = outputs / jnp.where(largest > 0, largest, 1.0)
    mean_or_sum = jnp.mean if how == "batch" else jnp.sum
    squares = mean_or_sum(outputs**2, axis=axis, keepdims=True)
    return outputs * jax.lax.rsqrt(jnp.where(squares > 0, squares, 1.0))


def misaligned(
    online: Float[Array, "n neuron"], target: Float[Array, "n neuron"], how: str
) -> Float[Array, ""]:
    """Half the mean squared distance of two views, each normalised."""
    return 0.5 * ((normalised(online, how) - normalised(target, how)) ** 2).sum(-1).mean()


class AbstractPairRule(AbstractRule):
    """A rule that learns from pairs of views.

    A step differentiates one product with each view's patches, and remembers no vectors other than
    the parameters and the target's. This allows fresh examples in compressed coordinates.
    """

    # Whether steps draw examples; otherwise they use the distribution itself.
    draws: ClassVar[bool] = True

    @property
    @abstractmethod
    def targets(self) -> int:
        """The number of sets of filters beside the trained one."""

    @property
    def pair_filters(self) -> int | None:
        return 1 + self.targets

    @property
    @abstractmethod
    def fresh_obstacle(self) -> str | None:
        """Why fresh examples cannot be compressed, or None if they can."""

    def refreshed(self, state: AbstractState, problem: Problem) -> AbstractState:
        """The state in a turned frame. A step on fresh examples leaves the span of the weights in
        compressed coordinates; afterwards the trained filters again use the first coordinates after
        the features, the target's the next, and the initial filters the last."""
        if not self.draws or problem.frame.ambient:
            return state
        features = problem.directions["features"].shape[0]

        def sets(state: AbstractState) -> list[Array]:
            targets = [state.memory.target] if self.targets > 0 else []
            return [filters_of(params) for params in (state.params, *targets, state.start)]

        filters = sets(state)
        new = jnp.split(turned(jnp.concatenate(filters), features), len(filters))
        return eqx.tree_at(sets, state, new)


class AbstractSiamese(AbstractPairRule):
    """A rule that trains an encoder with a prediction head to match a target network."""

    papers: ClassVar = ("wen2022mechanism",)

    rate: eqx.AbstractVar[Number]
    head_rate: eqx.AbstractVar[Number]
    head: eqx.AbstractVar[str]
    normalise: eqx.AbstractVar[str]
    stop_gradient: eqx.AbstractVar[bool]
    target: eqx.AbstractVar[str]
    momentum: eqx.AbstractVar[Number]
    hidden: eqx.AbstractVar[int]

    @abstractmethod
    def remember(self, params: Params, head: Head) -> Any:
        """The rule's memory beside head and target, before the first step."""

    @property
    def targets(self) -> int:
        return 1 if self.target == "ema" else 0

    def prepare(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Siamese:
        net, params = state.net, state.params
        shape = jax.eval_shape(net, params, problem.test.x).shape
        if len(shape) != 2:
            raise BadInput(
                f"{type(self).__name__} needs a net with several outputs per example, such as "
                f"PatchEncoder, and {type(net).__name__} has outputs of shape {shape}."
            )
        head = initial_head(self.head, key, shape[1], self.hidden)
        target = params if self.target == "ema" else None
        return Siamese(head, target, self.remember(params, head), self.normalise)

    def followed(self, target: Params | None, params: Params) -> Params | None:
        """The target after a step: a moving average of the parameters, if it is not shared."""
        if target is None:
            return None
        mix = lambda old, new: self.momentum * old + (1 - self.momentum) * new  # noqa: E731
        return jax.tree.map(mix, target, params)
