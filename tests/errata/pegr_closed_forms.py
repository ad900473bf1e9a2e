"""One step of gradient descent with a gradient penalty, in closed form, corrected or as printed.

For the squared-ReLU patch network of Meng, Cao, Zou, "Per-Example Gradient Regularization
Improves Learning Signals from Noisy Data" (Section 2),

    f(W, x) = sum_j j a sum_r [relu^2(<w_jr, x1>) + relu^2(<w_jr, x2>)],   x = (y mu, xi),

the gradient of a penalised loss has a closed form. The paper prints it for a = 1/m; here the
modulus a of the second-layer weights is an argument, and a = 1/m gives the paper's formulas
back. What the paper misprints (`docs/errata.md`) is corrected, unless asked for as printed.

| symbol                    | argument                                                      |
| ------------------------- | ------------------------------------------------------------- |
| w_{j,r}                   | filters, (2 * width, dim): the first half has j = +1          |
| mu, xi_i, y_i             | signal (dim,), noise (n, dim), labels (n,) in {-1, +1}        |
| a                         | second_layer: 1/m for "mean" (the paper), 1 for "sum"         |
| eta                       | rate                                                          |
| lambda                    | weight: the penalty is weight/2 times the squared norm; for   |
|                           | the other convention pass twice the weight                    |
| gamma_{j,r}, rho_{j,r,i}  | gamma (2 * width,), rho (2 * width, n)                        |

Every formula uses <mu, xi_i> = 0, which the data model of the paper (Definition 2.1) ensures.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

# The misprints of Lemma 5.8: no 2/m before the two terms with l'' (nor in Appendix A.2); in the mu
# part of the last term ReLU<w, xi_i> for ReLU<w, y_i mu>; the indicator 1{<w, y_i mu> = 0} for
# 1{<w, y_i mu> > 0}; on the first line ReLU<w, j y_i xi_i> xi_i for ReLU<w, xi_i> j y_i xi_i.
LEMMA_5_8 = ("factor", "mixed", "gate", "label")


class Pieces(NamedTuple):
    """What every formula of Section 5 is made of, at one time step.

    | symbol                    | field                            |
    | ------------------------- | -------------------------------- |
    | j                         | sign (filters,)                  |
    | ReLU(<w_jr, y_i mu>)      | on_signal (filters, n)           |
    | ReLU(<w_jr, xi_i>)        | on_noise (filters, n)            |
    | l'_i, l''_i               | slope (n,), curvature (n,)       |
    | ||mu||^2, ||xi_i||^2      | signal_square (), noise_square (n,) |
    """

    sign: Float[Array, " filters"]
    on_signal: Float[Array, "filters n"]
    on_noise: Float[Array, "filters n"]
    slope: Float[Array, " n"]
    curvature: Float[Array, " n"]
    signal_square: Float[Array, ""]
    noise_square: Float[Array, " n"]


def signs(filters: Array) -> Array:
    width = filters.shape[0] // 2
    return jnp.where(jnp.arange(2 * width) < width, 1.0, -1.0).astype(filters.dtype)


def pieces(filters, signal, noise, labels, second_layer) -> Pieces:
    """Activations and loss derivatives of every filter on every example."""
    labels, sign = jnp.asarray(labels, filters.dtype), signs(filters)
    on_signal = jax.nn.relu(jnp.outer(filters @ signal, labels))
    on_noise = jax.nn.relu(filters @ noise.T)
    margin = labels * second_layer * (sign @ (on_signal**2 + on_noise**2))
    # l'(z) = -sigmoid(-z) and l''(z) = sigmoid(z) sigmoid(-z): no exponential can overflow.
    slope = -jax.nn.sigmoid(-margin)
    curvature = jax.nn.sigmoid(margin) * jax.nn.sigmoid(-margin)
    squares = signal @ signal, jnp.sum(noise**2, axis=1)
    return Pieces(sign, on_signal, on_noise, slope, curvature, *squares)


def squared_activation(parts: Pieces) -> Float[Array, " n"]:
    """zeta_i of Lemma 5.1, so that ||grad l_i||^2 = 4 a^2 l'_i^2 zeta_i.

    zeta_i = sum_{j,r} ReLU^2(<w_jr, y_i mu>) ||mu||^2 + ReLU^2(<w_jr, xi_i>) ||xi_i||^2.
    """
    from_signal = jnp.sum(parts.on_signal**2, axis=0) * parts.signal_square
    return from_signal + jnp.sum(parts.on_noise**2, axis=0) * parts.noise_square


def per_example_update(filters, signal, noise, labels, rate, weight, second_layer, power=2):
    """The filters after one step under the per-example penalty (Lemma 5.1 = A.1, corrected).

        w <- w - (2 a eta / n) sum_i l'_i (1 + 4 lambda a^2 zeta_i l''_i)
                        j (ReLU<w, y_i mu> mu + ReLU<w, xi_i> y_i xi_i)
               - (4 lambda a^2 eta / n) sum_i l'_i^2
                        (ReLU<w, y_i mu> ||mu||^2 y_i mu + ReLU<w, xi_i> ||xi_i||^2 xi_i)

    With a = 1/m the bracket is 1 + 4 lambda zeta_i l''_i / m^2; the paper prints 1/m: `power` 1.
    """
    none = jnp.zeros_like(filters[:, 0])
    nothing = jnp.zeros_like(filters, shape=(filters.shape[0], noise.shape[0]))
    how = (rate, weight, second_layer, power)
    gamma, rho = coefficient_update(none, nothing, filters, signal, noise, labels, *how)
    return compose(filters, gamma, rho, signal, noise)


def coefficient_update(
    gamma, rho, filters, signal, noise, labels, rate, weight, second_layer, power=2
):
    """gamma and rho one step later, from the filters at time t (Lemma 5.3 = A.2, corrected).

        gamma <- gamma - (2 a eta / n) sum_i [l'_i (1 + 4 lambda a^2 zeta_i l''_i) R_i ||mu||^2
                                              + 2 lambda a l'_i^2 R_i ||mu||^4 j y_i]
        rho_i <- rho_i - (2 a eta / n) [l'_i (1 + 4 lambda a^2 zeta_i l''_i) S_i ||xi_i||^2 j y_i
                                        + 2 lambda a l'_i^2 S_i ||xi_i||^4]

    with R_i = ReLU<w, y_i mu> and S_i = ReLU<w, xi_i>. The same misprint: `power` 1.
    """
    labels = jnp.asarray(labels, filters.dtype)
    parts = pieces(filters, signal, noise, labels, second_layer)
    bracket = 1.0 + 4.0 * weight * second_layer**power * squared_activation(parts) * parts.curvature
    pull = parts.slope * bracket
    damping = 2.0 * weight * second_layer * parts.slope**2
    step = 2.0 * second_layer * rate / noise.shape[0]
    signal_pull = parts.on_signal @ pull * parts.signal_square
    signal_damping = parts.sign * (parts.on_signal @ (damping * labels)) * parts.signal_square**2
    noise_pull = jnp.outer(parts.sign, pull * labels * parts.noise_square)
    noise_damping = (damping * parts.noise_square**2)[None, :]
    return (
        gamma - step * (signal_pull + signal_damping),
        rho - step * parts.on_noise * (noise_pull + noise_damping),
    )


def compose(initial, gamma, rho, signal, noise):
    """The filters that have given coefficients (Definition 5.2, equation 5.1).

    w_jr = w_jr(0) + j gamma_jr mu / ||mu||^2 + sum_i rho_jri xi_i / ||xi_i||^2.
    """
    along_noise = rho @ (noise / jnp.sum(noise**2, axis=1, keepdims=True))
    along_signal = jnp.outer(signs(initial) * gamma, signal / (signal @ signal))
    return initial + along_signal + along_noise


def full_update(filters, signal, noise, labels, rate, weight, second_layer, printed=()):
    """The filters after one step under the full penalty (Lemma 5.8, corrected).

    Exact when also <xi_i, xi_k> = 0 for i != k, the lemma's assumption. With
    u_i = j (ReLU<w, y_i mu> mu + ReLU<w, xi_i> y_i xi_i) and s_jr = sum_i l'_i ReLU<w_jr, y_i mu>,

        w <- w - (2 a eta / n) sum_i l'_i u_i
               - (4 lambda a^2 eta / n^2) {
                   2 a ||mu||^2 sum_i l''_i u_i sum_{j'r'} s_j'r' ReLU<w_j'r', y_i mu>
                   + ||mu||^2 s_jr sum_i l'_i 1{<w, y_i mu> > 0} y_i mu
                   + sum_i l'_i^2 ReLU<w, xi_i> ||xi_i||^2 xi_i
                   + 2 a sum_i l'_i l''_i u_i sum_{j'r'} ReLU^2<w_j'r', xi_i> ||xi_i||^2 }.

    `printed` names the misprints, of `LEMMA_5_8`, that are to be there.
    """
    labels = jnp.asarray(labels, filters.dtype)
    parts, data = pieces(filters, signal, noise, labels, second_layer), (signal, noise, labels)
    count, summed = noise.shape[0], parts.on_signal @ parts.slope
    shared = (summed @ parts.on_signal) * parts.curvature * parts.signal_square
    own = jnp.sum(parts.on_noise**2, axis=0) * parts.noise_square * parts.slope * parts.curvature
    last = parts._replace(on_signal=parts.on_noise) if "mixed" in printed else parts
    factor = 1.0 if "factor" in printed else 2.0 * second_layer
    seen = jnp.outer(filters @ signal, labels)
    gate = (seen == 0.0 if "gate" in printed else seen > 0.0).astype(filters.dtype)
    penalty = (4.0 * weight * second_layer**2 * rate / count**2) * (
        factor * (along(parts, shared, *data) + along(last, own, *data))
        + jnp.outer(gate @ (parts.slope * labels) * summed, signal) * parts.signal_square
        + (parts.on_noise * (parts.slope**2 * parts.noise_square)[None, :]) @ noise
    )
    plain = along(parts, parts.slope, *data)
    if "label" in printed:
        turned = jax.nn.relu(jnp.outer(parts.sign, labels) * (filters @ noise.T))
        plain = jnp.outer(parts.sign * summed, signal) + (turned * parts.slope[None, :]) @ noise
    return filters - (2.0 * second_layer * rate / count) * plain - penalty


def along(parts: Pieces, by: Array, signal: Array, noise: Array, labels: Array) -> Array:
    """sum_i by_i u_i, with u_i = j (ReLU<w, y_i mu> mu + ReLU<w, xi_i> y_i xi_i)."""
    along_signal = jnp.outer(parts.on_signal @ by, signal)
    along_noise = (parts.on_noise * (by * labels)[None, :]) @ noise
    return parts.sign[:, None] * (along_signal + along_noise)


def printed_second_stage(dim, train, width, noise, rate, delta=0.1) -> float:
    """T_2 of Proposition E.2 (= E.10) as printed, which is negative: the logarithm is inverted.

    T_2 = (n m / (eta sigma_p^2 d)) log(1 / (log(n) sqrt(log(8 m n / delta)))), up to a constant.
    """
    printed = 1.0 / (math.log(train) * math.sqrt(math.log(8 * width * train / delta)))
    return train * width / (rate * noise**2 * dim) * math.log(printed)
