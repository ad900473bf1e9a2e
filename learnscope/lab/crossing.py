"""Where a noisy response crosses a level: brackets, resampled crossings, exponents."""

import dataclasses
import itertools

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri, stdtrit

CROSSED = "crossed"
_CLEAR = 2.0  # standard errors beyond which a mean is clearly on one side


@dataclasses.dataclass(frozen=True)
class Crossing:
    """An interval in which the mean response crosses a level, with its values at both ends."""

    status: str
    left: float = np.nan
    right: float = np.nan
    left_value: float = np.nan
    right_value: float = np.nan
    at: float = np.nan

    @property
    def rising(self) -> bool:
        return self.right_value > self.left_value

    @property
    def estimate(self) -> float:
        """The crossing of a straight line between the ends."""
        fraction = (self.at - self.left_value) / (self.right_value - self.left_value)
        return self.left + fraction * (self.right - self.left)

    def narrowed(self, middle: float, value: float) -> "Crossing":
        """The half that still crosses, given the value in the middle."""
        if not np.isfinite(value):
            return Crossing(f"diverges at {middle:g}, inside the bracket")
        if (value >= self.at) == (self.right_value >= self.at):
            return dataclasses.replace(self, right=middle, right_value=value)
        return dataclasses.replace(self, left=middle, left_value=value)


def bracket(u: Float[np.ndarray, " x"], values: Float[np.ndarray, "x seed"], at: float) -> Crossing:
    """The interval of a grid in which the mean over seeds crosses a level, or why there is none.

    Means within two standard errors of the level are on neither side, so that noise at the level
    does not count as crossing it several times.

    >>> u = np.arange(4.0)
    >>> bracket(u, np.array([[0.1], [0.2], [0.7], [0.9]]), 0.5).left
    1.0
    >>> bracket(u, np.array([[0.1], [0.9], [0.2], [0.9]]), 0.5).status
    'crosses 3 times'
    >>> bracket(u, np.array([[0.1], [0.2], [0.3], [0.4]]), 0.5).status
    'never: always below'
    """
    if not np.isfinite(values).all():
        return Crossing("runs diverge in the range")
    means, count = values.mean(1), values.shape[1]
    errors = values.std(1, ddof=1) / np.sqrt(count) if count > 1 else np.zeros_like(means)
    side = np.where(np.abs(means - at) > _CLEAR * errors, np.sign(means - at), 0)
    clear = np.flatnonzero(side)
    changes = [(a, b) for a, b in itertools.pairwise(clear) if side[a] != side[b]]
    if len(clear) == 0:
        return Crossing("flat: within its error of the level everywhere")
    if not changes:
        return Crossing(f"never: always {'above' if side[clear[0]] > 0 else 'below'}")
    if len(changes) > 1:
        return Crossing(f"crosses {len(changes)} times")
    start, end = changes[0]
    # Unclear means in between are bisected like any other point: the first change of sign.
    signs = means[start : end + 1] >= at
    a = start + np.flatnonzero(signs[1:] != signs[:-1])[0]
    return Crossing(CROSSED, *map(float, (u[a], u[a + 1], means[a], means[a + 1], at)))


def crossings(
    u: Float[np.ndarray, " x"], means: Float[np.ndarray, "x draw"], at: float, rising: bool
) -> Float[np.ndarray, " draw"]:
    """Where each of many response curves crosses a level; the range's end if it does not.

    A resampled curve may wiggle: it is first made monotone (the mean of its running maximum from
    one side and its running minimum from the other), then interpolated linearly.

    >>> crossings(np.arange(3.0), np.array([[0.0], [0.4], [1.0]]), 0.7, True)
    array([1.5])
    """
    curves = (means if rising else means[::-1]) - at
    points = u if rising else u[::-1]
    up = np.maximum.accumulate(curves, axis=0)
    down = np.minimum.accumulate(curves[::-1], axis=0)[::-1]
    curves = (up + down) / 2
    above = curves >= 0
    right = np.where(above.any(0), above.argmax(0), len(u) - 1)
    left = np.maximum(right - 1, 0)
    columns = np.arange(curves.shape[1])
    low, high = curves[left, columns], curves[right, columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction = np.where(high > low, -low / (high - low), 0.0)
    inside = points[left] + np.clip(fraction, 0, 1) * (points[right] - points[left])
    return np.where(above.any(0), inside, points[-1])


def widened(
    ends: Float[np.ndarray, " end"], centre: float, count: int, level: float
) -> Float[np.ndarray, " end"]:
    """The ends of a bootstrap's central `level` over so many seeds, moved away from the crossing
    so that the interval covers as often as it says; NaN for one seed.

    A bootstrap over n draws is too narrow by a factor of sqrt((n - 1) / n), and by that of the
    normal quantile to Student's t (Hesterberg 2015, section 4.1).

    >>> widened(np.array([-1.0, 1.0]), 0.0, 5, 0.95).round(2)
    array([-1.58,  1.58])
    """
    if count < 2:
        return np.full_like(ends, np.nan)
    share = (1 + level) / 2
    factor = (count / (count - 1)) ** 0.5 * stdtrit(count - 1, share) / ndtri(share)
    return centre + factor * (ends - centre)


def fit_exponent(
    y: Float[np.ndarray, " y"], x: Float[np.ndarray, " y"], draws: Float[np.ndarray, "y draw"]
) -> tuple[float, float]:
    """The slope of x over y by weighted least squares, and its standard error.

    Weights and the error come from the draws. These are resampled together, so that the points'
    common errors count; where points scatter more than that, the error is widened. Two points of
    one draw have none (NaN).
    """
    there = np.isfinite(x)
    if there.sum() < 2:
        return np.nan, np.nan
    y, x, draws = y[there], x[there], draws[there]
    spread = draws.std(1, ddof=1)
    spread = np.maximum(spread, 1e-3 * max(float(spread.max()), 1e-12))
    line, covariance = np.polyfit(y, x, 1, w=1 / spread, cov="unscaled")
    sampled = np.polyfit(y, draws, 1, w=1 / spread)[0].std(ddof=1)
    if len(x) < 3:
        return float(line[0]), float(sampled) if np.ptp(draws, axis=1).any() else np.nan
    excess = (((x - np.polyval(line, y)) / spread) ** 2).sum() / (len(x) - 2)
    return float(line[0]), float(max(sampled, np.sqrt(covariance[0, 0] * excess)))
