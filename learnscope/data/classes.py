"""Images by class: checked, and read as centred float64 blocks that fit a memory budget."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from learnscope.errors import BadInput

MEMORY = 2.0**28  # bytes that the tools work in beside their input: 256 MB
_LARGEST = 2.0**240  # of a pixel: scores are fourth powers, and 2^1024 is infinite
_TINY = np.finfo(np.float64).tiny * 2**52  # below it, smaller results lose digits
_SMALLEST_MEMORY = 2.0**16


def blocks(count: int, size: float) -> Iterator[slice]:
    """`count` things in runs of at most `size`, at least one."""
    step = max(1, int(size))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def check_memory(memory: float) -> float:
    """Bytes, as the tools take them."""
    if not isinstance(memory, int | float) or not memory >= _SMALLEST_MEMORY:
        raise BadInput(f"memory = {memory!r} is not allowed: it must be at least 65536 bytes.")
    return float(memory)


@dataclasses.dataclass(frozen=True)
class Classes:
    """Images as rows (a view of what was given, where it can be one) and their classes.

    `names` are the labels that occur, sorted; `of` is the position in `names` of every image.
    """

    rows: np.ndarray
    names: np.ndarray
    of: np.ndarray

    @classmethod
    def check(cls, images: Any, labels: Any, memory: float) -> "Classes":
        """From what a user gives; `BadInput` says what is wrong with it."""
        rows = _rows(images)
        names, of = _labels(labels, len(rows))
        if rows.dtype.kind == "f":
            _check_pixels(rows, names, of, memory)
        return cls(rows, names, of)

    def members(self) -> list[np.ndarray]:
        """Which images each class has, in their order."""
        order = np.argsort(self.of, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.of, minlength=len(self.names)))[:-1])


class Centred:
    """Images of some classes, each less the mean of its class, divided by a power of two.

    Positions count through the members of the first class, then of the second, and so on.

    Two steps keep this exact where it can be: an image of its class is subtracted first (so that
    a shift of all images cancels and equal images give zeros), then the mean of what remains. The
    power of two, common to all, makes the largest entry about 1, so that fourth powers neither
    overflow nor underflow; `exponent` undoes it.
    """

    def __init__(self, rows: np.ndarray, members: list[np.ndarray], memory: float):
        self.rows, self.memory = rows, memory
        self.members = members
        self.order = np.concatenate(members)
        self.ends = np.cumsum([len(each) for each in members])
        self.dim = rows.shape[1]
        self.exponent = 0
        self.means = np.zeros((len(members), self.dim))
        largest = 0.0
        for k, each in enumerate(members):
            for rows_ in blocks(len(each), memory / 32 / self.dim):
                for columns in blocks(self.dim, memory / 32):
                    part = self._read(each[rows_], columns, each[0])
                    largest = max(largest, float(part.max()), -float(part.min()))
                    self.means[k, columns] += part.sum(axis=0)
            self.means[k] /= len(each)
        self.exponent = max(math.frexp(largest)[1], -1000) if largest else 0
        self.factor = 2.0**-self.exponent
        self.means *= self.factor

    def __len__(self) -> int:
        return len(self.order)

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Rows by position, and columns."""
        found = np.empty((rows.stop - rows.start, columns.stop - columns.start))
        start = 0
        for k, end in enumerate(self.ends):
            low, high = max(rows.start, start), min(rows.stop, end)
            if low < high:
                part = self._read(self.order[low:high], columns, self.members[k][0])
                part *= self.factor
                np.subtract(
                    part, self.means[k, columns], out=found[low - rows.start : high - rows.start]
                )
            start = end
        return found

    def fourth_power(self, values: np.ndarray, what: str) -> np.ndarray:
        """Values of degree four in the pixels, in the units that the images came in."""
        with np.errstate(over="ignore", under="ignore"):
            found = np.ldexp(values, 4 * self.exponent)
        size, largest = np.abs(found).max(initial=0), np.abs(values).max(initial=0)
        if not size < np.inf or (largest > 0 and size < _TINY):
            way = "up" if self.exponent < 0 else "down"
            raise BadInput(
                f"{what} are fourth powers of the pixels and leave the range of float64: "
                f"scale the images {way}."
            )
        return found

    def _read(self, which: np.ndarray, columns: slice, first: int) -> np.ndarray:
        part = self.rows[which, columns].astype(np.float64)
        part -= self.rows[first, columns].astype(np.float64)
        return part


