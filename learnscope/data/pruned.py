"""A data model of which the most (or least) influential training examples are removed."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from learnscope.data.around import AbstractAround
from learnscope.data.frame import Frame
from learnscope.data.image_data import Images
from learnscope.data.influence import influence_scores
from learnscope.data.problem import AbstractData, Problem, Samples
from learnscope.errors import BadInput
from learnscope.part import choice, flag, slot

ORDERS = ("high", "low", "random")


class Pruned(AbstractAround):
    r"""Training examples less those of the highest influence scores, of the lowest, or random ones.

    Xu, Chen (2025), *Rethinking Benign Overfitting in Two-Layer Neural Networks*, Figure 7. The
    score of eq. (10) is that of `influence_scores` among the training examples that the seed chose
    (of images before any noise is added). A share of them is removed, and the test examples stay as
    they are.

    Scores of classes of different spread do not compare. With `apart` (the default) every class
    therefore loses the same share, up to one example; without it all are ranked together, as the
    paper seems to do, and classes that vary much lose more than others.

    | symbol | argument |
    |---|---|
    | where examples come from | `data`: any data model with one set of training examples |
    | share removed | `removed` |
    | which of them | `by`: high, low, random |

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
        share = self.removed
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1:
            raise BadInput(
                f"Pruned.removed = {share!r} is not allowed: it must be a share of the examples, "
                "at least 0 and below 1."
            )

    @property
    def compression(self) -> str:
        return self.data.compression

    @property
    def span(self) -> int:
        """Of images, how many are kept; others have coordinates before any is removed."""
        return self._kept(self.data.span) if isinstance(self.data, Images) else self.data.span

    def _kept(self, size: int) -> int:
        return max(1, size - round(self.removed * size))

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        whole = self.one_set(key, frame)
        size = whole.train.size
        draws = jax.random.uniform(jax.random.fold_in(key, 1), (size,))
        by, apart, count = self.by, self.apart, self._kept(size)
        shape = jax.ShapeDtypeStruct((count,), np.dtype("int32"))

        def choose(examples: Any, labels: Any, draws: Any) -> np.ndarray:
            labels = np.asarray(labels)
            scores = np.asarray(draws, float) if by == "random" else _scores(examples, labels)
            return kept(ranks_by_class(scores, labels) if apart else scores, count, by)

        if isinstance(self.data, Images):
            source, index = self.data.source.train, self.data.chosen(key)

            # Only numbers of images go out and in: the images themselves are there.
            def fetch(index: Any, draws: Any) -> np.ndarray:
                images, labels = (part[np.asarray(index)] for part in source)
                return choose(images, labels, draws)

            stay = jax.pure_callback(fetch, shape, index, draws, vmap_method="sequential")
        else:
            x, y = _rows(whole.train), whole.train.y
            stay = jax.pure_callback(choose, shape, x, y, draws, vmap_method="sequential")
        return eqx.tree_at(lambda problem: problem.train, whole, whole.train.take(stay))


def _rows(samples: Samples) -> Float[Array, "n number"]:
    """Every example as one row. Scores see inner products alone: any coordinates will do."""
    groups = jax.tree.leaves(samples.x)
    return jnp.concatenate([leaf.reshape(samples.size, -1) for leaf in groups], axis=1)


def _scores(examples: Any, labels: np.ndarray) -> np.ndarray:
    """Those of eq. (10); examples of classes too small to have any stand between the others."""
    return np.nan_to_num(influence_scores(np.asarray(examples), labels.astype(int)))


def kept(ranks: np.ndarray, count: int, by: str) -> np.ndarray:
    """Positions, in their order, of those `count` that stay.

    >>> kept(np.array([0.3, 0.9, 0.1]), 2, "high").tolist(), kept(np.arange(3), 1, "low").tolist()
    ([0, 2], [2])
    """
    order = np.argsort(ranks, kind="stable")
    stay = order[len(order) - count :] if by == "low" else order[:count]
    return np.sort(stay).astype("int32")


def ranks_by_class(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The rank of every score among those of its class, as a share of the class.

    >>> ranks_by_class(np.array([1.0, 30.0, 2.0, 10.0, 3.0, 4.0]), np.array([0, 1, 0, 1, 0, 0]))
    array([0.125, 0.75 , 0.375, 0.25 , 0.625, 0.875])
    """
    ranks = np.zeros(len(scores))
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        order = np.argsort(np.argsort(scores[members], kind="stable"), kind="stable")
        ranks[members] = (order + 0.5) / len(members)
    return ranks
