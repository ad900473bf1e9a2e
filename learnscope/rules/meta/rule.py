"""Base class for meta-learning rules: tasks, the split of their examples, and the outer step."""

from abc import abstractmethod

import equinox as eqx
from jaxtyping import Array, Key

from learnscope.data import Problem
from learnscope.errors import BadInput, refuse
from learnscope.part import choice, count
from learnscope.rules.meta.tasks import Parts, Task, tasks_of
from learnscope.rules.rule import AbstractGradientRule
from learnscope.rules.state import AbstractState, Move
from learnscope.space.random import distinct

SPLITS = ("train-train", "train-validation")


def split_field(default: str = "train-validation"):
    """Which of a task's examples are the inner ones (to adapt to) and the outer ones."""
    return choice(*SPLITS, default=default)


def batch_field():
    """The number of tasks per step, drawn anew at every step (None: as many as there are)."""
    return count(None, optional=True)


def parts_of(who: str, problem: Problem, split: str) -> Parts:
    """The examples of all observed tasks: all are inner and outer, or one half each."""
    train, validation = problem.train, problem.validation
    if validation is None or validation.groups != train.groups:
        raise BadInput(
            f"{who} needs a problem with tasks, each with a training and a validation half, "
            "such as TaskFamily draws or task_problem makes."
        )
    first, second = (half.size // half.groups for half in (train, validation))
    whole, halves = (0, first + second), ((0, first), (first, first + second))
    return Parts((train, validation), *((whole, whole) if split == "train-train" else halves))


class AbstractMetaRule(AbstractGradientRule):
    """A rule that descends along the mean of the tasks' moves."""

    split: eqx.AbstractVar[str]
    batch: eqx.AbstractVar[int | None]

    @abstractmethod
    def wanted(self, task: Task) -> Move:
        """The move that one task wants the weights to descend along."""

    def gradient(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Move:
        parts = parts_of(type(self).__name__, problem, self.split)
        if problem.episodes is not None:
            tasks = parts.tasks if self.batch is None else self.batch
            parts = Parts(problem.episodes(key, tasks), parts.inner, parts.outer)
        elif self.batch is not None:
            if self.batch > parts.tasks:
                refuse(self, "batch", f"there are {parts.tasks} tasks")
            chosen = distinct(key, parts.tasks, self.batch)
            parts = Parts(parts.sets, parts.inner, parts.outer, chosen)
        return tasks_of(state, parts).mean(self.wanted)
