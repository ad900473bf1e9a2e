"""Tasks made of the examples of one problem."""

import dataclasses

import numpy as np
from jaxtyping import Array, Key

from learnscope.data.problem import AbstractData, FullBatch, Problem, Samples
from learnscope.data.wrapper import AbstractWrapper
from learnscope.errors import refuse
from learnscope.part import count, slot
from learnscope.space.columns import Columns
from learnscope.space.frame import Frame


class Grouped(AbstractWrapper):
    r"""Tasks that differ only in their examples: those of `data`, dealt out to the tasks, so that
    meta-learning rules can learn from any data model. Such tasks are the clients of federated
    learning with identically distributed data, where `Reptile` is federated averaging (McMahan et
    al. 2017, *Communication-Efficient Learning of Deep Networks from Decentralized Data*).

    Task k has the training examples k, k + K, k + 2K, ... of `data`. `validation` of them, evenly
    spaced, are for the outer loop: examples ordered by class are then balanced in both halves.
    Fresh tasks are made of the test examples in the same way, with `queries` more per task.
    Remaining examples are not used. Runs are in ambient coordinates, since adaptation to fresh
    tasks sees all of their vectors.

    | symbol | argument |
    |---|---|
    | $K$ | `tasks` |
    | $n_2$ | `validation` |

    >>> import jax
    >>> from learnscope.data import SignalNoise
    >>> data = Grouped(SignalNoise(dim=9, train=12, test=50, signal=1, noise=1), tasks=3)
    >>> problem = data.sample(jax.random.key(0))
    >>> problem.train.by_group().x.shape, problem.validation.groups, problem.test.groups
    ((3, 2, 2, 9), 3, 6)
    """

    data: AbstractData = slot(AbstractData)
    tasks: int = count()
    validation: int = count(2)
    queries: int = count(4)

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        whole = self.whole(key, frame)
        each = whole.train.size // self.tasks
        if each <= self.validation:
            must = f"each would have {each} examples, no more than validation = {self.validation}"
            refuse(self, "tasks", must)
        fresh = whole.test.size // (each + self.queries)
        if fresh < 1:
            must = f"a task takes {each} + queries of {whole.test.size} test examples"
            refuse(self, "queries", must)
        dealt = _dealt(self.tasks, each)
        held = _spread(self.validation, each)
        tests = _dealt(fresh, each + self.queries)
        asked = _spread(self.queries, each + self.queries)
        support = tests[:, ~asked]
        tests = np.hstack([support[:, ~held], support[:, held], tests[:, asked]])
        return dataclasses.replace(
            whole,
            train=_tasks(whole.train, dealt[:, ~held]),
            test=_tasks(whole.test, tests),
            validation=_tasks(whole.train, dealt[:, held]),
            batches=FullBatch(),
        )


def _dealt(tasks: int, each: int) -> np.ndarray:
    """The indices of the examples of every task, in ascending order."""
    return np.arange(tasks * each).reshape(each, tasks).T


def _spread(some: int, count: int) -> np.ndarray:
    """A mask of length `count` with `some` evenly spaced entries.

    >>> _spread(2, 6).tolist()
    [False, False, True, False, False, True]
    """
    return np.diff(np.arange(count + 1) * some // count) > 0


def _tasks(samples: Samples, index: np.ndarray) -> Samples:
    """The examples at `index`, which has one row per task."""
    taken = Columns.undone(samples).take(index.ravel())
    return dataclasses.replace(taken, groups=index.shape[0])
