"""What is kept of a self-supervised network: its features, how they correlate, what they know."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from learnscope.data import Columns, Problem, Samples, square_images
from learnscope.errors import BadInput
from learnscope.nets import AbstractImageNet, PatchEncoder, Projection, in_parts
from learnscope.part import Number, count, flag, number
from learnscope.probes.pairs import correlation_summary
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.rules import State, correct


def features_of(
    probe: AbstractProbe, state: State, x: PyTree[Float[Array, "n ..."]]
) -> Float[Array, "n feature"]:
    """What the last layer or the projection of a deep network reads, some examples at a time; of a
    `PatchEncoder`, which has no more layers, its outputs with positive and negative parts apart
    (a feature of either sign is then there to be read)."""
    net = state.net
    if isinstance(net, PatchEncoder):
        outputs = state(x)
        return jnp.concatenate([jax.nn.relu(outputs), jax.nn.relu(-outputs)], axis=1)
    if not isinstance(net, AbstractImageNet | Projection):
        raise BadInput(
            f"the probe {type(probe).__name__} needs a deep network on images, such as "
            f"Projection, or PatchEncoder, not {type(net).__name__}."
        )
    return in_parts(lambda part: net.features(state.params, square_images(part)), x)


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

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        found = correlation_summary(features_of(self, state, problem.test.x), self.bins)
        return {
            "feature_correlation_share": found.share,
            "feature_correlation_size": found.size,
            "feature_rank": found.rank,
        }


class LinearProbe(AbstractProbe):
    """Test accuracy of a linear classifier on the features of a network, and of one on its outputs:
    one-hot labels (below `classes`, or +1 and -1) regressed on the first `examples` training
    examples without augmentation, in closed form, with `ridge` added to the diagonal of the
    correlations. What collapsed cannot tell classes apart.

    With `halves` the classifier is fitted to a half of the test examples and scored on the other:
    for data models that keep no training examples, or where features alone are judged."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {
        "probe_accuracy": Output("accuracy of a linear probe on features", low=0, high=1),
        "output_probe_accuracy": Output("accuracy of a linear probe on outputs", low=0, high=1),
    }

    examples: int = count(2000)
    classes: int = count(100, low=2)
    ridge: Number = number(0.01, above=0)
    halves: bool = flag(False)

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        train, test = problem.train, problem.test
        if self.halves:
            # Shuffled, once and for all: classes or tasks may come in any order.
            whole, order = Columns.undone(test), np.random.default_rng(0).permutation(test.size)
            train, test = (whole.take(jnp.asarray(half)) for half in np.array_split(order, 2))
        if self.examples < train.size:
            train = train.take(jnp.arange(self.examples))

        def score(of) -> Array:
            return self._score(of(train), of(test), train, test)

        return {
            "probe_accuracy": score(lambda part: features_of(self, state, part.x)),
            "output_probe_accuracy": score(lambda part: state(part.x).reshape(part.size, -1)),
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
        found = unseen @ weights + offset
        return correct(found[:, 0] if signs else found, test.y).mean()
