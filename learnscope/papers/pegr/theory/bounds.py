"""Bounds of the lemmas on the coefficients. Symbols: `symbols`."""

import math
from typing import NamedTuple

from learnscope.papers.pegr.theory.symbols import spread


class Bounds(NamedTuple):
    """The interval of a quantity."""

    lower: float
    upper: float


def signal_bounds(train: int, width: int, delta: float = 0.1) -> Bounds:
    """Proposition 5.6 at T_1: max_r gamma_{j,r} lies in [1/(sqrt(2 log(8m/delta)) log n), 5/log n].

    The upper bound holds for every gamma and all t <= T_1.
    """
    return Bounds(1.0 / (spread(width, delta) * math.log(train)), 5.0 / math.log(train))


def noise_bounds(
    dim: float, train: int, width: int, noise: float, scale: float, delta: float = 0.1
) -> Bounds:
    """Proposition 5.6: all rho under the penalty, up to T_1.

    0 >= rho >= -8 sqrt(log(8mn/delta)) sigma_0 sigma_p sqrt(d).
    """
    spread = math.sqrt(math.log(8 * width * train / delta))
    return Bounds(-8.0 * spread * scale * noise * math.sqrt(dim), 0.0)
