"""Accuracy by class, and on the long tail of each class (Xu and Chen 2025)."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from learnscope.data import Problem
from learnscope.nets import Params, filters_of
from learnscope.part import Number, number
from learnscope.probes.class_noise import factors_of, mean_by_class, noise_seen, outputs_of, own
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.rules import AbstractState, correct


class ClassAccuracy(AbstractProbe):
    """The test accuracy of every class (NaN if a class has no test example)."""

    outputs: ClassVar = {
        "class_accuracy": Output("test accuracy of a class", dims=("class",), low=0, high=1)
    }

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        outputs = outputs_of(self, state, state.params, problem.test)
        right = correct(outputs, problem.test.y)
        return mean_by_class(right, problem.test.y, outputs.shape[1])


class LongTailAccuracy(AbstractProbe):
    r"""The test accuracy of every class on its long-tailed examples (Definition 1).

    The equivalent noise of an example is $\zeta' = \langle \sum_{r \in R} w_{y,r}, \xi \rangle /
    \|A_y^T \sum_{r \in R} w_{y,r}\|$, where $R$ are the neurons of its own class that it activates.
    In the paper the long tail is $\zeta' \ge L$ with an unspecified constant, whose scale depends
    on the setting. Here it is the `share` of a class's test examples with the largest $\zeta'$; an
    example that activates no neuron of its class has no $\zeta'$ and is never in the tail.

    This selection favours right answers by itself. `long_tail_untrained`, the accuracy of the
    untrained network on *its* long tail, shows by how much.
    """

    outputs: ClassVar = {
        "long_tail_accuracy": Output(
            "test accuracy of a class on its long tail", dims=("class",), low=0, high=1
        ),
        "long_tail_untrained": Output(
            "the same of the untrained network", dims=("class",), low=0, high=1
        ),
    }

    share: Number = number(0.2, above=0, high=1)

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        return {
            "long_tail_accuracy": self._accuracy(state, state.params, problem),
            "long_tail_untrained": self._accuracy(state, state.start, problem),
        }

    def _accuracy(self, state: AbstractState, params: Params, problem: Problem) -> Array:
        outputs = outputs_of(self, state, params, problem.test)
        right, labels = correct(outputs, problem.test.y), problem.test.y
        noise = _equivalent_noise(self, params, problem)
        tail = _in_tail(noise, labels, outputs.shape[1], self.share)
        return mean_by_class(right, jnp.where(tail, labels, -1), outputs.shape[1])


def _equivalent_noise(probe: AbstractProbe, params: Params, problem: Problem) -> Float[Array, " n"]:
    """zeta' of every test example; minus infinity where no neuron of its class is active."""
    factors, classes = factors_of(probe, problem)
    test, filters = problem.test, filters_of(params)
    seen = own(noise_seen(params, test), test, classes)
    active = seen > 0
    # The mask picks, for every example, the active filters of its class.
    place = jax.nn.one_hot(test.y, classes, dtype=filters.dtype)
    mask = jnp.einsum("nk,nm->nkm", place, active.astype(filters.dtype)).reshape(test.size, -1)
    strength = factors.strength(mask @ filters, test.y)
    value = jnp.where(active, seen, 0).sum(1) / jnp.where(strength > 0, strength, 1)
    return jnp.where(active.any(1) & (strength > 0), value, -jnp.inf)


def _in_tail(
    values: Float[Array, " n"], labels: Array, classes: int, share: Number
) -> Bool[Array, " n"]:
    """Whether each example is among the `share` of its class with the largest values (at least one
    example of each class is)."""
    order = jnp.argsort(-values)
    mine = jax.nn.one_hot(labels[order], classes)
    rank = jnp.sum(jnp.cumsum(mine, axis=0) * mine, axis=1)  # 1 is the largest of its class
    sizes = mine.sum(0)[labels[order]]
    inside = (rank <= jnp.maximum(1, jnp.round(share * sizes))) & jnp.isfinite(values[order])
    return jnp.zeros(labels.shape, bool).at[order].set(inside)
