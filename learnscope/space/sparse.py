"""Patches of which few coordinates are not zero."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


class SparsePatches(eqx.Module):
    """One patch of each example, in R^dim: the places of its coordinates that are not zero, and
    their values. A product with filters, and its gradient, cost what these are.

    >>> import jax.numpy as jnp
    >>> patches = SparsePatches(jnp.array([[2, 0]]), jnp.array([[3.0, 1.0]]), 4)
    >>> patches.dense().tolist(), patches.inner(jnp.arange(4.0)[None]).tolist()
    ([[1.0, 0.0, 3.0, 0.0]], [[6.0]])
    """

    places: Int[Array, "n coordinate"]
    values: Float[Array, "n coordinate"]
    dim: int = eqx.field(static=True)

    def inner(self, filters: Float[Array, "filter dim"]) -> Float[Array, "filter n"]:
        """<filter, patch>."""
        return (filters[:, self.places] * self.values[None]).sum(-1)

    def dense(self) -> Float[Array, "n dim"]:
        """All coordinates."""
        rows = jnp.arange(len(self.places))[:, None]
        whole = jnp.zeros((len(self.places), self.dim), self.values.dtype)
        return whole.at[rows, self.places].add(self.values)
