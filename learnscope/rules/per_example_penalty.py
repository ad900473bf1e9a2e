"""Per-example gradient regularisation (PEGR): a penalty on every example's own gradient."""

from typing import Any, ClassVar

from learnscope.data import Samples
from learnscope.part import Number, choice, flag, number
from learnscope.rules import optimiser as opt
from learnscope.rules.examples import penalised
from learnscope.rules.losses import LOSSES
from learnscope.rules.rule import AbstractPenalty
from learnscope.rules.state import AbstractState, Move


class PerExamplePenalty(AbstractPenalty):
    r"""Gradient descent on $L + \frac{\lambda}{2n} \sum_i \|\nabla \ell_i\|^2$ in the first steps.

    Meng, Cao, Zou (2023), section 2. The penalty acts in steps $t = 0, 1, \dots$ below `until`.
    With `half=False` it is $\lambda$ instead of $\lambda/2$ times the mean squared norm. Its
    gradient is a Hessian-vector product: $\nabla \frac12 \|g_i\|^2 = H_i g_i$.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\lambda$ | `weight` |
    | $T_1$ | `until` |

    >>> PerExamplePenalty(rate=0.02, weight=0.01, until=800).half
    True
    """

    papers: ClassVar = ("smith2021origin", "meng2023pegr")

    rate: Number = number(above=0)
    weight: Number = number(low=0)
    until: Number = number(float("inf"), low=0, infinite=True)
    half: bool = flag(True)
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def penalised(self, state: AbstractState, batch: Samples, weight: Number) -> Move:
        return penalised(state, batch, weight)
