"""How it learns."""

from learnscope.rules.full_penalty import FullPenalty
from learnscope.rules.gradient_descent import GradientDescent
from learnscope.rules.linearised import Linearised
from learnscope.rules.losses import LOSSES, correct
from learnscope.rules.meta import Fomaml, Imaml, LinearCentroid, Maml, MetaProx, Pooled, Reptile
from learnscope.rules.per_example_penalty import PerExamplePenalty, penalised_gradient
from learnscope.rules.readout import RandomFeatures
from learnscope.rules.rule import AbstractGradientRule, AbstractPenalty, AbstractRule, State
from learnscope.rules.two_step import FrozenFeatures, TwoStep

__all__ = [
    "LOSSES",
    "AbstractGradientRule",
    "AbstractPenalty",
    "AbstractRule",
    "Fomaml",
    "FrozenFeatures",
    "FullPenalty",
    "GradientDescent",
    "Imaml",
    "LinearCentroid",
    "Linearised",
    "Maml",
    "MetaProx",
    "PerExamplePenalty",
    "Pooled",
    "RandomFeatures",
    "Reptile",
    "State",
    "TwoStep",
    "correct",
    "penalised_gradient",
]
