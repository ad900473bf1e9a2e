"""What the gradient-penalty paper predicts, in numbers.

Meng, Cao, Zou, "Per-Example Gradient Regularization Improves Learning Signals from Noisy Data".

| symbol          | argument                                                             |
| --------------- | -------------------------------------------------------------------- |
| d, n, m         | dim, train, width                                                    |
| ||mu||, sigma_p | signal, noise (so ||xi||^2 is about noise^2 * dim)                   |
| sigma_0, eta    | scale, rate                                                          |
| lambda          | weight: the penalty is weight/2 times the squared norm with `half`,  |
|                 | weight times the squared norm without                                |
| a               | second_layer: "mean" (1/m, the paper), "sum" (1) or a number         |
| delta, epsilon  | delta (failure probability), loss (the training loss to reach)       |

Times, bounds and conditions are for the paper's network, a = 1/m. Another one is the same network
under other numbers: see `rescaled`. What orders of magnitude hide is an argument of each function.
"""

import dataclasses
import math
from typing import NamedTuple

from learnscope.theory.condition import Condition, Conditions


def second_layer_scale(second_layer: str | float, width: int) -> float:
    """The modulus a of the second-layer weights."""
    named = {"mean": 1.0 / width, "sum": 1.0}
    if not isinstance(second_layer, str):
        return float(second_layer)
    if second_layer not in named:
        raise ValueError(f"second_layer is {second_layer!r}, but must be 'mean', 'sum' or a number")
    return named[second_layer]


def rescaled(
    width: int, rate: float, weight: float, scale: float, second_layer: str | float
) -> tuple[float, float, float]:
    """Rate, weight and scale at which the paper's network follows the given network's path.

    relu^2 has degree two, so v = sqrt(a m) w turns a relu^2(<w, x>) into relu^2(<v, x>) / m, and
    gradient descent in w into gradient descent in v with a m eta, a m lambda, sqrt(a m) sigma_0.
    """
    factor = second_layer_scale(second_layer, width) * width
    return rate * factor, weight * factor, scale * math.sqrt(factor)


# Conditions


def condition_3_1(
    dim: float,
    train: int,
    width: int,
    signal: float,
    noise: float,
    scale: float,
    rate: float,
    alpha: float = 0.0005,
    constant: float = 1.0,
    power: float = 1.0,
    much: float = 10.0,
) -> Conditions:
    """Condition 3.1 of the paper, with a margin for each of its inequalities.

    Orders are read as `constant`, hidden logarithms as log(...)^`power`, "much less" and "tends to
    infinity" as a factor of `much`. The bound on the learning rate is divided by its logarithm,
    since the proofs use it as eta = o(nm / (sigma_p^2 d)).
    """
    if not 0.0 < alpha < 0.001:
        raise ValueError(f"alpha is {alpha}, but Condition 3.1 asks for 0 < alpha < 0.001")
    level = noise * math.sqrt(dim)
    strength = much * (signal + signal**4)
    logs = math.log(dim) ** power
    least = constant * logs * width**2 * train ** (2 + 2 * alpha)
    small = _over(constant, level**2 * (train * width) ** (2 * alpha))
    slow = _over(constant * train * width, level**2 * logs)
    many = constant * math.log(_over(dim, scale)) ** power
    c, p, k, e = f"{constant:g}", f"{power:g}", f"{much:g}", f"{2 * alpha:g}"
    rows = [
        ("dimension", f"d >= {c} log(d)^{p} m^2 n^(2 + {e})", dim, ">=", least),
        ("noise over signal", f"{k} (|mu| + |mu|^4) <= sigma_p sqrt(d)", strength, "<=", level),
        ("noise", f"sigma_p sqrt(d) >= {k}", level, ">=", much),
        ("initial weights", f"sigma_0 <= {c} / (sigma_p^2 d (nm)^{e})", scale, "<=", small),
        ("learning rate", f"eta <= {c} nm / (sigma_p^2 d log(d)^{p})", rate, "<=", slow),
        ("sample size", f"n >= {c} log(d / sigma_0)^{p}", train, ">=", many),
        ("width", f"m >= {c} log(d / sigma_0)^{p}", width, ">=", many),
    ]
    return _conditions(rows)


