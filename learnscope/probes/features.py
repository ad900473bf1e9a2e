"""The features of self-supervised networks: their correlations, and a linear classifier on them."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from learnscope.data import Problem, Samples
from learnscope.images import square_images
from learnscope.nets import AbstractImageNet, PatchEncoder, Projection, in_parts
from learnscope.part import Number, count, flag, number
from learnscope.probes.pairs import correlation_summary
from learnscope.probes.probe import AbstractProbe, Output, refuse
from learnscope.rules import AbstractState, correct
from learnscope.space import Columns


def features_of(
    probe: AbstractProbe, state: AbstractState, x: PyTree[Float[Array, "n ..."]]
) -> Float[Array, "n feature"]:
    """The inputs of a deep network's last layer or projection, computed some examples at a time.

    The features of a `PatchEncoder`, which has no further layers, are the positive and the negative
    parts of its outputs, so that a classifier can read a feature of either sign.
    """
    net = state.net
    if isinstance(net, PatchEncoder):
        outputs = state(x)
        return jnp.concatenate([jax.nn.relu(outputs), jax.nn.relu(-outputs)], axis=1)
    if not isinstance(net, AbstractImageNet | Projection):
        given = type(net).__name__
        refuse(probe, f"a deep network on images, such as Projection, or PatchEncoder, not {given}")
    return in_parts(lambda some: net.features(state.params, square_images(some)), x)


class FeatureCorrelation(AbstractProbe):
    """`NeuronCorrelation` of the features below the projection (Wen and Li 2022, Figure 1b)."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {
        "feature_correlation_share": Output(
            "share of pairs of features", dims=("correlation_bin",), low=0, high=1
        ),
        "feature_correlation_size": Output("mean |correlation| of two features", low=0, high=1),
        "feature_rank": Output("effective rank of the features", low=0),
    }

    bins: int = count(40)

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        found = correlation_summary(features_of(self, state, problem.test.x), self.bins)
        return dict(zip(self.outputs, found[1:], strict=True))


class LinearProbe(AbstractProbe):
    """The test accuracy of a linear classifier on a network's features, and of one on its outputs.
    Collapsed features cannot distinguish the classes.

    The classifier is the ridge regression of the labels (+1 and -1, or one-hot with `classes`
    classes) on the first `examples` training examples without augmentation, with `ridge` added to
    the diagonal of the correlations. With `halves` it is fitted to one half of the test examples
    and scored on the other, for data models that store no training examples."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {
        "probe_accuracy": Output("accuracy of a linear probe on features", low=0, high=1),
        "output_probe_accuracy": Output("accuracy of a linear probe on outputs", low=0, high=1),
    }

    examples: int = count(2000)
    classes: int = count(100, low=2)
    ridge: Number = number(0.01, above=0)
    halves: bool = flag(False)

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        train, test = problem.train, problem.test
        if self.halves:
            # Always the same shuffle: test examples may be sorted by class or task.
            whole, order = Columns.undone(test), np.random.default_rng(0).permutation(test.size)
            train, test = (whole.take(jnp.asarray(half)) for half in np.array_split(order, 2))
        if self.examples < train.size:
            train = train.take(jnp.arange(self.examples))

        def score(of) -> Array:
            return self._score(of(train), of(test), train, test)

        return {
            "probe_accuracy": score(lambda half: features_of(self, state, half.x)),
            "output_probe_accuracy": score(lambda half: state(half.x).reshape(half.size, -1)),
        }

    def _score(self, seen: Array, unseen: Array, train: Samples, test: Samples) -> Array:
        signs = jnp.issubdtype(train.y.dtype, jnp.floating)
        wanted = train.y[:, None] if signs else jax.nn.one_hot(train.y, self.classes)
        wanted = wanted.astype(seen.dtype)
        centre, spread = seen.mean(0, keepdims=True), seen.std(0, keepdims=True)
        spread = jnp.where(spread > 0, spread, 1.0)
        seen, unseen = (seen - centre) / spread, (unseen - centre) / spread
        offset = wanted.mean(0, keepdims=True)
        size, count = seen.shape
        gram = seen.T @ seen / size + self.ridge * jnp.eye(count, dtype=seen.dtype)
        weights = jnp.linalg.solve(gram, seen.T @ (wanted - offset) / size)
        outputs = unseen @ weights + offset
        return correct(outputs[:, 0] if signs else outputs, test.y).mean()
