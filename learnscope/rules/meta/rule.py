"""Base class for meta-learning rules: tasks, the split of their examples, and the outer step."""

from abc import abstractmethod

import equinox as eqx
import jax
from jaxtyping import Array, Key

from learnscope.data import Problem, Samples
from learnscope.errors import BadInput, refuse
from learnscope.nets import Params
from learnscope.part import choice, count
from learnscope.rules.meta.task import AbstractTask, Point
from learnscope.rules.meta.view import Parts, view
from learnscope.rules.rule import AbstractGradientRule, State
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
    """A rule that descends along the mean of the moves that some tasks want."""

    split: eqx.AbstractVar[str]
    batch: eqx.AbstractVar[int | None]

    @abstractmethod
    def wanted(self, task: AbstractTask) -> Point:
        """The move that one task wants the weights to descend along."""

    def gradient(self, state: State, problem: Problem, key: Key[Array, ""]) -> Params:
        parts = parts_of(type(self).__name__, problem, self.split)
        if problem.episodes is not None:
            tasks = parts.sets[0].groups if self.batch is None else self.batch
            parts = Parts(problem.episodes(key, tasks), parts.inner, parts.outer)
        elif self.batch is not None:
            parts = self._some(parts, key)
        return view(state.net, state.params, parts, state.loss).gradient(self.wanted)

    def _some(self, parts: Parts, key: Key[Array, ""]) -> Parts:
        groups = parts.sets[0].groups
        assert self.batch is not None
        if self.batch > groups:
            refuse(self, "batch", f"there are {groups} tasks")
        chosen = distinct(key, groups, self.batch)
        return Parts(tuple(_tasks_at(s, chosen) for s in parts.sets), parts.inner, parts.outer)


def _tasks_at(samples: Samples, chosen: Array) -> Samples:
    """The examples of the chosen tasks."""

    def pick(leaf: Array) -> Array:
        folded = leaf.reshape(samples.groups, -1, *leaf.shape[1:])[chosen]
        return folded.reshape(-1, *leaf.shape[1:])

    bare = Samples(samples.x, samples.y, {}, samples.marks)
    taken = jax.tree.map(pick, bare)
    return Samples(taken.x, taken.y, {}, taken.marks, chosen.shape[0])
