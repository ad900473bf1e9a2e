"""What the best linear classifier would make of the current features, and of their kernel."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Columns, Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import TwoLayer, inner
from learnscope.part import Number, count, number
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.rules import State, correct


def _two_layer(probe: AbstractProbe, state: State) -> TwoLayer:
    net = getattr(state.net, "net", state.net)  # that of a linearised one
    if not isinstance(net, TwoLayer):
        raise BadInput(
            f"the probe {type(probe).__name__} needs the net TwoLayer, not {type(net).__name__}."
        )
    return net


def _first(samples: Samples, size: int) -> Samples:
    return samples.take(jnp.arange(min(size, samples.size)))


class ReadoutNorm(AbstractProbe):
    """The norm of the last layer: the B of Theorem 2 (Shi, Wei, Liang 2022)."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {"readout_norm": Output("norm of the last layer", low=0)}

    def __call__(self, state: State, problem: Problem) -> Array:
        return jnp.linalg.norm(state.params[_two_layer(self, state).readout])


class BestReadout(AbstractProbe):
    """Accuracy of the least-squares classifier on the neurons' outputs, each of them centred and
    scaled, with an intercept: fitted to the first `examples` training examples, with `ridge` added
    to the diagonal of their correlations."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "readout_train_accuracy": Output("training accuracy of the best readout", low=0, high=1),
        "readout_test_accuracy": Output("test accuracy of the best readout", low=0, high=1),
    }

    examples: int = count(10000)
    ridge: Number = number(1e-6, above=0)

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        net = _two_layer(self, state)
        train = _first(problem.train, self.examples)

        def raw(x) -> Float[Array, "neuron n"]:
            return net.features(state.params, inner(state.params["filters"], x))

        seen = raw(train.x)
        centre = seen.mean(1, keepdims=True)
        spread = jnp.std(seen, axis=1, keepdims=True)
        spread = jnp.where(spread > 0, spread, 1.0)
        features = (seen - centre) / spread
        n = train.y.shape[0]
        offset = train.y.mean()
        gram = features @ features.T / n + self.ridge * jnp.eye(features.shape[0])
        weights = jnp.linalg.solve(gram, features @ (train.y - offset) / n)

        def score(seen: Array, labels: Array) -> Array:
            return correct(weights @ ((seen - centre) / spread) + offset, labels).mean()

        test = score(raw(problem.test.x), problem.test.y)
        return {"readout_train_accuracy": score(seen, train.y), "readout_test_accuracy": test}


class KernelFit(AbstractProbe):
    """Accuracy of kernel ridge regression on the labels with the tangent kernel of the current
    network, fitted to the first `examples` training examples: where `Linearised` training leads.
    `ridge` is in units of the kernel's mean diagonal."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "kernel_test_accuracy": Output("test accuracy of the tangent kernel", low=0, high=1)
    }

    examples: int = count(2000)
    ridge: Number = number(1e-3, above=0)

    def __call__(self, state: State, problem: Problem) -> Array:
        net = _two_layer(self, state)
        train = _first(problem.train, self.examples)
        test = Columns.undone(problem.test)
        one, other = self._parts(net, state, train.x), self._parts(net, state, test.x)
        kernel = self._kernel(one, one)
        level = self.ridge * jnp.trace(kernel) / train.size
        weights = jnp.linalg.solve(kernel + level * jnp.eye(train.size), train.y)
        return correct(self._kernel(other, one) @ weights, test.y).mean()

    @staticmethod
    def _parts(net: TwoLayer, state: State, x) -> tuple[Array, Array, Array]:
        """Neurons' outputs, a_i sigma'(z_i), and the inputs."""
        groups = jax.tree.leaves(x)
        if len(groups) != 1 or groups[0].ndim != 2:
            raise BadInput("the probe KernelFit needs inputs of one patch.")
        seen = inner(state.params["filters"], x)
        features = net.features(state.params, seen)
        # Neurons do not see each other: the derivative of their sum has each one's own.
        slopes = jax.grad(lambda s: net.features(state.params, s).sum())(seen)[0]
        return features, state.params["second"][:, None] * slopes, groups[0]

    @staticmethod
    def _kernel(left: tuple[Array, Array, Array], right: tuple[Array, Array, Array]) -> Array:
        gates = left[1].T @ right[1]
        width = min(left[2].shape[1], right[2].shape[1])  # training inputs may be cut
        return left[0].T @ right[0] + gates * (1 + left[2][:, :width] @ right[2][:, :width].T)
