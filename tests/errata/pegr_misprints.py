"""The formulas of the gradient-penalty paper as they are printed, for the errata check only.

Meng, Cao, Zou, "Per-Example Gradient Regularization Improves Learning Signals from Noisy Data".
Each function stands beside the corrected one of the same name in `closed_forms` or `pegr`, takes
the same arguments, and is wrong by what `docs/errata.md` says. The paper has a = 1/m, so here the
width is read off the filters. Nothing but the errata check and its tests may import this module.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tests.errata.pegr_closed_forms import (
    Pieces,
    along,
    compose,
    gated_slope,
    pieces,
    squared_activation,
)


def coefficient_update(
    gamma: Float[Array, " filters"],
    rho: Float[Array, "filters n"],
    filters: Float[Array, "filters dim"],
    signal: Float[Array, " dim"],
    noise: Float[Array, "n dim"],
    labels: Float[Array, " n"],
    rate: float,
    weight: float,
) -> tuple[Float[Array, " filters"], Float[Array, "filters n"]]:
    """Lemma 5.3 (= Lemma A.2) as printed: 4 lambda zeta_i / m for 4 lambda zeta_i / m^2."""
    width = filters.shape[0] // 2
    parts = pieces(filters, signal, noise, labels, 1.0 / width)
    bracket = 1.0 + 4.0 * weight * squared_activation(parts) / width * parts.curvature
    pull = parts.slope * bracket
    damping = 2.0 * weight / width * parts.slope**2
    step = 2.0 * rate / (noise.shape[0] * width)
    signal_pull = parts.on_signal @ pull * parts.signal_square
    signal_damping = parts.sign * (parts.on_signal @ (damping * labels)) * parts.signal_square**2
    noise_pull = jnp.outer(parts.sign, pull * labels * parts.noise_square)
    noise_damping = (damping * parts.noise_square**2)[None, :]
    return (
        gamma - step * (signal_pull + signal_damping),
        rho - step * parts.on_noise * (noise_pull + noise_damping),
    )


def per_example_update(
    filters: Float[Array, "filters dim"],
    signal: Float[Array, " dim"],
    noise: Float[Array, "n dim"],
    labels: Float[Array, " n"],
    rate: float,
    weight: float,
) -> Float[Array, "filters dim"]:
    """Lemma 5.1 (= Lemma A.1) as printed: the same 4 lambda zeta_i / m."""
    none = jnp.zeros_like(filters[:, 0])
    nothing = jnp.zeros_like(filters, shape=(filters.shape[0], noise.shape[0]))
    data = (filters, signal, noise, labels)
    gamma, rho = coefficient_update(none, nothing, *data, rate, weight)
    return compose(filters, gamma, rho, signal, noise)


def full_update(filters, signal, noise, labels, rate, weight):
    """Lemma 5.8 with all its misprints at once: those of the four functions below."""
    data = (filters, signal, noise, labels)
    return _step(*data, rate, weight, _misplaced_label, _mixed_without_factor, _closed_gate)


def full_update_factor(filters, signal, noise, labels, rate, weight):
    """Only the missing 2/m before the two terms with l'' (Lemma 5.8 and Appendix A.2)."""
    data = (filters, signal, noise, labels)
    return _step(*data, rate, weight, _plain, _without_factor, _open_gate)


def full_update_mixed(filters, signal, noise, labels, rate, weight):
    """Only the mu part of the last term: ReLU<w, xi_i> j mu for ReLU<w, y_i mu> j mu."""
    data = (filters, signal, noise, labels)
    return _step(*data, rate, weight, _plain, _mixed, _open_gate)


def full_update_gate(filters, signal, noise, labels, rate, weight):
    """Only the indicator of Lemma 5.8: 1{<w, y_i mu> = 0} for 1{<w, y_i mu> > 0}."""
    data = (filters, signal, noise, labels)
    return _step(*data, rate, weight, _plain, _curved, _closed_gate)


def full_update_label(filters, signal, noise, labels, rate, weight):
    """Only the first line of Lemma 5.8: ReLU<w, j y_i xi_i> xi_i for ReLU<w, xi_i> j y_i xi_i."""
    data = (filters, signal, noise, labels)
    return _step(*data, rate, weight, _misplaced_label, _curved, _open_gate)


def memorisation_second_stage(
    dim: float, train: int, width: int, noise: float, rate: float, delta: float = 0.1
) -> float:
    """T_2 of Proposition E.2 (= E.10) as printed, which is negative: the logarithm is inverted.

    T_2 = (n m / (eta sigma_p^2 d)) log(1 / (log(n) sqrt(log(8 m n / delta)))), up to a constant.
    """
    printed = 1.0 / (math.log(train) * math.sqrt(math.log(8 * width * train / delta)))
    return train * width / (rate * noise**2 * dim) * math.log(printed)


def _step(filters, signal, noise, labels, rate, weight, plain, curved, gate) -> Array:
    """Lemma 5.8 from three pieces that may be misprinted: the gradient, the l'' terms, the gate."""
    width, count = filters.shape[0] // 2, noise.shape[0]
    parts = pieces(filters, signal, noise, labels, 1.0 / width)
    data = (filters, signal, noise, labels)
    signal_term = gate(parts, *data) * (parts.on_signal @ parts.slope) * parts.signal_square
    noise_term = (parts.on_noise * (parts.slope**2 * parts.noise_square)[None, :]) @ noise
    penalty = curved(parts, *data) + jnp.outer(signal_term, signal) + noise_term
    descent = 2.0 * rate / (count * width) * plain(parts, *data)
    return filters - descent - 4.0 * weight * rate / (count * width) ** 2 * penalty


def _plain(parts: Pieces, filters, signal, noise, labels) -> Array:
    return along(parts, parts.slope, signal, noise, labels)


def _misplaced_label(parts: Pieces, filters, signal, noise, labels) -> Array:
    turned = jax.nn.relu(jnp.outer(parts.sign, labels) * (filters @ noise.T))
    along_signal = jnp.outer(parts.sign * (parts.on_signal @ parts.slope), signal)
    return along_signal + (turned * parts.slope[None, :]) @ noise


def _through_signal(parts: Pieces) -> Array:
    summed = parts.on_signal @ parts.slope
    return (summed @ parts.on_signal) * parts.curvature * parts.signal_square


def _through_noise(parts: Pieces) -> Array:
    squares = jnp.sum(parts.on_noise**2, axis=0) * parts.noise_square
    return squares * parts.slope * parts.curvature


def _without_factor(parts: Pieces, filters, signal, noise, labels) -> Array:
    both = _through_signal(parts) + _through_noise(parts)
    return along(parts, both, signal, noise, labels)


def _curved(parts: Pieces, filters, signal, noise, labels) -> Array:
    factor = 4.0 / filters.shape[0]  # 2/m, with 2m filters
    return factor * _without_factor(parts, filters, signal, noise, labels)


def _mixed_without_factor(parts: Pieces, filters, signal, noise, labels) -> Array:
    swapped = parts._replace(on_signal=parts.on_noise)
    first = along(parts, _through_signal(parts), signal, noise, labels)
    return first + along(swapped, _through_noise(parts), signal, noise, labels)


def _mixed(parts: Pieces, filters, signal, noise, labels) -> Array:
    return 4.0 / filters.shape[0] * _mixed_without_factor(parts, filters, signal, noise, labels)


def _open_gate(parts: Pieces, filters, signal, noise, labels) -> Array:
    return gated_slope(parts, labels)


def _closed_gate(parts: Pieces, filters, signal, noise, labels) -> Array:
    gate = (jnp.outer(filters @ signal, labels) == 0.0).astype(filters.dtype)
    return gate @ (parts.slope * labels)
