"""Averages of the weights that another rule trains."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from learnscope.data import Problem
from learnscope.part import Number, choice, number, slot
from learnscope.rules.gradient_descent import GradientDescent
from learnscope.rules.rule import AbstractRule
from learnscope.rules.state import AbstractState


class Averaged(AbstractRule):
    r"""Probes see averaged weights $\bar W$, while `rule` trains $W$ as it would alone.

    `ema`: $\bar W \leftarrow \beta \bar W + (1 - \beta) W$ after every step, with $\beta$ =
    `decay`. `mean`: the mean of the weights after each step from step `start` on (stochastic weight
    averaging, Izmailov et al. 2018). Before `start` the average is the weights themselves.

    >>> import learnscope as ls
    >>> Averaged(ls.rules.GradientDescent(rate=0.1), decay=0.9).decay
    0.9
    """

    typical: ClassVar = {"rule": GradientDescent(rate=0.1)}

    rule: AbstractRule = slot(AbstractRule)
    how: str = choice("ema", "mean", default="ema")
    decay: Number = number(0.99, low=0, below=1)
    start: Number = number(0, low=0, whole=True)

    @property
    def loss(self) -> str:  # type: ignore[override]
        return self.rule.loss

    @property
    def basis_dependence(self) -> str | None:
        return self.rule.basis_dependence

    def prepare(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Any:
        return self.rule.prepare(state, problem, key), state.position

    def step(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> AbstractState:
        inner, average = state.memory
        after = self.rule.step(dataclasses.replace(state, memory=inner), problem, key)
        counted = jnp.maximum(state.step + 1 - self.start, 1)
        new = 1 / counted if self.how == "mean" else 1 - self.decay
        share = jnp.where(state.step < self.start, 1.0, new)

        def averaged(old: Array, weights: Array) -> Array:
            return old + share.astype(weights.dtype) * (weights - old)

        average = jax.tree.map(averaged, average, after.position)
        return dataclasses.replace(after, memory=(after.memory, average))

    def evaluated(self, state: AbstractState) -> AbstractState:
        inner, average = state.memory
        return self.rule.evaluated(dataclasses.replace(state, memory=inner).at(average))
