"""Where training is. Rules speak to a state in *moves*, and never touch parameters.

A move is a change of parameters: what a gradient is, and what an optimiser makes of it. A
`WeightState` holds the parameters of any net. A `SpanState` (`span.py`) holds what the training
vectors see of a net that sees inputs through inner products.
"""

import dataclasses
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PyTree

from learnscope.data import Problem, Samples
from learnscope.nets import AbstractNet, Params, filters_of, inner
from learnscope.rules.gram import Seen, own_gram
from learnscope.rules.losses import loss_of

# A tree like the parameters. In a span state, coefficients of the training vectors stand in place
# of the filters: one array (filter, ...) for every array of generators of the span.
Move = PyTree[Float[Array, "..."]]


def plus(one: Move, factor: Any, other: Move) -> Move:
    """one + factor * other."""
    return jax.tree.map(lambda a, b: a + factor * b, one, other)


class AbstractState(eqx.Module):
    """The state of training: the net, where its parameters are now and at the start, and the rule's
    memory (an optimiser's moments, a prediction head, ...)."""

    net: eqx.AbstractVar[AbstractNet]
    start: eqx.AbstractVar[Params]
    memory: eqx.AbstractVar[Any]
    step: eqx.AbstractVar[Int[Array, ""]]
    loss: eqx.AbstractVar[str]

    if TYPE_CHECKING:  # a field or a property: type checkers have no word for either

        @property
        def params(self) -> Params: ...
    else:
        params: eqx.AbstractVar[Params]

    def __call__(self, x: PyTree[Float[Array, "n ..."]]) -> Float[Array, "n ..."]:
        """The outputs of the current network, not to be differentiated."""
        return self.net.evaluate(self.params, x)

    @abstractmethod
    def outputs(self, samples: Samples) -> Float[Array, "n ..."]:
        """The outputs for some examples. Training examples are read from what the state holds."""

    @abstractmethod
    def losses(self, samples: Samples) -> Float[Array, " n"]:
        """The loss of every example."""

    @abstractmethod
    def losses_at(self, point: PyTree[Array], samples: Samples) -> Float[Array, " n"]:
        """The loss of every example at another point."""

    @abstractmethod
    def change(self, move: Move) -> PyTree[Array]:
        """The change of the point that a move makes."""

    def _slope(self, samples: Samples) -> Callable[[PyTree[Array]], Move]:
        return jax.grad(lambda point: self.losses_at(point, samples).mean())

    def gradient(self, samples: Samples) -> Move:
        """The gradient of the mean loss of some examples."""
        return self._slope(samples)(self.point)

    def curvature(self, samples: Samples, move: Move) -> Move:
        """The derivative of the gradient along a move: the Hessian times it."""
        return jax.jvp(self._slope(samples), (self.point,), (self.change(move),))[1]

    def dot(self, one: Move, other: Move) -> Float[Array, ""]:
        """The inner product of two moves, as changes of parameters."""
        each = jax.tree.map(lambda a, b: jnp.sum(a * b), one, self.change(other))
        return jnp.sum(jnp.stack(jax.tree.leaves(each)))

    @abstractmethod
    def preactivations(self, filters: PyTree[Array], samples: Samples) -> Seen:
        """What some examples see of the filters of a `point`, patch by patch."""

    @abstractmethod
    def own_gram(self, samples: Samples) -> Float[Array, "patch patch n"]:
        """The inner products of each example's own patches."""

    @abstractmethod
    def moved(self, move: Move, by: Any = None) -> Self:
        """The state after a move, or after `by` times a move."""

    @property
    @abstractmethod
    def displacement(self) -> Move:
        """The move from the start to here."""

    @property
    @abstractmethod
    def point(self) -> PyTree[Array]:
        """What the losses of training examples depend on: a tree like a move. Derivatives by it are
        moves."""

    @property
    @abstractmethod
    def position(self) -> PyTree[Array]:
        """Everything that a move changes, linearly: positions can be averaged."""

    @property
    @abstractmethod
    def weights(self) -> "WeightState":
        """The same state in weights."""

    @abstractmethod
    def at(self, position: PyTree[Array]) -> "AbstractState":
        """The state at another position."""

    @abstractmethod
    def started(self, point: PyTree[Array]) -> Self:
        """A state that starts at a point."""

    @abstractmethod
    def overlap(self, name: str, vectors: Float[Array, "*count dim"]) -> Float[Array, "filter ..."]:
        """The inner products of the filters with the problem's directions of that name."""

    @abstractmethod
    def hidden(self, samples: Samples, name: str) -> Float[Array, "filter n"]:
        """The inner products of the filters with the examples' hidden vectors of that name."""

    @abstractmethod
    def rounding(self, samples: Samples, name: str) -> Float[Array, ""]:
        """The rounding error of `hidden` for a unit vector: 0 where these products are stepped."""

    @abstractmethod
    def shares(
        self, problem: Problem, direction: str, name: str
    ) -> tuple[Float[Array, " filter"], Float[Array, "filter n"]]:
        """The coefficients of the filters' displacement: of a direction of the problem, and of the
        training examples' hidden vectors of that name. NaN where there are more vectors than
        dimensions, which have no unique ones."""

    def after(self, memory: Any) -> Self:
        """The state after a step, with the rule's memory then."""
        return dataclasses.replace(self, memory=memory, step=self.step + 1)

    def within(self, problem: Problem) -> Self:
        """The state with what it needs of the problem at hand."""
        return self

    def holding(self, bare: Self) -> Self:
        """A bare state, with what this one needs of the problem."""
        return bare

    @property
    def bare(self) -> Self:
        """The state without what `within` adds: what a checkpoint holds."""
        return self