def implicit_conditions(
    dim: float,
    train: int,
    width: int,
    signal: float,
    noise: float,
    rate: float,
    weight: float,
    much: float = 10.0,
    constant: float = 1.0,
) -> Conditions:
    """What the proofs use and Condition 3.1 does not imply (see docs/errata.md).

    The first three are used for Theorem 3.2 (proof of Proposition D.1), the last for Theorem 3.3
    (proof of Proposition E.6). `weight` follows the convention weight/2.
    """
    square = noise**2 * dim
    noise_ratio = weight * square / width
    signal_ratio = much * weight * signal**2 / width
    step = rate * noise_ratio * square / (train * width)
    seen = much * train * signal**2 / 2
    c, k = f"{constant:g}", f"{much:g}"
    rows = [
        ("noise is suppressed", f"lambda sigma_p^2 d / m >= {k}", noise_ratio, ">=", much),
        ("signal survives", f"{k} lambda |mu|^2 / m <= 1", signal_ratio, "<=", 1.0),
        ("no overshooting", f"eta lambda sigma_p^4 d^2 / (n m^2) <= {c}", step, "<=", constant),
        ("noise outruns signal", f"{k} n |mu|^2 / 2 <= sigma_p^2 d", seen, "<=", square),
    ]
    return _conditions(rows)


def _conditions(rows: list[tuple[str, str, float, str, float]]) -> Conditions:
    return Conditions(
        Condition(name, statement, left, right, relation)
        for name, statement, left, relation, right in rows
    )


def _over(top: float, bottom: float) -> float:
    """top / bottom, infinite where there is no noise or no weight to divide by."""
    return math.inf if bottom == 0 else top / bottom


# The linearised dynamics of Section 5.1


@dataclasses.dataclass(frozen=True)
class Rates:
    """Relative change of an overlap in one early step.

    <w, .> becomes (1 + growth - suppression) <w, .> for a filter with j <w, mu> > 0 (signal), or
    with j = y_i and <w, xi_i> > 0 (noise). Where j is the other sign the growth is negative and the
    suppression the same.
    """

    signal_growth: float
    noise_growth: float
    signal_suppression: float
    noise_suppression: float


def rates(
    dim: float,
    train: int,
    width: int,
    signal: float,
    noise: float,
    rate: float,
    weight: float,
    second_layer: str | float = "mean",
    half: bool = True,
    share: float = 0.5,
) -> Rates:
    """Early rates under the per-example penalty (Section 5.1, with its constants).

    Lemma 5.1 at small weights, where l' = -1/2 and zeta = 0. All share * n examples of a class see
    the signal, one example sees its noise:

        signal: + share a eta ||mu||^2    - lambda share a^2 eta ||mu||^4
        noise:  + a eta ||xi||^2 / n      - lambda a^2 eta ||xi||^4 / n.
    """
    a = second_layer_scale(second_layer, width)
    step, damping = a * rate, (weight if half else 2.0 * weight) * a**2 * rate
    square = noise**2 * dim
    return Rates(
        signal_growth=share * step * signal**2,
        noise_growth=step * square / train,
        signal_suppression=share * damping * signal**4,
        noise_suppression=damping * square**2 / train,
    )


def full_rates(
    dim: float,
    train: int,
    width: int,
    signal: float,
    noise: float,
    rate: float,
    weight: float,
    second_layer: str | float = "mean",
    half: bool = True,
    share: float = 0.5,
) -> Rates:
    """Early rates under the full penalty (Section 5.4): noise suppression is n times weaker.

    Lemma 5.8 at small weights: lambda share^2 a^2 eta ||mu||^4 and lambda a^2 eta ||xi||^4 / n^2.
    """
    per_example = rates(dim, train, width, signal, noise, rate, weight, second_layer, half, share)
    return dataclasses.replace(
        per_example,
        signal_suppression=share * per_example.signal_suppression,
        noise_suppression=per_example.noise_suppression / train,
    )


def suppression_ratio(
    weight: float,
    noise: float,
    dim: float,
    width: int,
    second_layer: str | float = "mean",
    half: bool = True,
) -> float:
    """Suppression of the noise over its growth: lambda a ||xi||^2, doubled without the half.

    The penalty keeps the noise from being memorised when this exceeds 1 (lambda ||xi||^2 / m > 1).
    """
    ratio = weight * second_layer_scale(second_layer, width) * noise**2 * dim
    return ratio if half else 2.0 * ratio


def critical_weight(
    noise: float, dim: float, width: int, second_layer: str | float = "mean", half: bool = True
) -> float:
    """The weight at which suppression equals noise growth: the boundary over (weight, noise).

    1 / (a sigma_p^2 d), which is m / (sigma_p^2 d) for the paper's network; half of it without
    the half. Under the full penalty the boundary lies n times higher.
    """
    square = second_layer_scale(second_layer, width) * noise**2 * dim
    return _over(1.0 if half else 0.5, square)


def suggested_weight(
    noise: float,
    dim: float,
    width: int,
    second_layer: str | float = "mean",
    half: bool = True,
    margin: float = 2.0,
) -> float:
    """The weight that suppresses noise `margin` times as fast as it grows: 2m / (sigma_p^2 d)."""
    return margin * critical_weight(noise, dim, width, second_layer, half)


def theorem_weight(noise: float, dim: float) -> float:
    """lambda of Theorem 3.2: 1 / (sigma_p sqrt(d))."""
    return _over(1.0, noise * math.sqrt(dim))


