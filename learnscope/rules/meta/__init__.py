"""Meta-learning: rules that adapt to tasks, and learn from the adapted networks."""

from learnscope.rules.meta.imaml import Imaml, conjugate_gradients
from learnscope.rules.meta.maml import Fomaml, Maml, Pooled
from learnscope.rules.meta.reptile import MetaProx, Reptile
from learnscope.rules.meta.rule import SPLITS, AbstractMetaRule, parts_of
from learnscope.rules.meta.tasks import Parts, Task, Tasks, descend, tasks_of

__all__ = [
    "SPLITS", "AbstractMetaRule", "Fomaml", "Imaml", "Maml", "MetaProx", "Parts", "Pooled",
    "Reptile", "Task", "Tasks", "conjugate_gradients", "descend", "parts_of", "tasks_of",
]  # fmt: skip
