"""Problems: one draw of a data model, with the hidden parts that probes need."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, PyTree

from learnscope.data.frame import Frame, project
from learnscope.part import AbstractPart, Number


class Columns(eqx.Module):
    """Patches stored coordinate by coordinate.

    The engine keeps compressed test sets so: a product with few filters then streams through
    memory, which halves the time that it takes to evaluate a network on many examples.
    """

    values: Float[Array, "width *shape"]

    @staticmethod
    def of(patches: Float[Array, "*shape width"]) -> "Columns":
        return Columns(jnp.moveaxis(patches, -1, 0))

    @staticmethod
    def undone(tree: PyTree) -> PyTree:
        """The same with every patch group example first again."""

        def back(node):
            return jnp.moveaxis(node.values, 0, -1) if isinstance(node, Columns) else node

        return jax.tree.map(back, tree, is_leaf=lambda node: isinstance(node, Columns))


class Samples(eqx.Module):
    """Examples: inputs `x`, labels `y`, and what the learner does not see.

    In ambient coordinates `x` is one array, `n patch dim`. In compressed coordinates it is a tuple
    of arrays, one a patch, each as wide as its last non-zero coordinate: a signal patch may be one
    number wide. Nets that see inputs through inner products read both alike (`nets.inner`).

    `vectors` holds hidden vectors (last axis: coordinates, full width), `marks` anything else that
    is known of each example. Examples of several tasks stand one task after the other, in `groups`
    of equal size: what looks at single examples need not know, `by_group` is for what must.
    """

    x: PyTree[Float[Array, "n *patch dim"]]
    y: Array
    vectors: dict[str, Array] = eqx.field(default_factory=dict)
    marks: dict[str, Array] = eqx.field(default_factory=dict)
    groups: int = eqx.field(static=True, default=1)

    @property
    def size(self) -> int:
        return self.y.shape[0]

    def take(self, index: Array) -> "Samples":
        """The examples at `index`, as one group."""
        taken = jax.tree.map(lambda leaf: leaf[index], Columns.undone(self))
        return Samples(taken.x, taken.y, taken.vectors, taken.marks)

    def by_group(self) -> "Samples":
        """The same examples with a leading axis of groups, to be vmapped over."""
        fold = lambda leaf: leaf.reshape(self.groups, -1, *leaf.shape[1:])  # noqa: E731
        return jax.tree.map(fold, Columns.undone(self))

    def project(self, onto: Float[Array, "rank dim"]) -> "Samples":
        """The same examples in the coordinates of a basis."""
        turn = lambda tree: jax.tree.map(lambda leaf: project(leaf, onto), tree)  # noqa: E731
        return Samples(turn(self.x), self.y, turn(self.vectors), self.marks, self.groups)


class AbstractBatches(eqx.Module):
    """How a problem hands out what a step learns from."""

    @abstractmethod
    def __call__(self, problem: "Problem", key: Key[Array, ""]) -> Samples: ...


class FullBatch(AbstractBatches):
    """All training examples, every step."""

    def __call__(self, problem: "Problem", key: Key[Array, ""]) -> Samples:
        return problem.train


class MiniBatch(AbstractBatches):
    """`size` training examples without replacement, drawn anew every step."""

    size: int = eqx.field(static=True)

    def __call__(self, problem: "Problem", key: Key[Array, ""]) -> Samples:
        return problem.train.take(
            jax.random.choice(key, problem.train.size, (self.size,), replace=False)
        )


class Fresh(AbstractBatches):
    """`size` new examples from the data model, every step."""

    model: "AbstractData"
    size: int = eqx.field(static=True)

    def __call__(self, problem: "Problem", key: Key[Array, ""]) -> Samples:
        keys = jax.random.split(key, self.size)
        return jax.vmap(lambda k: self.model.example(k, problem))(keys)


class Problem(eqx.Module):
    """One draw: what is learnt from, what is tested on, and the truth behind both."""

    train: Samples
    test: Samples
    directions: dict[str, Float[Array, "*count dim"]]
    frame: Frame
    batches: AbstractBatches = FullBatch()
    validation: Samples | None = None

    def batch(self, key: Key[Array, ""]) -> Samples:
        """What the next step learns from."""
        return self.batches(self, key)

    def span(self) -> list[Float[Array, "count dim"]]:
        """Rows of vectors that gradient descent can add to the weights, and the directions."""
        held = [] if self.validation is None else [self.validation.x]
        leaves = jax.tree.leaves([self.directions, self.train.x, *held])
        return [leaf.reshape(-1, leaf.shape[-1]) for leaf in leaves]

    def project(self, onto: Float[Array, "rank dim"]) -> "Problem":
        """The same problem in the coordinates of a basis."""
        rank = onto.shape[0]
        return Problem(
            train=self.train.project(onto),
            test=self.test.project(onto),
            directions={name: project(v, onto) for name, v in self.directions.items()},
            frame=Frame(self.frame.dim, rank, rank),
            batches=self.batches,
            validation=None if self.validation is None else self.validation.project(onto),
        )


class AbstractData(AbstractPart):
    """Where inputs come from. `sample` draws a problem; the rest says how it may be compressed."""

    dim: eqx.AbstractVar[Number]

    @property
    @abstractmethod
    def compression(self) -> str:
        """`gaussian_rows` (drawn compressed, in law), `rotate` (drawn in R^d first) or `none`."""

    @property
    @abstractmethod
    def span(self) -> int:
        """How many coordinates the directions and training vectors take up."""

    @abstractmethod
    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        """One draw, in ambient coordinates unless a frame is given."""

    @abstractmethod
    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        """One new example (no leading axis) of the same problem, in its frame."""
