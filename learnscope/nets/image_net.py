"""Base class of deep networks on images: shapes, evaluation in batches, batch statistics."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from learnscope.data import Problem
from learnscope.nets.layers import Images, dense
from learnscope.nets.net import AbstractNet, Params
from learnscope.space.image_shape import square_images

_MOST = 500  # examples that are evaluated at a time, to limit memory


class AbstractImageNet(AbstractNet):
    """A deep network on square images, given as rows of pixels or as (height, width, channel).

    It has no state beside its parameters. Batch normalisation uses the statistics of the batch that
    the net is called on, in training and in testing (as in meta-learning). `calibrated` adds the
    statistics of given examples to the parameters, which are then used instead.

    Outputs are a linear layer on top of `features`; `last` is the name of its parameters.
    """

    # Vmapping over runs would make grouped convolutions, which are slow on CPUs.
    vmapped: ClassVar[bool] = False
    passes: ClassVar[int] = 64  # a filter is applied at every place
    last: ClassVar[str] = "dense"

    classes: eqx.AbstractVar[int]

    @abstractmethod
    def layers(self, key: Key[Array, ""], shape: tuple[int, int, int]) -> Params:
        """Initial parameters for images of a shape."""

    @abstractmethod
    def features(self, params: Params, x: Images) -> Float[Array, "n feature"]:
        """The inputs of the last layer."""

    def outputs(self, params: Params, x: Images) -> Float[Array, "n output"]:
        """One number per class (one number for two classes) for every image."""
        return dense(params[self.last], self.features(params, x))

    @property
    def width_out(self) -> int:
        """The number of outputs per example: one for two classes."""
        return 1 if self.classes == 2 else self.classes

    def init(self, key: Key[Array, ""], problem: Problem) -> Params:
        shape = jax.eval_shape(square_images, problem.test.x).shape
        return self.layers(key, shape[1:])

    def __call__(self, params: Params, x: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
        outputs = self.outputs(params, square_images(x))
        return outputs[:, 0] if self.classes == 2 else outputs

    def calibrated(self, params: Params, x: Float[Array, "n ..."]) -> Params:
        """The parameters with the statistics of given examples in every batch normalisation, so
        that the output for an example no longer depends on its batch."""
        return calibrated(lambda recording: self.outputs(recording, square_images(x)), params)

    def evaluate(self, params: Params, x: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
        """Outputs for many examples, a batch at a time (which batch statistics then refer to)."""
        return in_parts(lambda batch: self(params, batch), x)


def in_parts(
    function: Callable[[Array], Float[Array, "n ..."]], x: Float[Array, "n ..."]
) -> Float[Array, "n ..."]:
    """Apply a function to many examples, a batch at a time."""
    if x.shape[0] <= _MOST:
        return function(x)
    batches = -(-x.shape[0] // _MOST)
    size = -(-x.shape[0] // batches)
    index = jnp.arange(batches * size) % x.shape[0]  # the first examples pad the last batch
    outputs = jax.lax.map(lambda at: function(x[at]), index.reshape(batches, size))
    return outputs.reshape(batches * size, *outputs.shape[2:])[: x.shape[0]]


def calibrated(function: Callable[[Params], Array], params: Params) -> Params:
    """The parameters with the batch statistics that occur while `function` is computed."""
    recording = _recording(params)
    function(recording)
    return _with_recorded(recording)


def _recording(layers: Any) -> Any:
    """A copy whose normalisation layers record their batch statistics."""
    if not isinstance(layers, dict):
        return layers
    inside = {name: _recording(layer) for name, layer in layers.items()}
    return {**inside, "recorded": []} if "gain" in layers else inside


def _with_recorded(layers: Any) -> Any:
    """The layers with their recorded statistics as parameters."""
    if not isinstance(layers, dict):
        return layers
    inside = {name: _with_recorded(layer) for name, layer in layers.items() if name != "recorded"}
    if layers.get("recorded"):
        ((mean, variance),) = layers["recorded"]
        inside |= {"mean": mean, "variance": variance}
    return inside
