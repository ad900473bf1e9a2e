"""Signal and noise: one patch is the label times a signal, the other is noise."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Key

from learnscope.data.patches import AbstractPatches, Directions, Examples, off_axes
from learnscope.part import Number, count, flag, number
from learnscope.space import random


class SignalNoise(AbstractPatches):
    r"""Two patches: $y\mu$ and $\xi$ (Meng, Cao, Zou 2023, Definition 2.1; Cao et al. 2022).

    The label $y$ is $\pm 1$ with equal probabilities, $\xi \sim N(0, \sigma_p^2 (I -
    \mu\mu^T/\|\mu\|^2))$. The signal is the first patch; a network that treats patches alike sees
    no order. With probability `flip`, the label of an example is $-y$ while its patch stays $y\mu$
    (Kou et al. 2023), in training and in testing: the test error is at least `flip`.

    | symbol | argument |
    |---|---|
    | $d$ | `dim` |
    | $n$ | `train` |
    | $\|\mu\|$ | `signal` |
    | $\sigma_p$ | `noise` |
    | $p$ | `flip` |

    `orthogonal=False` lets the noise have a component along $\mu$. `batch` is the mini-batch size
    (none: the full batch).

    >>> import jax
    >>> model = SignalNoise(dim=50, train=4, test=3, signal=2.0, noise=0.1)
    >>> problem = model.sample(jax.random.key(0))
    >>> problem.train.x.shape, problem.test.y.shape
    ((4, 2, 50), (3,))
    """

    papers: ClassVar = ("cao2022benign", "kou2023benign", "meng2023pegr")
    axes: ClassVar[Any] = 1

    dim: Number = number(low=2, high=1e12, whole=True, shape=True)
    train: int = count()
    test: int = count()
    signal: Number = number(low=0)
    noise: Number = number(low=0)
    flip: Number = number(0.0, low=0, high=1)
    orthogonal: bool = flag(True)
    batch: int | None = count(None, optional=True)

    def directions(self, axes: Array) -> Directions:
        return {"signal": self.signal * axes[0]}

    def examples(self, key: Key[Array, ""], normal: Array, directions: Directions) -> Examples:
        coin, chance = random.uniform(key, (2, normal.shape[0]))
        sign = jnp.where(coin < 0.5, 1.0, -1.0)
        signal = sign[:, None] * directions["signal"][None]
        noise = self.noise * (off_axes(normal, 1) if self.orthogonal else normal)
        y = jnp.where(chance < self.flip, -sign, sign)
        return Examples(y, (signal, noise), {"sign": sign})
