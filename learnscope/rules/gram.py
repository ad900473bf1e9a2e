"""Inner products of vectors that are patches: Gram matrices, and what test patches see."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from learnscope.data import Samples
from learnscope.nets import inner
from learnscope.space import Columns, padded

# One array per array of patches, each (filter, example, *patch): pre-activations or coefficients.
Seen = tuple[Float[Array, "filter n *patch"], ...]


def rows_of(leaf: Float[Array, "n *patch width"]) -> Float[Array, "row width"]:
    return leaf.reshape(-1, leaf.shape[-1])


def flat_of(leaf: Float[Array, "filter n *patch"]) -> Float[Array, "filter row"]:
    return leaf.reshape(leaf.shape[0], -1)


class Gram(eqx.Module):
    """The inner products of vectors that may be cut after their last coordinate.

    The first few coordinates of all vectors are kept as they are (a signal patch may have one);
    for the other coordinates of the wide ones there is a square matrix.
    """

    first: Float[Array, "row few"]
    square: Float[Array, "wide wide"]
    wide: tuple[bool, ...] = eqx.field(static=True)

    @staticmethod
    def of(leaves: list[Float[Array, "n *patch width"]]) -> "Gram":
        first, few, beyond = first_and_rest(leaves)
        return Gram(first, beyond @ beyond.T, tuple(leaf.shape[-1] > few for leaf in leaves))

    def __call__(self, along: Seen) -> Seen:
        """What a move with these coefficients changes of what the vectors see."""
        flat = [flat_of(leaf) for leaf in along]
        sizes = [table.shape[1] for table in flat]
        moved = [jnp.zeros_like(table) for table in flat]
        if self.first.shape[1] > 0:
            moved = _split(joined_rows(flat) @ self.first @ self.first.T, sizes)
        if any(self.wide):
            which = [i for i, is_wide in enumerate(self.wide) if is_wide]
            beyond = joined_rows([flat[i] for i in which]) @ self.square
            for i, part in zip(which, _split(beyond, [sizes[i] for i in which]), strict=True):
                moved[i] = moved[i] + part if self.first.shape[1] > 0 else part
        return tuple(m.reshape(leaf.shape) for m, leaf in zip(moved, along, strict=True))


def first_and_rest(
    leaves: list[Float[Array, "n *patch width"]],
) -> tuple[Float[Array, "row few"], int, Float[Array, "wide rest"]]:
    """The first few coordinates of all vectors, how many, and the others of the wide ones."""
    few = cheapest([leaf.shape for leaf in leaves])
    most = max(leaf.shape[-1] for leaf in leaves)
    tables = [padded(rows_of(leaf), most) for leaf in leaves]
    rest = [t[:, few:] for t, leaf in zip(tables, leaves, strict=True) if leaf.shape[-1] > few]
    beyond = jnp.concatenate(rest) if rest else jnp.zeros((0, 1), tables[0].dtype)
    return jnp.concatenate(tables)[:, :few], few, beyond


def joined_rows(tables: list[Float[Array, "filter row"]]) -> Float[Array, "filter row"]:
    return tables[0] if len(tables) == 1 else jnp.concatenate(tables, axis=1)


def _split(table: Float[Array, "filter row"], sizes: list[int]) -> list[Array]:
    return jnp.split(table, np.cumsum(sizes)[:-1], axis=1)


def own_gram(x: PyTree[Float[Array, "n *patch width"]]) -> Float[Array, "n patch patch"]:
    """The inner products of each example's own patches."""
    arrays = [leaf.reshape(leaf.shape[0], -1, leaf.shape[-1]) for leaf in jax.tree.leaves(x)]

    def product(left: Array, right: Array) -> Array:
        width = min(left.shape[-1], right.shape[-1])
        return jnp.einsum("npd,nqd->npq", left[..., :width], right[..., :width])

    blocks = [jnp.concatenate([product(a, b) for b in arrays], axis=2) for a in arrays]
    return jnp.concatenate(blocks, axis=1)


def cheapest(shapes: list[tuple[int, ...]]) -> int:
    """The number of coordinates to keep: a product costs least."""
    return min({0, *(shape[-1] for shape in shapes)}, key=lambda few: gram_cost(shapes, few))


def gram_cost(shapes: list[tuple[int, ...]], few: int) -> int:
    """The multiplications of a product with a Gram matrix, for one filter."""
    rows = [(math.prod(shape[:-1]), shape[-1]) for shape in shapes]
    wide = sum(n for n, width in rows if width > few)
    return 2 * few * sum(n for n, _ in rows) + wide**2


class Tested(eqx.Module):
    """What the test patches see at the `start`, and their inner products with the training vectors
    (`across`), in the parts of a Gram matrix. With fewer vectors than coordinates, outputs on many
    test examples are cheaper from these than from weights."""

    start: Seen
    first: tuple[Float[Array, "few row"], ...]
    across: tuple[Float[Array, "wide row"], ...]

    @staticmethod
    def of(x: list[Array], test: Samples, filters: Float[Array, "filter dim"]) -> "Tested | None":
        few, beyond = first_and_rest(x)[1:]
        leaves = jax.tree.leaves(test.x, is_leaf=lambda node: isinstance(node, Columns))
        if not all(isinstance(leaf, Columns) for leaf in leaves) or not leaves:
            return None
        tables = [leaf.values.reshape(leaf.values.shape[0], -1) for leaf in leaves]
        if few + len(beyond) >= max(len(table) for table in tables):
            return None
        rest = [table[few:] for table in tables]
        across = [beyond[:, : len(table)] @ table[: beyond.shape[1]] for table in rest]
        return Tested(inner(filters, test.x), tuple(t[:few] for t in tables), tuple(across))

    def seen(self, gram: Gram, moved: Seen) -> Seen:
        """What the test patches see after a displacement with given coefficients."""
        flat = [flat_of(leaf) for leaf in moved]
        first = joined_rows(flat) @ gram.first
        wide = joined_rows(
            [f for f, is_wide in zip(flat, gram.wide, strict=True) if is_wide] or flat
        )
        found = []
        for start, direct, across in zip(self.start, self.first, self.across, strict=True):
            some = first[:, : len(direct)]
            change = some * direct if len(direct) == 1 else some @ direct
            change = change + wide @ across if across.size else change
            found.append(start + change.reshape(start.shape))
        return tuple(found)


def by_patch(seen: Seen) -> list[Float[Array, "filter n"]]:
    """The arrays of every patch; patches are arrays of their own, or an axis of one."""
    arrays = [leaf.reshape(*leaf.shape[:2], -1) for leaf in seen]
    return [leaf[:, :, i] for leaf in arrays for i in range(leaf.shape[2])]


def from_patches(patches: list[Float[Array, "filter n"]], like: Seen) -> Seen:
    """Arrays of every patch in the form of others."""
    found, at = [], 0
    for leaf in like:
        count = math.prod(leaf.shape[2:])
        own = patches[at : at + count]
        found.append(own[0] if leaf.ndim == 2 else jnp.stack(own, -1).reshape(leaf.shape))
        at += count
    return tuple(found)
