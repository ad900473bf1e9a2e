r"""Means over fresh examples that move the overlaps, as functions of the overlaps.

With pre-activations $h$ of the student and projections $z$ on the teacher, normal of covariance
$(Q, M; M^T, I)$, the error signal $\delta$ (f - y for the squared loss, -y for the correlation
loss) and slopes $s_i = a_i \sigma'(h_i)$:

- `along`: $E\, s_i \delta\, (h, z)$;
- `squares`: $E\, s_i s_j \delta^2$.

Closed forms are of $I_3 = E\,\sigma'(v_1) v_2 \sigma(v_3)$ and
$I_4 = E\,\sigma'(v_1) \sigma'(v_2) \sigma(v_3) \sigma(v_4)$, with $C$ the covariance of the
variables that are numbered: those of Saad and Solla (1995) for $\sigma(z) = erf(z / \sqrt2)$, and
those of `orthants` for relu. Everything else is a sum over Gauss-Hermite nodes: of all variables,
or, if they are more than five and labels are sums over the directions, of up to four at a time. For
labels that are signs, $y$ has its mean over noise, $erf(\phi / (\sigma \sqrt2))$, and its variance.
"""

import itertools
import math
from collections import defaultdict
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from learnscope.data import SHAPES, Link, SignOf, link_of
from learnscope.nets import at_nodes, shape_of
from learnscope.papers.online.theory import orthants
from learnscope.part import Number
from learnscope.probes import link_nodes, output_means

Index = Array | np.ndarray
_MOST = 5  # variables of a grid
_POLYNOMIALS = {"linear", "he2", "he3", "he4", "quadratic", "cubic"}  # up to the degree 4
_EXACT = 8  # nodes: means of their products, up to the degree 15


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
        if self.activation == self.link and self.activation in forms:
            return forms[self.activation](self, at)
        many = sum(at.teacher.shape) > _MOST and self.link in SHAPES
        return (paired_moments if many else sampled_moments)(self, at)

    def outer(self, at: Overlap) -> Float[Array, " filter"]:
        """E sigma(h_i) delta: the gradient of the second layer."""
        if isinstance(self.link, SignOf):
            outputs, _, delta, _, weights = _at_nodes(self, at)
            return (weights * delta) @ outputs
        squares, products, _ = output_means(self.activation, self.link, *at)
        return (squares @ self.second if self.squared else 0.0) - products


def sampled_moments(task: Task, at: Overlap) -> Moments:
    """The means as sums over nodes."""
    _, (h, z, slopes), delta, variance, weights = _at_nodes(task, at)
    along = (weights * delta)[:, None] * slopes
    squares = (weights * (delta**2 + variance))[:, None] * slopes
    return Moments(along.T @ jnp.concatenate([h, z], axis=1), squares.T @ slopes)


def _at_nodes(
    task: Task, at: Overlap
) -> tuple[Array, tuple[Array, Array, Array], Array, Array | Number, Array]:
    """At nodes of all variables: outputs; h, z and s; delta, its variance, and the weights."""
    width, directions = at.teacher.shape
    if {task.activation, task.link} <= _POLYNOMIALS:
        nodes, weights = at_nodes(at.teacher.dtype, directions + width, count=_EXACT)
    else:
        nodes, weights = link_nodes(task.link, directions, at.teacher.dtype, free=width)
    z, free = nodes[:, :directions], nodes[:, directions:]
    h = z @ at.teacher.T + free @ at.outside.T
    outputs, slopes = jax.jvp(shape_of(task.activation), (h,), (jnp.ones_like(h),))
    if isinstance(task.link, SignOf):
        noisy = jnp.where(task.noise > 0, task.noise, 1.0)
        mean = jax.lax.erf(link_of(task.link.link)(z) / noisy * 0.5**0.5)
        y = jnp.where(task.noise > 0, mean, link_of(task.link)(z))
        variance = 1 - y**2
    else:
        y, variance = link_of(task.link)(z), task.noise**2
    delta = outputs @ task.second - y if task.squared else -y
    return outputs, (h, z, task.second[None] * slopes), delta, variance, weights


