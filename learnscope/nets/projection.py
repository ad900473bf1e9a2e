"""A deep network with a projection head, as trained by self-supervised learning."""

from typing import ClassVar

import jax
from jaxtyping import Array, Float, Key

from learnscope.data import Problem
from learnscope.nets.image_net import AbstractImageNet, calibrated, in_parts
from learnscope.nets.layers import (
    NORMALISATIONS,
    dense,
    dense_layer,
    normal_layer,
    normalise,
    rectified,
)
from learnscope.nets.net import AbstractNet, Params
from learnscope.part import choice, count, slot
from learnscope.space.image_shape import square_images


class Projection(AbstractNet):
    r"""A deep network, the `body`, without its last layer, and on top of its features a fully
    connected network of `layers` layers with `width` hidden neurons each (`normalise`d, then ReLU)
    and `outputs` outputs.

    In Wen and Li (2022), section 8, the body is a ResNet-18 and the projection has 2 layers with
    512 hidden neurons and 64 outputs:

    >>> import jax, jax.numpy as jnp
    >>> from learnscope.nets import ResNet
    >>> Projection(ResNet(filters=64), width=512, outputs=64).layers
    2
    >>> net = Projection(ResNet(filters=2), width=8, outputs=4)
    >>> params = net.parameters(jax.random.key(0), (32, 32, 3))
    >>> x = jnp.ones((3, 3072))
    >>> net(params, x).shape, net.features(params, x).shape
    ((3, 4), (3, 16))
    """

    vmapped: ClassVar[bool] = False
    passes: ClassVar[int] = AbstractImageNet.passes

    body: AbstractImageNet = slot(AbstractImageNet)
    width: int = count(512)
    outputs: int = count(64)
    layers: int = count(2, high=100)
    normalise: str = choice(*NORMALISATIONS, default="none")

    def parameters(self, key: Key[Array, ""], shape: tuple[int, int, int]) -> Params:
        """Initial parameters for images of a shape."""
        one, *others = jax.random.split(key, 1 + self.layers)
        body = self.body.layers(one, shape)
        inputs = body.pop(self.body.last)["weight"].shape[0]
        params = {"body": body}
        for i, own in enumerate(others):
            last = i + 1 == self.layers
            size = self.outputs if last else self.width
            params[f"dense{i + 1}"] = dense_layer(own, inputs, size)
            if not last:
                params[f"norm{i + 1}"] = normal_layer(self.normalise, size)
            inputs = size
        return params

    def init(self, key: Key[Array, ""], problem: Problem) -> Params:
        shape = jax.eval_shape(square_images, problem.test.x).shape
        return self.parameters(key, shape[1:])

    def features(self, params: Params, x: Float[Array, "n ..."]) -> Float[Array, "n feature"]:
        """The inputs of the projection, which are used after training."""
        return self.body.features(params["body"], square_images(x))

    def __call__(self, params: Params, x: Float[Array, "n ..."]) -> Float[Array, "n output"]:
        x = self.features(params, x)
        for i in range(self.layers):
            x = dense(params[f"dense{i + 1}"], x)
            if i + 1 < self.layers:
                x = rectified(normalise(self.normalise, params[f"norm{i + 1}"], x))
        return x

    def calibrated(self, params: Params, x: Float[Array, "n ..."]) -> Params:
        """The parameters with the statistics of given examples in every batch normalisation."""
        return calibrated(lambda recording: self(recording, x), params)

    def evaluate(self, params: Params, x: Float[Array, "n ..."]) -> Float[Array, "n output"]:
        return in_parts(lambda batch: self(params, batch), x)
