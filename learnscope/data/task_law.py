r"""Features, noise and fresh tasks of `TaskFamily`, in R^d or in compressed coordinates.

Task features are normal in the d - 1 dimensions orthogonal to the shared feature, noise is normal
in the d - M - 1 dimensions outside their span U. In compressed coordinates the axes are, in order:
the training noise (a Bartlett triangle, or all dimensions of noise, if these are fewer), the shared
feature, the observed task features (another triangle), and the remaining axes of the initial
filters.

Fresh tasks have components along the filters' axes. Filters are isotropic there, while noise lies
in the complement V of U and task features lie in U. If Q holds the filters' axes (Haar distributed,
hence independent of the filters' own triangle), only

$$Q_V Q_V^T = A A^T, \quad Q_U Q_U^T = B B^T, \quad A A^T + B B^T = I$$

matter, a matrix-variate beta: with lower triangles $T_V, T_U$ of Bartlett's decomposition in
dim V and dim U dimensions and $C C^T = T_V T_V^T + T_U T_U^T$, $A = C^{-1} T_V$, $B = C^{-1} T_U$.
Fresh noise has the component $A h$ along the filters' axes with $h$ standard normal, which takes
$\|h\|^2$ of its squared norm; its component outside all axes is a further triangle, one per task.
Every fresh feature has its exact law. Only the correlation of two fresh features of one draw,
outside everything observed, is left out.
"""

import dataclasses
import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from learnscope.space import random
from learnscope.space.frame import SPARE, Frame, chi_from, triangle


class Drawn(eqx.Module):
    """The vectors of one draw in unit scale, with `rank` coordinates each. `outside` has the inner
    products of components outside the frame: of each fresh feature with itself, and of the noise
    vectors of a fresh task with each other."""

    features: Float[Array, "task rank"]
    noise: Float[Array, "task sample rank"]
    fresh_features: Float[Array, "fresh rank"]
    fresh_noise: Float[Array, "fresh sample rank"]
    outside: tuple[Float[Array, " fresh"], Float[Array, "fresh sample sample"]] | None
    frame: Frame


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The numbers of dictionary elements, tasks, and samples per task, observed and fresh."""

    dictionary: int
    tasks: int
    samples: int
    fresh: int
    fresh_samples: int

    @property
    def rows(self) -> int:
        """The number of task features that need coordinates."""
        return min(self.tasks, self.dictionary)


def in_ambient(key: Key[Array, ""], dim: int, sizes: Sizes) -> Drawn:
    """The definition in R^d: a whole dictionary, and noise orthogonal to it."""
    pick, rows, noise_key, fresh_key = jax.random.split(key, 4)
    which = random.integers(pick, (sizes.tasks + sizes.fresh,), sizes.dictionary)
    dictionary = random.normal(rows, (sizes.dictionary, dim)).at[:, 0].set(0.0)
    span = jnp.linalg.qr(dictionary[:, 1:].T)[0]

    def noise(key: Array, count: int, each: int) -> Array:
        full = random.normal(key, (count * each, dim - 1))
        off = full - (full @ span) @ span.T
        return jnp.pad(off, ((0, 0), (1, 0))).reshape(count, each, dim)

    observed, fresh = dictionary[which[: sizes.tasks]], dictionary[which[sizes.tasks :]]
    own = noise(noise_key, sizes.tasks, sizes.samples)
    new = noise(fresh_key, sizes.fresh, sizes.fresh_samples)
    return Drawn(observed, own, fresh, new, None, Frame.of_dimension(dim))


class _Pool:
    """Normal and uniform variables for all uses, from one draw each: random bits are most of a
    program's compile time."""

    def __init__(self, key: Key[Array, ""], normals: int, uniforms: int):
        one, other = jax.random.split(key)
        self._normal = random.normal(one, (normals,))
        self._uniform = random.uniform(other, (uniforms,))
        self._taken = [0, 0]

    def normal(self, *shape: int) -> Array:
        return self._next(0, self._normal, shape)

    def uniform(self, *shape: int) -> Array:
        return self._next(1, self._uniform, shape)

    def _next(self, kind: int, pool: Array, shape: tuple[int, ...]) -> Array:
        first = self._taken[kind]
        self._taken[kind] += math.prod(shape)
        assert self._taken[kind] <= pool.size
        return pool[first : self._taken[kind]].reshape(shape)

    def triangles(self, dim: Any, size: int, *many: int) -> Array:
        """Bartlett triangles of `size` vectors in `dim` dimensions, zero in further columns."""
        normal = self.normal(*many, size, size + SPARE)
        uniform = self.uniform(*many, size, SPARE + 1)
        one = lambda a, b: triangle(a, b, dim)  # noqa: E731
        triangles = (jax.vmap(one) if many else one)(normal, uniform)
        real = (jnp.arange(size) < dim).reshape((1,) * (len(many) + 1) + (size,))
        return jnp.where(real, triangles, 0.0)

    def chi(self, degrees: Any, count: int) -> Array:
        """Chi variables; 0 for zero degrees of freedom."""
        wide = jnp.broadcast_to(jnp.asarray(degrees, self._normal.dtype), (count,))
        x, u = self.normal(count, SPARE), self.uniform(count, SPARE + 1)
        return jnp.where(wide > 0, chi_from(jnp.maximum(wide, 1), x, u), 0.0)


