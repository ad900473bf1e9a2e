"""First-order model-agnostic meta-learning."""

from typing import Any, ClassVar

import jax

from learnscope.part import Number, choice, count, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import LOSSES
from learnscope.rules.meta.rule import AbstractMetaRule, batch_field, split_field
from learnscope.rules.meta.task import AbstractTask, Point, descend, penalised


class Fomaml(AbstractMetaRule):
    r"""$W \leftarrow W - \frac{\eta}{K} \sum_k \nabla L(\tilde W_k, S_k^{out})$ (Finn et al. 2017;
    Zuo et al. 2023, eqs. 3.1 and 3.2), $\tilde W_k$ being W after J steps of gradient descent with
    rate $\gamma$ on $L(\cdot, S_k^{in})$; how $\tilde W_k$ depends on W is left out.

    With `split="train-train"` $S_k^{in} = S_k^{out}$ are all examples of task k; with
    `"train-validation"` its training and its validation half. J = 0 is vanilla training (`Pooled`).

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\gamma$ | `inner_rate` |
    | $J$ | `inner_steps` |
    | tasks a step | `batch` (none: all) |
    | $\lambda$ | `penalty` (none: without) |

    With a `penalty` the outer loss of a task is that of `PerExamplePenalty`,
    $L + \frac{\lambda}{2n} \sum_i \|\nabla \ell_i\|^2$, at the adapted weights.

    >>> Fomaml(rate=0.1, inner_rate=2.0).split
    'train-validation'
    """

    papers: ClassVar = ("finn2017maml", "zuo2023split")

    rate: Number = number(above=0)
    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0)
    split: str = split_field()
    batch: int | None = batch_field()
    penalty: Number | None = number(None, low=0, optional=True)
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def wanted(self, task: AbstractTask) -> Point:
        adapted = descend(task, self.inner_rate, self.inner_steps)
        if self.penalty is None:
            return jax.grad(task.outer_loss)(adapted.point)
        return penalised(task, adapted.point, self.penalty)
