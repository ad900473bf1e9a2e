"""Losses by name: one number an example, from outputs and labels."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Outputs = Float[Array, "n ..."]
Each = Float[Array, " n"]


def logistic(outputs: Outputs, labels: Array) -> Each:
    """log(1 + exp(-y f)) for one output an example, cross-entropy for one a class."""
    if outputs.ndim == labels.ndim:
        return jnp.logaddexp(0.0, -labels * outputs)
    chosen = jnp.take_along_axis(outputs, labels[..., None].astype(int), axis=-1)[..., 0]
    return jax.nn.logsumexp(outputs, axis=-1) - chosen


def hinge(outputs: Outputs, labels: Array) -> Each:
    """max(0, 1 - y f)."""
    return jnp.maximum(0.0, 1 - labels * outputs)


def squared(outputs: Outputs, labels: Array) -> Each:
    """(f - y)^2 / 2."""
    return (outputs - labels) ** 2 / 2


LOSSES: dict[str, Callable[[Outputs, Array], Each]] = {
    function.__name__: function for function in (logistic, hinge, squared)
}


def correct(outputs: Outputs, labels: Array) -> Each:
    """1 where the prediction is right, 0 where it is wrong, 1/2 where an output is exactly 0."""
    if outputs.ndim == labels.ndim:
        return (1 + jnp.sign(labels * outputs)) / 2
    hit = jnp.argmax(outputs, axis=-1) == labels.astype(int)
    return jnp.where(jnp.isnan(outputs).any(-1), jnp.nan, hit)
