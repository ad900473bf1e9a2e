r"""Means over fresh examples that move the overlaps, as functions of the overlaps.

With pre-activations $h$ of the student and projections $z$ on the teacher, normal of covariance
$(Q, M; M^T, I)$, the error signal $\delta$ (f - y for the squared loss, -y for the correlation
loss) and slopes $s_i = a_i \sigma'(h_i)$:

- `along`: $E\, s_i \delta\, (h, z)$;
- `squares`: $E\, s_i s_j \delta^2$.

Closed forms are those of Saad and Solla (1995) for $\sigma(z) = erf(z / \sqrt2)$: with $C$ the
covariance of the variables that are numbered,
$I_3 = E\,\sigma'(v_1) v_2 \sigma(v_3)$ and $I_4 = E\,\sigma'(v_1) \sigma'(v_2) \sigma(v_3)
\sigma(v_4)$. Everything else is a sum over Gauss-Hermite nodes.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Link, link_of
from learnscope.nets import normal_grid, shape_of
from learnscope.part import Number


class Overlap(NamedTuple):
    """M and Q."""

    teacher: Float[Array, "filter direction"]
    student: Float[Array, "filter filter"]

    @property
    def outside(self) -> Float[Array, "filter filter"]:
        """A root of Q - M M^T: the filters in coordinates outside the teacher."""
        left = self.student - self.teacher @ self.teacher.T
        size = jnp.trace(left) + 1e-30
        return jnp.linalg.cholesky(left + 1e-12 * size * jnp.eye(len(left), dtype=left.dtype))


class Moments(NamedTuple):
    """What moves the overlaps."""

    along: Float[Array, "filter variable"]  # the student's variables first
    squares: Float[Array, "filter filter"]


class Task(NamedTuple):
    """Which student learns which teacher, by which loss."""

    activation: str
    link: str | Link
    second: Float[Array, " filter"]
    noise: Number
    squared: bool

    def moments(self, at: Overlap) -> Moments:
        closed = self.activation == self.link == "erf"
        return closed_moments(self, at) if closed else sampled_moments(self, at)


def sampled_moments(task: Task, at: Overlap) -> Moments:
    """The means as sums over nodes."""
    width, directions = at.teacher.shape
    nodes, weights = (jnp.asarray(v, at.teacher.dtype) for v in normal_grid(width + directions))
    z, free = nodes[:, :directions], nodes[:, directions:]
    h = z @ at.teacher.T + free @ at.outside.T
    shape, y = shape_of(task.activation), link_of(task.link)(z)
    outputs, slopes = jax.jvp(shape, (h,), (jnp.ones_like(h),))
    delta = outputs @ task.second - y if task.squared else -y
    slopes = task.second[None] * slopes
    along = (weights * delta)[:, None] * slopes
    squares = (weights * (delta**2 + task.noise**2))[:, None] * slopes
    return Moments(along.T @ jnp.concatenate([h, z], axis=1), squares.T @ slopes)


def closed_moments(task: Task, at: Overlap) -> Moments:
    """The means for the error function, in closed form."""
    width, directions = at.teacher.shape
    same = jnp.eye(directions, dtype=at.teacher.dtype)
    c = jnp.block([[at.student, at.teacher], [at.teacher.T, same]])
    signs = task.second if task.squared else jnp.zeros_like(task.second)
    signs = jnp.concatenate([signs, -jnp.ones(directions, signs.dtype)])
    i = jnp.arange(width)
    every = jnp.arange(width + directions)
    third = _third(c, i[:, None, None], every[None, :, None], every[None, None, :])
    along = task.second[:, None] * (third @ signs)
    one, two = i[:, None, None, None], i[None, :, None, None]
    fourth = _fourth(c, one, two, every[None, None, :, None], every[None, None, None, :])
    squares = (fourth @ signs) @ signs + task.noise**2 * _slopes(c, i[:, None], i[None, :])
    return Moments(along, task.second[:, None] * task.second[None] * squares)


def _third(c: Array, one: Array, two: Array, three: Array) -> Array:
    """I3."""
    own = 1 + c[one, one]
    root = jnp.sqrt(own * (1 + c[three, three]) - c[one, three] ** 2)
    return 2 / math.pi * (c[two, three] * own - c[one, two] * c[one, three]) / (own * root)


def _determinant(c: Array, one: Array, two: Array) -> Array:
    return (1 + c[one, one]) * (1 + c[two, two]) - c[one, two] ** 2


def _slopes(c: Array, one: Array, two: Array) -> Array:
    """E sigma'(v1) sigma'(v2)."""
    return 2 / math.pi / jnp.sqrt(_determinant(c, one, two))


def _fourth(c: Array, one: Array, two: Array, three: Array, four: Array) -> Array:
    """I4."""
    whole = _determinant(c, one, two)

    def reduced(a: Array, b: Array, own: Array | float) -> Array:
        """The covariance of two outputs given the two slopes' variables, times `whole`."""
        return (
            whole * (own + c[a, b])
            - c[two, a] * c[two, b] * (1 + c[one, one])
            - c[one, a] * c[one, b] * (1 + c[two, two])
            + c[one, two] * (c[one, a] * c[two, b] + c[one, b] * c[two, a])
        )

    size = jnp.sqrt(reduced(three, three, 1.0) * reduced(four, four, 1.0))
    angle = jnp.arcsin(reduced(three, four, 0.0) / size)
    return 4 / math.pi**2 * angle / jnp.sqrt(whole)