class WeightState(AbstractState):
    """The parameters of any net."""

    net: AbstractNet
    params: Params  # type: ignore[assignment]
    start: Params
    memory: Any
    step: Int[Array, ""]
    loss: str = eqx.field(static=True)

    def outputs(self, samples: Samples) -> Float[Array, "n ..."]:
        return self(samples.x)

    def losses(self, samples: Samples) -> Float[Array, " n"]:
        return self.losses_at(self.params, samples)

    def losses_at(self, point: Params, samples: Samples) -> Float[Array, " n"]:
        return loss_of(self.loss, self.net(point, samples.x), samples.y)

    def change(self, move: Move) -> Params:
        return move

    def preactivations(self, filters: PyTree[Array], samples: Samples) -> Seen:
        return inner(filters, samples.x)

    def own_gram(self, samples: Samples) -> Float[Array, "patch patch n"]:
        return own_gram(samples.x)

    def moved(self, move: Move, by: Any = None) -> Self:
        by_move = (lambda p, m: p + m) if by is None else (lambda p, m: p + by * m)
        return dataclasses.replace(self, params=jax.tree.map(by_move, self.params, move))

    @property
    def displacement(self) -> Move:
        return jax.tree.map(lambda now, start: now - start, self.params, self.start)

    @property
    def point(self) -> Params:
        return self.params

    @property
    def position(self) -> Params:
        return self.params

    @property
    def weights(self) -> "WeightState":
        return self

    def at(self, position: Params) -> "WeightState":
        return dataclasses.replace(self, params=position)

    def started(self, point: Params) -> Self:
        return dataclasses.replace(self, params=point, start=point)

    def overlap(self, name: str, vectors: Float[Array, "*count dim"]) -> Float[Array, "filter ..."]:
        return jnp.tensordot(filters_of(self.params), vectors, (1, -1))

    def hidden(self, samples: Samples, name: str) -> Float[Array, "filter n"]:
        return filters_of(self.params) @ samples.vectors[name].T

    def rounding(self, samples: Samples, name: str) -> Float[Array, ""]:
        filters = filters_of(self.params)
        return jnp.finfo(filters.dtype).eps * jnp.linalg.norm(filters, axis=1).max()

    def shares(
        self, problem: Problem, direction: str, name: str
    ) -> tuple[Float[Array, " filter"], Float[Array, "filter n"]]:
        rows = [problem.directions[direction][None], problem.train.vectors[name]]
        rows = jnp.concatenate(rows)
        norms = jnp.linalg.norm(rows, axis=1)
        units = rows / norms[:, None]
        found = jnp.linalg.solve(units @ units.T, units @ filters_of(self.displacement).T).T
        found = jnp.where(len(rows) <= problem.frame.dim, found, jnp.nan)
        return found[:, 0] / norms[0], found[:, 1:] / norms[None, 1:]

    def advance(self, params: Params, memory: Any) -> "WeightState":
        """The state after a step of a rule that sets parameters itself."""
        return dataclasses.replace(self, params=params).after(memory)
