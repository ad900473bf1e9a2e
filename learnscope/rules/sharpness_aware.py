"""Sharpness-aware minimisation (SAM): the gradient at the worst point nearby."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Key

from learnscope.data import Problem
from learnscope.part import Number, choice, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import BATCH_LOSSES, LOSSES
from learnscope.rules.rule import AbstractGradientRule
from learnscope.rules.state import AbstractState, Move


class SharpnessAware(AbstractGradientRule):
    r"""$W \leftarrow W - \eta \nabla L(W + \rho\, g / \|g\|)$ with $g = \nabla L(W)$ on the same
    batch (Foret et al. 2021).

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\rho$ | `radius` |

    >>> SharpnessAware(rate=0.1, radius=0.05).radius
    0.05
    """

    papers: ClassVar = ("foret2021sharpness",)

    rate: Number = number(above=0)
    radius: Number = number(low=0)
    loss: str = choice(*LOSSES, *BATCH_LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    @property
    def reuses_batch(self) -> bool:
        return True

    fresh_obstacle = opt.fresh_obstacle

    def gradient(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Move:
        batch = problem.batch(key)
        slope = state.gradient(batch)
        norm = jnp.sqrt(state.dot(slope, slope))
        worst = state.moved(slope, self.radius / jnp.where(norm > 0, norm, 1.0))
        return worst.gradient(batch)
