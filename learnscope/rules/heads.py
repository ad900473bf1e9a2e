"""Prediction heads of self-supervised rules: maps between the encoder and the loss, by name."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.space import random

HEADS = ("identity", "linear", "mlp", "symmetric", "none")
Head = dict[str, Float[Array, "..."]]


def initial_head(name: str, key: Key[Array, ""], size: int, hidden: int) -> Head:
    r"""The head before the first step, for `size` outputs.

    `identity` and `none` start as the identity, which `none` remains; `symmetric` is recomputed at
    every step; `linear` and `mlp` (two layers, ReLU) start as in PyTorch, uniform in
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
    return random.uniform(key, shape, -bound, bound)


def apply_head(head: Head, outputs: Float[Array, "n neuron"]) -> Float[Array, "n neuron"]:
    """The head's predictions from the encoder's outputs."""
    if "matrix" in head:
        return outputs @ head["matrix"].T
    inside = outputs @ head["first"].T + head["first_bias"][None]
    return jnp.where(inside <= 0, 0, inside) @ head["second"].T + head["second_bias"][None]


def trained_part(name: str, slope: Head) -> Head:
    """The part of a gradient that trains the head: the off-diagonal, nothing or everything."""
    if name == "identity":
        return {"matrix": off_diagonal(slope["matrix"])}
    if name in ("symmetric", "none"):
        return jax.tree.map(jnp.zeros_like, slope)
    return slope


def off_diagonal(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The matrix with zeros on its diagonal."""
    return matrix - jnp.diag(jnp.diag(matrix))
