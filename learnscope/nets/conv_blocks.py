"""Conv4 and Conv6: the usual networks in few-shot learning."""

from typing import ClassVar

import jax
from jaxtyping import Array, Float, Key

from learnscope.nets.activations import ACTIVATIONS
from learnscope.nets.image_net import AbstractImageNet
from learnscope.nets.layers import (
    NORMALISATIONS,
    Images,
    conv,
    conv_layer,
    dense_layer,
    max_pool,
    normal_layer,
    normalise,
)
from learnscope.nets.net import Params
from learnscope.part import Number, choice, count, number


class AbstractConvBlocks(AbstractImageNet):
    """Blocks of convolution (3 x 3), normalisation, activation and pooling, then a linear layer.
    The first four blocks halve the sides by pooling, unless an image is one pixel high."""

    depth: ClassVar[int]

    classes: int = count(10, low=2)
    width: int = count(64)
    activation: str = choice("relu", "huberised", "quadratic", default="relu")
    threshold: Number = number(1.0, above=0)
    normalise: str = choice(*NORMALISATIONS, default="batch")
    scale: Number | None = number(None, above=0, optional=True)

    def layers(self, key: Key[Array, ""], shape: tuple[int, int, int]) -> Params:
        keys = jax.random.split(key, self.depth + 1)
        inputs, params = shape[2], {}
        for i in range(self.depth):
            params[f"block{i + 1}"] = {
                "conv": conv_layer(keys[i], 3, inputs, self.width, self.scale),
                "norm": normal_layer(self.normalise, self.width),
            }
            inputs = self.width
        flat = jax.eval_shape(self.features, params, jax.ShapeDtypeStruct((1, *shape), float))
        params["dense"] = dense_layer(keys[-1], flat.shape[1], self.width_out, self.scale)
        return params

    def features(self, params: Params, x: Images) -> Float[Array, "n feature"]:
        """The output of the last block: all places of all filters."""
        act = ACTIVATIONS[self.activation]
        for i in range(self.depth):
            block = params[f"block{i + 1}"]
            x = normalise(self.normalise, block["norm"], conv(block["conv"], x))
            x = act(x, 1.0, self.threshold)
            x = max_pool(x) if i < 4 and x.shape[1] > 1 else x
        return x.reshape(x.shape[0], -1)


class Conv4(AbstractConvBlocks):
    """Four blocks of `width` filters with normalisation (Vinyals et al. 2016; Finn et al. 2017).

    `activation`: relu, or huberised (with its `threshold`), or quadratic.

    >>> import jax, jax.numpy as jnp
    >>> net = Conv4(classes=5, width=8, activation="huberised")
    >>> params = net.layers(jax.random.key(0), (32, 32, 3))
    >>> net(params, jnp.ones((4, 3072))).shape
    (4, 5)
    """

    depth: ClassVar = 4


class Conv6(AbstractConvBlocks):
    """Six blocks of `width` filters with normalisation, the last two without pooling.

    >>> Conv6(classes=5).depth
    6
    """

    depth: ClassVar = 6
