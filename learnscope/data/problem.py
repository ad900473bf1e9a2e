"""`Problem`: one draw of a data model, with the hidden variables that probes need."""

import dataclasses
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, PyTree

from learnscope.data.factors import AbstractFactors
from learnscope.data.links import Link
from learnscope.data.views import AbstractViews, Pair
from learnscope.errors import BadInput, refuse
from learnscope.part import AbstractPart, Number
from learnscope.space import Space, SparsePatches, random
from learnscope.space.columns import Columns
from learnscope.space.frame import AbstractTurn, Frame


class Samples(eqx.Module):
    """Examples: inputs `x`, labels `y`, and hidden variables that the learner does not see.

    In ambient coordinates `x` is one array, `n patch dim`, or a tuple of `SparsePatches`. In
    compressed coordinates it is a tuple of arrays, one per patch, each cut after its last non-zero
    coordinate: a signal patch may be one number wide. Nets that see inputs through inner products
    read all forms (`nets.inner`).

    `vectors` holds the hidden vectors (last axis: coordinates, full width), `marks` all other
    hidden variables. `groups` is the number of tasks: the examples of the first task come first,
    then those of the second, and all tasks have equally many. `by_group` separates the tasks.

    `aliases` names the hidden vectors that are patches themselves, by the patch's number. `role` is
    the set of the problem that examples belong to (`train`, `validation`, `test` or none), and
    `rows` their numbers in that set (None: all of it, in order).
    """

    x: PyTree[Float[Array, "n *patch dim"]]
    y: Array
    vectors: dict[str, Array] = eqx.field(default_factory=dict)
    marks: dict[str, Array] = eqx.field(default_factory=dict)
    groups: int = eqx.field(static=True, default=1)
    aliases: tuple[tuple[str, int], ...] = eqx.field(static=True, default=())
    role: str | None = eqx.field(static=True, default=None)
    rows: Int[Array, " n"] | None = None

    @property
    def size(self) -> int:
        return self.y.shape[0]

    def take(self, index: Array) -> "Samples":
        """The examples at `index`, as one group."""
        taken = jax.tree.map(lambda leaf: leaf[index], Columns.undone(self))
        rows = index if self.role is not None and self.rows is None else taken.rows
        return dataclasses.replace(taken, groups=1, rows=rows)

    def by_group(self) -> "Samples":
        """The same examples with a leading axis of groups, to be vmapped over."""
        fold = lambda leaf: leaf.reshape(self.groups, -1, *leaf.shape[1:])  # noqa: E731
        return jax.tree.map(fold, Columns.undone(self))

    def project(self, onto: AbstractTurn, widths: tuple[int | None, ...] | None) -> "Samples":
        """The same examples in other coordinates; patches of known widths are cut to them."""
        if widths is None:
            x = jax.tree.map(onto, self.x)
        else:
            patches = zip(_patches(self.x), widths, strict=True)
            x = tuple(onto(patch)[:, :width] for patch, width in patches)
        return dataclasses.replace(self, x=x, vectors=jax.tree.map(onto, self.vectors))


def _patches(
    x: Float[Array, "n *patch dim"] | tuple[SparsePatches, ...],
) -> list[Float[Array, "n dim"]]:
    """The patches of ambient inputs: the second axis, or one patch if there is none."""
    if isinstance(x, tuple):
        return [patches.dense() for patches in x]
    return [x] if x.ndim == 2 else [x[:, i] for i in range(x.shape[1])]


def encode_labels(classes: Int[Array, " n"], count: int) -> Array:
    """Encode class indices: -1 and +1 for two classes, unchanged otherwise.

    >>> import jax.numpy as jnp
    >>> [encode_labels(jnp.array([0, 1]), count).tolist() for count in (2, 3)]
    [[-1.0, 1.0], [0, 1]]
    """
    return jnp.where(classes == 1, 1.0, -1.0).astype(float) if count == 2 else classes


def check_batch(model: Any, train: int) -> None:
    """Refuse a mini-batch that is larger than the training set."""
    if model.batch is not None and model.batch > train:
        refuse(model, "batch", f"it must be at most {train}, the number of training examples")


class AbstractBatches(eqx.Module):
    """The choice of the examples that each step learns from: training examples, or `fresh` ones."""

    fresh: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, problem: "Problem", key: Key[Array, ""]) -> Samples: ...

    def at(self, step: Int[Array, ""], key: Key[Array, ""]) -> "AbstractBatches":
        """The batches at a step, given the key of the whole training: overridden by batches that
        depend on the step."""
        return self

    def reused(self) -> Bool[Array, ""] | None:
        """Whether the next step learns from the same fresh examples (None: none does)."""
        return None


class FullBatch(AbstractBatches):
    """All training examples, every step."""

    def __call__(self, problem: "Problem", key: Key[Array, ""]) -> Samples:
        return problem.train


class MiniBatch(AbstractBatches):
    """`size` training examples without replacement, drawn anew every step."""

    size: int = eqx.field(static=True)

    def __call__(self, problem: "Problem", key: Key[Array, ""]) -> Samples:
        return problem.train.take(random.distinct(key, problem.train.size, self.size))


