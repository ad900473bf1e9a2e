"""Times of the theorems. Symbols: `symbols`."""

import math

from learnscope.papers.pegr.theory.symbols import logs, spread


def closing_time(
    train: int, width: int, signal: float, scale: float, rate: float, delta: float = 0.1,
    share: float = 1.0,
) -> float:  # fmt: skip
    """T_1 of Theorem 3.2 (and Proposition 5.6), after which the penalty is switched off.

        T_1 = m / (share eta ||mu||^2) log(4 / (sigma_0 ||mu|| log(n) sqrt(2 log(8m/delta)))).

    The paper prints share = 1. Its proof counts the n/2 examples of one class as n; share = 1/2 is
    the time in which the signal does reach the size that Proposition 5.6 states.
    """
    goal = 4.0 / (scale * signal * math.log(train) * spread(width, delta))
    return width / (share * rate * signal**2) * math.log(goal)


def second_stage(
    dim: float, train: int, width: int, signal: float, rate: float, loss: float, delta: float = 0.1
) -> float:
    """T_2 of Proposition 5.7: within T_2 steps of T_1 the training loss falls below `loss`.

    T_2 = 2nm / (eta (1 - exp(-epsilon)) ||mu||^2) log(sqrt(2 log(8m/delta)) log(n) d).
    """
    pace = -math.expm1(-loss) * rate * signal**2
    return 2.0 * train * width / pace * math.log(spread(width, delta) * math.log(train) * dim)


def convergence_time(
    dim: float, train: int, width: int, signal: float, noise: float, scale: float, rate: float,
    loss: float, delta: float = 0.1, constant: float = 1.0,
) -> float:  # fmt: skip
    """The last time at which Theorem 3.2 lets loss and squared gradient norm reach `loss`.

    T_1 + constant * 2 n m sigma_p^2 d / (eta epsilon ||mu||^2): a hidden logarithm is `constant`.
    """
    stage = 2.0 * train * width * noise**2 * dim / (rate * loss * signal**2)
    return closing_time(train, width, signal, scale, rate, delta) + constant * stage


def memorisation_time(
    dim: float, train: int, width: int, noise: float, rate: float, loss: float,
    constant: float = 1.0,
) -> float:  # fmt: skip
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
    goal = 0.4 / (logs(width, train, delta) * scale * noise * math.sqrt(dim))
    return train * width / (rate * noise**2 * dim) * math.log(goal)


def memorisation_second_stage(
    dim: float, train: int, width: int, noise: float, rate: float, delta: float = 0.1,
    constant: float = 1.0,
) -> float:  # fmt: skip
    """T_2 of Proposition E.2, corrected: the noise overlap grows from 1/polylog(n) to 2.

    constant * n m / (eta sigma_p^2 d) log(log(n) sqrt(log(8mn/delta))).
    """
    return constant * train * width / (rate * noise**2 * dim) * math.log(logs(width, train, delta))
