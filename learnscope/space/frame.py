"""Frames: the coordinates in which the vectors of a run are written.

Networks of this field see inputs only through inner products, and gradient descent never leaves
span{initial weights, directions, training vectors}. A run in R^d can therefore be written in an
orthonormal basis of that span, of `rank` coordinates instead of d:

- `turn` rotates vectors that were drawn in R^d into such coordinates: exact, path by path, for any
  distribution.
- `Frame.gaussian_rows` draws Gaussian vectors in such coordinates directly. Exact in law, and d is
  only a number: d = 400 and d = 10^9 are the same program at the same cost.

Why this is exact: let Z be `count` rows of i.i.d. normals in R^d, and let earlier vectors span the
first k coordinates. By rotation invariance the components along those k stay i.i.d. normal. The
rest is, up to a rotation that no inner product sees, the lower triangle of Bartlett's
decomposition: i.i.d. normals below the diagonal and chi(d - k - i) on it (i = 0, 1, ...). With
more rows than remaining dimensions, the triangle ends at the d-th coordinate.
"""

import dataclasses
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from learnscope.part import Number
from learnscope.space import random

# Each proposal of `chi` is rejected with probability below 0.05 (at one or two degrees of freedom;
# below 0.005 from 20 on), so that all ten fail less than once in 10^13 draws.
_PROPOSALS = 10
SPARE = _PROPOSALS
_WORTH = 4  # a basis must save this factor in coordinates
_FEW = 32  # most directions that are reflected one by one


