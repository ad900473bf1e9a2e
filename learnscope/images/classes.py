"""Images by class: checked, and read in centred float64 blocks within a memory budget."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from learnscope.errors import BadInput, refuse_value

MEMORY = 2.0**28  # default working memory of the tools, in bytes, beside their input: 256 MB
_LARGEST = 2.0**240  # pixel: scores are fourth powers, and 2^1024 is infinite
_TINY = np.finfo(np.float64).tiny * 2**52  # smaller results may lose digits
_SMALLEST_MEMORY = 2.0**16


def blocks(count: int, size: float) -> Iterator[slice]:
    """Slices of `count` items, each of at most `size` items and at least one."""
    step = max(1, int(size))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def tiles(count: int, side: float) -> Iterator[tuple[slice, slice]]:
    """The tiles (rows, columns) of a symmetric matrix on and above its diagonal, where both are the
    same object."""
    cuts = list(blocks(count, side))
    return ((left, right) for at, left in enumerate(cuts) for right in cuts[at:])


def check_memory(memory: float) -> float:
    """A memory budget in bytes, checked."""
    if not isinstance(memory, int | float) or not memory >= _SMALLEST_MEMORY:
        refuse_value("memory", memory, "it must be at least 65536 bytes")
    return float(memory)


@dataclasses.dataclass(frozen=True)
class Classes:
    """Images as rows (a NumPy view of the input, if possible), the sorted different labels `names`,
    and the index `of` into `names` of every image."""

    rows: np.ndarray
    names: np.ndarray
    of: np.ndarray

    @classmethod
    def check(cls, images: Any, labels: Any, memory: float) -> "Classes":
        """Check a user's images and labels."""
        rows = _rows(images)
        names, of = _labels(labels, len(rows))
        if rows.dtype.kind == "f":
            _check_pixels(rows, names, of, memory)
        return cls(rows, names, of)

    def members(self) -> list[np.ndarray]:
        """The indices of the images of each class, in ascending order."""
        order = np.argsort(self.of, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.of, minlength=len(self.names)))[:-1])


class Centred:
    """Images, class by class, centred by the mean of their class and divided by a power of two. Two
    subtractions keep digits: first an image of the class (a shift of all images then cancels, and
    equal images give zeros), then the mean of the differences. The common power of two makes the
    largest entry about 1, so that fourth powers neither overflow nor underflow; `exponent` undoes
    it."""

    def __init__(self, rows: np.ndarray, members: list[np.ndarray], memory: float):
        self.rows, self.members, self.memory = rows, members, memory
        self.order = np.concatenate(members)
        self.ends = np.cumsum([len(each) for each in members])
        self.dim = rows.shape[1]
        self.exponent = 0
        self.means = np.zeros((len(members), self.dim))
        largest = 0.0
        for k, each in enumerate(members):
            for rows_ in blocks(len(each), memory / 32 / self.dim):
                for columns in blocks(self.dim, memory / 32):
                    block = self._read(each[rows_], columns, each[0])
                    largest = max(largest, float(block.max()), -float(block.min()))
                    self.means[k, columns] += block.sum(axis=0)
            self.means[k] /= len(each)
        self.exponent = max(math.frexp(largest)[1], -1000) if largest else 0
        self.factor = 2.0**-self.exponent
        self.means *= self.factor

    def __len__(self) -> int:
        return len(self.order)

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """The entries of some rows and columns."""
        entries = np.empty((rows.stop - rows.start, columns.stop - columns.start))
        start = 0
        for k, end in enumerate(self.ends):
            low, high = max(rows.start, start), min(rows.stop, end)
            if low < high:
                piece = self._read(self.order[low:high], columns, self.members[k][0])
                piece *= self.factor
                out = entries[low - rows.start : high - rows.start]
                np.subtract(piece, self.means[k, columns], out=out)
            start = end
        return entries

    def pair(self, rows: slice, left: slice, right: slice) -> tuple[np.ndarray, np.ndarray]:
        """Two blocks of the same rows; one array, if the columns are the same object."""
        x = self.block(rows, left)
        return x, x if right is left else self.block(rows, right)

    def products(self) -> Iterator[tuple[slice, slice, np.ndarray]]:
        """The tiles of the matrix of inner products: rows, columns and entries."""
        room = self.memory / 8 / 6  # numbers in each of six arrays
        side = min(len(self), room**0.5)
        for left, right in tiles(len(self), side):
            entries = np.zeros((left.stop - left.start, right.stop - right.start))
            for columns in blocks(self.dim, room / side):
                x = self.block(left, columns)
                y = x if right is left else self.block(right, columns)
                entries += x @ y.T
            yield left, right, entries

    def fourth_power(self, values: np.ndarray, what: str) -> np.ndarray:
        """Values of degree four in the pixels, in the units of the given images."""
        with np.errstate(over="ignore", under="ignore"):
            scaled = np.ldexp(values, 4 * self.exponent)
        size, largest = np.abs(scaled).max(initial=0), np.abs(values).max(initial=0)
        if not size < np.inf or (largest > 0 and size < _TINY):
            way = "up" if self.exponent < 0 else "down"
            given = f"{what} are fourth powers of the pixels and leave the range of float64"
            raise BadInput(f"{given}: scale the images {way}.")
        return scaled

    def _read(self, which: np.ndarray, columns: slice, first: int) -> np.ndarray:
        block = self.rows[which, columns].astype(np.float64)
        block -= self.rows[first, columns].astype(np.float64)
        return block


