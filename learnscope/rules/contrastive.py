"""Contrastive learning: a baseline that uses negative pairs."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from learnscope.data import Problem
from learnscope.nets import Params
from learnscope.part import Number, choice, number
from learnscope.rules import optimiser as opt
from learnscope.rules.rule import AbstractGradientRule
from learnscope.rules.siamese import AbstractPairRule, normalised
from learnscope.rules.state import WeightState


class Contrastive(AbstractPairRule, AbstractGradientRule):
    r"""Gradient descent on the contrastive loss (Wen and Li 2022, equation 2.1)

    $$\frac1N \sum_i -\text{sim}(z_i, z_i')/\tau + \log \sum_j \exp(\text{sim}(z_i, z_j')/\tau),$$

    where $z_i, z_i'$ are the encoder's outputs for two views of example $i$, and sim is the cosine.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\tau$ | `temperature` |

    >>> Contrastive(rate=0.1).temperature
    0.5
    """

    papers: ClassVar = ("wen2022mechanism",)

    rate: Number = number(above=0)
    temperature: Number = number(0.5, above=0)
    loss: str = choice("pairs", default="pairs")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    @property
    def targets(self) -> int:
        return 0

    fresh_obstacle = opt.fresh_obstacle

    def gradient(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> Params:
        one, other = problem.pair(key)

        def objective(params: Params) -> Array:
            first, second = (normalised(state.net(params, view), "l2") for view in (one, other))
            alike = first @ second.T / self.temperature
            return (jax.nn.logsumexp(alike, axis=1) - jnp.diag(alike)).mean()

        return jax.grad(objective)(state.params)
