"""Gradient descent with filters on spheres."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Key

from learnscope.data import Problem
from learnscope.nets import filters_of, replaced
from learnscope.part import Number, choice, number
from learnscope.rules.losses import LOSSES
from learnscope.rules.rule import AbstractRule, no_reason
from learnscope.rules.state import AbstractState, WeightState


def _positive(sizes: Array) -> Array:
    """1 in place of 0: a filter that starts at 0 stays there."""
    return jnp.where(sizes > 0, sizes, 1.0)


class SphericalDescent(AbstractRule):
    r"""$w_i \leftarrow \rho_i \frac{v_i}{\|v_i\|}$, $v_i = w_i - \eta (I - \frac{w_i w_i^T}
    {\|w_i\|^2}) \nabla_i L$ (Ben Arous, Gheissari, Jagannath 2021): each filter keeps its initial
    norm $\rho_i$. Other parameters follow the gradient.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\ell$ | `loss`: logistic, hinge, squared or correlation |

    >>> SphericalDescent(rate=0.1).loss
    'squared'
    """

    papers: ClassVar = ("benarous2021online",)

    rate: Number = number(above=0)
    loss: str = choice(*LOSSES, default="squared")

    basis_dependence = no_reason
    fresh_obstacle = no_reason

    def prepare(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Any:
        return None

    def step(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> WeightState:
        gradient = state.gradient(problem.batch(key))
        old, slope = filters_of(state.params), filters_of(gradient)
        squares = (old**2).sum(1, keepdims=True)
        across = slope - (slope * old).sum(1, keepdims=True) / _positive(squares) * old
        new = old - self.rate * across
        radius, norm = (jnp.linalg.norm(rows, axis=1, keepdims=True)
                        for rows in (filters_of(state.start), new))  # fmt: skip
        moved = state.moved(gradient, -self.rate).params
        return state.advance(replaced(moved, filters=radius / _positive(norm) * new), None)
