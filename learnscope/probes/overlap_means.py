"""Means over new inputs of a net that is a sum over filters, as functions of its overlaps."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import ndtri

from learnscope.data import SHAPES, Link, SignOf, half_space, link_of
from learnscope.nets import AbstractNet, PatchCNN, TwoLayer, at_nodes, pair_mean, shape_of


def sum_obstacle(net: AbstractNet) -> str | None:
    """What a net must be so that it is a sum over filters, if it is not."""
    if isinstance(net, TwoLayer) and not net.bias and net.smoothing is None:
        return None
    if isinstance(net, PatchCNN) and not net.bias and net.classes == 2:
        if net.activation not in ("relu_power", "huberised"):
            return None
        return "an activation without parameters (power, threshold)"
    return "the net TwoLayer or PatchCNN (two classes), without biases (bias = false) and smoothing"


def fixed_layer(net: TwoLayer | PatchCNN) -> Float[Array, " filter"]:
    """The second layer of a net that does not train it."""
    if isinstance(net, PatchCNN):
        return net.second_layer_scale * net.signs
    return jnp.full(net.width, 1.0 if net.second_layer == "sum" else 1 / net.width)


def output_means(
    activation: str, link: str | Link,
    teacher: Float[Array, "filter direction"], student: Float[Array, "filter filter"],
) -> tuple[Float[Array, "filter filter"], Float[Array, " filter"], Float[Array, ""]]:  # fmt: skip
    """The means of two neurons' product, of a neuron times the label, and of the label squared."""
    own, ones = jnp.diag(student), jnp.ones_like(teacher)
    squares = pair_mean(
        activation, activation, jnp.broadcast_to(own[:, None], student.shape),
        jnp.broadcast_to(own[None], student.shape), student,
    )  # fmt: skip
    if link in SHAPES:
        each = jnp.broadcast_to(own[:, None], teacher.shape)
        products = pair_mean(activation, str(link), each, ones, teacher).sum(1)
        same = jnp.eye(teacher.shape[1], dtype=teacher.dtype)
        labels = pair_mean(str(link), str(link), jnp.ones_like(same), jnp.ones_like(same), same)
        return squares, products, labels.sum()
    nodes, weights = link_nodes(link, teacher.shape[1], teacher.dtype)
    outside, chances = at_nodes(teacher.dtype, 1)
    y = link_of(link)(nodes)
    rest = jnp.sqrt(jnp.maximum(own - (teacher**2).sum(1), 0.0))
    h = (teacher @ nodes.T)[..., None] + rest[:, None, None] * outside[None, None, :, 0]
    products = (shape_of(activation)(h) @ chances) @ (weights * y)
    return squares, products, (weights * y**2).sum()


def generalisation(
    activation: str, link: str | Link, second: Float[Array, " filter"],
    teacher: Float[Array, "filter direction"], student: Float[Array, "filter filter"],
) -> tuple[Float[Array, ""], Float[Array, ""]]:  # fmt: skip
    """The generalisation error from the overlaps, and the size of the terms that it is made of."""
    squares, products, labels = output_means(activation, link, teacher, student)
    terms = second @ squares @ second / 2, -(second @ products), labels / 2
    return jnp.maximum(sum(terms), 0.0), sum(map(jnp.abs, terms))  # type: ignore[return-value]


def link_nodes(
    link: str | Link, directions: int, dtype: Any, free: int = 0
) -> tuple[Float[Array, "node variable"], Float[Array, " node"]]:
    """Nodes for the projections (and `free` other normal variables): their halves where the link
    jumps at 0, turned so that the first one is the sum where the sum's sign matters."""
    if half_space(link, directions):
        nodes, weights = at_nodes(dtype, directions + free, split=1)
        unit = jnp.full(directions, directions**-0.5, dtype)
        mirror = unit - jnp.eye(directions, dtype=dtype)[0]
        size = mirror @ mirror
        turned = nodes[:, :directions]
        along = (turned @ mirror) / jnp.where(size > 0, size, 1.0)
        turned = turned - 2 * along[:, None] * mirror[None]
        return jnp.concatenate([turned, nodes[:, directions:]], axis=1), weights
    jumps = link == "product" or isinstance(link, SignOf)
    split = directions if jumps or (callable(link) and directions + free <= 3) else 0
    return at_nodes(dtype, directions + free, split=split)


def misclassification(
    activation: str, link: SignOf, second: Float[Array, " filter"],
    teacher: Float[Array, "filter direction"], student: Float[Array, "filter filter"],
) -> Float[Array, ""]:  # fmt: skip
    """The probability of a wrong sign, from the overlaps."""
    width, directions = teacher.shape
    if width == 1 and activation in ("linear", "erf") and half_space(link, directions):
        size = jnp.sqrt(student[0, 0] * directions)
        cosine = teacher[0].sum() / jnp.where(size > 0, size, 1.0)
        return jnp.arccos(jnp.clip(jnp.sign(second[0]) * cosine, -1.0, 1.0)) / math.pi
    points = jax.lax.optimization_barrier(jnp.asarray(_points(width + directions), teacher.dtype))
    values, vectors = jnp.linalg.eigh(student - teacher @ teacher.T)
    root = vectors * jnp.sqrt(jnp.maximum(values, 0.0))[None]
    z, free = points[:, :directions], points[:, directions:]
    outputs = shape_of(activation)(z @ teacher.T + free @ root.T) @ second
    wrong = outputs * link_of(link)(z)
    return (1 - jnp.sign(wrong)).mean() / 2


@functools.cache
def _points(dims: int, count: int = 2**14) -> Float[np.ndarray, "point dim"]:
    """Points of the normal law that fill space evenly (the Kronecker sequence of Roberts 2018), and
    their mirror images."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (dims + 1))
    steps = ratio ** -np.arange(1.0, dims + 1)
    inside = (0.5 + np.arange(1, count + 1)[:, None] * steps) % 1
    points = ndtri(np.clip(inside, 1e-12, 1 - 1e-12))
    return np.concatenate([points, -points])
