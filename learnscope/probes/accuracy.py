"""Losses, accuracies, and the gradient's norm."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Problem, Samples
from learnscope.part import count
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.rules import AbstractState, correct
from learnscope.rules.losses import loss_of


class Loss(AbstractProbe):
    """The mean training loss L_S(W), without any penalty."""

    outputs: ClassVar = {"loss": Output("training loss", "nat", low=0)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        return loss_of(state.loss, state.outputs(problem.train), problem.train.y).mean()


class TestLoss(AbstractProbe):
    """The mean loss on the test examples."""

    __test__: ClassVar = False  # pytest: this is not a test
    outputs: ClassVar = {"test_loss": Output("test loss", "nat", low=0)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        return loss_of(state.loss, state.outputs(problem.test), problem.test.y).mean()


class TrainAccuracy(AbstractProbe):
    """The share of the training examples (or of the first `examples`) that are classified right. An
    output of exactly 0 counts half."""

    outputs: ClassVar = {"train_accuracy": Output("training accuracy", low=0, high=1)}

    examples: int | None = count(None, optional=True)

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        train = problem.train
        if self.examples is not None and self.examples < train.size:
            train = train.take(jnp.arange(self.examples))
        return correct(state.outputs(train), train.y).mean()


class TestAccuracy(AbstractProbe):
    """The share of test examples that are classified right. An output of exactly 0 counts half."""

    __test__: ClassVar = False
    outputs: ClassVar = {"test_accuracy": Output("test accuracy", low=0, high=1)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        return correct(state.outputs(problem.test), problem.test.y).mean()


class BalancedAccuracy(AbstractProbe):
    """The test accuracy on the labels +1 and -1, averaged over the two labels: 1/2 for a constant
    prediction, however frequent each label is. NaN if one of them does not occur."""

    outputs: ClassVar = {"balanced_accuracy": Output("balanced test accuracy", low=0, high=1)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        return balanced(state, problem.test)


def balanced(state: AbstractState, samples: Samples) -> Array:
    """The accuracy on each of the labels +1 and -1, averaged over the two."""
    right = correct(state.outputs(samples), samples.y)
    positive = samples.y > 0
    each = [jnp.where(one, right, 0).sum() / one.sum() for one in (positive, ~positive)]
    return (each[0] + each[1]) / 2


class GradientNorm(AbstractProbe):
    """The squared norm of the training loss's gradient, ||grad L_S(W)||_F^2."""

    outputs: ClassVar = {"gradient_norm": Output("squared norm of the training gradient", low=0)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        gradient = state.gradient(problem.train)
        return state.dot(gradient, gradient)


DEFAULT: tuple[AbstractProbe, ...] = (Loss(),)  # of an experiment that names no probes
