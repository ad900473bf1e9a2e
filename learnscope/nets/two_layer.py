"""The two-layer network; both layers are trained, or the first one."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data import Problem
from learnscope.errors import refuse
from learnscope.nets.activations import ACTIVATIONS, SMOOTHED
from learnscope.nets.net import AbstractInnerProductNet, Params, Weights, summed
from learnscope.part import Number, choice, count, flag, number
from learnscope.space import random

_SHARP = ("erf", "he2", "he3", "he4")  # activations that are not smoothed


class TwoLayer(AbstractInnerProductNet):
    r"""$g(x) = \sum_i a_i \sigma(\langle w_i, x \rangle + b_i)$ (Shi, Wei, Liang 2022, 3.1).

    It starts with $w_i \sim N(0, \sigma_w^2 I)$, $b_i \sim N(0, \sigma_b^2)$,
    $a_i \sim N(0, \sigma_a^2)$. If `symmetric`, each of $m$ neurons has a twin with the same $w_i$
    and $b_i$ and the opposite $a_i$: there are $2m$ neurons, and $g = 0$ initially. Otherwise there
    are $m$. With `smoothing`, $\sigma$ is replaced by $E\,\sigma(z + \xi)$, $\xi \sim N(0,
    \sigma_\xi^2)$, in closed form: the mean effect of noise that is injected into the neurons.

    Without `bias`, $b = 0$. With `second_layer="sum"` or `"mean"` the second layer
    is fixed, $a_i = 1$ or $1/m$: a soft committee machine (Saad and Solla 1995).

    | symbol | argument |
    |---|---|
    | $m$ | `width` |
    | $\sigma$ | `activation`: truncated (min(1, max(z, 0))), relu, quadratic, erf, he2, he3, he4 |
    | $\sigma_w$, $\sigma_b$, $\sigma_a$ | `scale`, `bias_scale`, `second_scale` |
    | $\sigma_\xi$ | `smoothing` |

    >>> import jax, learnscope as ls
    >>> data = ls.data.Patterns(dim=50, patterns=20, relevant=3, train=8, test=4)
    >>> problem = data.sample(jax.random.key(0))
    >>> net = TwoLayer(width=5)
    >>> params = net.init(jax.random.key(1), problem)
    >>> params.filters.shape, net(params, problem.train.x).shape
    ((10, 50), (8,))
    """

    papers: ClassVar = ("shi2022theoretical",)

    width: int = count(high=2**31 - 1)  # theory is asked about widths that no run has
    activation: str = choice(*SMOOTHED, *_SHARP, default="truncated")
    scale: Number = number(0.1, low=0)
    bias_scale: Number = number(0.0, low=0)
    second_scale: Number = number(1.0, low=0)
    symmetric: bool = flag(True)
    smoothing: Number | None = number(None, above=0, optional=True)
    second_layer: str = choice("trained", "sum", "mean", default="trained")
    bias: bool = flag(True)

    def __check_init__(self):
        super().__check_init__()
        if self.smoothing is not None and self.activation not in SMOOTHED:
            refuse(self, "smoothing", f"it must be none for the activation {self.activation}")
        if self.symmetric and self.second_layer != "trained":
            must = "a fixed second layer has no signs: symmetric must be false"
            refuse(self, "second_layer", must)

    @property
    def readout(self) -> str | None:  # type: ignore[override]
        return "second" if self.second_layer == "trained" else None

    @property
    def rows(self) -> int:
        return self.width  # twins share a direction

    @property
    def moving(self) -> int:
        return 2 * self.width if self.symmetric else self.width

    @property
    def isotropic(self) -> bool:
        return True

    def init(self, key: Key[Array, ""], problem: Problem) -> Weights:
        row_key, other_key = jax.random.split(key)
        rows, _ = problem.frame.gaussian_rows(row_key, self.width)
        bias, second = random.inverse_normal(other_key, (2, self.width))
        filters, second = self.scale * rows, self.second_scale * second
        bias = self.bias_scale * bias if self.bias else None
        if self.symmetric:
            filters, second = jnp.tile(filters, (2, 1)), jnp.concatenate([second, -second])
            bias = None if bias is None else jnp.tile(bias, 2)
        return Weights(filters, bias, second if self.second_layer == "trained" else None)

    def features(
        self, params: Params, seen: tuple[Float[Array, "neuron n *patch"], ...]
    ) -> Float[Array, "neuron n"]:
        """The neurons' outputs, summed over patches if there are several."""
        total, bias = jnp.zeros((), seen[0].dtype), params["bias"]
        for array in seen:
            z = array if bias is None else array + bias.reshape(-1, *(1,) * (array.ndim - 1))
            if self.smoothing is None:
                each = ACTIVATIONS[self.activation](z, 1.0, 1.0)
            else:
                each = SMOOTHED[self.activation](z, self.smoothing)
            total = total + summed([each])
        return total

    def read(self, params: Params, seen: tuple[Float[Array, "neuron n *patch"], ...]) -> Array:
        features = self.features(params, seen)
        if self.second_layer == "trained":
            return params["second"] @ features
        return features.sum(0) if self.second_layer == "sum" else features.mean(0)
