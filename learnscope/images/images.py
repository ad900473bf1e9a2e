"""Real images as a data model like any other."""

from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from learnscope.data.problem import (
    AbstractStoredData,
    Problem,
    Samples,
    check_batch,
    encode_labels,
    mini_batches,
)
from learnscope.errors import refuse, refuse_value
from learnscope.images.augment import AbstractAugment
from learnscope.images.callback import called
from learnscope.images.loading import load_images
from learnscope.images.shrink import shrunk
from learnscope.part import Number, choice, count, number, slot
from learnscope.space import Space, random
from learnscope.space.frame import Frame

PIXELS = ("unit", "bytes", "standard")


def _classes(given: Any) -> Any:
    return tuple(given) if isinstance(given, list | tuple | np.ndarray) else given


class Images(AbstractStoredData):
    r"""Images of a real data set (`load_images`), as rows of pixels.

    The seed chooses `train` training and `test` test images (none: all). `classes` are the labels
    in use (none: all): two classes have the labels -1 and +1, in this order, more have 0, 1, ...
    `pixels` is their scale: `unit` (0 to 1), `bytes` (0 to 255), or `standard` (every colour has
    mean 0 and variance 1 over the whole training set). `noise` is the standard deviation, in this
    scale, of normal noise that is added once to the training images. `batch` is the mini-batch size
    (none: the full batch). `views` makes the random pairs that self-supervised rules need
    (`Augment`). `root` is the data folder (none: LEARNSCOPE_DATA). `shrink` x `shrink` pixels are
    averaged to one, before anything else.

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
    shrink: int = count(1)

    def __check_init__(self):
        super().__check_init__()
        for name in ("name", "root"):
            value = getattr(self, name)
            if not isinstance(value, str) and (name == "name" or value is not None):
                refuse(self, name, "it must be a name")
        given = self.classes
        whole = lambda k: isinstance(k, int) and not isinstance(k, bool) and k >= 0  # noqa: E731
        if given is not None and (
            not isinstance(given, tuple)
            or len(set(given)) < max(2, len(given))
            or not all(map(whole, given))
        ):
            refuse(self, "classes", "it must be two or more different labels, such as [0, 1]")

    @property
    def source(self) -> "Source":
        """The images of the data set, read once."""
        return source(self.name, self.root, self.classes, self.shrink)

    def contents(self) -> tuple[np.ndarray, ...]:
        return *self.source.train, *self.source.test

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.source.dim

    @property
    def labels(self) -> int | None:
        classes = self.source.classes
        return None if classes == 2 else classes

    @property
    def space(self) -> Space:
        return Space(self._sizes[0], "rotate" if self.views is None else "none")

    @property
    def _sizes(self) -> tuple[int, int]:
        sizes = len(self.source.train[1]), len(self.source.test[1])
        for name, size in zip(("train", "test"), sizes, strict=True):
            asked = getattr(self, name)
            if asked is not None and asked > size:
                refuse(self, name, f"{self.name} has {size} such images")
        return self.train or sizes[0], self.test or sizes[1]

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        keys = jax.random.split(key, 3)
        images = self.source
        check_batch(self, self._sizes[0])
        train = self._drawn(self.chosen(key), images.train)
        noisy = train.x + self.noise * random.normal(keys[1], train.x.shape)
        test = self._drawn(_some(keys[2], images.test, self._sizes[1]), images.test)
        frame, batches = Frame.of_dimension(images.dim), mini_batches(self.batch)
        return Problem(Samples(noisy, train.y), test, {}, frame, batches, views=self.views)

    def chosen(self, key: Key[Array, ""]) -> Int[Array, " n"]:
        """The indices of the training images of `sample(key)` in the data set."""
        return _some(jax.random.split(key, 3)[0], self.source.train, self._sizes[0])

    def _drawn(self, index: Int[Array, " n"], of: tuple[np.ndarray, np.ndarray]) -> Samples:
        images, labels = of
        shift, factor = self.source.scaling[self.pixels]
        y = encode_labels(jnp.asarray(labels, int)[index], self.source.classes)
        return Samples(rows_at(images, index, shift, factor), y)


def _some(key: Key[Array, ""], of: tuple[np.ndarray, np.ndarray], size: int) -> Int[Array, " n"]:
    """The indices of `size` images: all in order, or a random choice."""
    count = len(of[1])
    return jnp.arange(size) if size == count else random.distinct(key, count, size)


def rows_at(
    images: np.ndarray, index: Int[Array, " n"], shift: np.ndarray, factor: np.ndarray
) -> Float[Array, "n dim"]:
    """Scaled pixels of some images. A callback reads them when the program runs: as constants they
    would be compiled and stored with every program."""
    dtype = np.dtype(jnp.result_type(float))

    def fetch(at: Any) -> np.ndarray:
        chosen = images[np.asarray(at)].astype(dtype)
        return ((chosen - shift) * factor).reshape(len(chosen), -1).astype(dtype)

    shape = jax.ShapeDtypeStruct((index.shape[0], int(np.prod(images.shape[1:]))), dtype)
    return called(fetch, shape, index)


class Source(eqx.Module):
    """Images and labels (0, 1, ... in the order of `Images.classes`), and the scales of pixels."""

    train: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]
    classes: int
    scaling: dict[str, tuple[np.ndarray, np.ndarray]]

    @property
    def dim(self) -> int:
        return int(np.prod(self.train[0].shape[1:]))


@lru_cache(maxsize=8)
def source(name: str, root: str | None, classes: tuple[int, ...] | None, shrink: int = 1) -> Source:
    """The images of a data set with the labels `classes` (none: all)."""
    images, labels, test_images, test_labels = load_images(name, root)
    images, test_images = (shrunk(x, shrink, 1, "Images") for x in (images, test_images))
    top = 16 if name == "digits" else 255
    used = tuple(sorted(set(labels.tolist()))) if classes is None else classes
    missing = [k for k in used if not (labels == k).any()]
    if missing:
        must = f"{name} has no images with the label {missing[0]}"
        refuse_value("Images.classes", list(used), must)
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
        if classes is None and used == tuple(range(len(used))):
            return x, y
        place = {k: i for i, k in enumerate(used)}
        at = np.flatnonzero(np.isin(y, used))
        return x[at], np.array([place[k] for k in y[at].tolist()], np.int64)

    return Source(chosen(images, labels), chosen(test_images, test_labels), len(used), scaling)
