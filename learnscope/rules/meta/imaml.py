"""Implicit MAML: the derivative of a minimiser by the implicit function theorem."""

from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from learnscope.part import Number, choice, count, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import LOSSES
from learnscope.rules.meta.rule import AbstractMetaRule, batch_field, split_field
from learnscope.rules.meta.tasks import Task, descend
from learnscope.rules.state import Move, plus


class Imaml(AbstractMetaRule):
    r"""Gradient descent on $\frac1K \sum_k L(\hat W_k(W), S_k^{out})$ (Rajeswaran et al. 2019) with
    $\hat W_k(W) = \arg\min_{W'} L(W', S_k^{in}) + \lambda \|W' - W\|^2$ (Zuo et al. 2023, A.2).

    $\hat W_k$ is found by J steps of gradient descent; its derivative, by the implicit function
    theorem, is $(I + \frac{1}{2\lambda} \nabla^2 L(\hat W_k, S_k^{in}))^{-1}$, which conjugate
    gradients apply to the outer gradient.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\lambda$ | `weight` |
    | $\gamma$ | `inner_rate` |
    | $J$ | `inner_steps` |
    | steps of conjugate gradients | `solver_steps` |
    | tasks per step | `batch` (none: all) |

    >>> Imaml(rate=0.1, inner_rate=0.1, weight=0.5).solver_steps
    10
    """

    papers: ClassVar = ("rajeswaran2019imaml",)

    rate: Number = number(above=0)
    inner_rate: Number = number(above=0)
    weight: Number = number(above=0)
    inner_steps: int = count(5, low=0, high=1000)
    solver_steps: int = count(10, high=1000)
    split: str = split_field()
    batch: int | None = batch_field()
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def wanted(self, task: Task) -> Move:
        pull = 2 * self.weight
        near = descend(task.state, task.inner, self.inner_rate, self.inner_steps, pull)

        def system(move: Move) -> Move:
            return plus(move, 1 / pull, near.curvature(task.inner, move))

        return conjugate_gradients(system, near.gradient(task.outer), near.dot, self.solver_steps)


def conjugate_gradients(
    system: Callable[[Move], Move], right: Move, dot: Callable[[Move, Move], Any], steps: int
) -> Move:
    """The solution x of system(x) = right, for a map that is symmetric in the inner product `dot`,
    after some steps from x = 0."""

    def ratio(over: Any, under: Any) -> Any:
        # A solved system has 0 / 0 here.
        return jnp.where(under > 0, over / jnp.where(under > 0, under, 1.0), 0.0)

    def step(walk: Any, _: None) -> tuple[Any, None]:
        x, residual, along, size = walk
        image = system(along)
        length = ratio(size, dot(along, image))
        x, residual = plus(x, length, along), plus(residual, -length, image)
        smaller = dot(residual, residual)
        return (x, residual, plus(residual, ratio(smaller, size), along), smaller), None

    zero = jax.tree.map(jnp.zeros_like, right)
    begin = (zero, right, right, dot(right, right))
    return jax.lax.scan(step, begin, None, length=steps)[0][0]
