"""How it learns."""

from learnscope.rules.contrastive import Contrastive
from learnscope.rules.full_penalty import FullPenalty
from learnscope.rules.gradient_descent import GradientDescent
from learnscope.rules.linearised import Linearised
from learnscope.rules.losses import LOSSES, correct
from learnscope.rules.meta import Fomaml, Imaml, LinearCentroid, Maml, MetaProx, Pooled, Reptile
from learnscope.rules.non_contrastive import NonContrastive
from learnscope.rules.per_example_penalty import PerExamplePenalty, penalised_gradient
from learnscope.rules.population import PopulationDescent
from learnscope.rules.population_flow import PopulationFlow
from learnscope.rules.readout import RandomFeatures
from learnscope.rules.rule import AbstractGradientRule, AbstractPenalty, AbstractRule, State
from learnscope.rules.siamese import AbstractPairRule, AbstractSiamese, Siamese
from learnscope.rules.two_step import FrozenFeatures, TwoStep

__all__ = [
    "LOSSES",
    "AbstractGradientRule",
    "AbstractPairRule",
    "AbstractPenalty",
    "AbstractRule",
    "AbstractSiamese",
    "Contrastive",
    "Fomaml",
    "FrozenFeatures",
    "FullPenalty",
    "GradientDescent",
    "Imaml",
    "LinearCentroid",
    "Linearised",
    "Maml",
    "MetaProx",
    "NonContrastive",
    "PerExamplePenalty",
    "Pooled",
    "PopulationDescent",
    "PopulationFlow",
    "RandomFeatures",
    "Reptile",
    "Siamese",
    "State",
    "TwoStep",
    "correct",
    "penalised_gradient",
]
