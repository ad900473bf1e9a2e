"""Accuracy on each part of a mixture of images and other inputs."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Problem
from learnscope.probes.probe import AbstractProbe, Output, hidden
from learnscope.rules import AbstractState, correct
from learnscope.rules.losses import loss_of


class PartAccuracy(AbstractProbe):
    """Test accuracy and loss on the images and on the other inputs of a `TeacherMixture`, by the
    teacher's labels (Shi, Wei and Liang 2022, Figures 22 to 25), and the accuracy on both in the
    proportion of the training examples. For comparison: the teacher's own accuracy on the images,
    and the accuracy of the best constant answer on the other inputs."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "real_accuracy": Output("test accuracy on images", low=0, high=1),
        "other_accuracy": Output("test accuracy on other inputs", low=0, high=1),
        "mixture_accuracy": Output("test accuracy on the mixture", low=0, high=1),
        "real_loss": Output("test loss on images", "nat", low=0),
        "other_loss": Output("test loss on other inputs", "nat", low=0),
        "teacher_accuracy": Output("the teacher's accuracy on test images", low=0, high=1),
        "commonest_label": Output("largest share of a label of other inputs", low=0, high=1),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        test = problem.test
        other, truth = (hidden(self, test.marks, name) for name in ("other", "truth"))
        outputs = state(test.x)
        right, losses = correct(outputs, test.y), loss_of(state.loss, outputs, test.y)

        def mean(values: Array, where: Array) -> Array:
            return jnp.where(where, values, 0).sum() / where.sum()

        real, others = mean(right, ~other), mean(right, other)
        share = problem.train.marks["other"].astype(real.dtype).mean()
        same = (test.y[:, None] == test.y[None]).astype(real.dtype)
        alike = (same * other.astype(real.dtype)[None]).sum(1) / other.sum()
        return {
            "real_accuracy": real,
            "other_accuracy": others,
            "mixture_accuracy": (1 - share) * real + share * others,
            "real_loss": mean(losses, ~other),
            "other_loss": mean(losses, other),
            "teacher_accuracy": mean((test.y == truth).astype(real.dtype), ~other),
            "commonest_label": jnp.where(other, alike, 0).max(),
        }
