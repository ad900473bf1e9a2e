"""The test loss at the best scale of the outputs."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.probes import AbstractProbe, Output
from learnscope.rules import AbstractState

_HALVINGS, _FROM, _TO = 40, 1e-6, 1e6  # scales, over the outputs' root mean square


class ScaledLoss(AbstractProbe):
    r"""$\min_{c \ge 0} \frac1n \sum_i \log(1 + e^{-c y_i f(x_i)})$ over the test examples.

    Weights that only grow or shrink do not change it (ReLU networks are homogeneous), and no
    information leaves it at $\log 2$. The scale $c$ is one for all examples. The mean is convex in
    $c$: bisection of $\log c$ finds where its slope vanishes, up to $10^6$ over the root mean
    square of $f$; a slope above 0 at $c = 0$ means $c = 0$.
    """

    outputs: ClassVar = {"scaled_test_loss": Output("test loss at the best scale", "nat", low=0)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        outputs = state.outputs(problem.test)
        if outputs.ndim != problem.test.y.ndim:
            raise BadInput("ScaledLoss needs labels +1 and -1, and networks of one output.")
        return scaled_loss(problem.test.y * outputs)


def scaled_loss(margins: Array) -> Array:
    """The least logistic loss of margins times a scale.

    >>> float(scaled_loss(jnp.array([1.0, -1.0])))
    0.6931...
    """
    margins = margins / jnp.maximum(jnp.sqrt(jnp.mean(margins**2)), jnp.finfo(margins.dtype).tiny)

    def halve(_, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        middle = (ends[0] + ends[1]) / 2
        falls = jnp.mean(margins * jax.nn.sigmoid(-jnp.exp(middle) * margins)) > 0
        return jnp.where(falls, middle, ends[0]), jnp.where(falls, ends[1], middle)

    ends = jnp.log(jnp.array([_FROM, _TO], margins.dtype))
    low, _ = jax.lax.fori_loop(0, _HALVINGS, halve, (ends[0], ends[1]))
    at_best = jnp.mean(jax.nn.softplus(-jnp.exp(low) * margins))
    return jnp.minimum(at_best, jnp.log(jnp.asarray(2.0, margins.dtype)))
