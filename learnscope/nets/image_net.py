"""What deep networks on images share: shapes, evaluation in parts, statistics of batches."""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data import Problem
from learnscope.nets.layers import Images, square_images
from learnscope.nets.net import AbstractNet, Params

_PART = 500  # examples that are evaluated at a time, which bounds memory


class AbstractImageNet(AbstractNet):
    """A deep network on square images, given as rows of pixels or as (height, width, channel).

    Its parameters are all that it has. Where it normalises over the batch, it takes the statistics
    of the batch that it is called on, in training and in testing (as meta-learning does);
    `calibrated` puts those of given examples among the parameters, which are then used instead:
    nothing is remembered behind a rule's back.
    """

    # Weights that differ from run to run make grouped convolutions, which are slow on CPUs.
    vmapped: ClassVar[bool] = False
    passes: ClassVar[int] = 64  # a filter meets every place

    classes: eqx.AbstractVar[int]

    @abstractmethod
    def layers(self, key: Key[Array, ""], shape: tuple[int, int, int]) -> Params:
        """Initial parameters for images of a shape."""

    @abstractmethod
    def outputs(self, params: Params, x: Images) -> Float[Array, "n output"]:
        """One number a class (or one) for every image."""

    @property
    def width_out(self) -> int:
        """How many outputs an example has: one for two classes."""
        return 1 if self.classes == 2 else self.classes

    def init(self, key: Key[Array, ""], problem: Problem) -> Params:
        shape = jax.eval_shape(square_images, problem.test.x).shape
        return self.layers(key, shape[1:])

    def __call__(self, params: Params, x: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
        found = self.outputs(params, square_images(x))
        return found[:, 0] if self.classes == 2 else found

    def calibrated(self, params: Params, x: Float[Array, "n ..."]) -> Params:
        """The parameters with the statistics of given examples in every batch normalisation, by
        which each example is then judged on its own."""
        told = _told(params)
        self.outputs(told, square_images(x))
        return _with_taken(told)

    def evaluate(self, params: Params, x: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
        """Outputs of many examples, some at a time (batch statistics are then those of a part)."""
        if x.shape[0] <= _PART:
            return self(params, x)
        parts = -(-x.shape[0] // _PART)
        size = -(-x.shape[0] // parts)
        index = jnp.arange(parts * size) % x.shape[0]  # the last part is filled up from the first
        found = jax.lax.map(lambda at: self(params, x[at]), index.reshape(parts, size))
        return found.reshape(parts * size, *found.shape[2:])[: x.shape[0]]


def _told(layers: Any) -> Any:
    """A copy whose normalising layers are told of what they see."""
    if not isinstance(layers, dict):
        return layers
    inside = {name: _told(layer) for name, layer in layers.items()}
    return {**inside, "taken": []} if "gain" in layers else inside


def _with_taken(layers: Any) -> Any:
    if not isinstance(layers, dict):
        return layers
    inside = {name: _with_taken(layer) for name, layer in layers.items() if name != "taken"}
    if layers.get("taken"):
        ((mean, variance),) = layers["taken"]
        inside |= {"mean": mean, "variance": variance}
    return inside
