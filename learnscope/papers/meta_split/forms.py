r"""Forms that losses and features may have in K or T, compared by their errors, draw by draw.

Each has two parameters; its error is the root mean square of the residual. For y = log L the power
$-b x^c$ is Theorem 4.5's $L = \exp(-b K^c)$, the logarithm is $L = a x^{-p}$, and the iterated one
$L = a (\log x)^{-p}$.
"""

import math
from collections.abc import Callable

import numpy as np
import xarray as xr

from learnscope.evidence import Quantity, Unanswered

POWERS = np.linspace(0.02, 4.0, 200)


def power(x: np.ndarray, y: np.ndarray) -> float:
    """The error of y = b x^c, c > 0.

    >>> x = np.array([4.0, 8.0, 16.0])
    >>> bool(power(x, -2 * x**0.5) < 1e-2 < power(x, -np.log(x)))
    True
    """
    basis = x[None] ** POWERS[:, None]
    b = (basis @ y) / (basis**2).sum(1)
    return float(np.sqrt(((y - b[:, None] * basis) ** 2).mean(1).min()))


def logarithm(x: np.ndarray, y: np.ndarray) -> float:
    """The error of y = a + b log x.

    >>> logarithm(np.array([4.0, 8.0, 16.0]), np.array([2.0, 3.0, 4.0])) < 1e-12
    True
    """
    return _line(np.log(x), y)


def iterated(x: np.ndarray, y: np.ndarray) -> float:
    """The error of y = a + b log(log x)."""
    return _line(np.log(np.log(x)), y)


def _line(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.sqrt(((y - np.polyval(np.polyfit(x, y, 1), x)) ** 2).mean()))


def error(quantity: Quantity, dim: str, form: Callable, least: float) -> Quantity:
    """The error of a form of a quantity along an axis, from a least value of the axis on."""

    def finite(x: np.ndarray, y: np.ndarray) -> float:
        return form(x, y) if np.isfinite(y).all() else math.nan

    def fit(values: xr.DataArray) -> xr.DataArray:
        kept = values.sel({dim: slice(least, None)})
        if kept.sizes[dim] < 3:
            raise Unanswered(f"{dim} has fewer than three values to tell forms apart")
        given = kept[dim].astype(float), kept
        return xr.apply_ufunc(finite, *given, input_core_dims=[[dim]] * 2, vectorize=True)

    return quantity.map(fit, f"error of a {form.__name__} of {dim} for {{}}")
