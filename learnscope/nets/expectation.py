r"""Means over normal variables: of products of two activations, and of any function, by quadrature.

For $(u, v)$ normal with variances $a, b$ and covariance $c$, $E\,\sigma(u) \tau(v)$ is

- $\frac2\pi \arcsin\frac{c}{\sqrt{(1 + a)(1 + b)}}$ for the error function (Saad and Solla 1995);
- $\frac{\sqrt{ab}}{2\pi} (\sin\theta + (\pi - \theta) \cos\theta)$, $\cos\theta = c / \sqrt{ab}$,
  for relu (Cho and Saul 2009);
- a sum over Gauss-Hermite nodes otherwise: exact for polynomials, and to 1e-3 at the kink of relu.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.lax import optimization_barrier
from jaxtyping import Array, Float

from learnscope.data import SHAPES
from learnscope.errors import BadInput
from learnscope.nets.activations import ACTIVATIONS

Values = Float[Array, "*shape"]
_NODES = 64
_MOST = 50_000  # nodes of a grid


def shape_of(name: str) -> Callable[[Values], Values]:
    """A shape of a link, or an activation with power and threshold 1, by name."""
    return SHAPES[name] if name in SHAPES else lambda z: ACTIVATIONS[name](z, 1.0, 1.0)


def normal_grid(
    dims: int, split: int = 0, count: int | None = None
) -> tuple[Float[np.ndarray, "node dim"], Float[np.ndarray, " node"]]:
    """Gauss-Hermite nodes and weights of so many independent normal variables (`count` for each:
    as many as a grid may have). Of the first `split` variables the nodes are those of the positive
    half of the law and of its mirror image: functions may have a kink or a jump at 0.

    >>> nodes, weights = normal_grid(2)
    >>> round(float(weights @ (nodes[:, 0] ** 4 * nodes[:, 1] ** 2)), 9)
    3.0
    >>> nodes, weights = normal_grid(1, split=1)
    >>> round(float(weights @ abs(nodes[:, 0]) ** 3 - 4 / (2 * math.pi) ** 0.5), 9)
    0.0
    """
    most = int(_MOST ** (1 / dims) + 1e-9)
    if most < 8:
        raise BadInput(f"{dims} directions and filters are too many for quadrature: at most 5.")
    return _grid(dims, split, min(count or _NODES, most))


@functools.cache
def _grid(dims: int, split: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    rules = [_halves(count // 2)] * split
    rules += [(nodes, weights / math.sqrt(2 * math.pi))] * (dims - split)
    axes = np.meshgrid(*[rule[0] for rule in rules], indexing="ij")
    each = np.meshgrid(*[rule[1] for rule in rules], indexing="ij")
    return np.stack(axes, -1).reshape(-1, dims), np.prod(each, axis=0).ravel()


@functools.cache
def _halves(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss nodes of the half-normal law, by Stieltjes' recurrence on a fine grid (Gautschi 2004),
    and their mirror images."""
    fine, density = np.polynomial.legendre.leggauss(400)
    fine = 8 * (fine + 1)  # up to 16 standard deviations
    density = density * np.exp(-(fine**2) / 2)
    density /= density.sum()
    before, now = np.zeros_like(fine), np.ones_like(fine)
    middle, beside, last = np.zeros(count), np.zeros(count), 0.0
    for k in range(count):
        middle[k] = density @ (fine * now**2)
        after = (fine - middle[k]) * now - last * before
        last = beside[k] = math.sqrt(density @ after**2)
        before, now = now, after / last
    roots, vectors = np.linalg.eigh(
        np.diag(middle) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    )
    weights = vectors[0] ** 2 / 2
    return np.concatenate([-roots[::-1], roots]), np.concatenate([weights[::-1], weights])


def at_nodes(dtype: Any, dims: int, **given: Any) -> tuple[Array, Array]:
    """`normal_grid` for a program. XLA does not see that it is constant: it would compute what
    follows from it while compiling, slowly, and warn."""
    nodes, weights = normal_grid(dims, **given)
    return optimization_barrier((jnp.asarray(nodes, dtype), jnp.asarray(weights, dtype)))


def pair_mean(one: str, other: str, a: Values, b: Values, c: Values) -> Values:
    """E one(u) other(v) for normal u, v with variances a, b and covariance c.

    >>> import jax.numpy as jnp
    >>> one, half = jnp.asarray(1.0), jnp.asarray(0.5)
    >>> [round(float(pair_mean(name, name, one, one, half)), 4) for name in ("he3", "erf")]
    [0.125, 0.1609]
    """
    if (one, other) == ("erf", "erf"):
        return 2 / math.pi * jnp.arcsin(c / jnp.sqrt((1 + a) * (1 + b)))
    if (one, other) == ("relu", "relu"):
        size = jnp.sqrt(a * b)
        # Sine and angle from one cosine: their rounding errors cancel.
        angle = jnp.arccos(jnp.clip(c / jnp.where(size > 0, size, 1.0), -1.0, 1.0))
        mean = jnp.sin(angle) + (math.pi - angle) * jnp.cos(angle)
        return size * mean / (2 * math.pi)
    return by_quadrature(shape_of(one), shape_of(other), a, b, c)


def by_quadrature(
    one: Callable[[Array], Array], other: Callable[[Array], Array], a: Values, b: Values, c: Values
) -> Values:
    """E one(u) other(v), as a sum over nodes."""
    shape = jnp.shape(c)
    a, b, c = (jnp.broadcast_to(values, shape).ravel() for values in (a, b, c))
    grid, w = at_nodes(c.dtype, 1)
    x = grid[:, 0]
    slope = c / jnp.sqrt(jnp.where(a > 0, a, 1.0))
    rest = jnp.sqrt(jnp.maximum(b - slope**2, 0.0))
    v = slope[:, None, None] * x[None, :, None] + rest[:, None, None] * x[None, None, :]
    inner = (other(v) * w[None, None]).sum(-1)
    return (one(jnp.sqrt(a)[:, None] * x[None]) * inner * w[None]).sum(-1).reshape(shape)
