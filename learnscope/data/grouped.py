"""The examples of one problem, dealt out to tasks."""

import numpy as np
from jaxtyping import Array, Key

from learnscope.data.around import AbstractAround
from learnscope.data.columns import Columns
from learnscope.data.frame import Frame
from learnscope.data.problem import AbstractData, Problem, Samples
from learnscope.errors import BadInput
from learnscope.part import count, slot


class Grouped(AbstractAround):
    r"""Tasks that differ in their examples alone: those of `data` are dealt out like cards, so that
    meta-learning rules can learn from any data model. Such tasks are the clients of federated
    learning with data of one law, for which `Reptile` is federated averaging (McMahan et al. 2017,
    *Communication-Efficient Learning of Deep Networks from Decentralized Data*).

    Task k has the training examples k, k + K, k + 2K, ... of `data`, of which `validation` are held
    for the outer loop; classes that come one after the other are in both halves alike. Fresh tasks
    are dealt from the test examples: as many to adapt to, and `queries` more each. What is left
    over is left out.

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

    @property
    def compression(self) -> str:
        return "none"  # adapting to fresh tasks sees all of their vectors

    @property
    def span(self) -> int:
        return self.data.span

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        whole = self.one_set(key, frame)
        each = whole.train.size // self.tasks
        if each <= self.validation:
            raise BadInput(
                f"Grouped.tasks = {self.tasks} is not allowed: of {whole.train.size} examples each "
                f"would have {each}, and validation = {self.validation} must leave some of them."
            )
        fresh = whole.test.size // (each + self.queries)
        if fresh < 1:
            raise BadInput(
                f"Grouped.queries = {self.queries} is not allowed: {whole.test.size} test examples "
                f"are too few for one task of {each} and as many queries."
            )
        dealt = _dealt(self.tasks, each)
        held = _spread(self.validation, each)
        tests = _dealt(fresh, each + self.queries)
        asked = _spread(self.queries, each + self.queries)
        support = tests[:, ~asked]
        tests = np.hstack([support[:, ~held], support[:, held], tests[:, asked]])
        return Problem(
            train=_tasks(whole.train, dealt[:, ~held]),
            test=_tasks(whole.test, tests),
            directions=whole.directions,
            frame=whole.frame,
            validation=_tasks(whole.train, dealt[:, held]),
            factors=whole.factors,
            views=whole.views,
            widths=whole.widths,
        )


def _dealt(tasks: int, each: int) -> np.ndarray:
    """Which examples every task has, in their order."""
    return np.arange(tasks * each).reshape(each, tasks).T


def _spread(some: int, count: int) -> np.ndarray:
    """Marks `some` of `count` places, evenly.

    >>> _spread(2, 6).tolist()
    [False, False, True, False, False, True]
    """
    return np.diff(np.arange(count + 1) * some // count) > 0


def _tasks(samples: Samples, index: np.ndarray) -> Samples:
    """The examples at `index`, a row a task."""
    taken = Columns.undone(samples).take(index.ravel())
    return Samples(taken.x, taken.y, taken.vectors, taken.marks, index.shape[0])
