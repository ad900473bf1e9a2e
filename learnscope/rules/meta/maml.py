"""Model-agnostic meta-learning: of second and of first order, and without adaptation."""

from typing import Any, ClassVar

import jax
from jaxtyping import PyTree

from learnscope.part import Number, choice, count, number
from learnscope.rules import optimiser as opt
from learnscope.rules.examples import penalised
from learnscope.rules.losses import LOSSES
from learnscope.rules.meta.rule import AbstractMetaRule, batch_field, split_field
from learnscope.rules.meta.tasks import Task, descend
from learnscope.rules.state import Move


class Fomaml(AbstractMetaRule):
    r"""First-order MAML: $W \leftarrow W - \frac{\eta}{K} \sum_k \nabla L(\tilde W_k, S_k^{out})$
    (Finn et al. 2017; Zuo et al. 2023, eqs. 3.1 and 3.2), where $\tilde W_k$ is W after J steps of
    gradient descent with rate $\gamma$ on $L(\cdot, S_k^{in})$. The derivative of $\tilde W_k$ by W
    is left out.

    With `split="train-train"`, $S_k^{in} = S_k^{out}$ are all examples of task k; with
    `"train-validation"` they are its training and its validation half. J = 0 is `Pooled`.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\gamma$ | `inner_rate` |
    | $J$ | `inner_steps` |
    | tasks per step | `batch` (none: all) |
    | $\lambda$ | `penalty` (none: without) |

    With a `penalty` the outer loss of a task is that of `PerExamplePenalty`,
    $L + \frac{\lambda}{2n} \sum_i \|\nabla \ell_i\|^2$, at the adapted weights.

    >>> Fomaml(rate=0.1, inner_rate=2.0).split
    'train-validation'
    """

    papers: ClassVar = ("finn2017maml", "zuo2023split")

    rate: Number = number(above=0)
    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0, high=1000)
    split: str = split_field()
    batch: int | None = batch_field()
    penalty: Number | None = number(None, low=0, optional=True)
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def wanted(self, task: Task) -> Move:
        adapted = descend(task.state, task.inner, self.inner_rate, self.inner_steps)
        if self.penalty is None:
            return adapted.gradient(task.outer)
        return penalised(adapted, task.outer, self.penalty)


class Maml(AbstractMetaRule):
    r"""Gradient descent on $\frac1K \sum_k L(\tilde W_k(W), S_k^{out})$ (Finn et al. 2017), with
    $\tilde W_k(W)$ as in `Fomaml`, but differentiated.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\gamma$ | `inner_rate` |
    | $J$ | `inner_steps` |
    | tasks per step | `batch` (none: all) |

    >>> Maml(rate=0.1, inner_rate=2.0, inner_steps=3).inner_steps
    3
    """

    papers: ClassVar = ("finn2017maml",)

    rate: Number = number(above=0)
    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0, high=1000)
    split: str = split_field()
    batch: int | None = batch_field()
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def wanted(self, task: Task) -> Move:
        def objective(point: PyTree):
            begun = task.state.started(point)
            adapted = descend(begun, task.inner, self.inner_rate, self.inner_steps)
            return adapted.losses(task.outer).mean()

        return jax.grad(objective)(task.state.point)


class Pooled(AbstractMetaRule):
    r"""Vanilla training on all tasks together: $W \leftarrow W - \frac{\eta}{K} \sum_k \nabla L(W,
    S_k^{out})$, which is `Fomaml` with J = 0 (Zuo et al. 2023, section 4).

    With `split="train-train"` (the default here) it uses all examples of all tasks, with
    `"train-validation"` the validation halves only.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | tasks per step | `batch` (none: all) |

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

    def wanted(self, task: Task) -> Move:
        return task.state.gradient(task.outer)
