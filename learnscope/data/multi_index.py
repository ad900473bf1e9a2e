"""Gaussian inputs whose labels depend on a few directions: a teacher."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data.links import JOINT, SHAPES, Link, link_of
from learnscope.data.problem import (
    AbstractBatches,
    AbstractData,
    Problem,
    Samples,
    check_batch,
    mini_batches,
)
from learnscope.errors import refuse
from learnscope.part import Number, count, flag, number
from learnscope.space import Frame, FreshPatches, Space, random


class MultiIndex(AbstractData):
    r"""$x \sim N(0, I_d)$, $y = \phi(\langle u_1, x \rangle, \dots, \langle u_r, x \rangle)
    + \sigma \zeta$ with orthonormal directions $u_k$ and normal $\zeta$.

    Every step learns from `batch` fresh examples (online learning: Saad and Solla 1995), or from a
    mini-batch of `train` fixed ones (`batch` none: all of them). In compressed coordinates a fresh
    example is known along the filters and the directions; the rest of it is a new coordinate, of
    the law of Bartlett's decomposition. A step then costs the same in any dimension. Test examples
    are fresh too, in law, at each record.

    | symbol | argument |
    |---|---|
    | $d, r$ | `dim`, `directions` |
    | $\phi$ | `link`: linear, relu, erf, he2, he3, he4 (summed over directions); product (of |
    | | signs), staircase; or a function of the $r$ projections of one example |
    | $\sigma$ | `noise` |

    With `signs`, labels are the signs of $y$.

    >>> import jax
    >>> model = MultiIndex(dim=30, directions=2, link="erf", batch=4)
    >>> problem = model.sample(jax.random.key(0))
    >>> problem.batch(jax.random.key(1)).x.shape, problem.directions["teacher"].shape
    ((4, 30), (2, 30))
    """

    papers: ClassVar = ("saad1995online", "goldt2019dynamics", "benarous2021online")

    dim: Number = number(low=1, high=1e12, whole=True, shape=True)
    directions: int = count(high=1000)
    link: str | Link = eqx.field(static=True, default="erf")
    noise: Number = number(0.0, low=0)
    batch: int | None = count(1, optional=True)
    test: int = count(1000)
    train: int | None = count(None, optional=True)
    signs: bool = flag(False)

    def __check_init__(self):
        super().__check_init__()
        if self.link not in (*SHAPES, *JOINT) and not callable(self.link):
            known = ", ".join((*SHAPES, *JOINT))
            refuse(self, "link", f"it must be one of {known}, or a function of the projections")
        if isinstance(self.dim, int) and self.directions > self.dim:
            refuse(self, "directions", f"at most dim = {self.dim} can be orthonormal")
        if self.train is not None:
            check_batch(self, self.train)
        elif self.batch is None:
            refuse(self, "batch", "without `train` examples it must be a number")

    @property
    def space(self) -> Space:
        if self.train is None:  # the initial filters, those now, and those that a step adds
            return Space(self.directions, "gaussian_rows", sets=3)
        return Space(self.directions + self.train, "gaussian_rows")

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(int(self.dim)) if frame is None else frame
        train_key, test_key, *keys = jax.random.split(key, 4)
        teacher, frame = frame.axes(self.directions)
        rows = None
        if self.train is not None:
            rows, frame = frame.gaussian_rows(train_key, self.train)
            rows = rows if frame.ambient else rows[:, : frame.used]
        test = self._samples(keys[1], frame.gaussian_points(test_key, self.test), frame)
        train = test if rows is None else self._samples(keys[0], rows, frame)
        batches = FreshRows(self, self.batch or 1) if rows is None else mini_batches(self.batch)
        return Problem(train, test, {"teacher": teacher}, frame, batches, link=self.link)

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        row_key, label_key = jax.random.split(key)
        row = problem.frame.gaussian_points(row_key, 1)
        y = self._labels(label_key, row @ problem.directions["teacher"].T)
        return Samples((row,) if isinstance(problem.test.x, tuple) else row, y).take(jnp.asarray(0))

    def fresh(self, key: Key[Array, ""], size: int, frame: Frame) -> Samples:
        """New training examples. If compressed, they have new coordinates outside the frame: their
        own, if they are fewer than the filters, or as many as there are filters, in law."""
        row_key, label_key, beyond_key = jax.random.split(key, 3)
        if frame.ambient:
            return self._samples(label_key, random.normal(row_key, (size, frame.rank)), frame)
        left = Frame(frame.dim, frame.rank, frame.seen or frame.rank)
        if size <= left.rank - left.used:
            rows, left = left.gaussian_rows(row_key, size)
            return self._samples(label_key, rows[:, : left.used], frame)
        rows = random.normal(row_key, (left.used, size)).T
        rows = jnp.where((jnp.arange(left.used) < frame.dim)[None], rows, 0.0)
        y, noisy = self._labels(label_key, rows[:, : self.directions]), jnp.ones((size, 1), bool)
        seed = jax.random.key_data(beyond_key)
        return Samples((FreshPatches(rows[:, None], noisy, jnp.ones(()), seed, left, views=1),), y)

    def _samples(self, key: Key[Array, ""], rows: Float[Array, "n width"], frame: Frame) -> Samples:
        """Examples in a frame whose first axes are the directions."""
        y = self._labels(key, rows[:, : self.directions])
        return Samples(rows if frame.ambient else (rows,), y)

    def _labels(self, key: Key[Array, ""], z: Float[Array, "n direction"]) -> Float[Array, " n"]:
        y = link_of(self.link)(z) + self.noise * random.normal(key, z.shape[:1])
        return jnp.where(y < 0, -1.0, 1.0) if self.signs else y


class FreshRows(AbstractBatches):
    """`size` new examples of the model, every step."""

    fresh: ClassVar[bool] = True

    model: MultiIndex
    size: int = eqx.field(static=True)

    def __call__(self, problem: Problem, key: Key[Array, ""]) -> Samples:
        return self.model.fresh(key, self.size, problem.frame)