def chi(key: Key[Array, ""], degrees: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    r"""Chi variables with `degrees` (> 0) degrees of freedom, accurate up to 10^9 in float32 too.

    Marsaglia and Tsang (2000) write Gamma(a) = b (1 + c x)^3 with b = a - 1/3, c = 1/sqrt(9 b), x
    normal, accepted with log u < x^2/2 + b (1 - v + log v), v = (1 + c x)^3. A chi variable is then
    sqrt(2b) (1 + c x)^{3/2}: it is formed from its deviation, since at 10^9 degrees its square has
    a float32 spacing of 64, and v - 1 cancels. A loop would not vectorise: ten proposals are drawn,
    and the first accepted one is the result.

    >>> import jax, jax.numpy as jnp
    >>> draws = chi(jax.random.key(0), jnp.full(2000, 1e9)) - jnp.sqrt(1e9)
    >>> bool(abs(draws.mean()) < 0.1), bool(abs(draws.std() - 0.5**0.5) < 0.05)
    (True, True)
    """
    degrees = jnp.asarray(degrees)
    normal_key, uniform_key = jax.random.split(key)
    x = random.normal(normal_key, (*degrees.shape, _PROPOSALS))
    u = random.uniform(uniform_key, (*degrees.shape, _PROPOSALS + 1))
    return chi_from(degrees, x, u)


def chi_from(
    degrees: Float[Array, "*shape"],
    x: Float[Array, "*shape proposal"],
    u: Float[Array, "*shape proposal_and_one"],
) -> Float[Array, "*shape"]:
    """Chi variables from normal and uniform ones (the last uniform is for degrees below 2)."""
    # The choice is made in single precision always, so that both precisions take the same one.
    accept = _accepted(*(v.astype(np.float32) for v in (_shifted(degrees), x, u[..., :-1])))
    first = jnp.argmax(accept, axis=-1, keepdims=True)
    b = _shifted(degrees)
    t = jnp.take_along_axis(x, first, axis=-1)[..., 0] * jax.lax.rsqrt(9 * b)
    root = jnp.sqrt(2 * b)
    value = root + root * jnp.expm1(1.5 * jnp.log1p(t))
    return jnp.where(degrees < 2, value * u[..., -1] ** (1 / degrees), value)


def _shifted(degrees: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """b: half of the degrees (two more, if they are below two), minus a third."""
    return jnp.where(degrees < 2, degrees / 2 + 1, degrees / 2) - 1 / 3


def _accepted(b: Array, x: Array, u: Array) -> Bool[Array, "*shape proposal"]:
    t = x * jax.lax.rsqrt(9 * b)[..., None]
    inside = t > -1
    e = jnp.where(inside, t * (3 + t * (3 + t)), 0)
    return inside & (jnp.log(u) < x**2 / 2 + b[..., None] * _log1p_minus(e))


def _log1p_minus(e: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """log(1 + e) - e without the cancellation at small e."""
    series = e**2 * (-1 / 2 + e * (1 / 3 + e * (-1 / 4 + e * (1 / 5 + e * (-1 / 6 + e / 7)))))
    return jnp.where(jnp.abs(e) < 0.03, series, jnp.log1p(e) - e)


def triangle(
    normal: Float[Array, "count count_and_proposals"],
    uniform: Float[Array, "count proposals_and_one"],
    dim: Number,
) -> Float[Array, "count count"]:
    """The lower triangle of Bartlett's decomposition of `count` normal vectors in `dim` dimensions,
    from given normal and uniform variables: `SPARE` normals per row beyond the triangle's, and
    `SPARE` + 1 uniforms per row."""
    count = normal.shape[0]
    degrees = jnp.asarray(dim, normal.dtype) - jnp.arange(count)
    diagonal = chi_from(jnp.maximum(degrees, 1), normal[:, count:], uniform)
    return jnp.tril(normal[:, :count], -1) + jnp.diag(diagonal)


class Frame(eqx.Module):
    """The coordinates of one draw: `rank` numbers per vector, for `dim` ambient dimensions.

    `used` is the number of coordinates taken so far. In an `ambient` frame rank = dim. `seen` is
    the number of coordinates in which fresh examples are drawn: those that weights may have (none:
    all). `room` is the data model's `span`: the coordinates set aside for it, fewer than its
    vectors where these fill all dimensions.
    """

    dim: Number
    rank: int = eqx.field(static=True)
    used: int = eqx.field(static=True, default=0)
    ambient: bool = eqx.field(static=True, default=False)
    seen: int | None = eqx.field(static=True, default=None)
    room: int | None = eqx.field(static=True, default=None)

    @staticmethod
    def of_dimension(dim: int) -> "Frame":
        """The ambient frame of R^dim."""
        return Frame(jnp.asarray(float(dim)), int(dim), ambient=True)

    def axes(self, count: int) -> tuple[Float[Array, "count rank"], "Frame"]:
        """The next `count` coordinate axes, as orthonormal directions, and the frame after them."""
        after = self._after(count)
        return jnp.eye(count, self.rank, self.used), after

    def gaussian_rows(
        self, key: Key[Array, ""], count: int
    ) -> tuple[Float[Array, "count rank"], "Frame"]:
        """`count` normal vectors that training may move along, and the frame after them."""
        if self.ambient:
            return random.normal(key, (count, self.rank)), self
        width = self._after(count).used + SPARE
        # One draw of each kind: random bits are most of a program's compile time.
        normal_key, uniform_key = jax.random.split(key)
        normal = random.normal(normal_key, (count, width))
        return self.rows_from(normal, random.uniform(uniform_key, (count, SPARE + 1)))

    def rows_from(
        self, normal: Float[Array, "count width"], uniform: Float[Array, "count proposals_and_one"]
    ) -> tuple[Float[Array, "count rank"], "Frame"]:
        """The same from given normal variables (as many per row as coordinates are used then, and
        some proposals of `chi`) and uniform ones (one more than proposals)."""
        after = self._after(len(normal))
        square = triangle(normal[:, self.used :], uniform, self.dim - self.used)
        rows = jnp.concatenate([normal[:, : self.used], square], axis=1)
        rows = jnp.where((jnp.arange(after.used) < self.dim)[None], rows, 0)  # only `dim` exist
        return jnp.pad(rows, ((0, 0), (0, self.rank - after.used))), after

    def gaussian_points(self, key: Key[Array, ""], count: int) -> Float[Array, "count rank"]:
        """`count` fresh standard normal vectors, for testing only. No weight has a component
        outside the frame: `rank` coordinates are enough."""
        # Stored by columns, which is fastest for probes (see `Columns`).
        return random.normal(key, (self.rank, count)).T

    def _after(self, count: int) -> "Frame":
        if self.used + count > self.rank:
            raise ValueError(
                f"a frame of rank {self.rank} has no room for {count} vectors after {self.used}: "
                "the data model's `span` or the net's `rows` counts too few."
            )
        return dataclasses.replace(self, used=self.used + count)


class AbstractTurn(eqx.Module):
    """A change of coordinates that keeps the inner products of certain vectors."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """The number of new coordinates."""

    @abstractmethod
    def __call__(self, vectors: Float[Array, "*shape dim"]) -> Float[Array, "*shape rank"]:
        """The same vectors in the new coordinates."""


class Basis(AbstractTurn):
    """Coordinates in an orthonormal basis."""

    rows: Float[Array, "rank dim"]

    @property
    def rank(self) -> int:
        return self.rows.shape[0]

    def __call__(self, vectors: Float[Array, "*shape dim"]) -> Float[Array, "*shape rank"]:
        return vectors @ self.rows.T


class Reflections(AbstractTurn):
    r"""The rotation of R^d that takes a few orthonormal rows to the first axes (up to signs), for
    use where all dimensions are needed anyway.

    It is a product of Householder reflections along unit rows $w_1, \dots, w_k$, written as
    $I - W^T T W$ (Bischof and Van Loan 1987), which costs two thin matrix products.
    """

    mirrors: Float[Array, "count dim"]
    weights: Float[Array, "count count"]

    @staticmethod
    def of(rows: Float[Array, "count dim"]) -> "Reflections":
        turned = Reflections(rows[:0], jnp.zeros((0, 0), rows.dtype))
        for i in range(rows.shape[0]):
            row = turned(rows[i]).at[:i].set(0.0)
            # The sign away from the axis, so that nothing cancels.
            mirror = row.at[i].add(jnp.where(row[i] < 0, -1.0, 1.0) * jnp.linalg.norm(row))
            turned = turned._then(mirror / jnp.linalg.norm(mirror))
        return turned

    def _then(self, mirror: Float[Array, " dim"]) -> "Reflections":
        """These reflections, then one more."""
        k = self.mirrors.shape[0]
        across = -2 * (mirror @ self.mirrors.T) @ self.weights
        weights = jnp.zeros((k + 1, k + 1), mirror.dtype)
        weights = weights.at[:k, :k].set(self.weights).at[k, :k].set(across).at[k, k].set(2.0)
        return Reflections(jnp.concatenate([self.mirrors, mirror[None]]), weights)

    @property
    def rank(self) -> int:
        return self.mirrors.shape[1]

    def __call__(self, vectors: Float[Array, "*shape dim"]) -> Float[Array, "*shape rank"]:
        return vectors - (vectors @ self.mirrors.T) @ (self.weights.T @ self.mirrors)


def orthonormal(*rows: Float[Array, "count dim"]) -> Float[Array, "rank dim"]:
    """An orthonormal basis of the span of all rows (and of more, if they are dependent): the n-th
    row lies in the span of the first n basis vectors."""
    return jnp.linalg.qr(jnp.concatenate(rows).T)[0].T


def turn(
    directions: list[Float[Array, "count dim"]], rest: list[Float[Array, "count dim"]]
) -> AbstractTurn:
    """Coordinates for the span of all rows; the directions span the first axes. A basis, which
    costs a QR decomposition, is used only where it saves enough coordinates."""
    count = sum(rows.shape[0] for rows in directions)
    more, dim = sum(rows.shape[0] for rows in rest), rest[0].shape[1]
    if 0 < count <= min(dim, _FEW) and dim <= _WORTH * (count + more):
        return Reflections.of(orthonormal(*directions))
    return Basis(orthonormal(*directions, *rest))
