"""LeNet5, a small convolutional network."""

import itertools
from typing import ClassVar

import jax
from jaxtyping import Array, Float, Key

from learnscope.nets.image_net import AbstractImageNet
from learnscope.nets.layers import Images, conv, conv_layer, dense, dense_layer, max_pool, rectified
from learnscope.nets.net import Params
from learnscope.part import Number, count, number


class LeNet5(AbstractImageNet):
    r"""Two convolutions (5 x 5; 6 and 16 filters) with pooling, then layers of 120, 84 and
    `classes` neurons, all with ReLU (LeCun et al. 1998; the usual variant with max pooling).

    Images below 20 x 20 are padded at the second convolution too, so that 8 x 8 digits fit.

    | symbol | argument |
    |---|---|
    | standard deviation of initial weights | `scale` (none: that of He et al.) |
    | $K$ | `classes` |

    >>> import jax, jax.numpy as jnp
    >>> net = LeNet5()
    >>> params = net.layers(jax.random.key(0), (28, 28, 1))
    >>> sum(leaf.size for leaf in jax.tree.leaves(params)), net(params, jnp.ones((3, 784))).shape
    (61706, (3, 10))
    """

    last: ClassVar[str] = "dense3"

    classes: int = count(10, low=2)
    scale: Number | None = number(None, above=0, optional=True)

    def layers(self, key: Key[Array, ""], shape: tuple[int, int, int]) -> Params:
        keys = jax.random.split(key, 5)
        params = {
            "conv1": conv_layer(keys[0], 5, shape[2], 6, self.scale),
            "conv2": conv_layer(keys[1], 5, 6, 16, self.scale),
        }
        flat = jax.eval_shape(self._flat, params, jax.ShapeDtypeStruct((1, *shape), float))
        sizes = [flat.shape[1], 120, 84, self.width_out]
        for i, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
            params[f"dense{i + 1}"] = dense_layer(keys[2 + i], inputs, outputs, self.scale)
        return params

    def _flat(self, params: Params, x: Images) -> Float[Array, "n feature"]:
        x = max_pool(rectified(conv(params["conv1"], x)))
        padding = "VALID" if x.shape[1] >= 10 else "SAME"
        x = max_pool(rectified(conv(params["conv2"], x, padding)))
        return x.reshape(x.shape[0], -1)

    def features(self, params: Params, x: Images) -> Float[Array, "n feature"]:
        """The 84 neurons before the last layer."""
        x = self._flat(params, x)
        for name in ("dense1", "dense2"):
            x = rectified(dense(params[name], x))
        return x
