"""Condition 3.1, and the conditions that the proofs add. Symbols: `symbols`."""

import math

from learnscope.papers.pegr.theory.symbols import ratio
from learnscope.theory import Conditions


def condition_3_1(
    dim: float, train: int, width: int, signal: float, noise: float, scale: float, rate: float,
    alpha: float = 0.0005, constant: float = 1.0, power: float = 1.0, much: float = 10.0,
) -> Conditions:  # fmt: skip
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
    small = ratio(constant, level**2 * (train * width) ** (2 * alpha))
    slow = ratio(constant * train * width, level**2 * logs)
    many = constant * math.log(ratio(dim, scale)) ** power
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
    return Conditions.of(rows, lambda name: "Condition 3.1")


def implicit_conditions(
    dim: float, train: int, width: int, signal: float, noise: float, rate: float, weight: float,
    much: float = 10.0, constant: float = 1.0,
) -> Conditions:  # fmt: skip
    """What the proofs use beyond Condition 3.1 (see docs/errata.md).

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
    return Conditions.of(rows, lambda name: "")
