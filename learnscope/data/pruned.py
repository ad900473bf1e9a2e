"""Images of which the most (or least) influential are removed."""

from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Key

from learnscope.data.frame import Frame
from learnscope.data.image_data import Images
from learnscope.data.influence import influence_scores
from learnscope.data.problem import AbstractData, Problem, Samples
from learnscope.errors import BadInput
from learnscope.part import choice, flag

ORDERS = ("high", "low", "random")


def _images(given: Any) -> Any:
    """Images, also as the table that a stored experiment has of them."""
    if isinstance(given, Mapping) and given.get("kind", "Images") == "Images":
        return Images(**{name: value for name, value in given.items() if name != "kind"})
    return given


class Pruned(AbstractData):
    r"""Training images less those of the highest influence scores, of the lowest, or random ones.

    Xu, Chen (2025), *Rethinking Benign Overfitting in Two-Layer Neural Networks*, Figure 7. The
    score of eq. (10) is that of `influence_scores` among the training images that the seed chose
    (before any noise is added). A share of them is removed, and the test images stay as they are.

    Scores of classes of different spread do not compare. With `apart` (the default) every class
    therefore loses the same share, up to one image; without it all images are ranked together, as
    the paper seems to do, and classes that vary much lose more than others.

    | symbol | argument |
    |---|---|
    | share removed | `removed` |
    | which of them | `by`: high, low, random |

    >>> import jax
    >>> data = Pruned(Images("digits", train=100, test=10), removed=0.3, by="high")
    >>> data.sample(jax.random.key(0)).train.size
    70
    """

    papers: ClassVar = ("xu2025benign",)

    images: Images = eqx.field(converter=_images)
    removed: float = eqx.field(static=True, default=0.0)
    by: str = choice(*ORDERS, default="high")
    apart: bool = flag(True)

    def __check_init__(self):
        super().__check_init__()
        if not isinstance(self.images, Images):
            raise BadInput(
                f"Pruned.images = {self.images!r} is not allowed: it must be of the kind Images."
            )
        share = self.removed
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1:
            raise BadInput(
                f"Pruned.removed = {share!r} is not allowed: it must be a share of the images, at "
                "least 0 and below 1."
            )

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.images.dim

    @property
    def labels(self) -> int | None:
        return self.images.labels

    @property
    def compression(self) -> str:
        return self.images.compression

    @property
    def span(self) -> int:
        """How many images are kept: at least one."""
        return max(1, self.images.span - round(self.removed * self.images.span))

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        whole = self.images.sample(key, frame)
        draws = jax.random.uniform(jax.random.fold_in(key, 1), (self.images.span,))
        source, by, apart, count = self.images.source.train, self.by, self.apart, self.span

        # Only numbers of images go out and in: the images themselves are there.
        def fetch(index: Any, draws: Any) -> np.ndarray:
            images, labels = (part[np.asarray(index)] for part in source)
            scores = np.asarray(draws, float) if by == "random" else _scores(images, labels)
            return kept(ranks_by_class(scores, labels) if apart else scores, count, by)

        shape = jax.ShapeDtypeStruct((count,), np.dtype("int32"))
        index = self.images.chosen(key)
        stay = jax.pure_callback(fetch, shape, index, draws, vmap_method="sequential")
        return eqx.tree_at(lambda problem: problem.train, whole, whole.train.take(stay))

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        return self.images.example(key, problem)


def _scores(images: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Those of eq. (10); images of classes too small to have any stand between the others."""
    return np.nan_to_num(influence_scores(images, labels))


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
