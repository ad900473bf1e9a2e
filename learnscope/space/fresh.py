r"""Fresh Gaussian patches for every step, in compressed coordinates.

Training on fresh Gaussian patches leaves any fixed span: each step moves the weights along new
vectors. But a step sees only the components of a patch $\xi \sim \sigma N(0, I_d)$ along the
weights: a few normal numbers. The rest is independent of them, and enters the gradient
$\sum_p h_p \xi_p$ only as a sum with coefficients that do not depend on it. Given the
coefficients $H$ (filter by patch), that sum is $\sigma A Z$ in law, with $A A^T = H H^T$ and $Z$
normal rows in the remaining dimensions. Bartlett's decomposition (`Frame.gaussian_rows`) writes
these rows in as many new coordinates as there are filters. So a step costs the same in any
dimension, and is exact in law. The rows of two views are drawn together: separate draws would each
be known up to a rotation of their own, and the sum of both gradients depends on both rotations.

After the step `turned` writes the filters in as few coordinates as before.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, UInt32

from learnscope.part import Number
from learnscope.space.frame import Frame

VIEWS = 2
_FEW = 3  # rows that are turned by rotations


class FreshPatches(eqx.Module):
    """Patches whose components along the weights are known, and whose other components have a law.
    `noisy` marks the patches that are noise of standard deviation `scale`; the others have no other
    components. Use each batch in one product only: the other components are sampled in the backward
    pass. `view` is the number of these patches among the `views` that are drawn together."""

    values: Float[Array, "n patch width"]
    noisy: Bool[Array, "n patch"]
    scale: Number
    seed: UInt32[Array, " word"]
    frame: Frame
    view: int = eqx.field(static=True, default=0)
    views: int = eqx.field(static=True, default=VIEWS)

    def halves(self) -> tuple["FreshPatches", "FreshPatches"]:
        """The first half of the patches and the second half: two views."""
        half = self.values.shape[1] // 2

        def half_of(patches: slice, view: int) -> FreshPatches:
            values, noisy = self.values[:, patches], self.noisy[:, patches]
            return FreshPatches(values, noisy, self.scale, self.seed, self.frame, view)

        return half_of(slice(None, half), 0), half_of(slice(half, None), 1)

    def inner(self, filters: Float[Array, "filter rank"]) -> Float[Array, "filter n patch"]:
        """<filter, patch>; the derivative by the filters includes the other components."""
        return _product(filters, self)


@jax.custom_vjp
def _product(filters: Array, patches: FreshPatches) -> Array:
    n, count, width = patches.values.shape
    columns = patches.values.reshape(-1, width).T
    return (filters[:, :width] @ columns).reshape(-1, n, count)


def _forward(filters: Array, patches: FreshPatches) -> tuple[Array, FreshPatches]:
    return _product(filters, patches), patches


def _backward(patches: FreshPatches, slope: Float[Array, "filter n patch"]) -> tuple[Array, Any]:
    filters, width = slope.shape[0], patches.values.shape[2]
    seen = slope.reshape(filters, -1) @ patches.values.reshape(-1, width)
    noisy = (slope * patches.noisy[None].astype(slope.dtype)).reshape(filters, -1)
    squares = noisy @ noisy.T
    # The ridge is of the size of rounding. It is tiny where the slope is zero (a target).
    tiny = jnp.finfo(slope.dtype)
    ridge = filters * tiny.eps * jnp.trace(squares) + tiny.tiny
    root = jnp.linalg.cholesky(squares + ridge * jnp.eye(filters, dtype=slope.dtype))
    key = jax.random.wrap_key_data(patches.seed)
    rows, _ = patches.frame.gaussian_rows(key, patches.views * filters)
    own = rows[patches.view * filters : (patches.view + 1) * filters, width:]
    beyond = patches.scale * root @ own
    return jnp.concatenate([seen, beyond], axis=1), None


_product.defvjp(_forward, _backward)


def turned(rows: Float[Array, "row rank"], kept: int) -> Float[Array, "row rank"]:
    """The same rows in a turned frame: the first `kept` coordinates stay, and of the others as many
    are used as there are rows. Inner products do not change."""
    if rows.shape[0] <= _FEW:
        return jnp.concatenate([rows[:, :kept], _rotated(rows[:, kept:])], axis=1)
    # R of a QR decomposition holds the rows' coordinates in the basis Q.
    triangle = jnp.linalg.qr(rows[:, kept:].T, mode="r").T
    unused = rows.shape[1] - kept - triangle.shape[1]
    return jnp.concatenate([rows[:, :kept], jnp.pad(triangle, ((0, 0), (0, unused)))], axis=1)


def _rotated(rows: Float[Array, "row column"]) -> Float[Array, "row column"]:
    """Few rows as a lower triangle: each rotation of two columns makes one entry zero. Unlike a QR
    decomposition, this is vectorised over runs."""
    columns = list(rows.T)
    for i in range(rows.shape[0]):
        for j in range(i + 1, len(columns)):
            one, other = columns[i], columns[j]
            size = jnp.sqrt(one[i] ** 2 + other[i] ** 2)
            safe = jnp.where(size > 0, size, 1.0)
            cosine, sine = jnp.where(size > 0, one[i] / safe, 1.0), other[i] / safe
            columns[i], columns[j] = cosine * one + sine * other, cosine * other - sine * one
    return jnp.tril(jnp.stack(columns, axis=1))
