"""Inner products of vectors that are patches: Gram matrices, and what test patches see."""

import math
from collections.abc import Sequence

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
Leaves = Sequence[Float[Array, "n *patch width"]]


def rows_of(leaf: Float[Array, "n *patch width"]) -> Float[Array, "row width"]:
    return leaf.reshape(-1, leaf.shape[-1])


def flat_of(leaf: Float[Array, "filter n *patch"]) -> Float[Array, "filter row"]:
    return leaf.reshape(leaf.shape[0], -1)


def generators(leaves: Leaves) -> Leaves:
    """Vectors that span all patches: the first axis for patches that are multiples of it (a signal
    patch, cut to one coordinate), and all other patches themselves."""
    wide = tuple(leaf for leaf in leaves if leaf.shape[-1] > 1)
    axis = jnp.ones((1, 1), leaves[0].dtype)
    return wide if len(wide) == len(leaves) else (axis, *wide)


class Gram(eqx.Module):
    """The inner products of vectors that may be cut after their last coordinate.

    The first few coordinates of all vectors are kept as they are (a signal patch may have one), and
    so are those of `others`, which see moves but never move. For the other coordinates of the wide
    vectors there is a table of their inner products with each other, and with the others; its last
    columns are the wide vectors' first few coordinates, so that a move takes one product.
    """

    first: Float[Array, "row few"]
    table: Float[Array, "wide column"]
    wide: tuple[bool, ...] = eqx.field(static=True)

    @staticmethod
    def of(leaves: Leaves, others: Float[Array, "other dim"] | None = None) -> "Gram":
        first, beyond = first_and_rest(leaves)
        few, most = first.shape[1], max(leaf.shape[-1] for leaf in leaves)
        others = jnp.zeros((0, most), first.dtype) if others is None else others[:, :most]
        wide = tuple(leaf.shape[-1] > few for leaf in leaves)
        each = [np.full(math.prod(x.shape[:-1]), w) for x, w in zip(leaves, wide, strict=True)]
        seeing = jnp.concatenate([beyond, others[:, few:]])
        table = jnp.concatenate([beyond @ seeing.T, first[np.concatenate(each)]], axis=1)
        return Gram(jnp.concatenate([first, others[:, :few]]), table, wide)

    def __call__(self, along: Seen) -> Seen:
        """What a move with these coefficients changes of what the vectors see."""
        return self.both(along)[0]

    def both(self, along: Seen) -> tuple[Seen, Float[Array, "filter other"]]:
        """What a move with these coefficients changes of what the vectors see, and the others."""
        flat, wide = self._flat(along)
        *rows, others = self._rows(along)
        product, moved, at = wide @ self.table, [], 0
        end = product.shape[1] - self.first.shape[1]
        some, beyond = product[:, end:], product[:, :end]
        for table, part, is_wide in zip(flat, rows, self.wide, strict=True):
            some = some if is_wide else some + table @ part
        for part, leaf, is_wide in zip(rows, along, self.wide, strict=True):
            change = some @ part.T
            if is_wide:
                change = change + beyond[:, at : at + len(part)]
                at += len(part)
            moved.append(change.reshape(leaf.shape))
        return tuple(moved), some @ others.T + beyond[:, at:]

    def parts(self, along: Seen) -> tuple[Float[Array, "filter few"], Float[Array, "filter wide"]]:
        """A move's first few coordinates, and its coefficients of the wide vectors."""
        flat, wide = self._flat(along)
        first = [table @ rows for table, rows in zip(flat, self._rows(along)[:-1], strict=True)]
        return sum(first[1:], first[0]), wide

    def _flat(self, along: Seen) -> tuple[list[Array], Float[Array, "filter wide"]]:
        """The coefficients of each array of vectors, and those of the wide ones in one table."""
        flat = [flat_of(leaf) for leaf in along]
        wide = [table for table, is_wide in zip(flat, self.wide, strict=True) if is_wide]
        none = jnp.zeros((flat[0].shape[0], 0), flat[0].dtype)
        return flat, jnp.concatenate(wide or [none], axis=1)

    def _rows(self, along: Seen) -> list[Float[Array, "row few"]]:
        """The first few coordinates of each array of vectors, and of the others."""
        sizes = [math.prod(leaf.shape[1:]) for leaf in along]
        return jnp.split(self.first, np.cumsum(sizes))


