"""Training the first-order expansion of a net: learning with its tangent kernel."""

from typing import Any

import jax
from jaxtyping import Array, Float, Key, PyTree

from learnscope.data import Problem
from learnscope.nets import AbstractNet, Params
from learnscope.part import Number, choice, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import LOSSES
from learnscope.rules.rule import AbstractGradientRule
from learnscope.rules.state import AbstractState, Move, WeightState


class _Tangent(AbstractNet):
    """f(theta_0) + <grad f(theta_0), theta - theta_0>, with the same parameters as the net."""

    net: AbstractNet
    start: Params

    def init(self, key: Key[Array, ""], problem: Problem) -> Params:
        return self.start

    def __call__(self, params: Params, x: PyTree[Float[Array, "n ..."]]) -> Float[Array, "n ..."]:
        moved = jax.tree.map(lambda now, start: now - start, params, self.start)
        value, change = jax.jvp(lambda at: self.net(at, x), (self.start,), (moved,))
        return value + change


class Linearised(AbstractGradientRule):
    r"""Gradient descent on $f_0(x) + \langle \nabla f_0(x), \theta - \theta_0 \rangle$, the net's
    expansion at its initialisation: a linear model on the features of its neural tangent kernel.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\ell$ | `loss`: logistic, hinge or squared |

    >>> Linearised(rate=0.1).loss
    'hinge'
    """

    rate: Number = number(above=0)
    loss: str = choice(*LOSSES, default="hinge")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def init(
        self, net: AbstractNet, problem: Problem, key: Key[Array, ""], params: Params | None = None
    ) -> WeightState:
        params = net.init(key, problem) if params is None else params
        return super().init(_Tangent(net, params), problem, key, params)

    def gradient(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Move:
        return state.gradient(problem.batch(key))
