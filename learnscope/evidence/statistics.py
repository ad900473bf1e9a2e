"""The one statistic of the ledger: Student's t for means over draws, Wilson for shares of draws."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import ndtri, stdtrit

LEVEL = 0.95
Values = xr.DataArray | np.ndarray | Sequence[Any]


@dataclasses.dataclass(frozen=True)
class Interval:
    """An estimate, the ends of its interval and the number of independent draws (None: exact)."""

    middle: float
    low: float
    high: float
    draws: int | None = None

    def __str__(self) -> str:
        if self.draws is None:
            return f"{self.middle:.4g}"
        return f"{self.middle:.4g} [{self.low:.4g}, {self.high:.4g}]"

    @property
    def seen(self) -> float:
        """The distance from a bound at which four of five such 95 % intervals of a mean leave the
        bound out: their half width, and Student's t at 0.8 standard errors more.

        >>> round(student([0.4, 0.5, 0.6]).seen, 3)  # 4.303 and 1.061 times 0.0577
        0.31
        """
        if self.draws is None or self.draws < 2:
            return math.nan
        half, freedom = (self.high - self.low) / 2, self.draws - 1
        return half * (1 + float(stdtrit(freedom, 0.8) / reach(freedom)))


def student(values: Values, level: float = LEVEL) -> Interval:
    """A mean with its interval by Student's t, which one draw or one that diverged does not have.

    >>> print(student([0.4, 0.5, 0.6]))
    0.5 [0.2516, 0.7484]
    """
    numbers = np.asarray(values, float).ravel()
    n, middle = numbers.size, float(numbers.mean()) if np.isfinite(values).all() else math.nan
    if n < 2 or not np.isfinite(numbers).all():
        return Interval(middle, -math.inf, math.inf, n)
    return estimate(middle, float(numbers.std(ddof=1)) / math.sqrt(n), n, level)


def estimate(middle: float, error: float, draws: int, level: float = LEVEL) -> Interval:
    """A number with a known standard error over some draws, with its interval by Student's t."""
    half = float(reach(draws - 1, level)) * error
    return Interval(middle, middle - half, middle + half, draws)


def reach(freedom: Any, level: float = LEVEL) -> Any:
    """Half the width of an interval by Student's t, in standard errors."""
    return stdtrit(freedom, (1 + level) / 2)


def proportion(hits: Values, level: float = LEVEL) -> Interval:
    """A share of draws with its interval (Wilson 1927).

    >>> print(proportion([True] * 10))
    1 [0.7225, 1]
    """
    values = np.asarray(hits).ravel()
    return share_of_many(float(values.sum()), values.size, level)


def share_of_many(k: float, n: int, level: float = LEVEL) -> Interval:
    """The share k/n with its interval (Wilson 1927)."""
    if n == 0:
        return Interval(math.nan, 0.0, 1.0, 0)
    z = float(ndtri((1 + level) / 2))
    centre = (k + z**2 / 2) / (n + z**2)
    spread = z / (n + z**2) * math.sqrt(k * (n - k) / n + z**2 / 4)
    return Interval(k / n, centre - spread if k else 0.0, centre + spread if k < n else 1.0, n)