def critical_noise(signal: float, dim: float, train: int, share: float = 0.5) -> float:
    """The noise above which plain gradient descent memorises noise faster than it learns signal.

    The two growth rates are equal at sigma_p^2 d = share n ||mu||^2.
    """
    return signal * math.sqrt(share * train / dim)


# Times


def closing_time(
    train: int,
    width: int,
    signal: float,
    scale: float,
    rate: float,
    delta: float = 0.1,
    share: float = 1.0,
) -> float:
    """T_1 of Theorem 3.2 (and Proposition 5.6), after which the penalty is closed.

        T_1 = m / (share eta ||mu||^2) log(4 / (sigma_0 ||mu|| log(n) sqrt(2 log(8m/delta)))).

    The paper prints share = 1. Its proof counts the n/2 examples of one class as n; share = 1/2 is
    the time in which the signal does reach the size that Proposition 5.6 states.
    """
    goal = 4.0 / (scale * signal * math.log(train) * _spread(width, delta))
    return width / (share * rate * signal**2) * math.log(goal)


def second_stage(
    dim: float, train: int, width: int, signal: float, rate: float, loss: float, delta: float = 0.1
) -> float:
    """T_2 of Proposition 5.7: within T_2 steps of T_1 the training loss falls below `loss`.

    T_2 = 2nm / (eta (1 - exp(-epsilon)) ||mu||^2) log(sqrt(2 log(8m/delta)) log(n) d).
    """
    pace = -math.expm1(-loss) * rate * signal**2
    return 2.0 * train * width / pace * math.log(_spread(width, delta) * math.log(train) * dim)


def convergence_time(
    dim: float,
    train: int,
    width: int,
    signal: float,
    noise: float,
    scale: float,
    rate: float,
    loss: float,
    delta: float = 0.1,
    constant: float = 1.0,
) -> float:
    """The last time at which Theorem 3.2 lets loss and squared gradient norm reach `loss`.

    T_1 + constant * 2 n m sigma_p^2 d / (eta epsilon ||mu||^2): a hidden logarithm is `constant`.
    """
    stage = 2.0 * train * width * noise**2 * dim / (rate * loss * signal**2)
    return closing_time(train, width, signal, scale, rate, delta) + constant * stage


def memorisation_time(
    dim: float,
    train: int,
    width: int,
    noise: float,
    rate: float,
    loss: float,
    constant: float = 1.0,
) -> float:
    """The last time at which Theorem 3.3 lets plain gradient descent reach `loss`.

    constant * (n m / (eta sigma_p^2 d) + m^3 n / (eta epsilon)).
    """
    stages = train * width / (noise**2 * dim) + width**3 * train / loss
    return constant * stages / rate


def memorisation_first_stage(
    dim: float, train: int, width: int, noise: float, scale: float, rate: float, delta: float = 0.1
) -> float:
    """T_1 of Proposition E.1: without a penalty, the noise overlap reaches 1/polylog(n).

    n m / (eta sigma_p^2 d) log(0.4 / (log(n) sqrt(log(8mn/delta)) sigma_0 sigma_p sqrt(d))).
    """
    goal = 0.4 / (_logs(width, train, delta) * scale * noise * math.sqrt(dim))
    return train * width / (rate * noise**2 * dim) * math.log(goal)


def memorisation_second_stage(
    dim: float,
    train: int,
    width: int,
    noise: float,
    rate: float,
    delta: float = 0.1,
    constant: float = 1.0,
) -> float:
    """T_2 of Proposition E.2, corrected: the noise overlap grows from 1/polylog(n) to 2.

    constant * n m / (eta sigma_p^2 d) log(log(n) sqrt(log(8mn/delta))).
    """
    return constant * train * width / (rate * noise**2 * dim) * math.log(_logs(width, train, delta))


def _spread(width: int, delta: float) -> float:
    """sqrt(2 log(8m/delta)): the largest of 2m Gaussians (Lemma B.3)."""
    return math.sqrt(2.0 * math.log(8 * width / delta))


def _logs(width: int, train: int, delta: float) -> float:
    return math.log(train) * math.sqrt(math.log(8 * width * train / delta))


# Bounds


class Bounds(NamedTuple):
    """Where a quantity must lie."""

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
    return Bounds(1.0 / (_spread(width, delta) * math.log(train)), 5.0 / math.log(train))


def noise_bounds(
    dim: float, train: int, width: int, noise: float, scale: float, delta: float = 0.1
) -> Bounds:
    """Proposition 5.6: all rho under the penalty, up to T_1.

    0 >= rho >= -8 sqrt(log(8mn/delta)) sigma_0 sigma_p sqrt(d).
    """
    spread = math.sqrt(math.log(8 * width * train / delta))
    return Bounds(-8.0 * spread * scale * noise * math.sqrt(dim), 0.0)
