"""Bounds of the lemmas on the coefficients. Symbols: `symbols`."""

import math
from typing import NamedTuple

from learnscope.papers.pegr.theory.symbols import spread


class Bounds(NamedTuple):
    """The interval of a quantity."""

    lower: float
    upper: float


def trajectory_bounds(
    dim: float, train: int, steps: float, overlap: float, delta: float = 0.1
) -> Bounds:
    """Proposition 5.4, without a penalty: all gamma and rho lie in [lower, upper].

    upper = 4 log(T*), lower = -beta - 64 n sqrt(log(4n^2/delta) / d) log(T*), where T* is `steps`
    and beta = 2 `overlap`, the largest |<w(0), mu>| or |<w(0), xi_i>|. gamma and the rho with
    j = y_i are also at least 0.
    """
    cross = 64.0 * train * math.sqrt(math.log(4 * train**2 / delta) / dim) * math.log(steps)
    return Bounds(-2.0 * overlap - cross, 4.0 * math.log(steps))


def gradient_bound(loss: float, dim: float, noise: float) -> float:
    """Lemma 5.5: ||grad L_S||_F^2 <= 72 sigma_p^2 d L_S. Times a m for another second layer."""
    return 72.0 * noise**2 * dim * loss


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
