"""Gaussian clusters at the corners of a cube; the label is the parity."""

from itertools import product
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from learnscope.data.patches import AbstractPatches, Directions, Examples
from learnscope.errors import refuse
from learnscope.part import Number, count, number
from learnscope.space import random


class GaussianParity(AbstractPatches):
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
    widths: ClassVar[Any] = (None,)  # one patch: a centre and noise
    aliases: ClassVar = ()

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

    @property
    def axes(self) -> int:
        return self.factors

    @property
    def corners(self) -> np.ndarray:
        """The signs of every centre."""
        return np.array(list(product([1.0, -1.0], repeat=self.factors)))

    def directions(self, axes: Array) -> Directions:
        return {"axes": axes, "centres": jnp.asarray(self.corners, axes.dtype) @ axes}

    def examples(self, key: Key[Array, ""], normal: Array, directions: Directions) -> Examples:
        signs = random.signs(key, (normal.shape[0], self.factors))
        spread = self.noise * jnp.sqrt(self.factors / jnp.asarray(self.dim, float))
        return Examples(signs.prod(1), (signs @ directions["axes"] + spread * normal,))