def _pool(key: Key[Array, ""], sizes: Sizes, noises: int, axes: int) -> _Pool:
    rows, count = sizes.rows, sizes.tasks * sizes.samples
    fresh, each = sizes.fresh, sizes.fresh_samples
    triangular = count if noises == count else 0
    normals = rows * (rows + SPARE) + count * (noises + SPARE) + 2 * axes * (axes + SPARE)
    normals += fresh * (rows + axes + 2 * SPARE) + fresh * each * (noises + axes + each + SPARE)
    chis = rows + triangular + 2 * axes + 2 * fresh + fresh * each
    return _Pool(key, normals, chis * (SPARE + 1))


def compressed(key: Key[Array, ""], frame: Frame, sizes: Sizes, room: int) -> Drawn:
    """The same in law, in an empty frame; `room` coordinates are for the data."""
    pick, pool_key = jax.random.split(key)
    dim = jnp.asarray(frame.dim, float)
    rows, count = sizes.rows, sizes.tasks * sizes.samples
    noises, axes = room - 1 - rows, frame.rank - room
    pool = _pool(pool_key, sizes, noises, axes)
    which = random.integers(pick, (sizes.tasks + sizes.fresh,), sizes.dictionary)
    known = jnp.pad(pool.triangles(dim - 1, rows), ((0, 0), (noises + 1, axes)))
    row, seen = _rows(which, sizes)
    outside_span = dim - sizes.dictionary - 1
    # If noise fills all of its dimensions, any axes will do.
    full = noises < count
    noise = pool.normal(count, noises) if full else pool.triangles(outside_span, count)
    noise = jnp.pad(noise, ((0, 0), (0, frame.rank - noises)))
    left, more = outside_span - noises, jnp.asarray(sizes.dictionary - rows, noise.dtype)
    along_noise, along_features = _axis_components(pool, axes, left, more)
    fresh_features, features_outside = _fresh_features(
        pool, noises, rows, along_features, dim - 1 - rows, more, sizes.fresh
    )
    there = seen[sizes.tasks :]
    named = known[row[sizes.tasks :]]
    fresh_noise, noise_outside = _fresh_noise(pool, noises, 1 + rows, along_noise, left, sizes)
    return Drawn(
        known[row[: sizes.tasks]],
        noise.reshape(sizes.tasks, sizes.samples, frame.rank),
        jnp.where(there[:, None], named, fresh_features),
        fresh_noise,
        (jnp.where(there, 0.0, features_outside), noise_outside),
        Frame(dim, frame.rank, room, room=room),
    )


