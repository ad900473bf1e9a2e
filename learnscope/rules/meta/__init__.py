"""Meta-learning: rules that adapt to tasks, and learn from the adapted networks."""

from learnscope.rules.meta.imaml import Imaml, conjugate_gradients
from learnscope.rules.meta.maml import Fomaml, Maml, Pooled
from learnscope.rules.meta.reptile import MetaProx, Reptile
from learnscope.rules.meta.rule import SPLITS, AbstractMetaRule, parts_of
from learnscope.rules.meta.task import AbstractTask, Point, descend
from learnscope.rules.meta.view import Parts, View, view

__all__ = [
    "SPLITS", "AbstractMetaRule", "AbstractTask", "Fomaml", "Imaml", "Maml", "MetaProx",
    "Parts", "Point", "Pooled", "Reptile", "View", "conjugate_gradients", "descend", "parts_of",
    "view",
]  # fmt: skip
