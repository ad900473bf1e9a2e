"""The linear centroid method: ridge regression inside, least squares outside, in closed form."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, PyTree

from learnscope.data import Problem, joined
from learnscope.errors import BadInput
from learnscope.nets import Linear, filters_of, replaced
from learnscope.part import Number, choice, number
from learnscope.rules import (
    AbstractRule,
    AbstractState,
    WeightState,
    no_reason,
    parts_of,
    split_field,
)


class LinearCentroid(AbstractRule):
    r"""The centroid $w_0$ from which ridge regression on a task's examples ends best (Bai et al.
    2021; Denevi et al. 2018):

    $$w_k(w_0) = \arg\min_w \frac{1}{n} \|y_k^{in} - X_k^{in} w\|^2 + \lambda \|w - w_0\|^2, \quad
    w_0 = \arg\min \sum_k \|y_k^{out} - X_k^{out} w_k(w_0)\|^2.$$

    Since $w_k = w_0 + X^T (X X^T + n \lambda I)^{-1} (y - X w_0)$, the outer problem is least
    squares in $w_0$; of its solutions the one nearest to the start is taken, in one step (further
    ones change nothing). It needs the net `Linear`.

    | symbol | argument |
    |---|---|
    | $\lambda$ | `weight` |

    >>> LinearCentroid(weight=0.5, split="train-train").weight
    0.5
    """

    papers: ClassVar = ("bai2021split",)

    weight: Number = number(above=0)
    split: str = split_field()
    loss: str = choice("squared", default="squared")

    basis_dependence = no_reason

    def prepare(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> None:
        if not isinstance(state.net, Linear):
            raise BadInput(f"LinearCentroid needs the net Linear, not {type(state.net).__name__}.")

    def step(self, state: WeightState, problem: Problem, key: Key[Array, ""]) -> WeightState:
        parts = parts_of(type(self).__name__, problem, self.split)
        filters = filters_of(state.params)
        x = joined(*(_inputs(p, filters.shape[1]) for p in parts.sets))
        inner, outer = (slice(*bounds) for bounds in (parts.inner, parts.outer))

        def one(x: Array, y: Array) -> tuple[Array, Array]:
            a, b = x[inner], x[outer]
            ridge = a.shape[0] * self.weight * jnp.eye(a.shape[0], dtype=a.dtype)
            back = jnp.linalg.solve(a @ a.T + ridge, a @ b.T).T
            return b - back @ a, y[outer] - back @ y[inner]

        rows, wanted = jax.vmap(one)(x.x, x.y)
        rows, wanted = rows.reshape(-1, rows.shape[-1]), wanted.reshape(-1)
        step = jnp.linalg.lstsq(rows, wanted - rows @ filters[0])[0]
        return state.advance(replaced(state.params, filters=filters + step[None]), None)


def _inputs(samples: PyTree, width: int) -> PyTree:
    """Every example as the sum of its patches, in all coordinates."""

    def whole(leaf: Float[Array, "n *patch some"]) -> Float[Array, "n width"]:
        summed = leaf if leaf.ndim == 2 else leaf.sum(tuple(range(1, leaf.ndim - 1)))
        return jnp.pad(summed, ((0, 0), (0, width - leaf.shape[-1])))

    total = jax.tree.leaves(jax.tree.map(whole, samples.x))
    return type(samples)(sum(total[1:], total[0]), samples.y, groups=samples.groups)
