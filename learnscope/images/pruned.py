"""A data model without its most (or least) influential training examples."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from learnscope.data.problem import AbstractData, Problem, Samples
from learnscope.data.wrapper import AbstractWrapper
from learnscope.errors import refuse
from learnscope.images.callback import called
from learnscope.images.images import Images
from learnscope.images.influence import influence_scores
from learnscope.part import choice, flag, slot
from learnscope.space import Space, random
from learnscope.space.frame import Frame

ORDERS = ("high", "low", "random")


class Pruned(AbstractWrapper):
    r"""`data` without the training examples of highest or lowest influence score, or random ones.

    Xu, Chen (2025), *Rethinking Benign Overfitting in Two-Layer Neural Networks*, Figure 7. The
    score, eq. (10), is that of `influence_scores` among the training examples that the seed chose
    (for images, before any noise is added). A fraction `removed` of them is left out; the test
    examples are unchanged.

    Scores are not comparable between classes of different spread. With `apart` (the default), every
    class therefore loses the same fraction, up to one example. Without it, all examples are ranked
    together, as the paper seems to do, and classes that vary more lose more.

    | symbol | argument |
    |---|---|
    | source of the examples | `data`: any data model with one set of training examples |
    | fraction removed | `removed` |
    | scores removed first | `by`: high, low, random |

    >>> import jax
    >>> data = Pruned(Images("digits", train=100, test=10), removed=0.3, by="high")
    >>> data.sample(jax.random.key(0)).train.size
    70
    """

    papers: ClassVar = ("xu2025benign",)

    data: AbstractData = slot(AbstractData)
    removed: float = eqx.field(static=True, default=0.0)
    by: str = choice(*ORDERS, default="high")
    apart: bool = flag(True)

    def __check_init__(self):
        super().__check_init__()
        given = self.removed
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 1:
            refuse(self, "removed", "it must be a fraction, at least 0 and below 1")

    @property
    def space(self) -> Space:
        """For images, the examples that remain; other models have coordinates for all examples."""
        whole, images = self.data.space, isinstance(self.data, Images)
        return whole._replace(span=self._remaining(whole.span)) if images else whole

    def _remaining(self, size: int) -> int:
        return max(1, size - round(self.removed * size))

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        whole = self.whole(key, frame)
        size = whole.train.size
        draws = random.uniform(jax.random.fold_in(key, 1), (size,))
        by, apart, count = self.by, self.apart, self._remaining(size)
        shape = jax.ShapeDtypeStruct((count,), np.dtype("int32"))

        def choose(examples: Any, labels: Any, draws: Any) -> np.ndarray:
            labels = np.asarray(labels)
            if by == "random":
                scores = np.asarray(draws, float)
            else:  # eq. (10); 0 for examples of classes too small to have a score
                scores = influence_scores(np.asarray(examples), labels.astype(int))
                scores = np.nan_to_num(scores)
            return remaining(ranks_by_class(scores, labels) if apart else scores, count, by)

        if isinstance(self.data, Images):
            source, index = self.data.source.train, self.data.chosen(key)

            # The callback has the images: only indices pass through the program.
            def fetch(index: Any, draws: Any) -> np.ndarray:
                images, labels = (array[np.asarray(index)] for array in source)
                return choose(images, labels, draws)

            stay = called(fetch, shape, index, draws)
        else:
            x, y = _rows(whole.train), whole.train.y
            stay = called(choose, shape, x, y, draws)
        return eqx.tree_at(lambda problem: problem.train, whole, whole.train.take(stay))


def _rows(samples: Samples) -> Float[Array, "n number"]:
    """Each example as one row. Scores depend on inner products only: any coordinates will do."""
    patches = jax.tree.leaves(samples.x)
    return jnp.concatenate([leaf.reshape(samples.size, -1) for leaf in patches], axis=1)


def remaining(scores: np.ndarray, count: int, by: str) -> np.ndarray:
    """The indices of the `count` examples that remain, in ascending order.

    >>> remaining(np.array([0.3, 0.9, 0.1]), 2, "high"), remaining(np.arange(3), 1, "low")
    (array([0, 2], dtype=int32), array([2], dtype=int32))
    """
    order = np.argsort(scores, kind="stable")
    stay = order[len(order) - count :] if by == "low" else order[:count]
    return np.sort(stay).astype("int32")


def ranks_by_class(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The rank of each score among the scores of its class, as a fraction of the class.

    >>> ranks_by_class(np.array([1.0, 30.0, 2.0, 10.0, 3.0, 4.0]), np.array([0, 1, 0, 1, 0, 0]))
    array([0.125, 0.75 , 0.375, 0.25 , 0.625, 0.875])
    """
    ranks = np.zeros(len(scores))
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        order = np.argsort(np.argsort(scores[members], kind="stable"), kind="stable")
        ranks[members] = (order + 0.5) / len(members)
    return ranks
