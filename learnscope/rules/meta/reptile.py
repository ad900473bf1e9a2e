"""Reptile: a step towards the weights that each task's own training reaches."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from learnscope.part import Number, choice, count, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import LOSSES
from learnscope.rules.meta.rule import AbstractMetaRule, batch_field, split_field
from learnscope.rules.meta.tasks import Task, descend
from learnscope.rules.state import Move


class Reptile(AbstractMetaRule):
    r"""$W \leftarrow W + \frac{\varepsilon}{K} \sum_k (\tilde W_k - W)$ (Nichol et al. 2018; Zuo et
    al. 2023, eq. A.3), with $\tilde W_k$ as in `Fomaml`.

    There is no outer loss: with `split="train-train"` it adapts to all examples of a task, with
    `"train-validation"` to the training half; the validation half is not used.

    | symbol | argument |
    |---|---|
    | $\varepsilon$ | `rate` |
    | $\gamma$ | `inner_rate` |
    | $J$ | `inner_steps` |
    | tasks per step | `batch` (none: all) |

    >>> Reptile(rate=0.5, inner_rate=0.1, split="train-train").inner_steps
    5
    """

    papers: ClassVar = ("nichol2018reptile",)

    rate: Number = number(above=0)
    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=1, high=1000)
    split: str = split_field()
    batch: int | None = batch_field()
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def wanted(self, task: Task) -> Move:
        adapted = descend(task.state, task.inner, self.inner_rate, self.inner_steps)
        return jax.tree.map(jnp.negative, adapted.displacement)


class MetaProx(AbstractMetaRule):
    r"""$W \leftarrow W + \frac{\varepsilon}{K} \sum_k (\hat W_k - W)$ (Zhou et al. 2019; Zuo et al.
    2023, appendix A), where $\hat W_k$ minimises $L(W', S_k^{in}) + \lambda \|W' - W\|^2$ (eq.
    A.2) by J steps of gradient descent from W. As in `Reptile`, `split` chooses the examples to
    adapt to: all of a task, or its training half.

    | symbol | argument |
    |---|---|
    | $\varepsilon$ | `rate` |
    | $\lambda$ | `weight` |
    | $\gamma$ | `inner_rate` |
    | $J$ | `inner_steps` |
    | tasks per step | `batch` (none: all) |

    >>> MetaProx(rate=0.5, inner_rate=0.1, weight=0.2).weight
    0.2
    """

    papers: ClassVar = ("zhou2019prox",)

    rate: Number = number(above=0)
    inner_rate: Number = number(above=0)
    weight: Number = number(low=0)
    inner_steps: int = count(5, low=1, high=1000)
    split: str = split_field()
    batch: int | None = batch_field()
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def wanted(self, task: Task) -> Move:
        pull = 2 * self.weight
        near = descend(task.state, task.inner, self.inner_rate, self.inner_steps, pull)
        return jax.tree.map(jnp.negative, near.displacement)
