"""`Columns`: patches with coordinates as the leading axis."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree


class Columns(eqx.Module):
    """Patches with coordinates as the leading axis. The engine stores compressed test sets this
    way: a product with few filters then streams through memory, which halves the time to evaluate a
    network on many examples."""

    values: Float[Array, "width *shape"]

    @staticmethod
    def of(patches: Float[Array, "*shape width"]) -> "Columns":
        return Columns(jnp.moveaxis(patches, -1, 0))

    @staticmethod
    def undone(tree: PyTree) -> PyTree:
        """The same tree with all patches as plain arrays, examples first."""

        def back(node):
            return jnp.moveaxis(node.values, 0, -1) if isinstance(node, Columns) else node

        return jax.tree.map(back, tree, is_leaf=lambda node: isinstance(node, Columns))
