r"""Means over fresh examples that move the overlaps, as functions of the overlaps.

With pre-activations $h$ of the student and projections $z$ on the teacher, normal of covariance
$(Q, M; M^T, I)$, the error signal $\delta$ (f - y for the squared loss, -y for the correlation
loss) and slopes $s_i = a_i \sigma'(h_i)$:

- `along`: $E\, s_i \delta\, (h, z)$;
- `squares`: $E\, s_i s_j \delta^2$.

Closed forms are of $I_3 = E\,\sigma'(v_1) v_2 \sigma(v_3)$ and
$I_4 = E\,\sigma'(v_1) \sigma'(v_2) \sigma(v_3) \sigma(v_4)$, with $C$ the covariance of the
variables that are numbered: those of Saad and Solla (1995) for $\sigma(z) = erf(z / \sqrt2)$, and
those of `orthants` for relu. Everything else is a sum over Gauss-Hermite nodes.
"""

import itertools
import math
from collections import defaultdict
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from learnscope.data import Link, link_of
from learnscope.nets import normal_grid, shape_of
from learnscope.papers.online.theory import orthants
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
        forms = {"erf": closed_moments, "relu": rectified_moments}
        known = self.activation == self.link and self.activation in forms
        return (forms[self.activation] if known else sampled_moments)(self, at)


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
    c, signs, i, every = _variables(task, at)
    third = _third(c, i[:, None, None], every[None, :, None], every[None, None, :])
    along = task.second[:, None] * (third @ signs)
    one, two = i[:, None, None, None], i[None, :, None, None]
    fourth = _fourth(c, one, two, every[None, None, :, None], every[None, None, None, :])
    squares = (fourth @ signs) @ signs + task.noise**2 * _slopes(c, i[:, None], i[None, :])
    return Moments(along, task.second[:, None] * task.second[None] * squares)


def rectified_moments(task: Task, at: Overlap) -> Moments:
    """The means for relu, in closed form (four different variables: a one-dimensional integral)."""
    c, signs, i, every = _variables(task, at)
    one, two, three = i[:, None, None], every[None, :, None], every[None, None, :]
    rest = orthants.root(c[three, three] - orthants.over(c[one, three] ** 2, c[one, one]))
    edge = orthants.over(c[one, two], orthants.root(c[one, one])) * rest / (2 * math.pi)
    third = c[two, three] * _both_positive(c, one, three) + edge
    fourth = _rectified_fourth(c, len(i))
    slopes = _both_positive(c, i[:, None], i[None, :])
    squares = (fourth @ signs) @ signs + task.noise**2 * slopes
    along = task.second[:, None] * (third @ signs)
    return Moments(along, task.second[:, None] * task.second[None] * squares)


def _variables(task: Task, at: Overlap) -> tuple[Array, Array, np.ndarray, np.ndarray]:
    """The covariance of h and z, the factor of each output in the error signal, and the numbers of
    the student's variables and of all."""
    width, directions = at.teacher.shape
    same = jnp.eye(directions, dtype=at.teacher.dtype)
    c = jnp.block([[at.student, at.teacher], [at.teacher.T, same]])
    signs = task.second if task.squared else jnp.zeros_like(task.second)
    signs = jnp.concatenate([signs, -jnp.ones(directions, signs.dtype)])
    return c, signs, np.arange(width), np.arange(width + directions)


def _both_positive(c: Array, one: np.ndarray, two: np.ndarray) -> Array:
    sizes = orthants.root(c[one, one]) * orthants.root(c[two, two])
    return 1 / 4 + orthants.arcsin(orthants.over(c[one, two], sizes)) / (2 * math.pi)


def _rectified_fourth(c: Array, width: int) -> Float[Array, "filter filter variable variable"]:
    """E 1(v1 > 0) 1(v2 > 0) relu(v3) relu(v4), by how many of them are different variables."""
    alike: dict[tuple[int, int], dict[tuple[int, ...], list[tuple[int, ...]]]] = {}
    for place in itertools.product(*[range(width)] * 2, *[range(len(c))] * 2):
        (i, j), (n, m) = sorted(place[:2]), sorted(place[2:])
        chosen = tuple(dict.fromkeys((n, m, i, j)))
        kind = alike.setdefault((len(chosen), int(n != m)), defaultdict(list))
        kind[chosen].append(place)
    found = jnp.zeros((width, width, len(c), len(c)), c.dtype)
    for (_, last), groups in alike.items():
        rows = np.array(list(groups))
        values = jax.vmap(lambda c, last=last: orthants.second(c, 0, last))(
            c[rows[:, :, None], rows[:, None, :]]
        )
        sizes = [len(places) for places in groups.values()]
        places = np.array([place for group in groups.values() for place in group])
        found = found.at[tuple(places.T)].set(values[np.repeat(np.arange(len(rows)), sizes)])
    return found


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
