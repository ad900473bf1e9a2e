"""Real images as a data model like any other."""

from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from learnscope.data import random
from learnscope.data.augment import AbstractAugment
from learnscope.data.frame import Frame
from learnscope.data.images import load_images
from learnscope.data.problem import AbstractData, FullBatch, MiniBatch, Problem, Samples, told
from learnscope.errors import BadInput
from learnscope.part import Number, choice, count, number, slot

PIXELS = ("unit", "bytes", "standard")


def _classes(given: Any) -> Any:
    return tuple(given) if isinstance(given, list | tuple | np.ndarray) else given


class Images(AbstractData):
    r"""Images of a real data set (`load_images`), as rows of pixels.

    A seed chooses which `train` and `test` of its images there are (none: all of them). `classes`
    names those to keep: two have the labels -1 and +1, in this order, more have 0, 1, ...
    `noise` is the standard deviation of normal noise that is added to the training images once, in
    units of the pixels as they are scaled: `unit` (0 to 1), `bytes` (0 to 255), or `standard`
    (every colour with mean 0 and variance 1 over the whole training set). `batch` images are drawn
    a step (none: all of them). `views` makes random pairs of them, which self-supervised rules need
    (`Augment`). The data is looked for in `root` or LEARNSCOPE_DATA.

    >>> import jax
    >>> problem = Images("digits", train=20, test=10, classes=(0, 1)).sample(jax.random.key(0))
    >>> problem.train.x.shape, sorted(set(problem.train.y.tolist()))
    ((20, 64), [-1.0, 1.0])
    """

    name: str = eqx.field(static=True, default="digits")
    train: int | None = count(None, optional=True)
    test: int | None = count(None, optional=True)
    classes: tuple[int, ...] | None = eqx.field(static=True, default=None, converter=_classes)
    root: str | None = eqx.field(static=True, default=None)
    batch: int | None = count(None, optional=True)
    noise: Number = number(0.0, low=0)
    pixels: str = choice(*PIXELS, default="unit")
    views: AbstractAugment | None = slot(AbstractAugment, None)

    def __check_init__(self):
        super().__check_init__()
        for name in ("name", "root"):
            value = getattr(self, name)
            if not isinstance(value, str) and (name == "name" or value is not None):
                raise BadInput(f"Images.{name} = {value!r} is not allowed: it must be a name.")
        kept = self.classes
        whole = lambda k: isinstance(k, int) and not isinstance(k, bool) and k >= 0  # noqa: E731
        if kept is not None and (
            not isinstance(kept, tuple)
            or len(set(kept)) < max(2, len(kept))
            or not all(map(whole, kept))
        ):
            raise BadInput(
                f"Images.classes = {kept!r} is not allowed: it must be a list of two or more "
                "different labels of the data set, such as [0, 1]."
            )

    @property
    def source(self) -> "Source":
        """The images behind it, read once."""
        return source(self.name, self.root, self.classes)

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.source.dim

    @property
    def labels(self) -> int | None:
        classes = self.source.classes
        return None if classes == 2 else classes

    @property
    def compression(self) -> str:
        return "rotate" if self.views is None else "none"

    @property
    def span(self) -> int:
        return self._sizes[0]

    @property
    def _sizes(self) -> tuple[int, int]:
        there = len(self.source.train[1]), len(self.source.test[1])
        for name, asked, size in zip(
            ("train", "test"), (self.train, self.test), there, strict=True
        ):
            if asked is not None and asked > size:
                raise BadInput(
                    f"Images.{name} = {asked} is not allowed: {self.name} has {size} such images."
                )
        return self.train or there[0], self.test or there[1]

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        keys = jax.random.split(key, 3)
        found = self.source
        train = self._drawn(self.chosen(key), found.train)
        noisy = train.x + self.noise * random.normal(keys[1], train.x.shape)
        return Problem(
            train=Samples(noisy, train.y),
            test=self._drawn(_some(keys[2], found.test, self._sizes[1]), found.test),
            directions={},
            frame=Frame.of_dimension(found.dim),
            batches=FullBatch() if self.batch is None else MiniBatch(self.batch),
            views=self.views,
        )

    def chosen(self, key: Key[Array, ""]) -> Int[Array, " n"]:
        """Which images of the set are the training images of `sample(key)`."""
        return _some(jax.random.split(key, 3)[0], self.source.train, self._sizes[0])

    def _drawn(self, index: Int[Array, " n"], of: tuple[np.ndarray, np.ndarray]) -> Samples:
        images, labels = of
        shift, factor = self.source.scaling[self.pixels]
        y = jnp.asarray(labels)[index]
        return Samples(
            rows_at(images, index, shift, factor),
            told(y, self.source.classes),
        )

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        """One of the test images: there is no law to draw a new one from."""
        return problem.test.take(jax.random.randint(key, (), 0, problem.test.size))


def _some(key: Key[Array, ""], of: tuple[np.ndarray, np.ndarray], size: int) -> Int[Array, " n"]:
    """Which images to take: all in their order, or some of them."""
    there = len(of[1])
    return jnp.arange(size) if size == there else random.distinct(key, there, size)


def rows_at(
    images: np.ndarray, index: Int[Array, " n"], shift: np.ndarray, factor: np.ndarray
) -> Float[Array, "n dim"]:
    """Scaled pixels of some images. They are fetched when the program runs: as constants of it they
    would be compiled, and stored with every program."""
    dtype = np.dtype(jnp.result_type(float))

    def fetch(at: Any) -> np.ndarray:
        chosen = images[np.asarray(at)].astype(dtype)
        return ((chosen - shift) * factor).reshape(len(chosen), -1).astype(dtype)

    shape = jax.ShapeDtypeStruct((index.shape[0], int(np.prod(images.shape[1:]))), dtype)
    return jax.pure_callback(fetch, shape, index, vmap_method="sequential")


class Source(eqx.Module):
    """Images and labels (0, 1, ... in the order of the classes kept), and how pixels scale."""

    train: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]
    classes: int
    scaling: dict[str, tuple[np.ndarray, np.ndarray]]

    @property
    def dim(self) -> int:
        return int(np.prod(self.train[0].shape[1:]))


@lru_cache(maxsize=8)
def source(name: str, root: str | None, classes: tuple[int, ...] | None) -> Source:
    """What a data set has of some classes."""
    images, labels, test_images, test_labels = load_images(name, root)
    top = 16 if name == "digits" else 255
    kept = tuple(sorted(set(labels.tolist()))) if classes is None else classes
    missing = [k for k in kept if not (labels == k).any()]
    if missing:
        raise BadInput(
            f"Images.classes = {list(kept)} is not allowed: {name} has no images with the label "
            f"{missing[0]}."
        )
    colours = images.reshape(-1, images.shape[3] if images.ndim == 4 else 1)[::7].astype(float)
    mean, deviation = colours.mean(0), colours.std(0)
    if images.ndim == 3:
        mean, deviation = mean[0], deviation[0]
    scaling = {
        "unit": (np.zeros(()), np.asarray(1 / top)),
        "bytes": (np.zeros(()), np.asarray(255 / top)),
        "standard": (np.asarray(mean), 1 / np.maximum(deviation, 1e-12)),
    }

    def chosen(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if classes is None and kept == tuple(range(len(kept))):
            return x, y
        place = {k: i for i, k in enumerate(kept)}
        at = np.flatnonzero(np.isin(y, kept))
        return x[at], np.array([place[k] for k in y[at].tolist()], np.int64)

    return Source(chosen(images, labels), chosen(test_images, test_labels), len(kept), scaling)
