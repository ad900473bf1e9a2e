"""ResNet-18 of any width, for small images."""

import jax
from jaxtyping import Array, Float, Key

from learnscope.nets.image_net import AbstractImageNet
from learnscope.nets.layers import (
    NORMALISATIONS,
    Images,
    Layer,
    conv,
    conv_layer,
    dense_layer,
    normal_layer,
    normalise,
    rectified,
)
from learnscope.nets.net import Params
from learnscope.part import Number, choice, count, number

_STAGES, _BLOCKS = 4, 2


class ResNet(AbstractImageNet):
    r"""ResNet-18 (He et al. 2016) with m filters in its first stage, then 2m, 4m, 8m: ResNet(m).

    As usual for images of 32 x 32, the first convolution is 3 x 3 without stride or pooling. The
    original has m = 64.

    | symbol | argument |
    |---|---|
    | $m$ | `filters` |
    | $K$ | `classes` |

    >>> import jax, jax.numpy as jnp
    >>> net = ResNet(filters=4)
    >>> params = net.layers(jax.random.key(0), (32, 32, 3))
    >>> net(params, jnp.ones((2, 3072))).shape
    (2, 10)
    """

    filters: int = count()
    classes: int = count(10, low=2)
    normalise: str = choice(*NORMALISATIONS, default="batch")
    scale: Number | None = number(None, above=0, optional=True)

    def layers(self, key: Key[Array, ""], shape: tuple[int, int, int]) -> Params:
        keys = iter(jax.random.split(key, 2 + 3 * _STAGES * _BLOCKS))
        params = {
            "conv": conv_layer(next(keys), 3, shape[2], self.filters, self.scale, bias=False),
            "norm": normal_layer(self.normalise, self.filters),
        }
        inputs = self.filters
        for stage in range(_STAGES):
            outputs = self.filters * 2**stage
            for block in range(_BLOCKS):
                made = {
                    "conv1": conv_layer(next(keys), 3, inputs, outputs, self.scale, bias=False),
                    "norm1": normal_layer(self.normalise, outputs),
                    "conv2": conv_layer(next(keys), 3, outputs, outputs, self.scale, bias=False),
                    "norm2": normal_layer(self.normalise, outputs),
                }
                other = next(keys)
                if inputs != outputs:
                    short = conv_layer(other, 1, inputs, outputs, self.scale, bias=False)
                    made |= {"short": short, "norm3": normal_layer(self.normalise, outputs)}
                params[f"stage{stage + 1}_{block + 1}"] = made
                inputs = outputs
        params["dense"] = dense_layer(next(keys), inputs, self.width_out, self.scale)
        return params

    def _block(self, layer: Layer, x: Images, stride: int) -> Images:
        how = self.normalise
        inside = normalise(how, layer["norm1"], conv(layer["conv1"], x, stride=stride))
        inside = normalise(how, layer["norm2"], conv(layer["conv2"], rectified(inside)))
        if "short" in layer:
            x = normalise(how, layer["norm3"], conv(layer["short"], x, stride=stride))
        return rectified(x + inside)

    def features(self, params: Params, x: Images) -> Float[Array, "n feature"]:
        """The 8m features before the last layer."""
        x = rectified(normalise(self.normalise, params["norm"], conv(params["conv"], x)))
        for stage in range(_STAGES):
            for block in range(_BLOCKS):
                stride = 2 if stage > 0 and block == 0 else 1
                x = self._block(params[f"stage{stage + 1}_{block + 1}"], x, stride)
        return x.mean((1, 2))
