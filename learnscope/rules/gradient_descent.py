"""Gradient descent on the training loss."""

from typing import Any

from jaxtyping import Array, Key

from learnscope.data import Problem
from learnscope.part import Number, choice, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import BATCH_LOSSES, LOSSES
from learnscope.rules.rule import AbstractGradientRule
from learnscope.rules.state import AbstractState, Move


class GradientDescent(AbstractGradientRule):
    r"""$W \leftarrow W - \eta \nabla L(W)$ on the problem's batch, or any Optax optimiser.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\ell$ | `loss`: logistic (cross-entropy), hinge, squared, correlation, balanced, adjusted |

    >>> GradientDescent(rate=0.1, optimiser="sgd", options={"momentum": 0.9}).rate
    0.1
    """

    rate: Number = number(above=0)
    loss: str = choice(*LOSSES, *BATCH_LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def gradient(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Move:
        return state.gradient(problem.batch(key))

    fresh_obstacle = opt.fresh_obstacle
