"""Times of the theorems. Symbols: `symbols`."""

import math

from learnscope.papers.pegr.theory.symbols import spread


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


def memorisation_time(
    dim: float, train: int, width: int, noise: float, rate: float, loss: float,
    constant: float = 1.0,
) -> float:  # fmt: skip
    """The last time at which Theorem 3.3 lets plain gradient descent reach `loss`.

    constant * (n m / (eta sigma_p^2 d) + m^3 n / (eta epsilon)).
    """
    stages = train * width / (noise**2 * dim) + width**3 * train / loss
    return constant * stages / rate
