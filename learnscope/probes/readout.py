"""The best linear classifier on the current features, and on their tangent kernel."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import TwoLayer, filters_of, inner
from learnscope.part import Number, count, number
from learnscope.probes.probe import AbstractProbe, Output, refuse
from learnscope.rules import AbstractState, correct
from learnscope.space import Columns


def _two_layer(probe: AbstractProbe, state: AbstractState) -> TwoLayer:
    net = getattr(state.net, "net", state.net)  # a linearised net holds the original
    if not isinstance(net, TwoLayer):
        refuse(probe, f"the net TwoLayer, not {type(net).__name__}")
    if net.readout is None:
        refuse(probe, "a trained second layer")
    return net


def _first(samples: Samples, size: int) -> Samples:
    return samples.take(jnp.arange(min(size, samples.size)))


class ReadoutNorm(AbstractProbe):
    """The norm of the last layer: the B of Theorem 2 (Shi, Wei, Liang 2022)."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {"readout_norm": Output("norm of the last layer", low=0)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        return jnp.linalg.norm(state.params[_two_layer(self, state).readout])


class BestReadout(AbstractProbe):
    """The accuracy of the least-squares classifier on the neurons' outputs (centred and scaled, and
    with an intercept), fitted to the first `examples` training examples, with `ridge` added to the
    diagonal of the correlations."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "readout_train_accuracy": Output("training accuracy of the best readout", low=0, high=1),
        "readout_test_accuracy": Output("test accuracy of the best readout", low=0, high=1),
    }

    examples: int = count(10000)
    ridge: Number = number(1e-6, above=0)

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        net = _two_layer(self, state)
        train = _first(problem.train, self.examples)

        def raw(x) -> Float[Array, "neuron n"]:
            return net.features(state.params, inner(filters_of(state.params), x))

        seen = raw(train.x)
        centre, spread = seen.mean(1, keepdims=True), seen.std(1, keepdims=True)
        spread = jnp.where(spread > 0, spread, 1.0)
        features = (seen - centre) / spread
        n, offset = train.y.shape[0], train.y.mean()
        gram = features @ features.T / n + self.ridge * jnp.eye(features.shape[0])
        weights = jnp.linalg.solve(gram, features @ (train.y - offset) / n)

        def score(seen: Array, labels: Array) -> Array:
            return correct(weights @ ((seen - centre) / spread) + offset, labels).mean()

        test = score(raw(problem.test.x), problem.test.y)
        return {"readout_train_accuracy": score(seen, train.y), "readout_test_accuracy": test}


class KernelFit(AbstractProbe):
    """The test accuracy of kernel ridge regression with the tangent kernel of the current network,
    fitted to the first `examples` training examples: the limit of `Linearised` training. `ridge` is
    in units of the kernel's mean diagonal."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "kernel_test_accuracy": Output("test accuracy of the tangent kernel", low=0, high=1)
    }

    examples: int = count(2000)
    ridge: Number = number(1e-3, above=0)

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        net = _two_layer(self, state)
        train = _first(problem.train, self.examples)
        test = Columns.undone(problem.test)
        one, other = self._parts(net, state, train.x), self._parts(net, state, test.x)
        kernel = self._kernel(one, one)
        level = self.ridge * jnp.trace(kernel) / train.size
        weights = jnp.linalg.solve(kernel + level * jnp.eye(train.size), train.y)
        return correct(self._kernel(other, one) @ weights, test.y).mean()

    @staticmethod
    def _parts(net: TwoLayer, state: AbstractState, x) -> tuple[Array, Array, Array]:
        """The neurons' outputs, a_i sigma'(z_i), and the inputs."""
        patches = jax.tree.leaves(x)
        if len(patches) != 1 or patches[0].ndim != 2:
            raise BadInput("the probe KernelFit needs inputs of one patch.")
        seen = inner(filters_of(state.params), x)
        features = net.features(state.params, seen)
        # Neurons are independent: the gradient of their sum holds each neuron's own derivative.
        slopes = jax.grad(lambda s: net.features(state.params, s).sum())(seen)[0]
        return features, state.params[net.readout][:, None] * slopes, patches[0]

    @staticmethod
    def _kernel(left: tuple[Array, Array, Array], right: tuple[Array, Array, Array]) -> Array:
        gates = left[1].T @ right[1]
        width = min(left[2].shape[1], right[2].shape[1])  # training inputs may be cut
        return left[0].T @ right[0] + gates * (1 + left[2][:, :width] @ right[2][:, :width].T)
