"""The linearised dynamics of Section 5.1: growth and suppression. Symbols: `symbols`."""

import dataclasses
import math

from learnscope.papers.pegr.theory.symbols import ratio, second_layer_scale

_CLASS = 0.5  # of the examples are of a class, and see its signal


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
    dim: float, train: int, width: int, signal: float, noise: float, rate: float, weight: float,
    second_layer: str | float = "mean", half: bool = True,
) -> Rates:  # fmt: skip
    """Early rates under the per-example penalty (Section 5.1, with its constants).

    Lemma 5.1 at small weights, where l' = -1/2 and zeta = 0. All n / 2 examples of a class see the
    signal, one example sees its noise:

        signal: + a eta ||mu||^2 / 2      - lambda a^2 eta ||mu||^4 / 2
        noise:  + a eta ||xi||^2 / n      - lambda a^2 eta ||xi||^4 / n.
    """
    a = second_layer_scale(second_layer, width)
    step, damping = a * rate, (weight if half else 2.0 * weight) * a**2 * rate
    square = noise**2 * dim
    return Rates(
        signal_growth=_CLASS * step * signal**2,
        noise_growth=step * square / train,
        signal_suppression=_CLASS * damping * signal**4,
        noise_suppression=damping * square**2 / train,
    )


def full_rates(
    dim: float, train: int, width: int, signal: float, noise: float, rate: float, weight: float,
    second_layer: str | float = "mean", half: bool = True,
) -> Rates:  # fmt: skip
    """Early rates under the full penalty (Section 5.4): noise suppression is n times weaker.

    Lemma 5.8 at small weights: lambda a^2 eta ||mu||^4 / 4 and lambda a^2 eta ||xi||^4 / n^2.
    """
    per_example = rates(dim, train, width, signal, noise, rate, weight, second_layer, half)
    return dataclasses.replace(
        per_example,
        signal_suppression=_CLASS * per_example.signal_suppression,
        noise_suppression=per_example.noise_suppression / train,
    )


def suppression_ratio(
    weight: float, noise: float, dim: float, width: int, second_layer: str | float = "mean",
    half: bool = True,
) -> float:  # fmt: skip
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
    return ratio(1.0 if half else 0.5, square)


def critical_weight_of_power(
    noise: float, dim: float, width: int, scale: float, power: float
) -> float:
    """`critical_weight` for relu^q, q = power, at the noise z = sigma_0 sigma_p sqrt(d) of small
    weights: not in the paper.

    Noise grows by q eta ||xi||^2 z^(q-1) / (2nm) and is suppressed by lambda q^2 (q-1) eta
    ||xi||^4 z^(2q-3) / (4 n m^2); they are equal at 2m / (q (q-1) z^(q-2) sigma_p^2 d).
    """
    seen = scale * noise * math.sqrt(dim)
    return 2 * width / (power * (power - 1) * seen ** (power - 2) * noise**2 * dim)


def suggested_weight(
    noise: float, dim: float, width: int, second_layer: str | float = "mean", half: bool = True
) -> float:
    """The weight that suppresses noise twice as fast as it grows: 2m / (sigma_p^2 d)."""
    return 2.0 * critical_weight(noise, dim, width, second_layer, half)


def theorem_weight(noise: float, dim: float) -> float:
    """lambda of Theorem 3.2: 1 / (sigma_p sqrt(d))."""
    return ratio(1.0, noise * math.sqrt(dim))


def critical_noise(signal: float, dim: float, train: int) -> float:
    """The noise above which plain gradient descent memorises noise faster than it learns signal.

    The two growth rates are equal at sigma_p^2 d = n ||mu||^2 / 2.
    """
    return signal * math.sqrt(_CLASS * train / dim)
