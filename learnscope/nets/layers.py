"""Layers of deep networks on images: pure functions of a dictionary of parameters.

Channels are the last axis, the fastest layout for convolutions of XLA's CPU backend. Pooling is a
maximum over a reshaped axis, whose derivative is a mask; that of XLA's window pooling is a slow
scatter.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.nets.activations import relu
from learnscope.nets.convolution import convolve
from learnscope.part import Number
from learnscope.space import random

Images = Float[Array, "n height width channel"]
Layer = dict[str, Any]
NORMALISATIONS = ("batch", "group", "none")
_SMALL = 1e-5  # added to variances, as in PyTorch
_GROUPS = 8  # groups of channels in group normalisation


def gaussian(
    key: Key[Array, ""], shape: tuple[int, ...], inputs: int, scale: Number | None
) -> Array:
    r"""Weights of standard deviation `scale`, or (none) $\sqrt{2/\text{inputs}}$ (He et al.)."""
    deviation = math.sqrt(2 / inputs) if scale is None else scale
    return deviation * random.inverse_normal(key, shape)


def dense_layer(
    key: Key[Array, ""], inputs: int, outputs: int, scale: Number | None = None
) -> Layer:
    """A matrix and a bias of zeros."""
    return {"weight": gaussian(key, (inputs, outputs), inputs, scale), "bias": jnp.zeros(outputs)}


def dense(layer: Layer, x: Float[Array, "n inputs"]) -> Float[Array, "n outputs"]:
    """x W + b."""
    return x @ layer["weight"] + layer["bias"][None]


def conv_layer(
    key: Key[Array, ""], size: int, inputs: int, outputs: int, scale: Number | None = None,
    bias: bool = True,
) -> Layer:  # fmt: skip
    """Filters (height, width, input, output), and a bias of zeros if they have one."""
    shape = (size, size, inputs, outputs)
    weight = gaussian(key, shape, size * size * inputs, scale)
    return {"weight": weight, "bias": jnp.zeros(outputs)} if bias else {"weight": weight}


def conv(layer: Layer, x: Images, padding: str = "SAME", stride: int = 1) -> Images:
    """Apply all filters at all places."""
    # The padding is the same on all sides, with a stride too.
    edge = layer["weight"].shape[0] // 2 if padding == "SAME" else 0
    outputs = convolve(x, layer["weight"], ((edge, edge), (edge, edge)), stride)
    return outputs + layer["bias"][None, None, None] if "bias" in layer else outputs


def max_pool(x: Images) -> Images:
    """The maximum of every 2 x 2 places; an odd last row or column is left out."""
    n, height, width, channels = x.shape
    even = x[:, : height // 2 * 2, : width // 2 * 2]
    return even.reshape(n, height // 2, 2, width // 2, 2, channels).max((2, 4))


def normal_layer(how: str, channels: int) -> Layer:
    """Scale and shift after a normalisation."""
    return {} if how == "none" else {"gain": jnp.ones(channels), "shift": jnp.zeros(channels)}


def normalise(how: str, layer: Layer, x: Float[Array, "n ... channel"]) -> Array:
    """Normalise channels. `batch`: by the statistics of the batch, or by the layer's `mean` and
    `variance`, if it has them; a list `recorded` in the layer receives the batch statistics.
    `group`: by groups of channels of one example. `none`: not at all."""
    if how == "none":
        return x
    one = (1,) * (x.ndim - 1)
    gain, shift = layer["gain"].reshape(*one, -1), layer["shift"].reshape(*one, -1)
    if how == "group":
        n, channels = x.shape[0], x.shape[-1]
        groups = math.gcd(_GROUPS, channels)
        grouped = x.reshape(n, -1, groups, channels // groups)
        mean = grouped.mean((1, 3), keepdims=True)
        variance = jnp.square(grouped - mean).mean((1, 3), keepdims=True)
        standard = (grouped - mean) * jax.lax.rsqrt(variance + _SMALL)
        return standard.reshape(x.shape) * gain + shift
    if "mean" in layer:
        mean, variance = (layer[name].reshape(*one, -1) for name in ("mean", "variance"))
    else:
        mean, variance = moments(x)
        if "recorded" in layer:
            layer["recorded"].append((mean.ravel(), variance.ravel()))
    factor = gain * jax.lax.rsqrt(variance + _SMALL)
    return x * factor + (shift - mean * factor)


def moments(x: Float[Array, "n ... channel"]) -> tuple[Array, Array]:
    """Mean and variance of every channel over examples and places, with all axes kept."""
    axes = tuple(range(x.ndim - 1))
    mean = x.mean(axes, keepdims=True)
    return mean, jnp.square(x - mean).mean(axes, keepdims=True)


def rectified(x: Array) -> Array:
    """max(x, 0)."""
    return relu(x, 1.0, 1.0)
