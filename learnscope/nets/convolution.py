"""A convolution with fast derivatives, inside loops too.

XLA's CPU backend has a fast convolution for one layout only: examples, places, channels, and
filters with inputs before outputs. It converts other layouts to this one, but only outside loops
and branches; inside, a derivative (which JAX writes in another layout) is 20 to 50 times slower.
Training is a loop. This primitive is therefore a convolution that always has the fast layout, and
so have its derivatives, which are convolutions of transposed arrays.

A batch axis of weights (runs, tasks, per-example gradients) is a loop over single convolutions:
the alternative, grouped convolutions, is slower on CPUs.

Few filters use a small part of the matrix product that a convolution is. Neighbouring places of a
row are therefore computed together, by copies of the filters that are moved by one place each:
wider filters, more of them, fewer places; some products with zeros, but the same outputs.
"""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float

Edges = tuple[tuple[int, int], tuple[int, int]]
_COLUMNS = 48  # of a matrix product: more of them are not faster


def convolve(
    x: Float[Array, "n height width input"],
    filters: Float[Array, "a b input output"],
    edges: Edges,
    stride: int = 1,
) -> Float[Array, "n h w output"]:
    """Apply filters at every `stride`th place of images padded with zeros by `edges`.

    >>> import jax.numpy as jnp
    >>> convolve(jnp.ones((2, 8, 8, 3)), jnp.ones((3, 3, 3, 5)), ((1, 1), (1, 1)), 2).shape
    (2, 4, 4, 5)
    """
    return _convolution.bind(x, filters, edges=edges, stride=stride, spread=1, apart=1)


def _by_xla(
    x: Array, filters: Array, *, edges: Edges, stride: int, spread: int, apart: int
) -> Array:
    """XLA's convolution; `spread` dilates the images, `apart` the filters."""
    run = partial(_in_layout, edges=edges, spread=spread, apart=apart)
    outputs = jax.eval_shape(lambda a, b: run(a, b, strides=(stride, stride)), x, filters)
    together = _together(outputs.shape, filters.shape) if spread == apart == 1 else 1
    if together == 1:
        return run(x, filters, strides=(stride, stride))
    # Channels that fill a vector of the processor are copied faster.
    more = (-x.shape[3] % 4) if x.shape[3] > 1 else 0
    x, filters = (jnp.pad(a, [(0, more) if i == at else (0, 0) for i in range(4)])
                  for a, at in ((x, 3), (filters, 2)))  # fmt: skip
    last = stride * (together - 1)
    moved = [
        jnp.pad(filters, ((0, 0), (stride * k, last - stride * k), (0, 0), (0, 0)))
        for k in range(together)
    ]
    wide = run(x, jnp.concatenate(moved, 3), strides=(stride, stride * together))
    return wide.reshape(outputs.shape)


def _in_layout(
    x: Array, filters: Array, *, edges: Edges, strides: tuple[int, int], spread: int, apart: int
) -> Array:
    dilated = (spread, spread), (apart, apart)
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, filters, strides, edges, *dilated, numbers)


def _together(outputs: tuple[int, ...], filters: tuple[int, ...]) -> int:
    """How many neighbouring places are computed together: the most that divide a row, unless the
    wider filters cost more than they save.

    >>> _together((64, 28, 28, 6), (5, 5, 1, 6)), _together((64, 8, 8, 64), (3, 3, 32, 64))
    (7, 1)
    """
    fitting = [
        k
        for k in range(1, outputs[2] + 1)
        if outputs[2] % k == 0
        and k * filters[3] <= _COLUMNS
        and k * math.prod(filters) <= math.prod(outputs)
    ]
    return max(fitting) if filters[1] > 1 and fitting else 1


def _reach(size: int, gap: int) -> int:
    """The length of `size` places with a step of `gap`."""
    return 0 if size == 0 else 1 + gap * (size - 1)


