r"""Features, noise and fresh tasks of `TaskFamily`: in R^d, or compressed and the same in law.

Task features are normal in the d - 1 dimensions beside the shared one, noise in the d - M - 1
dimensions outside their span U. In compressed coordinates the axes are: the training noise (a
Bartlett triangle, or all dimensions that noise has, if these are fewer), the shared feature, the
observed task features (another triangle), and the axes of the initial filters beyond.

What a fresh task needs of the latter: filters are isotropic there, while noise keeps to the
complement V of U and task features to U. If Q holds the filters' axes (Haar distributed, hence
independent of the filters' own triangle), only

$$Q_V Q_V^T = A A^T, \quad Q_U Q_U^T = B B^T, \quad A A^T + B B^T = I$$

matter, a matrix-variate beta: with lower triangles $T_V, T_U$ of Bartlett's decomposition in
dim V and dim U dimensions and $C C^T = T_V T_V^T + T_U T_U^T$, $A = C^{-1} T_V$, $B = C^{-1} T_U$.
Fresh noise has the component $A h$ along the filters' axes with $h$ standard normal, and
$\|h\|^2$ of its squared norm; what lies outside of all axes is a further triangle of its task.
Every fresh feature has its exact law; between two fresh features of one draw only the correlation
of their parts that no observed vector sees is left out.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from learnscope.data import random
from learnscope.data.frame import Frame, chi


class Drawn(eqx.Module):
    """Unit-scale vectors of one draw: `rank` coordinates each.

    `outside` is, of fresh tasks, the inner products that the frame does not hold: of features with
    themselves (one number a task) and of noise vectors of a task among each other.
    """

    features: Float[Array, "task rank"]
    noise: Float[Array, "task sample rank"]
    fresh_features: Float[Array, "fresh rank"]
    fresh_noise: Float[Array, "fresh sample rank"]
    outside: tuple[Float[Array, " fresh"], Float[Array, "fresh sample sample"]] | None
    frame: Frame


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How many of what."""

    dictionary: int
    tasks: int
    samples: int
    fresh: int
    fresh_samples: int

    @property
    def rows(self) -> int:
        """Task features that need coordinates."""
        return min(self.tasks, self.dictionary)


def in_ambient(key: Key[Array, ""], dim: int, sizes: Sizes) -> Drawn:
    """The definition itself: a whole dictionary, and noise projected off it."""
    pick, rows, noise_key, fresh_key = jax.random.split(key, 4)
    which = jax.random.randint(pick, (sizes.tasks + sizes.fresh,), 0, sizes.dictionary)
    dictionary = random.normal(rows, (sizes.dictionary, dim)).at[:, 0].set(0.0)
    span = jnp.linalg.qr(dictionary[:, 1:].T)[0]

    def noise(key: Array, count: int, each: int) -> Array:
        full = random.normal(key, (count * each, dim - 1))
        off = full - (full @ span) @ span.T
        return jnp.pad(off, ((0, 0), (1, 0))).reshape(count, each, dim)

    return Drawn(
        dictionary[which[: sizes.tasks]],
        noise(noise_key, sizes.tasks, sizes.samples),
        dictionary[which[sizes.tasks :]],
        noise(fresh_key, sizes.fresh, sizes.fresh_samples),
        None,
        Frame.of_dimension(dim),
    )


def compressed(key: Key[Array, ""], frame: Frame, sizes: Sizes, room: int) -> Drawn:
    """The same in law, in the coordinates of a frame that is still empty; `room` for the data."""
    keys = jax.random.split(key, 8)
    dim, rows, count = frame.dim, sizes.rows, sizes.tasks * sizes.samples
    noises = room - 1 - rows
    which = jax.random.randint(keys[0], (sizes.tasks + sizes.fresh,), 0, sizes.dictionary)
    known, _ = Frame(dim - 1, rows).gaussian_rows(keys[1], rows)
    known = jnp.pad(known, ((0, 0), (noises + 1, frame.rank - room)))
    row, seen = _rows(which, sizes)
    outside_span = dim - sizes.dictionary - 1
    if noises < count:  # all dimensions that noise has: any axes will do
        noise = random.normal(keys[2], (count, noises))
    else:
        noise, _ = Frame(outside_span, count).gaussian_rows(keys[2], count)
    noise = jnp.pad(noise, ((0, 0), (0, frame.rank - noises)))
    left, more = outside_span - noises, jnp.asarray(sizes.dictionary - rows, noise.dtype)
    along_noise, along_features = _shares(keys[3], frame.rank - room, left, more)
    fresh_features, features_outside = _fresh_features(
        keys[4:6], noises, rows, along_features, dim - 1 - rows, more, sizes.fresh
    )
    there = seen[sizes.tasks :]
    named = known[row[sizes.tasks :]]
    fresh_noise, noise_outside = _fresh_noise(keys[6:8], noises, 1 + rows, along_noise, left, sizes)
    return Drawn(
        known[row[: sizes.tasks]],
        noise.reshape(sizes.tasks, sizes.samples, frame.rank),
        jnp.where(there[:, None], named, fresh_features),
        fresh_noise,
        (jnp.where(there, 0.0, features_outside), noise_outside),
        Frame(dim, frame.rank, room, room=room),
    )


