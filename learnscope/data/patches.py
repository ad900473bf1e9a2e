"""Declared patches: most data models only say what the patches of an example are.

A model names orthonormal axes, its true directions, and the patches as formulas of the directions
and of unit Gaussian noise. Draws in R^d and in compressed coordinates, training and test examples,
hidden vectors and widths all follow.
"""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data.factors import AbstractFactors
from learnscope.data.problem import AbstractData, Problem, Samples, check_batch, mini_batches
from learnscope.space import Space
from learnscope.space.frame import Frame

Directions = dict[str, Float[Array, "*count rank"]]


class Examples(NamedTuple):
    """Labels and patches, other hidden variables of every example (`marks`), and the matrices that
    colour the noise of each class."""

    y: Array
    patches: tuple[Float[Array, "n rank"], ...]
    marks: dict[str, Array] = {}  # noqa: RUF012
    factors: AbstractFactors | None = None


def off_axes(normal: Float[Array, "n rank"], count: int) -> Float[Array, "n rank"]:
    """The components of unit noise that are orthogonal to the first `count` axes."""
    return normal.at[:, :count].set(0.0)


class AbstractPatches(AbstractData):
    """A data model of declared patches, with one vector of Gaussian noise per example.

    `axes` is the number of orthonormal axes. `widths` has a number for each patch: the patch lies
    in the span of so many axes (none: it has noise). `aliases` names patches that are noise only,
    for probes. By default, there is a patch without noise, then a patch of noise.
    """

    # Of four keys, those of training noise, test noise, training labels and test labels.
    keys: ClassVar[tuple[int, ...]] = (0, 1, 2, 3)
    aliases: ClassVar[tuple[tuple[str, int], ...]] = (("noise", 1),)

    if TYPE_CHECKING:  # fields or properties of the model
        axes: ClassVar[Any]
        train: ClassVar[Any]
        test: ClassVar[Any]
    batch = property(lambda self: None)  # the full batch, unless a model has such a field

    def __check_init__(self):
        super().__check_init__()  # each field first, then limits between them
        check_batch(self, self.train)

    @property
    def widths(self) -> tuple[int | None, ...]:
        return self.axes, None

    @abstractmethod
    def directions(self, axes: Float[Array, "axis rank"]) -> Directions:
        """The true directions, by name. In the order of their names, the first ones span the
        axes."""

    @abstractmethod
    def examples(
        self, key: Key[Array, ""], normal: Float[Array, "n rank"], directions: Directions
    ) -> Examples:
        """New examples with given unit noise, one row per example."""

    def learnt(self, key: Key[Array, ""], normal: Array, directions: Directions) -> Examples:
        """The training examples, if they are not drawn like new ones."""
        return self.examples(key, normal, directions)

    @property
    def space(self) -> Space:
        return Space(self.axes + self.train, "gaussian_rows")

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(int(self.dim)) if frame is None else frame
        every = jax.random.split(key, 4)
        train_key, test_key, *label_keys = (every[i] for i in self.keys)
        axes, frame = frame.axes(self.axes)
        train, frame = frame.gaussian_rows(train_key, self.train)
        test = frame.gaussian_points(test_key, self.test)
        return self.problem(label_keys, train, test, self.directions(axes), frame)

    def problem(
        self, keys: Any, train: Array, test: Array, directions: Directions, frame: Frame
    ) -> Problem:
        """The problem with given noise and directions. Only training examples have their noise as
        a hidden vector; a test example's is its patch."""
        learnt = self.learnt(keys[0], train, directions)
        vectors = {name: learnt.patches[number] for name, number in self.aliases}
        return Problem(
            self.samples(learnt, frame, self.span, vectors=vectors, aliases=self.aliases),
            self.samples(self.examples(keys[1], test, directions), frame, frame.rank),
            directions, frame, mini_batches(self.batch), factors=learnt.factors,
            widths=self.widths if any(self.widths) else None,
        )  # fmt: skip

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        noise_key, label_key = jax.random.split(key)
        frame, normal = problem.frame, problem.frame.gaussian_points(noise_key, 1)
        drawn = self.examples(label_key, normal, problem.directions)
        return self.samples(drawn, frame, frame.rank).take(jnp.asarray(0))

    def samples(self, drawn: Examples, frame: Frame, width: int, **hidden: Any) -> Samples:
        """Examples in the form of the frame; compressed patches are cut."""
        patches = drawn.patches
        if frame.ambient:
            x = patches[0] if len(patches) == 1 else jnp.stack(patches, axis=1)
        else:
            cuts = zip(patches, self.widths, strict=True)
            x = tuple(patch[:, : own or width] for patch, own in cuts)
        return Samples(x, drawn.y, marks=drawn.marks, **hidden)