def _rows(which: Int[Array, " n"], sizes: Sizes) -> tuple[Int[Array, " n"], Bool[Array, " n"]]:
    """The index of each task's feature among the features with coordinates, and whether it has one.
    The index is the feature's number in the dictionary if the whole dictionary has coordinates;
    otherwise it is the number of the first observed task with that feature."""
    if sizes.rows == sizes.dictionary:
        return which, jnp.ones(which.shape, bool)
    same = which[:, None] == which[None, : sizes.tasks]
    return jnp.argmax(same, axis=1), same.any(1)


def _axis_components(
    pool: _Pool, axes: int, left: Array, more: Array
) -> tuple[Float[Array, "axis axis"], Float[Array, "axis axis"]]:
    """A and B: the components of the filters' axes in V, where noise is, and in U."""
    if axes == 0:
        return jnp.zeros((0, 0)), jnp.zeros((0, 0))
    noise, features = pool.triangles(left, axes), pool.triangles(more, axes)
    real = jnp.arange(axes) < left + more  # only so many dimensions exist
    total = noise @ noise.T + features @ features.T
    total = jnp.where(real[:, None] & real[None], total, jnp.eye(axes))
    factor = jnp.linalg.cholesky(total)
    solve = lambda rows: jax.scipy.linalg.solve_triangular(factor, rows, lower=True)  # noqa: E731
    keep = real[:, None]
    return jnp.where(keep, solve(noise), 0.0), jnp.where(keep, solve(features), 0.0)


def _fresh_features(
    pool: _Pool, noises: int, rows: int, along: Array, degrees: Array, more: Array, count: int
) -> tuple[Float[Array, "fresh rank"], Float[Array, " fresh"]]:
    """Features that were not observed: normal along the observed ones; outside them of the right
    length, in a random direction of the dictionary's span."""
    axes = along.shape[0]
    normal = pool.normal(count, rows + axes)
    length = pool.chi(degrees, count)
    inside = jnp.where((jnp.arange(axes) < more)[None], normal[:, rows:], 0.0)
    rest = pool.chi(more - axes, count)
    total = jnp.sqrt(jnp.sum(inside**2, axis=1) + rest**2)
    scale = length / jnp.where(total > 0, total, 1.0)
    shown = scale[:, None] * (inside @ along.T)
    before = jnp.zeros((count, noises + 1), shown.dtype)
    features = jnp.concatenate([before, normal[:, :rows], shown], axis=1)
    return features, jnp.maximum(length**2 - jnp.sum(shown**2, axis=1), 0.0)


def _fresh_noise(
    pool: _Pool, noises: int, between: int, along: Array, left: Array, sizes: Sizes
) -> tuple[Float[Array, "fresh sample rank"], Float[Array, "fresh sample sample"]]:
    """Noise of fresh tasks: normal along the training noise, A h along the filters' axes, and a
    triangle per task outside all axes."""
    axes, each = along.shape[0], sizes.fresh_samples
    shape = (sizes.fresh, each)
    normal = pool.normal(*shape, noises + axes)
    inner = jnp.where((jnp.arange(axes) < left)[None, None], normal[..., noises:], 0.0)
    shown = inner @ along.T
    beyond = pool.triangles(left - axes, each, sizes.fresh)
    product = lambda rows: jnp.einsum("tid,tjd->tij", rows, rows)  # noqa: E731
    outside = product(inner) - product(shown) + product(beyond)
    gap = jnp.zeros((*shape, between), shown.dtype)
    return jnp.concatenate([normal[..., :noises], gap, shown], axis=2), outside


def labels(sizes: tuple[int, ...], balanced: bool, tasks: int, key: Key[Array, ""]) -> Array:
    """Labels (task, sample): alternating within each of the sets of `sizes`, or fair coins."""
    count = sum(sizes)
    if not balanced:
        return random.signs(key, (tasks, count))
    signs = np.concatenate([np.where(np.arange(size) % 2 == 0, 1.0, -1.0) for size in sizes])
    return jnp.broadcast_to(jnp.asarray(signs, float)[None], (tasks, count))
