"""XOR clusters: the label is the product of two signs, and no linear function of the input."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Key

from learnscope.data.patches import AbstractPatches, Directions, Examples, off_axes
from learnscope.part import Number, count, number
from learnscope.space import random


class XorClusters(AbstractPatches):
    r"""Two patches: $\pm(u + v)$ if $y = +1$, $\pm(u - v)$ if $y = -1$; and noise
    $\xi \sim N(0, \sigma_p^2 I)$ orthogonal to both (Meng, Zou, Cao 2023).

    Labels and signs are fair coins. With probability `flip`, the label of an example is the
    opposite one. For $u \perp v$ the centres are as long as each other; for $\|u\| = \|v\|$ they
    are orthogonal. The directions are `u`, `v` and `centres`: $u + v$ and $u - v$.

    | symbol | argument |
    |---|---|
    | $d, n$ | `dim`, `train` |
    | $\|u\|, \|v\| / \|u\|$ | `signal`, `ratio` |
    | cosine of the angle between $u$ and $v$ | `cosine` |
    | $\sigma_p, p$ | `noise`, `flip` |

    >>> import jax
    >>> problem = XorClusters(dim=50, train=4, test=3, signal=2, noise=1).sample(jax.random.key(0))
    >>> problem.train.x.shape, problem.directions["centres"].shape
    ((4, 2, 50), (2, 50))
    """

    papers: ClassVar = ("meng2023xor",)
    axes: ClassVar[Any] = 2

    dim: Number = number(low=3, high=1e12, whole=True, shape=True)
    train: int = count()
    test: int = count()
    signal: Number = number(low=0)
    noise: Number = number(low=0)
    flip: Number = number(0.0, low=0, high=1)
    ratio: Number = number(1.0, low=0)
    cosine: Number = number(0.0, low=-1, high=1)
    batch: int | None = count(None, optional=True)

    def directions(self, axes: Array) -> Directions:
        across = jnp.sqrt(1 - jnp.asarray(self.cosine, float) ** 2)
        u = self.signal * axes[0]
        v = self.signal * self.ratio * (self.cosine * axes[0] + across * axes[1])
        return {"centres": jnp.stack([u + v, u - v]), "u": u, "v": v}

    def examples(self, key: Key[Array, ""], normal: Array, directions: Directions) -> Examples:
        one, other, chance = random.uniform(key, (3, normal.shape[0]))
        sign, product = (jnp.where(coin < 0.5, 1.0, -1.0) for coin in (one, other))
        u, v = (directions[name][None] for name in ("u", "v"))
        signal = sign[:, None] * (u + product[:, None] * v)
        y = jnp.where(chance < self.flip, -product, product)
        return Examples(y, (signal, self.noise * off_axes(normal, 2)), {"product": product})
