"""Vanilla supervised learning on the examples of all tasks together."""

from typing import Any, ClassVar

import jax

from learnscope.part import Number, choice, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import LOSSES
from learnscope.rules.meta.rule import AbstractMetaRule, batch_field, split_field
from learnscope.rules.meta.task import AbstractTask, Point


class Pooled(AbstractMetaRule):
    r"""$W \leftarrow W - \frac{\eta}{K} \sum_k \nabla L(W, S_k^{out})$: `Fomaml` with J = 0 (Zuo et
    al. 2023, section 4).

    With `split="train-train"` (here the default) that is all examples of all tasks; with
    `"train-validation"` the validation halves alone.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | tasks a step | `batch` (none: all) |

    >>> Pooled(rate=0.1).split
    'train-train'
    """

    papers: ClassVar = ("zuo2023split",)

    rate: Number = number(above=0)
    split: str = split_field("train-train")
    batch: int | None = batch_field()
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def wanted(self, task: AbstractTask) -> Point:
        return jax.grad(task.outer_loss)(task.start)