def _to_inputs(
    slope: Array, x: Any, filters: Array, *, edges: Edges, stride: int, spread: int, apart: int
) -> Array:
    """The derivative by the inputs: dilated slopes, convolved with flipped filters."""
    back = []
    for axis, (before, _) in enumerate(edges):
        reach = _reach(filters.shape[axis], apart)
        first = reach - before - 1
        whole = _reach(x.aval.shape[axis + 1], spread) + reach - 1
        back.append((first, whole - _reach(slope.shape[axis + 1], stride) - first))
    turned = jnp.flip(filters, (0, 1)).transpose(0, 1, 3, 2)
    return _convolution.bind(
        slope, turned, edges=tuple(back), stride=spread, spread=stride, apart=apart
    )


def _to_filters(
    slope: Array, x: Array, filters: Any, *, edges: Edges, stride: int, spread: int, apart: int
) -> Array:
    """The derivative by the filters: inputs convolved with slopes; examples act as channels."""
    back = []
    for axis, (before, _) in enumerate(edges):
        reach = _reach(filters.aval.shape[axis], apart)
        over = _reach(slope.shape[axis + 1], stride)
        inputs = _reach(x.shape[axis + 1], spread)
        back.append((before, over + reach - inputs - before - 1))
    slopes = _convolution.bind(
        x.transpose(3, 1, 2, 0), slope.transpose(1, 2, 0, 3),
        edges=tuple(back), stride=apart, spread=spread, apart=stride,
    )  # fmt: skip
    return slopes.transpose(1, 2, 0, 3)


def _by_place(
    x: Array, filters: Array, shape: tuple[int, ...], *, edges: Edges, stride: int, apart: int, **_
) -> Array:
    """Large filters at few places: a matrix product with the part of the images at each place."""
    around = [(low, high, 0) for low, high in ((0, 0), (0, 0), *edges, (0, 0))]
    x = jax.lax.pad(x, jnp.zeros((), x.dtype), around)  # edges may be negative
    reach = [_reach(size, apart) for size in filters.shape[1:3]]
    parts = [
        x[:, :, i : i + reach[0] : apart, j : j + reach[1] : apart].reshape(*x.shape[:2], -1)
        for i in range(0, stride * shape[2], stride)
        for j in range(0, stride * shape[3], stride)
    ]
    rows = jnp.stack(parts, 2).reshape(x.shape[0], -1, parts[0].shape[-1])
    return (rows @ filters.reshape(x.shape[0], -1, shape[-1])).reshape(shape)


def _batched(inputs: tuple, axes: tuple, **settings: Any) -> tuple[Array, int]:
    x, filters = inputs
    if axes[1] is None:  # more examples
        x = jnp.moveaxis(x, axes[0], 0)
        outputs = _convolution.bind(x.reshape(-1, *x.shape[2:]), filters, **settings)
        return outputs.reshape(*x.shape[:2], *outputs.shape[1:]), 0
    if axes[0] is None:  # more filters
        filters = jnp.moveaxis(filters, axes[1], 3)
        flat = filters.reshape(*filters.shape[:3], -1)
        outputs = _convolution.bind(x, flat, **settings)
        return outputs.reshape(*outputs.shape[:3], *filters.shape[3:]), 3
    both = jnp.moveaxis(x, axes[0], 0), jnp.moveaxis(filters, axes[1], 0)
    if both[1].shape[3] == 1 and settings["spread"] == 1:  # slopes of single examples
        outputs = jax.eval_shape(jax.vmap(partial(_by_xla, **settings)), *both)
        if outputs.shape[2] * outputs.shape[3] < both[1].shape[1] * both[1].shape[2]:
            return _by_place(*both, outputs.shape, **settings), 0
    return jax.lax.map(lambda pair: _convolution.bind(*pair, **settings), both), 0


_convolution = Primitive("learnscope_convolution")
_convolution.def_impl(jax.jit(_by_xla, static_argnames=("edges", "stride", "spread", "apart")))
_convolution.def_abstract_eval(
    lambda x, filters, **settings: ShapedArray(
        jax.eval_shape(lambda a, b: _by_xla(a, b, **settings), x, filters).shape, x.dtype
    )
)
mlir.register_lowering(_convolution, mlir.lower_fun(_by_xla, multiple_results=False))
ad.defbilinear(_convolution, _to_inputs, _to_filters)
batching.primitive_batchers[_convolution] = _batched
