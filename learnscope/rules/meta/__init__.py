"""Meta-learning: rules that adapt to tasks, and learn from how that went."""

from learnscope.rules.meta.fomaml import Fomaml
from learnscope.rules.meta.imaml import Imaml, conjugate_gradients
from learnscope.rules.meta.linear_centroid import LinearCentroid
from learnscope.rules.meta.maml import Maml
from learnscope.rules.meta.meta_prox import MetaProx
from learnscope.rules.meta.pooled import Pooled
from learnscope.rules.meta.reptile import Reptile
from learnscope.rules.meta.rule import SPLITS, AbstractMetaRule, parts_of
from learnscope.rules.meta.task import AbstractTask, Point, descend
from learnscope.rules.meta.view import Parts, View, view

__all__ = [
    "SPLITS",
    "AbstractMetaRule",
    "AbstractTask",
    "Fomaml",
    "Imaml",
    "LinearCentroid",
    "Maml",
    "MetaProx",
    "Parts",
    "Point",
    "Pooled",
    "Reptile",
    "View",
    "conjugate_gradients",
    "descend",
    "parts_of",
    "view",
]
