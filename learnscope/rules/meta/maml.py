"""Model-agnostic meta-learning, with second derivatives."""

from typing import Any, ClassVar

import jax

from learnscope.part import Number, choice, count, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import LOSSES
from learnscope.rules.meta.rule import AbstractMetaRule, batch_field, split_field
from learnscope.rules.meta.task import AbstractTask, Point, descend


class Maml(AbstractMetaRule):
    r"""Gradient descent on $\frac1K \sum_k L(\tilde W_k(W), S_k^{out})$ (Finn et al. 2017), with
    $\tilde W_k(W)$ as in `Fomaml`, here differentiated too.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\gamma$ | `inner_rate` |
    | $J$ | `inner_steps` |
    | tasks a step | `batch` (none: all) |

    >>> Maml(rate=0.1, inner_rate=2.0, inner_steps=3).inner_steps
    3
    """

    papers: ClassVar = ("finn2017maml",)

    rate: Number = number(above=0)
    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0)
    split: str = split_field()
    batch: int | None = batch_field()
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def wanted(self, task: AbstractTask) -> Point:
        def objective(start: Point):
            begun = task.begun_at(start)
            return begun.outer_loss(descend(begun, self.inner_rate, self.inner_steps).point)

        return jax.grad(objective)(task.start)
