"""Activations by name, as the field's papers define them.

They use `where`, whose derivative is a mask. The derivative of `maximum` also splits ties at zero,
which made a whole training step 1.5 times as slow. The masks test z <= 0, which is false for NaN:
NaN stays NaN.
"""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import SHAPES
from learnscope.part import Number

Values = Float[Array, "*shape"]


def relu(z: Values, power: Number, threshold: Number) -> Values:
    """max(z, 0)."""
    return jnp.where(z <= 0, 0, z)


def relu2(z: Values, power: Number, threshold: Number) -> Values:
    """max(z, 0)^2 (Meng, Cao, Zou 2023)."""
    return jnp.where(z <= 0, 0, z * z)


def relu_power(z: Values, power: Number, threshold: Number) -> Values:
    """max(z, 0)^power for any power >= 1; z <= 0 is masked first, for a finite derivative."""
    negative = z <= 0
    return jnp.where(negative, 0, jnp.where(negative, 1, z) ** power)


def huberised(z: Values, power: Number, threshold: Number) -> Values:
    """0 below 0, z^2 / (2h) up to h = threshold, z - h/2 above (Chatterji et al. 2021)."""
    h = threshold
    return jnp.where(z < h, jnp.where(z <= 0, 0, z * z) / (2 * h), z - h / 2)


def cubic(z: Values, power: Number, threshold: Number) -> Values:
    """z^3 (Wen, Li 2022)."""
    return z**3


def truncated(z: Values, power: Number, threshold: Number) -> Values:
    """min(1, max(z, 0)) (Shi, Wei, Liang 2022)."""
    return jnp.where(z <= 0, 0, jnp.where(z >= 1, 1, z))


def quadratic(z: Values, power: Number, threshold: Number) -> Values:
    """z^2."""
    return z * z


def erf(z: Values, power: Number, threshold: Number) -> Values:
    """erf(z / sqrt 2) (Saad, Solla 1995)."""
    return SHAPES["erf"](z)


def he2(z: Values, power: Number, threshold: Number) -> Values:
    """(z^2 - 1) / sqrt 2: a Hermite polynomial, as he3 and he4."""
    return SHAPES["he2"](z)


def he3(z: Values, power: Number, threshold: Number) -> Values:
    """(z^3 - 3 z) / sqrt 6."""
    return SHAPES["he3"](z)


def he4(z: Values, power: Number, threshold: Number) -> Values:
    """(z^4 - 6 z^2 + 3) / sqrt 24."""
    return SHAPES["he4"](z)


def _below(u: Values) -> Values:
    """Normal distribution function."""
    return 0.5 + 0.5 * jax.lax.erf(u * 0.5**0.5)


def _density(u: Values) -> Values:
    return jnp.exp(-0.5 * u * u) * (2 * math.pi) ** -0.5


@jax.custom_jvp
def _ramp(z: Values, noise: Number) -> Values:
    """E max(z + xi, 0) for xi normal with standard deviation `noise`."""
    u = z / noise
    return z * _below(u) + noise * _density(u)


@_ramp.defjvp
def _ramp_jvp(primals: tuple[Values, Number], tangents: tuple[Values, Number]):
    z, noise = primals
    # Both derivatives are shorter than those of the product rule.
    change = _below(z / noise) * tangents[0] + _density(z / noise) * tangents[1]
    return _ramp(z, noise), change


# E sigma(z + xi) for normal noise xi of a given standard deviation, in closed form.
SMOOTHED: dict[str, Callable[[Values, Number], Values]] = {
    "relu": _ramp,
    "truncated": lambda z, noise: _ramp(z, noise) - _ramp(z - 1, noise),
    "quadratic": lambda z, noise: z * z + noise**2,
}

ACTIVATIONS: dict[str, Callable[[Values, Number, Number], Values]] = {
    function.__name__: function
    for function in (
        relu,
        relu2,
        relu_power,
        huberised,
        cubic,
        truncated,
        quadratic,
        erf,
        he2,
        he3,
        he4,
    )
}
