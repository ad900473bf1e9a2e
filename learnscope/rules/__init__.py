"""Rules: how a net learns."""

from learnscope.part.moved import moved
from learnscope.rules.averaged import Averaged
from learnscope.rules.contrastive import Contrastive
from learnscope.rules.full_penalty import FullPenalty
from learnscope.rules.gradient_descent import GradientDescent
from learnscope.rules.heads import Head, off_diagonal, trained_part
from learnscope.rules.linearised import Linearised
from learnscope.rules.losses import LOSSES, correct
from learnscope.rules.meta.imaml import Imaml
from learnscope.rules.meta.maml import Fomaml, Maml, Pooled
from learnscope.rules.meta.reptile import MetaProx, Reptile
from learnscope.rules.meta.rule import parts_of, split_field
from learnscope.rules.non_contrastive import NonContrastive
from learnscope.rules.per_example_penalty import PerExamplePenalty
from learnscope.rules.readout import RandomFeatures
from learnscope.rules.rule import AbstractGradientRule, AbstractPenalty, AbstractRule, no_reason
from learnscope.rules.sharpness_aware import SharpnessAware
from learnscope.rules.siamese import TARGETS, AbstractPairRule, AbstractSiamese, Siamese
from learnscope.rules.span import SpanState
from learnscope.rules.spherical_descent import SphericalDescent
from learnscope.rules.state import AbstractState, Move, WeightState, plus
from learnscope.rules.two_step import FrozenFeatures, TwoStep

State = AbstractState  # the older name

__all__ = [
    "LOSSES", "TARGETS", "AbstractGradientRule", "AbstractPairRule", "AbstractPenalty",
    "AbstractRule", "AbstractSiamese", "AbstractState", "Averaged", "Contrastive", "Fomaml",
    "FrozenFeatures", "FullPenalty", "GradientDescent", "Head", "Imaml", "Linearised", "Maml",
    "MetaProx", "Move", "NonContrastive", "PerExamplePenalty", "Pooled", "RandomFeatures",
    "Reptile", "SharpnessAware", "Siamese", "SpanState", "SphericalDescent", "State", "TwoStep",
    "WeightState", "correct", "no_reason", "off_diagonal", "parts_of", "plus", "split_field",
    "trained_part",
]  # fmt: skip


__getattr__ = moved(  # to a paper's own folder
    __name__,
    {
        "learnscope.papers.meta_split.parts": ["LinearCentroid"],
        "learnscope.papers.pred_head.parts": ["PopulationDescent", "PopulationFlow"],
    },
)
