"""Layers of deep networks on images: pure functions of a table of parameters.

Images stand with their channels last, which is what convolutions of XLA's CPU backend read fastest;
pooling is a maximum over a reshaped axis, whose derivative is a mask, where that of XLA's own
window pooling is a slow scatter.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.nets.activations import relu
from learnscope.nets.convolution import convolve
from learnscope.part import Number

Images = Float[Array, "n height width channel"]
Layer = dict[str, Any]
NORMALISATIONS = ("batch", "group", "none")
_SMALL = 1e-5  # added to variances, as PyTorch does
_GROUPS = 8  # of channels, in group normalisation


def gaussian(
    key: Key[Array, ""], shape: tuple[int, ...], inputs: int, scale: Number | None
) -> Array:
    r"""Weights of standard deviation `scale`, or (none) $\sqrt{2/\text{inputs}}$ (He et al.)."""
    deviation = math.sqrt(2 / inputs) if scale is None else scale
    return deviation * jax.random.normal(key, shape)


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
    """Every filter at every place."""
    # The same on all sides, also with a stride.
    edge = layer["weight"].shape[0] // 2 if padding == "SAME" else 0
    found = convolve(x, layer["weight"], ((edge, edge), (edge, edge)), stride)
    return found + layer["bias"][None, None, None] if "bias" in layer else found


def max_pool(x: Images) -> Images:
    """The largest of every 2 x 2 places; an odd last row or column is left out."""
    return _by_four(x).max((2, 4))


def mean_pool(x: Images) -> Images:
    """The mean of every 2 x 2 places."""
    return _by_four(x).mean((2, 4))


def _by_four(x: Images) -> Float[Array, "n h 2 w 2 channel"]:
    n, height, width, channels = x.shape
    even = x[:, : height // 2 * 2, : width // 2 * 2]
    return even.reshape(n, height // 2, 2, width // 2, 2, channels)


def normal_layer(how: str, channels: int) -> Layer:
    """Scale and shift after a normalisation."""
    return {} if how == "none" else {"gain": jnp.ones(channels), "shift": jnp.zeros(channels)}


def normalise(how: str, layer: Layer, x: Float[Array, "n ... channel"]) -> Array:
    """`batch`: every channel over the batch that is there (which a list `taken` in the layer is
    told of), or in a layer that holds a `mean` and a `variance` by these; `group`: groups of
    channels of one example; `none`: as it is."""
    if how == "none":
        return x
    one = (1,) * (x.ndim - 1)
    gain, shift = layer["gain"].reshape(*one, -1), layer["shift"].reshape(*one, -1)
    if how == "group":
        n, channels = x.shape[0], x.shape[-1]
        groups = math.gcd(_GROUPS, channels)
        parts = x.reshape(n, -1, groups, channels // groups)
        mean = parts.mean((1, 3), keepdims=True)
        variance = jnp.square(parts - mean).mean((1, 3), keepdims=True)
        found = (parts - mean) * jax.lax.rsqrt(variance + _SMALL)
        return found.reshape(x.shape) * gain + shift
    if "mean" in layer:
        mean, variance = (layer[name].reshape(*one, -1) for name in ("mean", "variance"))
    else:
        mean, variance = moments(x)
        if "taken" in layer:
            layer["taken"].append((mean.ravel(), variance.ravel()))
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
