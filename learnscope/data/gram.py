"""Inner products of a task's patches: all that adaptation of an inner-product net can see."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from learnscope.data.problem import Samples
from learnscope.space.columns import Columns

Gram = Float[Array, "task sample patch other_patch other"]


def patch_gram(x: PyTree[Float[Array, "task sample *patch width"]]) -> Gram:
    r"""$\langle x_{k,i}^{(p)}, x_{k,i'}^{(p')} \rangle$ of every task. Arrays of patches may be cut
    after their last non-zero coordinate.

    >>> import jax.numpy as jnp
    >>> patch_gram((jnp.ones((1, 2, 1)), jnp.ones((1, 2, 3)))).shape
    (1, 2, 2, 2, 2)
    """
    arrays = [leaf.reshape(*leaf.shape[:2], -1, leaf.shape[-1]) for leaf in jax.tree.leaves(x)]

    def product(left: Array, right: Array) -> Array:
        width = min(left.shape[-1], right.shape[-1])
        flat = [side[..., :width].reshape(side.shape[0], -1, width) for side in (left, right)]
        table = jnp.matmul(flat[0], flat[1].transpose(0, 2, 1), precision="highest")
        return table.reshape(*left.shape[:3], *right.shape[1:3]).transpose(0, 1, 2, 4, 3)

    blocks = [jnp.concatenate([product(a, b) for b in arrays], axis=3) for a in arrays]
    return jnp.concatenate(blocks, axis=2)


def joined(*sets: Samples) -> Samples:
    """Several sets of examples of the same tasks as one, with a leading axis of tasks."""
    by_task = [dataclasses.replace(s, role=None, rows=None).by_group() for s in sets]
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves, axis=1), *by_task)


def with_gram(*sets: Samples) -> tuple[Samples, ...]:
    """Sets of examples of the same tasks, with the mark `gram`: the inner products of each
    example's patches with all patches of its task, in the order of the sets."""
    plain = (Samples(Columns.undone(s.x), s.y, groups=s.groups) for s in sets)
    table = patch_gram(joined(*plain).x)
    marked, first = [], 0
    for samples in sets:
        each = samples.size // samples.groups
        own = table[:, first : first + each]
        first += each
        marks = {**samples.marks, "gram": own.reshape(samples.size, *own.shape[2:])}
        marked.append(dataclasses.replace(samples, marks=marks))
    return tuple(marked)
