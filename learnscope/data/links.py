r"""Links: the functions of a few projections that labels are made of.

A shape is a function of one number. Hermite polynomials are those of the normal law, with mean
square 1: $he_k = He_k / \sqrt{k!}$.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Values = Float[Array, "*shape"]
Link = Callable[[Float[Array, " direction"]], Float[Array, ""]]


def linear(z: Values) -> Values:
    """z."""
    return z


def relu(z: Values) -> Values:
    """max(z, 0); the mask is false for NaN, which stays NaN."""
    return jnp.where(z <= 0, 0, z)


def erf(z: Values) -> Values:
    """erf(z / sqrt 2) (Saad and Solla 1995)."""
    return jax.lax.erf(z * 0.5**0.5)


def he2(z: Values) -> Values:
    """(z^2 - 1) / sqrt 2."""
    return (z * z - 1) * 0.5**0.5


def he3(z: Values) -> Values:
    """(z^3 - 3 z) / sqrt 6."""
    return z * (z * z - 3) * 6**-0.5


def he4(z: Values) -> Values:
    """(z^4 - 6 z^2 + 3) / sqrt 24."""
    square = z * z
    return (square * (square - 6) + 3) * 24**-0.5


def product(z: Float[Array, "*shape direction"]) -> Values:
    """The product of the signs of all projections: a parity."""
    return jnp.sign(z).prod(-1)


def staircase(z: Float[Array, "*shape direction"]) -> Values:
    """z_1 + z_1 z_2 + z_1 z_2 z_3 + ... (Abbe et al. 2022)."""
    return jnp.cumprod(z, -1).sum(-1)


SHAPES: dict[str, Callable[[Values], Values]] = {
    function.__name__: function for function in (linear, relu, erf, he2, he3, he4)
}
JOINT: dict[str, Callable[[Array], Values]] = {f.__name__: f for f in (product, staircase)}


def link_of(link: str | Link) -> Callable[[Float[Array, "n direction"]], Float[Array, " n"]]:
    """The link of many examples: a shape by name, summed over the directions; a joint function by
    name; or a user's own function of the projections of one example.

    >>> import jax.numpy as jnp
    >>> z = jnp.array([[1.0, -2.0], [3.0, 4.0]])
    >>> [link_of(link)(z).tolist() for link in ("linear", "product", lambda z: z.max())]
    [[-1.0, 7.0], [-1.0, 1.0], [1.0, 4.0]]
    """
    if not isinstance(link, str):
        return jax.vmap(link)
    if link in JOINT:
        return JOINT[link]
    return lambda z: SHAPES[link](z).sum(-1)