def first_and_rest(leaves: Leaves) -> tuple[Float[Array, "row few"], Float[Array, "wide rest"]]:
    """The first few coordinates of all vectors, and the others of the wide ones."""
    few = cheapest([leaf.shape for leaf in leaves])
    most = max(leaf.shape[-1] for leaf in leaves)
    tables = [padded(rows_of(leaf), most) for leaf in leaves]
    rest = [t[:, few:] for t, leaf in zip(tables, leaves, strict=True) if leaf.shape[-1] > few]
    beyond = jnp.concatenate(rest) if rest else jnp.zeros((0, most - few), tables[0].dtype)
    return jnp.concatenate(tables)[:, :few], beyond


def own_gram(x: PyTree[Float[Array, "n *patch width"]]) -> Float[Array, "patch patch n"]:
    """The inner products of each example's own patches."""
    arrays = [leaf.reshape(leaf.shape[0], -1, leaf.shape[-1]) for leaf in jax.tree.leaves(x)]

    def product(left: Array, right: Array) -> Array:
        width = min(left.shape[-1], right.shape[-1])
        return jnp.einsum("npd,nqd->pqn", left[..., :width], right[..., :width])

    blocks = [jnp.concatenate([product(a, b) for b in arrays], axis=1) for a in arrays]
    return jnp.concatenate(blocks, axis=0)


def cheapest(shapes: list[tuple[int, ...]]) -> int:
    """The number of coordinates to keep: a product costs least."""
    return min({0, *(shape[-1] for shape in shapes)}, key=lambda few: gram_cost(shapes, few))


def gram_cost(shapes: list[tuple[int, ...]], few: int) -> int:
    """The multiplications of a product with a Gram matrix, for one filter; several arrays of wide
    vectors are also copied into one."""
    rows = [(math.prod(shape[:-1]), shape[-1]) for shape in shapes]
    wide = [n for n, width in rows if width > few]
    copied = sum(wide) if len(wide) > 1 else 0
    return 2 * few * sum(n for n, _ in rows) + sum(wide) ** 2 + copied


class Tested(eqx.Module):
    """The test patches' inner products with the filters at the `start`, and with the training
    vectors (`across`), in the parts of a Gram matrix. With fewer vectors than coordinates, outputs
    on many test examples are cheaper from these than from weights. Multiples of the first axis have
    no `start`: their inner products follow from those of the axis."""

    start: tuple[Float[Array, "filter n *patch"] | None, ...]
    first: tuple[Float[Array, "few n *patch"], ...]
    across: tuple[Float[Array, "wide n *patch"] | None, ...]

    @staticmethod
    def of(x: Leaves, test: Samples, filters: Float[Array, "filter dim"]) -> "Tested | None":
        first, beyond = first_and_rest(x)
        few, axis = first.shape[1], x[0].shape == (1, 1)
        leaves = jax.tree.leaves(test.x, is_leaf=lambda node: isinstance(node, Columns))
        if not all(isinstance(leaf, Columns) for leaf in leaves) or not leaves:
            return None
        tables = [leaf.values for leaf in leaves]
        if few + len(beyond) >= max(len(table) for table in tables):
            return None
        seen = inner(filters, test.x)
        lines = [axis and len(table) == 1 for table in tables]
        rest = [None if len(table) <= few else table[few:] for table in tables]
        common = lambda t: jnp.tensordot(beyond[:, : len(t)], t[: beyond.shape[1]], 1)  # noqa: E731
        return Tested(
            tuple(None if line else z for line, z in zip(lines, seen, strict=True)),
            tuple(table[:few] for table in tables),
            tuple(None if table is None else common(table) for table in rest),
        )

    def seen(self, gram: Gram, moved: Seen, now: Seen) -> Seen:
        """What the test patches see after a displacement with given coefficients, if the training
        vectors see `now`."""
        some, wide = gram.parts(moved)
        found = []
        for start, first, across in zip(self.start, self.first, self.across, strict=True):
            if start is None:
                found.append(now[0].reshape(-1, *(1,) * (first.ndim - 1)) * first)
                continue
            change = jnp.tensordot(some[:, : len(first)], first, 1)
            change = change if across is None else change + jnp.tensordot(wide, across, 1)
            found.append(start + change)
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
