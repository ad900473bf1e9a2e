"""Gaussian clusters at the corners of a cube; the label is the parity."""

from itertools import product
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from learnscope.data.problem import AbstractData, Problem, Samples, check_batch, mini_batches
from learnscope.errors import refuse
from learnscope.part import Number, count, number
from learnscope.space import random
from learnscope.space.frame import Frame


class GaussianParity(AbstractData):
    r"""$x = \sum_{i=1}^k \epsilon_i M_i + g$, $y = \prod_i \epsilon_i$ (Shi, Wei, Liang 2022,
    E.3.2), with fair signs $\epsilon_i$, orthonormal $M_i$ and
    $g \sim N(0, \sigma_r^2 \frac{k}{d} I)$: $2^k$ clusters of radius about $\sigma_r \sqrt k$,
    which for $\sigma_r = 1$ is also the distance of their centres from the origin.

    | symbol | argument |
    |---|---|
    | $d$ | `dim` |
    | $k$ | `factors` |
    | $\sigma_r$ | `noise` |

    `batch` is the mini-batch size (none: the full batch).

    >>> import jax
    >>> model = GaussianParity(dim=30, factors=4, train=8, test=4, noise=1.0)
    >>> problem = model.sample(jax.random.key(0))
    >>> problem.train.x.shape, problem.directions["centres"].shape
    ((8, 30), (16, 30))
    """

    papers: ClassVar = ("shi2022theoretical",)

    dim: Number = number(low=1, high=1e12, whole=True, shape=True)
    factors: int = count(high=16)
    train: int = count()
    test: int = count()
    noise: Number = number(low=0)
    batch: int | None = count(None, optional=True)

    def __check_init__(self):
        super().__check_init__()
        if isinstance(self.dim, int) and self.factors > self.dim:
            refuse(self, "factors", f"there are at most dim = {self.dim} orthonormal directions")
        check_batch(self, self.train)

    @property
    def compression(self) -> str:
        return "gaussian_rows"

    @property
    def span(self) -> int:
        return self.factors + self.train

    @property
    def corners(self) -> np.ndarray:
        """The signs of every centre."""
        return np.array(list(product([1.0, -1.0], repeat=self.factors)))

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(int(self.dim)) if frame is None else frame
        train_key, test_key, sign_key, test_sign_key = jax.random.split(key, 4)
        axes, frame = frame.axes(self.factors)
        train, frame = frame.gaussian_rows(train_key, self.train)
        test = frame.gaussian_points(test_key, self.test)
        directions = {"axes": axes, "centres": jnp.asarray(self.corners, axes.dtype) @ axes}
        learnt = self._samples(sign_key, train, axes, frame, self.span)
        held = self._samples(test_sign_key, test, axes, frame, frame.rank)
        return Problem(learnt, held, directions, frame, mini_batches(self.batch))

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        point_key, sign_key = jax.random.split(key)
        normal = problem.frame.gaussian_points(point_key, 1)
        axes, rank = problem.directions["axes"], problem.frame.rank
        return self._samples(sign_key, normal, axes, problem.frame, rank).take(jnp.asarray(0))

    def _samples(
        self, key: Key[Array, ""], normal: Array, axes: Array, frame: Frame, width: int
    ) -> Samples:
        shape = (normal.shape[0], self.factors)
        signs = random.signs(key, shape)
        spread = self.noise * jnp.sqrt(self.factors / frame.dim)
        x = signs @ axes + spread * normal
        return Samples(x=x if frame.ambient else (x[:, :width],), y=signs.prod(1))
