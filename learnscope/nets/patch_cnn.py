"""The two-layer patch network of signal-noise theory."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from learnscope.data import Problem
from learnscope.nets.activations import ACTIVATIONS
from learnscope.nets.net import AbstractInnerProductNet, Params, Weights, over_filters, summed
from learnscope.part import Number, choice, count, flag, number
from learnscope.space import random


class PatchCNN(AbstractInnerProductNet):
    r"""Filters applied to every patch, summed with a fixed second layer.

    For two classes $f(W, x) = F_{+1} - F_{-1}$, else outputs $(F_1, \dots, F_K)$, with

    $$F_j(W_j, x) = a \sum_{r=1}^m \sum_p \sigma(\langle w_{j,r}, x^{(p)} \rangle + b_{j,r}),$$

    $a = 1/m$ for `second_layer="mean"`, $a = 1$ for `"sum"`, and $a = 1/P$ for `"patches"` (the
    mean over $P$ patches); papers differ, and outcomes depend on it. Filters start as
    $N(0, \sigma_0^2 I)$; those of $j = +1$ (or class 0) come first.
    `initial="torch"` is PyTorch's default instead, uniform in $\pm 1/\sqrt d$ whatever the `scale`
    (its standard deviation is $1/\sqrt{3d}$). Without `bias`, $b = 0$; with it, biases are trained
    from 0 (or from PyTorch's default, drawn like a weight).

    | symbol | argument |
    |---|---|
    | $m$ (per class) | `width` |
    | $\sigma$ | `activation` |
    | $\sigma_0$ | `scale` |
    | $a$ | `second_layer` |
    | $K$ | `classes` |
    | $q$ of relu^q | `power` |
    | $h$ of the huberised relu | `threshold` |

    >>> import jax, learnscope as ls
    >>> data = ls.data.SignalNoise(dim=50, train=4, test=3, signal=1, noise=1)
    >>> problem = data.sample(jax.random.key(0))
    >>> net = PatchCNN(width=5)
    >>> net(net.init(jax.random.key(1), problem), problem.train.x).shape
    (4,)
    """

    width: int = count(high=2**31 - 1)  # theory is asked about widths that no run has
    activation: str = choice(*ACTIVATIONS, default="relu2")
    scale: Number = number(0.01, low=0)
    second_layer: str = choice("mean", "sum", "patches", default="mean")
    classes: int = count(2, low=2)
    power: Number = number(2.0, low=1)
    threshold: Number = number(0.5, above=0)
    initial: str = choice("gaussian", "torch", default="gaussian")
    bias: bool = flag(False)

    @property
    def rows(self) -> int:
        return self.classes * self.width

    @property
    def isotropic(self) -> bool:
        return self.initial == "gaussian"

    @property
    def second_layer_scale(self) -> float:
        """The factor of each filter's output, summed (or averaged) over patches."""
        return 1 / self.width if self.second_layer == "mean" else 1.0

    @property
    def signs(self) -> Float[Array, " filter"]:
        """+1 and -1: the sign j of each filter, for two classes."""
        return jnp.asarray(np.repeat([1.0, -1.0], self.width), float)

    def init(self, key: Key[Array, ""], problem: Problem) -> Weights:
        frame = problem.frame
        if self.initial == "torch":
            uniform = random.uniform(key, (self.rows, frame.rank), -1.0)
            start = random.uniform(jax.random.fold_in(key, 1), (self.rows,), -1.0)
            root = jnp.sqrt(frame.dim)
            return Weights(uniform / root, start / root if self.bias else None)
        rows, _ = frame.gaussian_rows(key, self.rows)
        return Weights(self.scale * rows, jnp.zeros(self.rows) if self.bias else None)

    def read(self, params: Params, seen: tuple[Float[Array, "filter n *patch"], ...]) -> Array:
        activation = ACTIVATIONS[self.activation]
        if self.bias:
            seen = tuple(z + params["bias"].reshape(-1, *(1,) * (z.ndim - 1)) for z in seen)
        total = summed(activation(z, self.power, self.threshold) for z in seen)
        patches = sum(math.prod(z.shape[2:]) for z in seen)
        scale = self.second_layer_scale / (patches if self.second_layer == "patches" else 1)
        if self.classes == 2:
            return scale * over_filters(self.signs[:, None] * total)
        by_class = total.reshape(self.classes, self.width, -1)
        return scale * by_class.sum(1).T
