"""What the papers predict: conditions with margins, rates and times, closed forms."""

from importlib import import_module

from learnscope.theory.condition import Condition, Conditions
from learnscope.theory.lookup import boundary, conditions, exit_time, is_a, limit, predict
from learnscope.theory.nearest import Nearest, nearest
from learnscope.theory.prediction import Prediction
from learnscope.theory.start import plain

__all__ = [
    "Condition", "Conditions", "Nearest", "Prediction", "boundary", "conditions", "exit_time",
    "is_a", "limit", "nearest", "plain", "predict",
]  # fmt: skip


def __getattr__(name: str):
    """`theory.pegr` and the like: the theories of the papers."""
    papers = import_module("learnscope.papers")
    if name in papers.names():
        return import_module(f"learnscope.papers.{name}.theory")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
