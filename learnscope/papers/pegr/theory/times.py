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


def closing_time_of_power(
    width: int, signal: float, scale: float, rate: float, power: float
) -> float:
    """The time in which the signal is learnt under relu^q, q = power > 2: not in the paper.

    While l' = -1/2, z = max_r j<w, mu> follows dz/dt = q eta ||mu||^2 / (4m) z^(q-1): half of the
    examples see it. From the sigma_0 ||mu|| / 2 of Lemma B.3 it is infinite after

        4m / (q (q-2) eta ||mu||^2) (sigma_0 ||mu|| / 2)^(2-q).
    """
    start = (scale * signal / 2) ** (2 - power)
    return 4 * width / (power * (power - 2) * rate * signal**2) * start


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
