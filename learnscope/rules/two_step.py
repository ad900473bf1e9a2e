"""Two steps that learn features, then steps that use them."""

import dataclasses
from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data import Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import Params, TwoLayer, Weights
from learnscope.part import Number, choice, count, flag, number
from learnscope.rules.losses import LOSSES, loss_of
from learnscope.rules.readout import readout_gradient
from learnscope.rules.rule import AbstractRule, no_reason
from learnscope.rules.state import AbstractState, WeightState

_SLICE = 2000  # examples at a time of the full batch: they fit into a core's cache


class AbstractTwoStep(AbstractRule):
    """A rule that starts with one or two full-batch steps, each of which replaces the weights."""

    papers: ClassVar = ("shi2022theoretical",)

    first_rate: eqx.AbstractVar[Number]
    second_rate: eqx.AbstractVar[Number]
    rate: eqx.AbstractVar[Number]
    noise: eqx.AbstractVar[Number | None]
    weighted: eqx.AbstractVar[bool]
    update: eqx.AbstractVar[str]

    @property
    @abstractmethod
    def early_steps(self) -> int:
        """The number of full-batch steps at the start."""

    @abstractmethod
    def late(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> WeightState:
        """A step after the early ones."""

    basis_dependence = no_reason

    def prepare(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> None:
        net, name = state.net, type(self).__name__
        if not isinstance(net, TwoLayer):
            raise BadInput(f"{name} needs the net TwoLayer, not {type(net).__name__}.")
        if net.readout is None or not net.bias:
            raise BadInput(f"{name} needs biases, and a second layer that is trained.")
        if problem.batches.fresh:
            raise BadInput(
                f"{name} needs a data model with training examples, for its first "
                "steps on the full batch, not one that draws new examples every step."
            )

    def step(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> WeightState:
        return jax.lax.cond(
            state.step < self.early_steps,
            lambda: self.early(state, problem),
            lambda: self.late(state, problem, key),
        )

    def early(self, state: WeightState, problem: Problem) -> WeightState:
        r"""One of the early steps. With $\lambda_w = 1/(2\eta)$ in both steps and
        $\lambda_a = 1/(2\eta)$ in the second, the decay removes the old weights entirely:
        $w \leftarrow -\eta \nabla_w L$."""
        first = state.step == 0
        rate = jnp.where(first, self.first_rate, self.second_rate)
        by = self._gradient(state, problem.train)
        old = state.params
        if self.update == "exact":
            filters = -rate * by.filters
            second = jnp.where(first, old.second, 0.0) - rate * by.second
        else:
            # As the formula is printed; in float32 w - eta (w / eta) leaves rounding errors of w.
            decay = 1 / (2 * rate)
            filters = old.filters - rate * (by.filters + 2 * decay * old.filters)
            pulled = jnp.where(first, 0.0, 2 * decay) * old.second
            second = old.second - rate * (by.second + pulled)
        return state.advance(Weights(filters, old.bias - rate * by.bias, second), None)

    def _gradient(self, state: WeightState, samples: Samples) -> Params:
        """The gradient of the (weighted) mean loss with noise in the neurons, summed in slices."""
        net = state.net
        if self.noise is not None:
            assert isinstance(net, TwoLayer)
            net = eqx.tree_at(lambda n: n.smoothing, net, self.noise, is_leaf=lambda x: x is None)
        size = min(_SLICE, samples.size)
        padding = -samples.size % size
        weights = self._weights(samples.y) / samples.size

        def cut(leaf: Array) -> Array:
            padded = jnp.pad(leaf, [(0, padding)] + [(0, 0)] * (leaf.ndim - 1))
            return padded.reshape(-1, size, *leaf.shape[1:])

        def add(total: Params, some: tuple) -> tuple[Params, None]:
            x, y, weight = some

            def loss(params: Params) -> Array:
                return weight @ loss_of(state.loss, net(params, x), y)

            return jax.tree.map(jnp.add, total, jax.grad(loss)(state.params)), None

        slices = jax.tree.map(cut, (samples.x, samples.y, weights))
        return jax.lax.scan(add, jax.tree.map(jnp.zeros_like, state.params), slices)[0]

    def _weights(self, labels: Float[Array, " n"]) -> Float[Array, " n"]:
        """1 / (2 Pr[y]) (eq. 295), or 1."""
        if not self.weighted:
            return jnp.ones_like(labels)
        # The mean of booleans would be float32 without a dtype.
        positive = jnp.mean(labels > 0, dtype=labels.dtype)
        return 1 / (2 * jnp.where(labels > 0, positive, 1 - positive))


class TwoStep(AbstractTwoStep):
    r"""The training of Shi, Wei and Liang (2022), eqs. (276) to (278) and (296) to (298).

    Two steps on the full batch, with noise $\xi$ in the neurons and weight decay
    $\lambda_w = 1/(2 \eta^{(t)})$ (and $\lambda_a = 1/(2 \eta^{(2)})$ in the second), then SGD on
    the problem's batches.

    | symbol | argument |
    |---|---|
    | $\eta^{(1)}$, $\eta^{(2)}$, $\eta$ | `first_rate`, `second_rate`, `rate` |
    | $\lambda_a = \lambda_w$ for $t > 2$ | `decay` |
    | $\sigma_\xi$ | `noise` (none: no smoothing) |
    | $\alpha_y$ (eq. 295) | `weighted`: equal weights of the classes in the first two steps |

    `update="naive"` computes $w - \eta (\nabla + 2 \lambda w)$ as printed, instead of
    $(1 - 2 \eta \lambda) w - \eta \nabla$. The formulas are equal, but the former's rounding errors
    are larger than the new $w$.

    >>> TwoStep(first_rate=1e-9, second_rate=30.0, rate=1.0).update
    'exact'
    """

    first_rate: Number = number(above=0)
    second_rate: Number = number(above=0)
    rate: Number = number(above=0)
    decay: Number = number(0.0, low=0)
    noise: Number | None = number(None, above=0, optional=True)
    weighted: bool = flag(True)
    update: str = choice("exact", "naive", default="exact")
    loss: str = choice(*LOSSES, default="hinge")

    @property
    def early_steps(self) -> int:
        return 2

    def late(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> WeightState:
        by = state.gradient(problem.batch(key))
        shrink = 1 - 2 * self.rate * self.decay
        factors = Weights(filters=shrink, bias=1.0, second=shrink)
        params = jax.tree.map(lambda f, w, g: f * w - self.rate * g, factors, state.params, by)
        return state.advance(params, None)


class FrozenFeatures(AbstractTwoStep):
    r"""A classifier on the features after one or two of `TwoStep`'s steps (`after`).

    From then on only the last layer is trained, from its current weights or from zero (`head`).
    `rescale` multiplies the weights $w_i$ when they are frozen: they may have the right direction
    but be negligible beside the biases.

    | symbol | argument |
    |---|---|
    | $\eta^{(1)}$, $\eta^{(2)}$ | `first_rate`, `second_rate` |
    | rate of the classifier | `rate` |

    >>> FrozenFeatures(after=1, first_rate=1e-9, second_rate=30.0, rate=1.0).head
    'kept'
    """

    after: int = count(low=1, high=2)
    first_rate: Number = number(above=0)
    second_rate: Number = number(above=0)
    rate: Number = number(above=0)
    rescale: Number = number(1.0, above=0)
    head: str = choice("kept", "zero", default="kept")
    noise: Number | None = number(None, above=0, optional=True)
    weighted: bool = flag(True)
    update: str = choice("exact", "naive", default="exact")
    loss: str = choice(*LOSSES, default="hinge")

    @property
    def early_steps(self) -> int:
        return self.after

    def early(self, state: WeightState, problem: Problem) -> WeightState:
        after = super().early(state, problem)
        last = after.step == self.after
        second = jnp.where(last & (self.head == "zero"), 0.0, after.params.second)
        filters = jnp.where(last, self.rescale, 1.0) * after.params.filters
        params = after.params.replace(filters=filters, second=second)
        return dataclasses.replace(after, params=params)

    def late(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> WeightState:
        by = readout_gradient(state, "second", problem.batch(key))
        second = state.params.second - self.rate * by
        return state.advance(state.params.replace(second=second), None)
