"""The encoder of self-supervised theory: one output per neuron."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.nets.activations import ACTIVATIONS
from learnscope.nets.net import AbstractInnerProductNet, Params, Weights, summed
from learnscope.part import Number, choice, count, number
from learnscope.space import random


class PatchEncoder(AbstractInnerProductNet):
    r"""$f_j(X) = \sum_p \sigma(\langle w_j, X_p \rangle)$ for every neuron $j$ (Wen and Li 2022,
    section 3.1), from $w_j \sim N(0, \sigma_0^2 I)$.

    | symbol | argument |
    |---|---|
    | $m$ | `width` |
    | $\sigma$ | `activation` |
    | $\sigma_0$ | `scale` (none: $1/\sqrt d$, as in the paper) |
    | $\lvert\langle w_j, v_l \rangle\rvert / \sigma_0$ | `overlaps` |

    `overlaps` fixes the absolute values of the initial components along the features (neuron by
    neuron, one per feature); their signs and all other components stay random. These are the draws
    of a theorem's "without loss of generality".

    >>> import jax, learnscope as ls
    >>> data = ls.data.StrongWeak(20, patches=8, feature_patches=2, strengths=(3, 2), noise=1,
    ...                           batch=4)
    >>> problem = data.sample(jax.random.key(0))
    >>> net = PatchEncoder(width=5)
    >>> net(net.init(jax.random.key(1), problem), problem.test.x).shape
    (1000, 5)
    """

    width: int = count()
    activation: str = choice(*ACTIVATIONS, default="cubic")
    scale: Number | None = number(None, above=0, optional=True)
    overlaps: tuple[Number, ...] | None = number(None, low=0, each=True, optional=True)
    power: Number = number(2.0, low=1)
    threshold: Number = number(0.5, above=0)

    @property
    def rows(self) -> int:
        return self.width

    @property
    def isotropic(self) -> bool:
        return True

    def init(self, key: Key[Array, ""], problem: Problem) -> Weights:
        row_key, sign_key = jax.random.split(key)
        rows, _ = problem.frame.gaussian_rows(row_key, self.width)
        if self.overlaps is not None:
            placed = self._placed(sign_key, problem)
            rows = rows.at[:, : placed.shape[1]].set(placed)
        scale = 1 / jnp.sqrt(problem.frame.dim) if self.scale is None else self.scale
        return Weights(scale * rows)

    def _placed(self, key: Key[Array, ""], problem: Problem) -> Float[Array, "width feature"]:
        features = problem.directions.get("features", jnp.zeros((0, 1))).shape[0]
        given = self.overlaps if isinstance(self.overlaps, tuple) else (self.overlaps,)
        if len(given) != self.width * features or not features:
            must = f"it must have width = {self.width} times {features}, the number of features"
            raise BadInput(f"PatchEncoder.overlaps has {len(given)} entries: {must}.")
        sizes = jnp.stack([jnp.asarray(g, float) for g in given]).reshape(self.width, features)
        return random.signs(key, sizes.shape) * sizes

    def read(self, params: Params, seen: tuple[Float[Array, "filter n *patch"], ...]) -> Array:
        activation = ACTIVATIONS[self.activation]
        return summed(activation(z, self.power, self.threshold) for z in seen).T