def _rows(which: Int[Array, " n"], sizes: Sizes) -> tuple[Int[Array, " n"], Bool[Array, " n"]]:
    """The row of every task's feature among those with coordinates, and whether it has one.

    If all of the dictionary has, a row is its number; else it is the first observed task with it.
    """
    if sizes.rows == sizes.dictionary:
        return which, jnp.ones(which.shape, bool)
    same = which[:, None] == which[None, : sizes.tasks]
    return jnp.argmax(same, axis=1), same.any(1)


def _shares(
    key: Key[Array, ""], axes: int, left: Array, more: Array
) -> tuple[Float[Array, "axis axis"], Float[Array, "axis axis"]]:
    """A and B: how much of the filters' axes lies where noise is, and where features are."""
    if axes == 0:
        return jnp.zeros((0, 0)), jnp.zeros((0, 0))
    one, other = jax.random.split(key)
    noise, _ = Frame(left, axes).gaussian_rows(one, axes)
    features, _ = Frame(more, axes).gaussian_rows(other, axes)
    real = jnp.arange(axes) < left + more  # dimensions that there are for filters
    total = noise @ noise.T + features @ features.T
    total = jnp.where(real[:, None] & real[None], total, jnp.eye(axes))
    factor = jnp.linalg.cholesky(total)
    solve = lambda rows: jax.scipy.linalg.solve_triangular(factor, rows, lower=True)  # noqa: E731
    keep = real[:, None]
    return jnp.where(keep, solve(noise), 0.0), jnp.where(keep, solve(features), 0.0)


def _fresh_features(
    keys: Array, noises: int, rows: int, along: Array, degrees: Array, more: Array, count: int
) -> tuple[Float[Array, "fresh rank"], Float[Array, " fresh"]]:
    """Features that were not observed: normal along the observed ones, of the right length
    elsewhere, and in a random direction among those that the dictionary leaves."""
    axes = along.shape[0]
    normal = random.normal(keys[0], (count, rows + axes))
    length_key, rest_key = jax.random.split(keys[1])
    length = chi(length_key, jnp.full((count,), 1.0) * jnp.maximum(degrees, 1))
    inside = jnp.where((jnp.arange(axes) < more)[None], normal[:, rows:], 0.0)
    rest = chi(rest_key, jnp.full((count,), 1.0) * jnp.maximum(more - axes, 1))
    rest = jnp.where(more > axes, rest, 0.0)
    total = jnp.sqrt(jnp.sum(inside**2, axis=1) + rest**2)
    scale = length / jnp.where(total > 0, total, 1.0)
    shown = scale[:, None] * (inside @ along.T)
    before = jnp.zeros((count, noises + 1), shown.dtype)
    found = jnp.concatenate([before, normal[:, :rows], shown], axis=1)
    return found, jnp.maximum(length**2 - jnp.sum(shown**2, axis=1), 0.0)


def _fresh_noise(
    keys: Array, noises: int, between: int, along: Array, left: Array, sizes: Sizes
) -> tuple[Float[Array, "fresh sample rank"], Float[Array, "fresh sample sample"]]:
    """Noise of fresh tasks: normal along the training noise, shared out along the filters' axes,
    and a triangle of each task's own beyond."""
    axes, each = along.shape[0], sizes.fresh_samples
    shape = (sizes.fresh, each)
    normal = random.normal(keys[0], (*shape, noises + axes))
    inner = jnp.where((jnp.arange(axes) < left)[None, None], normal[..., noises:], 0.0)
    shown = inner @ along.T
    beyond = jax.vmap(lambda key: Frame(left - axes, each).gaussian_rows(key, each)[0])(
        jax.random.split(keys[1], sizes.fresh)
    )
    product = lambda rows: jnp.einsum("tid,tjd->tij", rows, rows)  # noqa: E731
    outside = product(inner) - product(shown) + product(beyond)
    gap = jnp.zeros((*shape, between), shown.dtype)
    return jnp.concatenate([normal[..., :noises], gap, shown], axis=2), outside


def labels(sizes: tuple[int, ...], balanced: bool, tasks: int, key: Key[Array, ""]) -> Array:
    """Labels of every task (task, sample): alternating within each part, or fair coins."""
    count = sum(sizes)
    if not balanced:
        return jax.random.rademacher(key, (tasks, count)).astype(float)
    signs = np.concatenate([np.where(np.arange(size) % 2 == 0, 1.0, -1.0) for size in sizes])
    return jnp.broadcast_to(jnp.asarray(signs, float)[None], (tasks, count))
