"""Full gradient regularisation (FGR): a penalty on the gradient of the whole loss."""

from typing import Any, ClassVar

from learnscope.data import Samples
from learnscope.part import Number, choice, flag, number
from learnscope.rules import optimiser as opt
from learnscope.rules.losses import LOSSES
from learnscope.rules.rule import AbstractPenalty
from learnscope.rules.state import AbstractState, Move, plus


class FullPenalty(AbstractPenalty):
    r"""Gradient descent on $L + \frac{\lambda}{2} \|\nabla L\|^2$, in the first `until` steps.

    Barrett and Dherin (2021); Meng, Cao, Zou (2023), section 5.4 (with $\lambda/2$) and section 4.1
    (with $\lambda$: `half=False`). The gradient of the penalty is $\lambda H g$, computed forward
    over reverse.

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\lambda$ | `weight` |
    | $T_1$ | `until` |

    >>> FullPenalty(rate=0.02, weight=0.01).until
    inf
    """

    papers: ClassVar = ("barrett2021implicit",)

    rate: Number = number(above=0)
    weight: Number = number(low=0)
    until: Number = number(float("inf"), low=0, infinite=True)
    half: bool = flag(True)
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def penalised(self, state: AbstractState, batch: Samples, weight: Number) -> Move:
        gradient = state.gradient(batch)
        return plus(gradient, weight, state.curvature(batch, gradient))