def _rows(images: Any) -> np.ndarray:
    """Images as a matrix of numbers, one row per image."""
    if np.ma.is_masked(images):
        raise BadInput("some pixels are masked: fill them in or leave their images out.")
    try:
        array = np.asarray(images)
    except ValueError:
        raise BadInput("images have different sizes: they must be one array.") from None
    if array.ndim < 2:
        raise BadInput(f"images have the shape {array.shape}: it must be (images, ...).")
    if array.dtype.kind == "V" and np.can_cast(array.dtype, np.float32):  # JAX's short floats
        array = array.astype(np.float32)
    if array.dtype.kind not in "buif":
        raise BadInput(f"images are of the type {array.dtype}: they must be real numbers.")
    if not len(array):
        raise BadInput("there are no images.")
    if not array.size:
        raise BadInput(f"images have no pixels: their shape is {array.shape}.")
    return array.reshape(len(array), -1)


def _check_pixels(rows: np.ndarray, names: np.ndarray, of: np.ndarray, memory: float) -> None:
    count, dim = rows.shape
    # Shorter float types have a smaller limit.
    limit = _LARGEST if rows.dtype.itemsize >= 8 else np.finfo(rows.dtype).max
    for some in blocks(count, memory / 32 / dim):
        good = np.ones(some.stop - some.start, bool)
        for columns in blocks(dim, memory / 32):
            good &= (np.abs(rows[some, columns]) <= limit).all(axis=1)  # false for NaN too
        if not good.all():
            at = some.start + int(np.argmin(good))
            value = next(v for v in rows[at] if not abs(v) <= limit)
            must = f"pixels must be finite numbers, at most {_LARGEST:.1e} in size"
            raise BadInput(f"image {at} (class {names[of[at]]}) has a pixel {value}: {must}.")


def _labels(labels: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The different labels, sorted, and the index of each image's label among them."""
    if np.ma.is_masked(labels):
        raise BadInput("some labels are masked: every image needs a label.")
    try:
        array = np.asarray(labels)
    except ValueError:
        raise BadInput("labels must be one number or text per image.") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise BadInput(f"labels have the shape {array.shape}: it must be (images,).")
    if len(array) != count:
        raise BadInput(f"there are {count} images and {len(array)} labels.")
    if array.dtype.kind == "f":
        array = _whole(array)
    elif array.dtype.kind not in "buiU":
        array = _text_or_whole(array)
    if array.dtype.kind == "U":
        empty = np.char.str_len(np.char.strip(array)) == 0
        if empty.any():
            raise BadInput(f"the label of image {int(np.argmax(empty))} is empty.")
    names, of = np.unique(array, return_inverse=True)
    return names, of.reshape(-1)


def _whole(labels: np.ndarray) -> np.ndarray:
    """Convert floats such as 3.0 to integers."""
    good = (labels == np.floor(labels)) & (np.abs(labels) < 2.0**53)
    if not good.all():
        at = int(np.argmin(good))
        what = "missing (NaN)" if np.isnan(labels[at]) else f"{labels[at]}"
        raise BadInput(f"the label of image {at} is {what}: labels must be whole numbers or text.")
    return labels.astype(np.int64)


def _text_or_whole(labels: np.ndarray) -> np.ndarray:
    """Convert Python objects, and NumPy's newer text types, to integers or text."""
    text = lambda v: v.decode("utf-8", "backslashreplace") if isinstance(v, bytes) else v  # noqa: E731
    plain = [text(value) for value in labels.tolist()]
    texts = [isinstance(value, str) for value in plain]
    for at, value in enumerate(plain):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            raise BadInput(f"the label of image {at} is missing ({value}).")
        if not texts[at] and not isinstance(value, int | float | np.integer):
            must = "labels must be whole numbers or text"
            raise BadInput(f"the label of image {at} is {value!r}: {must}.")
    if all(texts):
        return np.array(plain, dtype=np.str_)
    if any(texts):
        given = f"the label of image {texts.index(True)} is text and that of image"
        raise BadInput(f"{given} {texts.index(False)} is a number: labels must be of one kind.")
    if all(isinstance(value, int | np.integer) for value in plain):
        try:
            return np.array(plain, dtype=np.int64)
        except OverflowError:
            raise BadInput("labels are too large: whole numbers must be below 2^63.") from None
    return _whole(np.array(plain, dtype=np.float64))