class Epochs(AbstractBatches):
    """`size` training examples per step, in an order that is drawn anew for every pass over them.
    Examples that do not fill a last batch are left out of that pass."""

    size: int = eqx.field(static=True)
    step: Any = 0
    key: Any = None

    def at(self, step: Int[Array, ""], key: Key[Array, ""]) -> "Epochs":
        return Epochs(self.size, step, key)

    def __call__(self, problem: "Problem", key: Key[Array, ""]) -> Samples:
        count = problem.train.size
        steps = count // self.size
        epoch = jax.random.fold_in(key if self.key is None else self.key, self.step // steps)
        order = random.permutation(epoch, count)
        first = self.step % steps * self.size
        return problem.train.take(jax.lax.dynamic_slice_in_dim(order, first, self.size))


def mini_batches(size: int | None, epochs: bool = False) -> AbstractBatches:
    """Mini-batches of `size` examples, drawn anew or in epochs; or (none) the full batch."""
    if size is None:
        return FullBatch()
    return Epochs(size) if epochs else MiniBatch(size)


class Fresh(AbstractBatches):
    """`size` new examples from the data model, every step."""

    fresh: ClassVar[bool] = True

    model: "AbstractData"
    size: int = eqx.field(static=True)

    def __call__(self, problem: "Problem", key: Key[Array, ""]) -> Samples:
        keys = jax.random.split(key, self.size)
        return jax.vmap(lambda k: self.model.example(k, problem))(keys)


class AbstractEpisodes(eqx.Module):
    """A source of new tasks for every step."""

    @abstractmethod
    def __call__(self, key: Key[Array, ""], count: int) -> tuple[Samples, ...]:
        """`count` tasks: their training halves and their validation halves."""


class Problem(eqx.Module):
    """One draw: training and test examples, and the true directions behind them.

    `episodes` draws the tasks that rules learn from (none: the tasks of `train` and `validation`).
    `factors` are the matrices that colour the noise of each class (none: it is not coloured).
    `views` makes positive pairs (none: there are none). `widths` has a number for each patch: the
    patch lies in the span of that many directions, in the order of their names. None stands for a
    patch, or for all patches, for which no such number is known. `link` is the function of the
    directions' projections that labels are made of (none: there is no such function).
    """

    train: Samples
    test: Samples
    directions: dict[str, Float[Array, "*count dim"]]
    frame: Frame
    batches: AbstractBatches = FullBatch()
    validation: Samples | None = None
    factors: AbstractFactors | None = None
    views: AbstractViews | None = None
    episodes: AbstractEpisodes | None = None
    widths: tuple[int | None, ...] | None = eqx.field(static=True, default=None)
    link: str | Link | None = eqx.field(static=True, default=None)

    def __post_init__(self):
        self.train = dataclasses.replace(self.train, role="train", rows=None)
        self.test = dataclasses.replace(self.test, role="test", rows=None)
        if self.validation is not None:
            self.validation = dataclasses.replace(self.validation, role="validation", rows=None)

    def batch(self, key: Key[Array, ""]) -> Samples:
        """The examples that the next step learns from."""
        return self.batches(self, key)

    def pair(self, key: Key[Array, ""]) -> Pair:
        """Two views of the examples that the next step learns from."""
        batch_key, view_key = jax.random.split(key)
        return self.viewed(self.batch(batch_key), view_key)

    def viewed(self, samples: Samples, key: Key[Array, ""]) -> Pair:
        """Two views of `samples`."""
        if self.views is None:
            raise BadInput(
                "the data model has no positive pairs, which self-supervised rules and probes "
                "need; use one with views, such as StrongWeak, or Images with views = Augment()."
            )
        return self.views(key, samples.x)

    def span(self) -> tuple[list[Float[Array, "count dim"]], list[Float[Array, "count dim"]]]:
        """The directions, then the training vectors, as rows: all that training can move along."""
        inputs = [self.train.x] + ([] if self.validation is None else [self.validation.x])
        if self.widths is not None:
            free = [i for i, width in enumerate(self.widths) if width is None]
            inputs = [_patches(x)[i] for x in inputs for i in free]
        flat = lambda tree: [leaf.reshape(-1, leaf.shape[-1]) for leaf in jax.tree.leaves(tree)]  # noqa: E731
        return flat(self.directions), flat(inputs)

    def project(self, onto: AbstractTurn) -> "Problem":
        """The same problem in other coordinates."""
        held = self.validation
        return dataclasses.replace(
            self,
            train=self.train.project(onto, self.widths),
            test=self.test.project(onto, self.widths),
            directions={name: onto(rows) for name, rows in self.directions.items()},
            frame=Frame(self.frame.dim, onto.rank, onto.rank),
            validation=None if held is None else held.project(onto, self.widths),
            factors=None if self.factors is None else self.factors.project(onto),
        )


class AbstractData(AbstractPart):
    """A data model. `sample` draws a problem, and `space` says how to compress it."""

    if TYPE_CHECKING:  # a field or a property: type checkers have no word for either

        @property
        def dim(self) -> Number: ...
    else:
        dim: eqx.AbstractVar[Number]

    @property
    def labels(self) -> int | None:
        """The number of classes, if labels are 0, 1, ...; None for others, such as +1 and -1."""
        return None

    @property
    def numeric(self) -> bool:
        """Whether labels are known to be numbers, not classes: no loss of a margin fits them."""
        return False

    @property
    @abstractmethod
    def space(self) -> Space:
        """What the model needs of its space."""

    span = property(lambda self: self.space.span)
    compression = property(lambda self: self.space.compression)
    sets = property(lambda self: self.space.sets)

    @abstractmethod
    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        """One draw, in ambient coordinates unless a frame is given."""

    def in_memory(self) -> "AbstractData":
        """The model with what it reads from files as arrays, which programs take as inputs."""
        return self

    @abstractmethod
    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        """One new example (no leading axis) of the same problem, in its frame."""


class AbstractStoredData(AbstractData):
    """A data model of stored examples, without a law to draw new ones from."""

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        """One of the test examples."""
        return problem.test.take(random.integers(key, (), problem.test.size))
