"""Second moments of many examples in float64, checked and read block by block."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from learnscope.data.classes import blocks
from learnscope.errors import BadInput

MOST_UNITS = 8192  # a matrix of them, units by units, takes 512 MB
_LARGEST = 2.0**500  # of an entry: differences, sums and norms stay finite
_SMALLEST_EXPONENT = -1000  # 2^1000 is the largest factor that a subnormal number needs


@dataclasses.dataclass(frozen=True)
class Moments:
    r"""The centred second moments of units, each unit divided by a power of two of its own.

    $$G_{ij} = 2^{-e_i - e_j} \sum_n (x_{ni} - \bar x_i)(x_{nj} - \bar x_j)$$

    | symbol | here |
    |---|---|
    | $G$ | `gram` |
    | $e$ | `exponents` |
    | $\bar x$ | `means` |

    `epsilon` is the spacing of numbers near 1 in the type that was given (0 for integers): an
    entry is known to half of it, relatively. A unit whose examples are all equal has zeros in $G$,
    exactly.
    """

    count: int
    gram: np.ndarray
    exponents: np.ndarray
    means: np.ndarray
    epsilon: float

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of every unit (divided by one less than the examples)."""
        scaled = np.sqrt(np.diagonal(self.gram) / (self.count - 1))
        return np.ldexp(scaled, self.exponents)


def centred_moments(representations: Any, memory: float) -> Moments:
    """From what a user gives, in two passes; `BadInput` says what is wrong with it.

    Three steps keep digits. The first example is subtracted, so that a common offset cancels
    exactly (the distance of an example to the mean is at most the square root of their number in
    standard deviations: no example is a bad choice). Every unit is divided by a power of two, so
    that neither a huge nor a tiny unit leaves the range of float64. Then the mean of what remains
    is subtracted.
    """
    rows, epsilon = _matrix(representations)
    count, units = rows.shape
    height = memory / 8 / 3 / units  # rows of a block, of which three copies live at once
    base = _number_row(rows, 0)
    total, largest = np.zeros(units), np.zeros(units)
    for some in blocks(count, height):
        if rows.dtype.kind == "f":
            _check_entries(rows[some], some.start)
        part = rows[some].astype(np.float64)
        part -= base
        total += part.sum(axis=0)
        np.maximum(largest, part.max(axis=0), out=largest)
        np.maximum(largest, -part.min(axis=0), out=largest)
    exponents = np.maximum(np.frexp(largest)[1], _SMALLEST_EXPONENT)
    factor = np.ldexp(1.0, -exponents)
    middle = total / count * factor
    gram = np.zeros((units, units))
    for some in blocks(count, height):
        part = rows[some].astype(np.float64)
        part -= base
        part *= factor
        part -= middle
        gram += part.T @ part
    return Moments(count, gram, exponents, base + total / count, epsilon)


def _matrix(representations: Any) -> tuple[np.ndarray, float]:
    """As an array of real numbers, examples by units, and the spacing of its type near 1."""
    if np.ma.is_masked(representations):
        raise BadInput("some representations are masked: fill them in or leave examples out.")
    try:
        found = np.asarray(representations)
    except ValueError:
        raise BadInput("representations have different lengths: they must be one array.") from None
    except Exception as error:  # what an array of another library says when it cannot be one here
        said = " ".join(str(error).split()).rstrip(".")
        raise BadInput(f"representations cannot be read as a NumPy array: {said}.") from None
    if found.dtype.kind not in "buif" and not _short_float(found.dtype):
        kind = "complex numbers" if found.dtype.kind == "c" else f"of the type {found.dtype}"
        raise BadInput(f"representations are {kind}: they must be real numbers.")
    if found.ndim != 2:
        raise BadInput(
            f"representations have the shape {found.shape}: it must be (examples, units); "
            f"flatten or pool any further axes."
        )
    count, units = found.shape
    if count < 2 or units < 1:
        raise BadInput(
            f"representations have the shape {found.shape}: "
            f"there must be at least two examples and one unit."
        )
    if units > MOST_UNITS:
        raise BadInput(
            f"representations have {units} units: at most {MOST_UNITS} are taken, since their "
            f"correlation matrix grows with the square; choose some of them."
        )
    if found.dtype.kind in "bui":
        return found, 0.0
    if found.dtype.kind == "f":
        # What is longer than float64 is rounded to it.
        return found, float(max(np.finfo(found.dtype).eps, np.finfo(np.float64).eps))
    return found.astype(np.float32), float(jnp.finfo(found.dtype).eps)


def _short_float(dtype: np.dtype) -> bool:
    """Whether it is one of JAX's, such as bfloat16."""
    return dtype.kind == "V" and dtype.fields is None and np.can_cast(dtype, np.float32)


def _number_row(rows: np.ndarray, at: int) -> np.ndarray:
    if rows.dtype.kind == "f":
        _check_entries(rows[at : at + 1], at)
    return rows[at].astype(np.float64)


def _check_entries(part: np.ndarray, start: int) -> None:
    # In the type of the entries; the shorter floats end before.
    limit = _LARGEST if part.dtype.itemsize >= 8 else np.finfo(part.dtype).max
    good = np.abs(part) <= limit  # false for NaN too
    if not good.all():
        row, unit = divmod(int(np.argmin(good)), part.shape[1])
        raise BadInput(
            f"representations[{start + row}, {unit}] is {part[row, unit]}: "
            f"entries must be finite numbers, at most {_LARGEST:.1e} in size."
        )
