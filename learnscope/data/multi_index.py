"""Gaussian inputs whose labels depend on a few directions: a teacher."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from learnscope.data.links import JOINT, SHAPES, Link, SignOf, link_fault, link_of
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

# Of the length of a new coordinate: all are rejected less than once in 10^11 draws (from 20
# dimensions outside the frame on; see `chi`). A tenth of them each costs a tenth of a short step.
_PROPOSALS = 5


class MultiIndex(AbstractData):
    r"""$x \sim N(0, I_d)$, $y = \phi(\langle u_1, x \rangle, \dots, \langle u_r, x \rangle)
    + \sigma \zeta$ with orthonormal directions $u_k$ and normal $\zeta$.

    Every step learns from `batch` fresh examples (none: one; online learning: Saad and Solla 1995),
    or from a mini-batch of `train` fixed ones (none: all). With `repeats`, so many steps in a row
    learn from the same fresh examples. In compressed coordinates a fresh one is
    known along the filters and the directions; the rest of it is a new coordinate, of the law of
    Bartlett's decomposition. A step then costs the same in any dimension. Test examples are fresh
    too, in law, at each record.

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
    batch: int | None = count(None, optional=True)
    test: int = count(1000)
    train: int | None = count(None, optional=True)
    signs: bool = flag(False)
    repeats: int = count(1)

    def __check_init__(self):
        super().__check_init__()
        if self.link not in (*SHAPES, *JOINT) and not callable(self.link):
            known = ", ".join((*SHAPES, *JOINT))
            refuse(self, "link", f"it must be one of {known}, or a function of the projections")
        if not isinstance(self.link, str) and (fault := link_fault(self.link, self.directions)):
            refuse(self, "link", fault)
        if isinstance(self.dim, int) and self.directions > self.dim:
            refuse(self, "directions", f"at most dim = {self.dim} can be orthonormal")
        if self.train is not None:
            check_batch(self, self.train)
            if self.repeats > 1:
                refuse(self, "repeats", "fixed examples are repeated anyway; it must be 1")

    @property
    def space(self) -> Space:
        if self.train is None:  # the initial filters, and those now
            fresh, repeated = self.batch or 1, self.repeats > 1
            return Space(self.directions, "gaussian_rows", 2, fresh, repeated=repeated)
        return Space(self.directions + self.train, "gaussian_rows")

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(int(self.dim)) if frame is None else frame
        train_key, test_key, *noise_keys = jax.random.split(key, 4)
        teacher, frame = frame.axes(self.directions)
        rows = None
        if self.train is not None:
            rows, frame = frame.gaussian_rows(train_key, self.train)
            rows = rows if frame.ambient else rows[:, : frame.used]
        points = frame.gaussian_points(test_key, self.test)
        test = self._samples(points, random.normal(noise_keys[1], (self.test,)), frame)
        train = test
        if rows is not None:
            train = self._samples(rows, random.normal(noise_keys[0], (len(rows),)), frame)
        batches = FreshRows(self) if rows is None else mini_batches(self.batch)
        return Problem(train, test, {"teacher": teacher}, frame, batches, link=self.labelling)

    @property
    def labelling(self) -> str | Link:
        """The function of the projections that labels are, but for noise."""
        return SignOf(self.link) if self.signs else self.link

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        row_key, noise_key = jax.random.split(key)
        row = problem.frame.gaussian_points(row_key, 1)
        y = self._labels(row @ problem.directions["teacher"].T, random.normal(noise_key, (1,)))
        return Samples((row,) if isinstance(problem.test.x, tuple) else row, y).take(jnp.asarray(0))

    def fresh(self, key: Key[Array, ""], size: int, frame: Frame) -> Samples:
        """New training examples. If compressed, they have new coordinates outside the frame: their
        own, if they are fewer than the filters, or as many as there are filters, in law."""
        if frame.ambient:
            normal = random.normal(key, (size, frame.rank + 1))
            return self._samples(normal[:, :-1], normal[:, -1], frame)
        left = Frame(frame.dim, frame.rank, frame.seen or frame.rank)
        if size <= left.rank - left.used:
            width = left.used + size + _PROPOSALS + 1
            drawn = random.normal_and_uniform(key, size * width, size * (_PROPOSALS + 1))
            normal, uniform = (values.reshape(size, -1) for values in drawn)
            rows, left = left.rows_from(normal[:, :-1], uniform)
            return self._samples(rows[:, : left.used], normal[:, -1], frame)
        row_key, beyond_key = jax.random.split(key)
        normal = random.normal(row_key, (left.used + 1, size))
        rows = normal[:-1].T * (jnp.arange(left.used) < frame.dim)[None]
        y, noisy = self._labels(rows[:, : self.directions], normal[-1]), jnp.ones((size, 1), bool)
        seed = jax.random.key_data(beyond_key)
        return Samples((FreshPatches(rows[:, None], noisy, jnp.ones(()), seed, left, views=1),), y)

    def _samples(self, rows: Float[Array, "n width"], noise: Array, frame: Frame) -> Samples:
        """Examples in a frame whose first axes are the directions."""
        y = self._labels(rows[:, : self.directions], noise)
        return Samples(rows if frame.ambient else (rows,), y)

    def _labels(self, z: Float[Array, "n direction"], noise: Array) -> Float[Array, " n"]:
        y = link_of(self.link)(z) + self.noise * noise
        return jnp.where(y < 0, -1.0, 1.0) if self.signs else y


class FreshRows(AbstractBatches):
    """New examples of the model, every step, or for so many steps in a row."""

    fresh: ClassVar[bool] = True

    model: MultiIndex
    step: Any = None
    key: Any = None

    def at(self, step: Int[Array, ""], key: Key[Array, ""]) -> "FreshRows":
        return self if self.model.repeats == 1 else FreshRows(self.model, step, key)

    def reused(self) -> Bool[Array, ""] | None:
        return None if self.step is None else (self.step + 1) % self.model.repeats != 0

    def __call__(self, problem: Problem, key: Key[Array, ""]) -> Samples:
        if self.key is not None:
            key = random.fold_in(self.key, self.step // self.model.repeats)
        return self.model.fresh(key, self.model.space.fresh, problem.frame)
