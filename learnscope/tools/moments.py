"""Centred second moments of many examples, block by block in float64, and their spectrum."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from learnscope.errors import BadInput
from learnscope.images.classes import blocks

MOST_UNITS = 8192  # a matrix, units by units, then has 512 MB
_LARGEST = 2.0**500  # entry: differences, sums and norms stay finite
_SMALLEST_EXPONENT = -1000  # 2^1000 is the largest factor that a subnormal number needs


@dataclasses.dataclass(frozen=True)
class Moments:
    r"""The centred second moments of units, each unit divided by its own power of two.

    $$G_{ij} = 2^{-e_i - e_j} \sum_n (x_{ni} - \bar x_i)(x_{nj} - \bar x_j)$$

    | symbol | here |
    |---|---|
    | $G$ | `gram` |
    | $e$ | `exponents` |
    | $\bar x$ | `means` |

    `epsilon` is the spacing of numbers near 1 in the given type (0 for integers): the relative
    error of an entry is at most half of it. A unit whose examples are all equal has exact zeros in
    $G$.
    """

    count: int
    gram: np.ndarray
    exponents: np.ndarray
    means: np.ndarray
    epsilon: float

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of every unit (with `count` - 1 degrees of freedom)."""
        scaled = np.sqrt(np.diagonal(self.gram) / (self.count - 1))
        return np.ldexp(scaled, self.exponents)


def centred_moments(representations: Any, memory: float) -> Moments:
    """Check a user's representations and compute their moments, in two passes. Three steps keep
    digits. The first example is subtracted, so that a common offset cancels exactly (any example
    will do: its distance from the mean is at most sqrt(count) standard deviations). Every unit is
    divided by a power of two, so that neither a huge nor a tiny unit leaves the range of float64.
    Then the mean of the differences is subtracted."""
    rows, epsilon = _matrix(representations)
    count, units = rows.shape
    height = memory / 8 / 3 / units  # rows of a block; three copies exist at once
    if rows.dtype.kind == "f":
        _check_entries(rows[:1], 0)
    base = rows[0].astype(np.float64)
    total, largest = np.zeros(units), np.zeros(units)
    for some in blocks(count, height):
        if rows.dtype.kind == "f":
            _check_entries(rows[some], some.start)
        block = rows[some].astype(np.float64)
        block -= base
        total += block.sum(axis=0)
        np.maximum(largest, block.max(axis=0), out=largest)
        np.maximum(largest, -block.min(axis=0), out=largest)
    exponents = np.maximum(np.frexp(largest)[1], _SMALLEST_EXPONENT)
    factor = np.ldexp(1.0, -exponents)
    middle = total / count * factor
    gram = np.zeros((units, units))
    for some in blocks(count, height):
        block = rows[some].astype(np.float64)
        block -= base
        block *= factor
        block -= middle
        gram += block.T @ block
    return Moments(count, gram, exponents, base + total / count, epsilon)


def _matrix(representations: Any) -> tuple[np.ndarray, float]:
    """The array of real numbers, examples by units, and the spacing of its type near 1."""
    if np.ma.is_masked(representations):
        raise BadInput("some representations are masked: fill them in or leave examples out.")
    try:
        array = np.asarray(representations)
    except ValueError:
        raise BadInput("representations have different lengths: they must be one array.") from None
    except Exception as error:  # of another library, for an array that cannot be converted
        said = " ".join(str(error).split()).rstrip(".")
        raise BadInput(f"representations cannot be read as a NumPy array: {said}.") from None
    short = array.dtype.kind == "V" and array.dtype.fields is None  # JAX's, such as bfloat16
    if array.dtype.kind not in "buif" and not (short and np.can_cast(array.dtype, np.float32)):
        kind = "complex numbers" if array.dtype.kind == "c" else f"of the type {array.dtype}"
        raise BadInput(f"representations are {kind}: they must be real numbers.")
    shaped = f"representations have the shape {array.shape}"
    if array.ndim != 2:
        must = "it must be (examples, units); flatten or pool any further axes"
        raise BadInput(f"{shaped}: {must}.")
    count, units = array.shape
    if count < 2 or units < 1:
        raise BadInput(f"{shaped}: there must be at least two examples and one unit.")
    if units > MOST_UNITS:
        raise BadInput(
            f"representations have {units} units: at most {MOST_UNITS} are taken, since their "
            f"correlation matrix grows with the square; choose some of them."
        )
    if array.dtype.kind in "bui":
        return array, 0.0
    if array.dtype.kind == "f":
        # Longer floats are rounded to float64.
        return array, float(max(np.finfo(array.dtype).eps, np.finfo(np.float64).eps))
    return array.astype(np.float32), float(jnp.finfo(array.dtype).eps)


def _check_entries(block: np.ndarray, start: int) -> None:
    # Shorter float types have a smaller limit.
    limit = _LARGEST if block.dtype.itemsize >= 8 else np.finfo(block.dtype).max
    good = np.abs(block) <= limit  # false for NaN too
    if not good.all():
        row, unit = divmod(int(np.argmin(good)), block.shape[1])
        must = f"entries must be finite numbers, at most {_LARGEST:.1e} in size"
        raise BadInput(f"representations[{start + row}, {unit}] is {block[row, unit]}: {must}.")


def singular_values(moments: Moments, deviations: np.ndarray, vary: np.ndarray) -> np.ndarray:
    """The singular values, largest first, from the eigenvalues of the Gram matrix."""
    many = min(moments.count, len(vary))
    if not vary.any():
        return np.zeros(many)
    # Scaled by the unit that varies most: no square overflows, and underflow is harmless.
    top = int(moments.exponents[np.argmax(np.where(vary, deviations, 0))])
    scale = np.zeros(len(vary))
    scale[vary] = np.ldexp(1.0, moments.exponents[vary] - top)
    values = np.linalg.eigvalsh(moments.gram * np.outer(scale, scale))[::-1][:many].clip(0)
    # Smaller eigenvalues are rounding errors of the largest.
    values[values < len(vary) * np.finfo(np.float64).eps * values[0]] = 0
    return np.ldexp(np.sqrt(values), top)


def fractions(spectrum: np.ndarray, power: int = 1) -> np.ndarray:
    """Each value to a power, as a fraction of the sum; zeros if all values are 0."""
    if not spectrum.any():
        return np.zeros_like(spectrum)
    # Divided by the largest first, since powers and sums of tiny numbers lose digits.
    relative = (spectrum / spectrum.max()) ** power
    return relative / relative.sum()


def entropy_rank(parts: np.ndarray) -> float:
    """The exponential of the entropy of fractions: the number of equal ones with that entropy.

    >>> round(entropy_rank(np.array([0.5, 0.5, 0.0])), 12)
    2.0
    """
    positive = parts[parts > 0]
    return float(np.exp(-(positive * np.log(positive)).sum())) if len(positive) else 0.0