def paired_moments(task: Task, at: Overlap) -> Moments:
    """The means as sums over nodes of up to four variables: for labels that are sums over the
    directions, and any number of filters and directions."""
    c, signs, own, every = _variables(task, at)
    shapes = shape_of(task.activation), shape_of(str(task.link))
    exact = {task.activation, str(task.link)} <= _POLYNOMIALS

    def neurons(v: Array, place: Array) -> Array:
        return jnp.where(place < len(own), shapes[0](v), shapes[1](v))

    def slope(v: Array) -> Array:
        return jax.jvp(shapes[0], (v,), (jnp.ones_like(v),))[1]

    def third(place: Array) -> Float[Array, " variable"]:
        """E s_i y_m v for all v, which are sums of the two and of what is independent of both."""
        root, (nodes, weights) = _root(c[place[:, None], place]), at_nodes(c.dtype, 2)
        one, two = root @ nodes.T
        means = (weights * slope(one) * neurons(two, place[1])) @ nodes
        first = orthants.over(c[place[0]], root[0, 0])
        second = orthants.over(c[place[1]] - root[1, 0] * first, root[1, 1])
        return first * means[0] + second * means[1]

    def fourth(place: Array) -> Float[Array, ""]:
        nodes, weights = at_nodes(c.dtype, 4, count=_EXACT if exact else None)
        v = _root(c[place[:, None], place]) @ nodes.T
        both = slope(v[0]) * slope(v[1])
        return weights @ (both * neurons(v[2], place[2]) * neurons(v[3], place[3]))

    pairs = np.array([(i, m) for i in own for m in every])
    thirds = jax.lax.map(third, jnp.asarray(pairs)).reshape(len(own), len(c), len(c))
    along = jnp.einsum("imv,m->iv", thirds, signs)
    chosen = np.array([(i, j, n, m) for i in own for j in own if i <= j
                       for n in every for m in every if n <= m])  # fmt: skip
    found = jax.lax.map(fourth, jnp.asarray(chosen), batch_size=64)
    i, j, n, m = chosen.T
    terms = found * signs[n] * signs[m] * np.where(n == m, 1.0, 2.0)
    squares = jnp.zeros_like(at.student).at[i, j].add(terms)
    squares = squares + jnp.triu(squares, 1).T

    def slopes(place: Array) -> Float[Array, ""]:
        nodes, weights = at_nodes(c.dtype, 2)
        one, two = _root(c[place[:, None], place]) @ nodes.T
        return weights @ (slope(one) * slope(two))

    noisy = jax.lax.map(slopes, jnp.asarray([(i, j) for i in own for j in own]))
    squares = squares + task.noise**2 * noisy.reshape(squares.shape)
    both = task.second[:, None] * task.second[None]
    return Moments(task.second[:, None] * along, both * squares)


def _root(c: Array) -> Array:
    """A lower triangular root of a covariance; variables may be the same."""
    rows: list[list[Array]] = []
    for i in range(len(c)):
        row: list[Array] = []
        for j in range(i):
            rest = c[i, j] - sum((a * b for a, b in zip(row, rows[j], strict=False)), 0.0)
            row.append(orthants.over(rest, rows[j][j]))
        pivot = c[i, i] - sum((a * a for a in row), 0.0)
        row.append(orthants.root(jnp.where(pivot > 1e-12 * c[i, i], pivot, 0.0)))
        rows.append(row)
    zero = jnp.zeros((), c.dtype)
    return jnp.stack([jnp.stack(row + [zero] * (len(c) - len(row))) for row in rows])


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


def _both_positive(c: Array, one: Index, two: Index) -> Array:
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


def _third(c: Array, one: Index, two: Index, three: Index) -> Array:
    """I3."""
    own = 1 + c[one, one]
    root = jnp.sqrt(own * (1 + c[three, three]) - c[one, three] ** 2)
    return 2 / math.pi * (c[two, three] * own - c[one, two] * c[one, three]) / (own * root)


def _determinant(c: Array, one: Index, two: Index) -> Array:
    return (1 + c[one, one]) * (1 + c[two, two]) - c[one, two] ** 2


def _slopes(c: Array, one: Index, two: Index) -> Array:
    """E sigma'(v1) sigma'(v2)."""
    return 2 / math.pi / jnp.sqrt(_determinant(c, one, two))


def _fourth(c: Array, one: Index, two: Index, three: Index, four: Index) -> Array:
    """I4."""
    whole = _determinant(c, one, two)

    def reduced(a: Index, b: Index, own: Array | float) -> Array:
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
