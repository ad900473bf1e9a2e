r"""Links: the functions of a few projections that labels are made of.

A shape is a function of one number. Hermite polynomials are those of the normal law, with mean
square 1: $he_k = He_k / \sqrt{k!}$.
"""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
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


@dataclasses.dataclass(frozen=True)
class SignOf:
    """The sign of a link: labels of two classes."""

    link: str | Link

    def __call__(self, z: Float[Array, " direction"]) -> Float[Array, ""]:
        return jnp.where(link_of(self.link)(z[None])[0] < 0, -1.0, 1.0)


def half_space(link: str | Link, directions: int) -> bool:
    """Whether labels are the signs of the sum of all projections."""
    if not isinstance(link, SignOf):
        return False
    return link.link == "linear" or (link.link == "erf" and directions <= 2)


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


@functools.lru_cache(maxsize=256)
def link_fault(link: Link, directions: int) -> str | None:
    """What is wrong with a user's link of so many projections, or None.

    >>> link_fault(lambda z: z, 2)
    'it returns the shape (2,) for the 2 projections of one example: it must be one number'
    """
    many = f"the {directions} projections of one example"
    try:  # JAX clamps a number that is out of range; NumPy says it
        with jax.disable_jit():
            link(np.full(directions, 0.5, np.float32))  # type: ignore[arg-type]
    except IndexError as error:
        return f"it takes more than {many} ({error})"
    except Exception:  # what cannot take an array of NumPy may take one of JAX
        pass
    try:
        found = jax.eval_shape(link, jax.ShapeDtypeStruct((directions,), jnp.float32))
    except jax.errors.TracerArrayConversionError:
        return "it must be traceable: functions of NumPy are not, those of jax.numpy are"
    except jax.errors.ConcretizationTypeError:  # of which a boolean is a kind
        return "it must be traceable: use jnp.where in place of if, and, or, float(...)"
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"]
        return f"it fails for {many} ({type(error).__name__}: {lines[0].rstrip('.')})"
    if not hasattr(found, "shape") or not hasattr(found, "dtype"):
        return f"it must return one number for {many}, not {type(found).__name__}"
    if found.shape:
        return f"it returns the shape {found.shape} for {many}: it must be one number"
    if jnp.issubdtype(found.dtype, jnp.complexfloating):
        return f"it must return a real number for {many}"
    return None
