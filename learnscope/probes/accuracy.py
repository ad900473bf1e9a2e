"""Losses and accuracies."""

from operator import add
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Problem
from learnscope.part import count
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.rules import State, correct
from learnscope.rules.losses import loss_of


class Loss(AbstractProbe):
    """Mean training loss L_S(W), without any penalty."""

    outputs: ClassVar = {"loss": Output("training loss", "nat", low=0)}

    def __call__(self, state: State, problem: Problem) -> Array:
        return loss_of(state.loss, state(problem.train.x), problem.train.y).mean()


class TestLoss(AbstractProbe):
    """Mean loss on the test examples."""

    __test__: ClassVar = False  # the name is no test of pytest's
    outputs: ClassVar = {"test_loss": Output("test loss", "nat", low=0)}

    def __call__(self, state: State, problem: Problem) -> Array:
        return loss_of(state.loss, state(problem.test.x), problem.test.y).mean()


class TrainAccuracy(AbstractProbe):
    """Share of training examples that are classified right (an output of exactly 0 counts half);
    of the first `examples`, if there are many."""

    outputs: ClassVar = {"train_accuracy": Output("training accuracy", low=0, high=1)}

    examples: int | None = count(None, optional=True)

    def __call__(self, state: State, problem: Problem) -> Array:
        train = problem.train
        if self.examples is not None and self.examples < train.size:
            train = train.take(jnp.arange(self.examples))
        return correct(state(train.x), train.y).mean()


class TestAccuracy(AbstractProbe):
    """Share of test examples that are classified right (an output of exactly 0 counts half)."""

    __test__: ClassVar = False
    outputs: ClassVar = {"test_accuracy": Output("test accuracy", low=0, high=1)}

    def __call__(self, state: State, problem: Problem) -> Array:
        return correct(state(problem.test.x), problem.test.y).mean()


class GradientNorm(AbstractProbe):
    """Squared norm of the training loss's gradient, ||grad L_S(W)||_F^2."""

    outputs: ClassVar = {"gradient_norm": Output("squared norm of the training gradient", low=0)}

    def __call__(self, state: State, problem: Problem) -> Array:
        gradient = jax.grad(lambda p: state.losses(p, problem.train).mean())(state.params)
        return jax.tree.reduce(add, jax.tree.map(lambda leaf: jnp.sum(leaf**2), gradient))
