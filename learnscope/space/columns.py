"""How patches are stored: by columns, or cut to the coordinates that they use."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from learnscope.space.sparse import SparsePatches


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


def padded(vectors: Float[Array, "*shape width"], rank: int) -> Float[Array, "*shape rank"]:
    """Vectors that were cut to the coordinates that they use, with all `rank` coordinates."""
    return jnp.pad(vectors, [(0, 0)] * (vectors.ndim - 1) + [(0, rank - vectors.shape[-1])])


def one_array(
    patches: Sequence[Float[Array, "n *patch width"] | SparsePatches], rank: int
) -> Float[Array, "n patch rank"]:
    """Patches in several arrays, cut to different widths or sparse, as one array."""
    whole = [each.dense() if isinstance(each, SparsePatches) else padded(each, rank)
             for each in patches]  # fmt: skip
    return jnp.concatenate([each.reshape(len(each), -1, rank) for each in whole], axis=1)
