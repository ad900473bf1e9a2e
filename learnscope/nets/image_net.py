"""What deep networks on images share: shapes, evaluation in parts, statistics of batches."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data import Problem, square_images
from learnscope.nets.layers import Images, dense
from learnscope.nets.net import AbstractNet, Params

_PART = 500  # examples that are evaluated at a time, which bounds memory


class AbstractImageNet(AbstractNet):
    """A deep network on square images, given as rows of pixels or as (height, width, channel).

    Its parameters are all that it has. Where it normalises over the batch, it takes the statistics
    of the batch that it is called on, in training and in testing (as meta-learning does);
    `calibrated` puts those of given examples among the parameters, which are then used instead:
    nothing is remembered behind a rule's back.

    Outputs are a linear layer, the parameters named `last`, on top of `features`.
    """

    # Weights that differ from run to run make grouped convolutions, which are slow on CPUs.
    vmapped: ClassVar[bool] = False
    passes: ClassVar[int] = 64  # a filter meets every place
    last: ClassVar[str] = "dense"

    classes: eqx.AbstractVar[int]

    @abstractmethod
    def layers(self, key: Key[Array, ""], shape: tuple[int, int, int]) -> Params:
        """Initial parameters for images of a shape."""

    @abstractmethod
    def features(self, params: Params, x: Images) -> Float[Array, "n feature"]:
        """What the last layer reads."""

    def outputs(self, params: Params, x: Images) -> Float[Array, "n output"]:
        """One number a class (or one) for every image."""
        return dense(params[self.last], self.features(params, x))

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
        return calibrated(lambda told: self.outputs(told, square_images(x)), params)

    def evaluate(self, params: Params, x: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
        """Outputs of many examples, some at a time (batch statistics are then those of a part)."""
        return in_parts(lambda part: self(params, part), x)


def in_parts(
    function: Callable[[Array], Float[Array, "n ..."]], x: Float[Array, "n ..."]
) -> Float[Array, "n ..."]:
    """A function of many examples, some at a time."""
    if x.shape[0] <= _PART:
        return function(x)
    parts = -(-x.shape[0] // _PART)
    size = -(-x.shape[0] // parts)
    index = jnp.arange(parts * size) % x.shape[0]  # the last part is filled up from the first
    found = jax.lax.map(lambda at: function(x[at]), index.reshape(parts, size))
    return found.reshape(parts * size, *found.shape[2:])[: x.shape[0]]


def calibrated(function: Callable[[Params], Array], params: Params) -> Params:
    """Parameters with the statistics that batch normalisations see while a function is computed."""
    told = _told(params)
    function(told)
    return _with_taken(told)


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
