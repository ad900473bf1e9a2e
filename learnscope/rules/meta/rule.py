"""What all meta-learning rules share: tasks, the split of their examples, and an outer step."""

from abc import abstractmethod

import equinox as eqx
import jax
from jaxtyping import Array, Key

from learnscope.data import Problem, Samples
from learnscope.data.random import distinct
from learnscope.errors import BadInput
from learnscope.nets import Params
from learnscope.part import choice, count
from learnscope.rules.meta.task import AbstractTask, Point
from learnscope.rules.meta.view import Parts, view
from learnscope.rules.rule import AbstractGradientRule, State

SPLITS = ("train-train", "train-validation")


def split_field(default: str = "train-validation"):
    """Which of a task's examples are adapted to, and by which the outcome is judged."""
    return choice(*SPLITS, default=default)


def batch_field():
    """Tasks a step, drawn anew every step (none: all of them, or as many new ones)."""
    return count(None, optional=True)


def parts_of(who: str, problem: Problem, split: str) -> Parts:
    """The examples of all observed tasks: all of them inside and outside, or a half each."""
    train, held = problem.train, problem.validation
    if held is None or held.groups != train.groups:
        raise BadInput(
            f"{who} needs a problem with tasks, each with a training and a validation half, "
            "such as TaskFamily draws or task_problem makes."
        )
    first, second = (part.size // part.groups for part in (train, held))
    if split == "train-train":
        return Parts((train, held), (0, first + second), (0, first + second))
    return Parts((train, held), (0, first), (first, first + second))


class AbstractMetaRule(AbstractGradientRule):
    """A rule whose every step asks some tasks what they want, and descends along the mean."""

    split: eqx.AbstractVar[str]
    batch: eqx.AbstractVar[int | None]

    @abstractmethod
    def wanted(self, task: AbstractTask) -> Point:
        """What one task would have the weights descend along, as a move."""

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
            raise BadInput(
                f"{type(self).__name__}.batch = {self.batch} is not allowed: there are {groups} "
                "tasks."
            )
        chosen = distinct(key, groups, self.batch)
        return Parts(tuple(_tasks_at(s, chosen) for s in parts.sets), parts.inner, parts.outer)


def _tasks_at(samples: Samples, chosen: Array) -> Samples:
    """Some tasks of many."""

    def pick(leaf: Array) -> Array:
        folded = leaf.reshape(samples.groups, -1, *leaf.shape[1:])[chosen]
        return folded.reshape(-1, *leaf.shape[1:])

    bare = Samples(samples.x, samples.y, {}, samples.marks)
    taken = jax.tree.map(pick, bare)
    return Samples(taken.x, taken.y, {}, taken.marks, chosen.shape[0])
