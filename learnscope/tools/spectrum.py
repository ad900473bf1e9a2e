"""Singular values from second moments, and their effective number."""

import numpy as np

from learnscope.tools.moments import Moments


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