def _rows(images: Any) -> np.ndarray:
    """Images as a matrix of numbers, a row each."""
    if np.ma.is_masked(images):
        raise BadInput("some pixels are masked: fill them in or leave their images out.")
    try:
        found = np.asarray(images)
    except ValueError:
        raise BadInput("images have different sizes: they must be one array.") from None
    if found.ndim < 2:
        raise BadInput(f"images have the shape {found.shape}: it must be (images, ...).")
    if found.dtype.kind == "V" and np.can_cast(found.dtype, np.float32):  # JAX's short floats
        found = found.astype(np.float32)
    if found.dtype.kind not in "buif":
        raise BadInput(f"images are of the type {found.dtype}: they must be real numbers.")
    if not len(found):
        raise BadInput("there are no images.")
    if not found.size:
        raise BadInput(f"images have no pixels: their shape is {found.shape}.")
    return found.reshape(len(found), -1)


def _check_pixels(rows: np.ndarray, names: np.ndarray, of: np.ndarray, memory: float) -> None:
    count, dim = rows.shape
    # In the type of the pixels; the shorter floats end before.
    limit = _LARGEST if rows.dtype.itemsize >= 8 else np.finfo(rows.dtype).max
    for some in blocks(count, memory / 32 / dim):
        good = np.ones(some.stop - some.start, bool)
        for columns in blocks(dim, memory / 32):
            part = rows[some, columns]
            good &= (np.abs(part) <= limit).all(axis=1)  # false for NaN too
        if not good.all():
            at = some.start + int(np.argmin(good))
            value = next(v for v in rows[at] if not abs(v) <= limit)
            raise BadInput(
                f"image {at} (class {names[of[at]]}) has a pixel {value}: "
                f"pixels must be finite numbers, at most {_LARGEST:.1e} in size."
            )


def _labels(labels: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The classes that occur, sorted, and which of them each label is."""
    if np.ma.is_masked(labels):
        raise BadInput("some labels are masked: every image needs a label.")
    try:
        found = np.asarray(labels)
    except ValueError:
        raise BadInput("labels must be one number or text an image.") from None
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise BadInput(f"labels have the shape {found.shape}: it must be (images,).")
    if len(found) != count:
        raise BadInput(f"there are {count} images and {len(found)} labels.")
    if found.dtype.kind == "f":
        found = _whole(found)
    elif found.dtype.kind not in "buiU":
        found = _text_or_whole(found)
    if found.dtype.kind == "U":
        empty = np.char.str_len(np.char.strip(found)) == 0
        if empty.any():
            raise BadInput(f"the label of image {int(np.argmax(empty))} is empty.")
    names, of = np.unique(found, return_inverse=True)
    return names, of.reshape(-1)


def _whole(labels: np.ndarray) -> np.ndarray:
    """Numbers such as 3.0 as integers."""
    good = (labels == np.floor(labels)) & (np.abs(labels) < 2.0**53)
    if not good.all():
        at = int(np.argmin(good))
        what = "missing (NaN)" if np.isnan(labels[at]) else f"{labels[at]}"
        raise BadInput(f"the label of image {at} is {what}: labels must be whole numbers or text.")
    return labels.astype(np.int64)


def _text_or_whole(labels: np.ndarray) -> np.ndarray:
    """Python's own objects, and NumPy's newer texts, as integers or as text."""
    plain = [
        v.decode("utf-8", "backslashreplace") if isinstance(v, bytes) else v
        for v in labels.tolist()
    ]
    texts = [isinstance(value, str) for value in plain]
    for at, value in enumerate(plain):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            raise BadInput(f"the label of image {at} is missing ({value}).")
        if not texts[at] and not isinstance(value, int | float | np.integer):
            raise BadInput(
                f"the label of image {at} is {value!r}: labels must be whole numbers or text."
            )
    if all(texts):
        return np.array(plain, dtype=np.str_)
    if any(texts):
        raise BadInput(
            f"the label of image {texts.index(True)} is text and that of image "
            f"{texts.index(False)} is a number: labels must be of one kind."
        )
    if all(isinstance(value, int | np.integer) for value in plain):
        try:
            return np.array(plain, dtype=np.int64)
        except OverflowError:
            raise BadInput("labels are too large: whole numbers must be below 2^63.") from None
    return _whole(np.array(plain, dtype=np.float64))
