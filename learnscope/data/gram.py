"""Inner products of a task's own patches: all that adapting an inner-product net to it can see."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from learnscope.data.problem import Columns, Samples

Gram = Float[Array, "task sample patch other_patch other"]


def by_patch(leaf: Float[Array, "*shape width"], lead: int) -> Float[Array, "*lead patch width"]:
    """Patches along one axis after `lead` axes, also where an example is one patch."""
    return leaf.reshape(*leaf.shape[:lead], -1, leaf.shape[-1])


def patch_gram(x: PyTree[Float[Array, "task sample *patch width"]]) -> Gram:
    r"""$\langle x_{k,i}^{(p)}, x_{k,i'}^{(p')} \rangle$ of every task; groups of patches may be cut
    after their last coordinate.

    >>> import jax.numpy as jnp
    >>> patch_gram((jnp.ones((1, 2, 1)), jnp.ones((1, 2, 3)))).shape
    (1, 2, 2, 2, 2)
    """
    groups = [by_patch(leaf, 2) for leaf in jax.tree.leaves(x)]

    def product(left: Array, right: Array) -> Array:
        width = min(left.shape[-1], right.shape[-1])
        flat = [side[..., :width].reshape(side.shape[0], -1, width) for side in (left, right)]
        table = jnp.matmul(flat[0], flat[1].transpose(0, 2, 1), precision="highest")
        return table.reshape(*left.shape[:3], *right.shape[1:3]).transpose(0, 1, 2, 4, 3)

    rows = [jnp.concatenate([product(a, b) for b in groups], axis=3) for a in groups]
    return jnp.concatenate(rows, axis=2)


def joined(*parts: Samples) -> Samples:
    """The samples of several sets of the same tasks, task by task (leading axis: tasks)."""
    both = [part.by_group() for part in parts]
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves, axis=1), *both)


def with_gram(*parts: Samples) -> tuple[Samples, ...]:
    """Sets of the same tasks with the mark `gram`: of each example, the inner products of its
    patches with all patches of its task, in the order of the sets."""
    x = joined(*(Samples(Columns.undone(part.x), part.y, groups=part.groups) for part in parts)).x
    table = patch_gram(x)
    made, first = [], 0
    for part in parts:
        each = part.size // part.groups
        own = table[:, first : first + each]
        first += each
        marks = {**part.marks, "gram": own.reshape(part.size, *own.shape[2:])}
        made.append(Samples(part.x, part.y, part.vectors, marks, part.groups))
    return tuple(made)
