"""Problems: one draw of a data model, with the hidden parts that probes need."""

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PyTree

from learnscope.data import random
from learnscope.data.columns import Columns
from learnscope.data.factors import AbstractFactors
from learnscope.data.frame import AbstractTurn, Frame
from learnscope.data.views import AbstractViews, Pair
from learnscope.errors import BadInput
from learnscope.part import AbstractPart, Number


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

    def project(self, onto: AbstractTurn, widths: tuple[int | None, ...] | None) -> "Samples":
        """The same examples in other coordinates, patches cut to widths where these are known."""
        if widths is None:
            x = jax.tree.map(onto, self.x)
        else:
            patches = zip(_patches(self.x), widths, strict=True)
            x = tuple(onto(patch)[:, :width] for patch, width in patches)
        return Samples(x, self.y, jax.tree.map(onto, self.vectors), self.marks, self.groups)


def _patches(x: Float[Array, "n *patch dim"]) -> list[Float[Array, "n dim"]]:
    """The patches of ambient inputs: one, or those along the second axis."""
    return [x] if x.ndim == 2 else [x[:, i] for i in range(x.shape[1])]


def told(classes: Int[Array, " n"], count: int) -> Array:
    """Labels as nets read them: -1 and +1 (one output) of two classes, else 0, 1, ... (one each).

    >>> import jax.numpy as jnp
    >>> told(jnp.array([0, 1]), 2).tolist(), told(jnp.array([0, 1]), 3).tolist()
    ([-1.0, 1.0], [0, 1])
    """
    return jnp.where(classes == 1, 1.0, -1.0).astype(float) if count == 2 else classes


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
        return problem.train.take(random.distinct(key, problem.train.size, self.size))


class Fresh(AbstractBatches):
    """`size` new examples from the data model, every step."""

    model: "AbstractData"
    size: int = eqx.field(static=True)

    def __call__(self, problem: "Problem", key: Key[Array, ""]) -> Samples:
        keys = jax.random.split(key, self.size)
        return jax.vmap(lambda k: self.model.example(k, problem))(keys)


class AbstractEpisodes(eqx.Module):
    """Tasks that are drawn anew every step, where a data model has so many."""

    @abstractmethod
    def __call__(self, key: Key[Array, ""], count: int) -> tuple[Samples, ...]:
        """So many tasks: their training halves and their validation halves."""


class Problem(eqx.Module):
    """One draw: what is learnt from, what is tested on, and the truth behind both.

    `episodes` draws the tasks that rules learn from, where these are not those of `train` and
    `validation`. `factors` are the matrices that colour the noise, where each class has its own.
    `views` makes positive pairs, where the data model has such. `widths` says how many of the
    directions (in the order of their names) each patch lies in the span of; None stands for a
    patch, or for all patches, of which this is not known.
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

    def batch(self, key: Key[Array, ""]) -> Samples:
        """What the next step learns from."""
        return self.batches(self, key)

    def pair(self, key: Key[Array, ""]) -> Pair:
        """Two views of what the next step learns from."""
        batch_key, view_key = jax.random.split(key)
        return self.viewed(self.batch(batch_key), view_key)

    def viewed(self, samples: Samples, key: Key[Array, ""]) -> Pair:
        """Two views of given examples."""
        if self.views is None:
            raise BadInput(
                "the data model has no positive pairs, which self-supervised rules and probes "
                "need; use one with views, such as StrongWeak, or Images with views = Augment()."
            )
        return self.views(key, samples.x)

    def span(self) -> tuple[list[Float[Array, "count dim"]], list[Float[Array, "count dim"]]]:
        """Rows of vectors: the directions, and what else gradient descent can add to weights."""
        held = [] if self.validation is None else [self.validation.x]
        learnt = [self.train.x, *held]
        if self.widths is not None:
            free = [i for i, width in enumerate(self.widths) if width is None]
            learnt = [_patches(x)[i] for x in learnt for i in free]
        flat = lambda tree: [leaf.reshape(-1, leaf.shape[-1]) for leaf in jax.tree.leaves(tree)]  # noqa: E731
        return flat(self.directions), flat(learnt)

    def project(self, onto: AbstractTurn) -> "Problem":
        """The same problem in other coordinates."""
        held = self.validation
        return Problem(
            train=self.train.project(onto, self.widths),
            test=self.test.project(onto, self.widths),
            directions={name: onto(rows) for name, rows in self.directions.items()},
            frame=Frame(self.frame.dim, onto.rank, onto.rank),
            batches=self.batches,
            validation=None if held is None else held.project(onto, self.widths),
            factors=None if self.factors is None else self.factors.project(onto),
            views=self.views,
            episodes=self.episodes,
            widths=self.widths,
        )


class AbstractData(AbstractPart):
    """Where inputs come from. `sample` draws a problem; the rest says how it may be compressed."""

    # How many sets of filters need coordinates: the trained ones, and where every step draws fresh
    # examples also those of a target, those at the start, and what each view adds in a step.
    sets: ClassVar[int] = 1

    if TYPE_CHECKING:  # a field, or what follows from others: type checkers know no such choice

        @property
        def dim(self) -> Number: ...
    else:
        dim: eqx.AbstractVar[Number]

    @property
    def labels(self) -> int | None:
        """How many classes there are, if labels are 0, 1, ...; None if +1 and -1 (or others)."""
        return None

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
