"""FC(m): a network with one hidden layer on all pixels."""

from typing import ClassVar

import jax
from jaxtyping import Array, Float, Key

from learnscope.nets.activations import ACTIVATIONS
from learnscope.nets.image_net import AbstractImageNet
from learnscope.nets.layers import Images, dense, dense_layer
from learnscope.nets.net import Params
from learnscope.part import Number, choice, count, number


class FullyConnected(AbstractImageNet):
    r"""FC(m): $W_2 \sigma(W_1 x + b_1) + b_2$ with m hidden neurons, quadratic in Shi, Wei and
    Liang (2022), section E.5.

    | symbol | argument |
    |---|---|
    | $m$ | `width` |
    | $\sigma$ | `activation` |
    | $K$ | `classes` |

    >>> import jax, jax.numpy as jnp
    >>> net = FullyConnected(width=9)
    >>> net(net.layers(jax.random.key(0), (28, 28, 1)), jnp.ones((3, 784))).shape
    (3, 10)
    """

    vmapped: ClassVar = True
    passes: ClassVar = 1

    width: int = count()
    classes: int = count(10, low=2)
    activation: str = choice("quadratic", "relu", "huberised", default="quadratic")
    threshold: Number = number(1.0, above=0)
    scale: Number | None = number(None, above=0, optional=True)

    def layers(self, key: Key[Array, ""], shape: tuple[int, int, int]) -> Params:
        one, two = jax.random.split(key)
        pixels = shape[0] * shape[1] * shape[2]
        return {
            "hidden": dense_layer(one, pixels, self.width, self.scale),
            "dense": dense_layer(two, self.width, self.width_out, self.scale),
        }

    def features(self, params: Params, x: Images) -> Float[Array, "n feature"]:
        """The hidden neurons."""
        z = dense(params["hidden"], x.reshape(x.shape[0], -1))
        return ACTIVATIONS[self.activation](z, 1.0, self.threshold)
