"""Singular values from second moments, and how many of them matter."""

import numpy as np

from learnscope.tools.moments import Moments


def singular_values(moments: Moments, deviations: np.ndarray, vary: np.ndarray) -> np.ndarray:
    """From the eigenvalues of the Gram matrix, largest first, as many as examples or units."""
    many = min(moments.count, len(vary))
    if not vary.any():
        return np.zeros(many)
    # In units of the one that varies most: no square overflows, and what underflows is nothing.
    top = int(moments.exponents[np.argmax(np.where(vary, deviations, 0))])
    scale = np.zeros(len(vary))
    scale[vary] = np.ldexp(1.0, moments.exponents[vary] - top)
    values = np.linalg.eigvalsh(moments.gram * np.outer(scale, scale))[::-1][:many].clip(0)
    # Smaller ones are rounding of the largest.
    values[values < len(vary) * np.finfo(np.float64).eps * values[0]] = 0
    return np.ldexp(np.sqrt(values), top)


def shares(spectrum: np.ndarray, power: int = 1) -> np.ndarray:
    """Of every value, raised to a power, in their sum; zeros if there is nothing."""
    if not spectrum.any():
        return np.zeros_like(spectrum)
    # Divided by the largest first: powers and sums of tiny numbers have few digits, or none.
    relative = (spectrum / spectrum.max()) ** power
    return relative / relative.sum()


def entropy_rank(parts: np.ndarray) -> float:
    """The exponential of the entropy of shares: how many equal ones would have it.

    >>> round(entropy_rank(np.array([0.5, 0.5, 0.0])), 12)
    2.0
    """
    positive = parts[parts > 0]
    return float(np.exp(-(positive * np.log(positive)).sum())) if len(positive) else 0.0
