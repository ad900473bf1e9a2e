"""Prediction heads of self-supervised rules, by name: what stands between encoder and loss."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

HEADS = ("identity", "linear", "mlp", "symmetric", "none")
Head = dict[str, Float[Array, "..."]]


def initial_head(name: str, key: Key[Array, ""], size: int, hidden: int) -> Head:
    r"""A head for so many outputs.

    `identity` and `none` begin as the identity (the latter stays it), `symmetric` is set anew at
    every step, `linear` and `mlp` (two layers, ReLU) begin as PyTorch's do: uniform in
    $\pm 1/\sqrt{\text{inputs}}$.
    """
    if name == "linear":
        return {"matrix": _uniform(key, (size, size), size)}
    if name == "mlp":
        keys = jax.random.split(key, 4)
        return {
            "first": _uniform(keys[0], (hidden, size), size),
            "first_bias": _uniform(keys[1], (hidden,), size),
            "second": _uniform(keys[2], (size, hidden), hidden),
            "second_bias": _uniform(keys[3], (size,), hidden),
        }
    return {"matrix": jnp.eye(size)}


def _uniform(key: Key[Array, ""], shape: tuple[int, ...], inputs: int) -> Array:
    bound = 1 / math.sqrt(inputs)
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)


def apply_head(head: Head, outputs: Float[Array, "n neuron"]) -> Float[Array, "n neuron"]:
    """What the head predicts from an encoder's outputs."""
    if "matrix" in head:
        return outputs @ head["matrix"].T
    inside = outputs @ head["first"].T + head["first_bias"][None]
    return jnp.where(inside <= 0, 0, inside) @ head["second"].T + head["second_bias"][None]


def trained_part(name: str, slope: Head) -> Head:
    """The part of a gradient that moves the head: its off-diagonal, all or nothing."""
    if name == "identity":
        return {"matrix": off_diagonal(slope["matrix"])}
    if name in ("symmetric", "none"):
        return jax.tree.map(jnp.zeros_like, slope)
    return slope


def off_diagonal(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The matrix with zeros on its diagonal."""
    return matrix - jnp.diag(jnp.diag(matrix))
