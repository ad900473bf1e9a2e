"""A user's own functions, as fields of parts take them: in a module, so that they pickle."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Key


def flat_mlp(key: Key[Array, ""], size: int = 60, outputs: int | str = "scalar") -> eqx.Module:
    """A user's own model."""
    mlp = eqx.nn.MLP(in_size=size, out_size=outputs, width_size=4, depth=1, key=key)  # type: ignore[arg-type]
    return eqx.nn.Sequential([eqx.nn.Lambda(jnp.ravel), mlp])


def flat_mlp_of_classes(key: Key[Array, ""]) -> eqx.Module:
    """The same with one output a class."""
    return flat_mlp(key, 62, 3)


def own_link(z: Array) -> Array:
    """A user's own function of the projections."""
    return z[0] * jnp.tanh(z[-1])


def shared_and_own() -> list[list[list[float]]]:
    """Three matrices that leave three dimensions of 31 free."""
    return [
        [[float(i == j) * (i >= 3) * (1 + 2 * (i == 3 + k)) for j in range(31)] for i in range(31)]
        for k in range(3)
    ]
