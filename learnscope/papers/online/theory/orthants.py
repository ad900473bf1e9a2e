r"""Moments of normal variables where all of them are positive: the means that relu needs.

For $v \sim N(0, C)$ and $F = 1(v_1 > 0, \dots, v_k > 0)$, integration by parts (Stein) leads to
probabilities: with $C^{(j)}$ the covariance of the others given $v_j = 0$,

$$E\,v_a F = \sum_j \frac{C_{aj}}{\sqrt{2\pi C_{jj}}} P(C^{(j)}), \qquad
E\,v_a v_b F = C_{ab} P(C) + \sum_{j \ne b} \frac{C_{aj}}{\sqrt{2\pi C_{jj}}} E_{C^{(j)}}\,v_b F.$$

$P$ is elementary up to three variables (Sheppard). Four have no elementary form in general, but a
one-dimensional integral (Plackett 1954): correlations grow from 0 as $t \rho$, and

$$\frac{\partial P}{\partial \rho_{ij}} = \frac{1}{2\pi\sqrt{1 - \rho_{ij}^2}}
\left(\frac14 + \frac{1}{2\pi} \arcsin \rho_{kl \cdot ij}\right).$$
"""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Covariance = Float[Array, "variable variable"]
_PAIRS = list(itertools.combinations(range(4), 2))
_OTHERS = [tuple(sorted({0, 1, 2, 3} - set(pair))) for pair in _PAIRS]
_SMALL = 1e-14  # how far a correlation stays from 1


def _nodes(step: float = 0.125, most: float = 3.5) -> tuple[np.ndarray, np.ndarray]:
    """1 - t and weights of tanh-sinh quadrature on [0, 1], for integrands singular at the end."""
    x = np.arange(-most, most + step / 2, step)
    left = 1 / (1 + np.exp(math.pi * np.sinh(x)))
    return left, step * math.pi * np.cosh(x) * left * (1 - left)


_LEFT, _WEIGHTS = _nodes()


def arcsin(x: Array) -> Array:
    """arcsin, with the derivative 0 at the ends, where two variables are the same."""
    inside = jnp.abs(x) < 1 - _SMALL
    return jnp.where(inside, jnp.arcsin(jnp.where(inside, x, 0.0)), jnp.sign(x) * math.pi / 2)


def root(x: Array) -> Array:
    """The square root of a variance, which rounding may take below 0; the derivative at 0 is 0."""
    positive = x > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


def over(one: Array, other: Array) -> Array:
    """A quotient; 0 where the divisor is 0."""
    return jnp.where(other > 0, one / jnp.where(other > 0, other, 1.0), 0.0)


def _correlations(c: Covariance) -> Covariance:
    sizes = root(jnp.diag(c))
    return over(c, sizes[:, None] * sizes[None])


def _partial(r: Array, pair: tuple[int, ...], others: tuple[int, ...]) -> Array:
    """The correlation of two variables given that the other two, a pair, are 0."""
    (i, j), (k, m) = pair, others

    def given(a: int, b: int) -> Array:
        crossed = r[i, a] * r[j, b] + r[i, b] * r[j, a]
        return r[a, b] * (1 - r[i, j] ** 2) - (
            r[i, a] * r[i, b] + r[j, a] * r[j, b] - r[i, j] * crossed
        )

    return over(given(k, m), root(given(k, k)) * root(given(m, m)))


@jax.custom_jvp
def _four(r: Covariance) -> Float[Array, ""]:
    """The probability that four variables of these correlations are positive."""
    left, weights = jnp.asarray(_LEFT, r.dtype), jnp.asarray(_WEIGHTS, r.dtype)
    same = jnp.eye(4, dtype=r.dtype)

    def at(left: Array) -> Array:
        scaled = same + (1 - left) * (r - same)
        terms = [
            r[pair] / root((1 - r[pair] + left * r[pair]) * (1 + scaled[pair]))
            * arcsin(_partial(scaled, pair, others))
            for pair, others in zip(_PAIRS, _OTHERS, strict=True)
        ]  # fmt: skip
        return jnp.stack(terms).sum()

    first = sum(arcsin(r[pair]) for pair in _PAIRS) / (8 * math.pi)
    return 1 / 16 + first + weights @ jax.vmap(at)(left) / (4 * math.pi**2)


@_four.defjvp
def _(primals: tuple[Covariance], tangents: tuple[Covariance]) -> tuple[Array, Array]:
    (r,), (change,) = primals, tangents
    slopes = [
        over(change[pair], root(1 - r[pair] ** 2))
        * (1 / 4 + arcsin(_partial(r, pair, others)) / (2 * math.pi))
        for pair, others in zip(_PAIRS, _OTHERS, strict=True)
    ]
    return _four(r), sum(slopes) / (2 * math.pi)  # type: ignore[return-value]


def orthant(c: Covariance) -> Float[Array, ""]:
    """The probability that all of at most four variables are positive.

    >>> import jax.numpy as jnp
    >>> half = jnp.full((3, 3), 0.5) + 0.5 * jnp.eye(3)
    >>> round(float(orthant(half)), 6)
    0.25
    """
    r, count = _correlations(c), len(c)
    if count == 4:
        return _four(r)
    pairs = sum(
        (arcsin(r[pair]) for pair in itertools.combinations(range(count), 2)), jnp.zeros(())
    )
    return 0.5**count + pairs / (2**count * math.pi / 2)


def _given(c: Covariance, j: int) -> tuple[Float[Array, " variable"], Covariance]:
    """The covariances with variable j, over its deviation times sqrt(2 pi), and the covariance of
    the others where it is 0."""
    others = np.delete(np.arange(len(c)), j)
    size = root(c[j, j])
    each = over(c[j], size)
    rest = each[others]
    return each / math.sqrt(2 * math.pi), c[np.ix_(others, others)] - rest[:, None] * rest[None]


def first(c: Covariance, a: int) -> Float[Array, ""]:
    """E v_a where all are positive."""
    found = [_given(c, j) for j in range(len(c))]
    return jnp.stack([each[a] * orthant(rest) for each, rest in found]).sum()


def second(c: Covariance, a: int, b: int) -> Float[Array, ""]:
    """E v_a v_b where all are positive."""
    whole = c[a, b] * orthant(c)
    for j in range(len(c)):
        if j != b:
            each, rest = _given(c, j)
            whole += each[a] * first(rest, b - (j < b))
    return whole
