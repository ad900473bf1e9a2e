"""How it learns."""

from learnscope.rules.full_penalty import FullPenalty
from learnscope.rules.gradient_descent import GradientDescent
from learnscope.rules.losses import LOSSES, correct
from learnscope.rules.per_example_penalty import PerExamplePenalty, penalised_gradient
from learnscope.rules.rule import AbstractGradientRule, AbstractPenalty, AbstractRule, State

__all__ = [
    "LOSSES",
    "AbstractGradientRule",
    "AbstractPenalty",
    "AbstractRule",
    "FullPenalty",
    "GradientDescent",
    "PerExamplePenalty",
    "State",
    "correct",
    "penalised_gradient",
]
