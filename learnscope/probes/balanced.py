"""Accuracy where one label is more frequent than the other."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Problem, Samples
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.rules import State, correct


class BalancedAccuracy(AbstractProbe):
    """Mean over the labels +1 and -1 of the share of test examples that are classified right: 1/2
    for a constant prediction, whatever the labels' shares."""

    outputs: ClassVar = {"balanced_accuracy": Output("balanced test accuracy", low=0, high=1)}

    def __call__(self, state: State, problem: Problem) -> Array:
        return balanced(state, problem.test)


def balanced(state: State, samples: Samples) -> Array:
    """The mean accuracy of both labels."""
    right = correct(state(samples.x), samples.y)
    positive = samples.y > 0
    share = [jnp.sum(jnp.where(one, right, 0)) / jnp.maximum(1, one.sum())
             for one in (positive, ~positive)]  # fmt: skip
    return (share[0] + share[1]) / 2
