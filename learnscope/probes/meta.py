"""What meta-learning learns: losses after adapting, features, noise, amplification."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Problem
from learnscope.part import Number, choice, count, number
from learnscope.probes.probe import (
    AbstractProbe,
    Output,
    floor_of,
    hidden_of,
    overlap,
    refuse,
    two_class_net,
)
from learnscope.rules import AbstractState, correct
from learnscope.rules.losses import loss_of
from learnscope.rules.meta.rule import SPLITS, parts_of
from learnscope.rules.meta.tasks import Parts, Task, descend, tasks_of
from learnscope.rules.span import SpanState
from learnscope.space import Columns


class AbstractAdapting(AbstractProbe):
    r"""Base class for probes that adapt to tasks: J = `inner_steps` steps of gradient descent with
    rate $\gamma$ = `inner_rate`."""

    papers: ClassVar = ("zuo2023split",)

    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0, high=1000)
    split: str = choice(*SPLITS, default="train-validation")

    def adapted(self, task: Task) -> AbstractState:
        """The network after adapting to a task."""
        return descend(task.state, task.inner, self.inner_rate, self.inner_steps)

    def tasks(self, problem: Problem) -> Parts:
        """The examples of all observed tasks."""
        return parts_of(type(self).__name__, problem, self.split)


class MetaLoss(AbstractAdapting):
    r"""The meta-training loss $\frac1K \sum_k L(\tilde W_k, S_k^{out})$, with $\tilde W_k$ adapted
    to $S_k^{in}$ (Zuo et al. 2023, section 3), and the mean of $-\ell'$ over the same examples
    (Lemma 6.4)."""

    outputs: ClassVar = {
        "meta_loss": Output("meta-training loss", "nat", low=0),
        "outer_slope": Output("mean -l' of the outer examples", low=0, high=1),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        def one(task: Task) -> tuple[Array, Array]:
            outputs, y = self.adapted(task).outputs(task.outer), task.outer.y
            losses = loss_of(state.loss, outputs, y)
            slope = jax.grad(lambda out: loss_of(state.loss, out, y).sum())(outputs)
            return losses.mean(), jnp.abs(slope).mean()

        examples = self.tasks(problem)
        losses, slopes = tasks_of(state, examples).map(one)
        return {"meta_loss": losses.mean(), "outer_slope": slopes.mean()}


class AdaptedTest(AbstractAdapting):
    """The loss and the accuracy on the queries of fresh tasks, after adapting to each task with as
    many examples as the rule uses (the training half, or all). `TestLoss` and `TestAccuracy` are
    those before adapting."""

    outputs: ClassVar = {
        "adapted_test_loss": Output("test loss after adapting", "nat", low=0),
        "adapted_test_accuracy": Output("test accuracy after adapting", low=0, high=1),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        losses, right = _adapted(self, state, problem)
        return {"adapted_test_loss": losses.mean(), "adapted_test_accuracy": right.mean()}


class AdaptedTasks(AbstractAdapting):
    """The loss and the accuracy of `AdaptedTest` on each fresh task, for confidence intervals over
    tasks (Zuo et al. 2023, Tables 1 to 6)."""

    outputs: ClassVar = {
        "task_loss": Output("test loss after adapting", "nat", ("task",), low=0),
        "task_accuracy": Output("test accuracy after adapting", dims=("task",), low=0, high=1),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        losses, right = _adapted(self, state, problem)
        return {"task_loss": losses, "task_accuracy": right}


def _adapted(
    probe: AbstractAdapting, state: AbstractState, problem: Problem
) -> tuple[Float[Array, " task"], Float[Array, " task"]]:
    """The loss and the accuracy on the queries of each fresh task."""
    observed = probe.tasks(problem)
    support, each = sum(observed.sizes), problem.test.size // problem.test.groups
    if each <= support:
        size = f"more than the {support} examples that it adapts to; they have {each}"
        refuse(probe, f"fresh tasks of {size}")

    def one(task: Task) -> tuple[Array, Array]:
        outputs, y = probe.adapted(task).outputs(task.outer), task.outer.y
        return loss_of(state.loss, outputs, y).mean(), correct(outputs, y).mean()

    fresh = Parts((Columns.undone(problem.test),), observed.inner, (support, each))
    return tasks_of(state, fresh).map(one)


class FeatureLearning(AbstractProbe):
    r"""How much of the shared feature is learnt, $\min_j \max_r j \langle w_{j,r}, \nu \rangle$
    (Lemma 6.5; it first passes a threshold at $T^{(2)}$ of Lemma 6.2), and how much of the observed
    tasks' own features, $\max_{j,r,k} |\langle w_{j,r}, z_k \rangle|$."""

    papers: ClassVar = ("zuo2023split",)
    outputs: ClassVar = {
        "shared_feature": Output("shared feature learnt, min_j max_r j <w, nu>"),
        "task_feature": Output("task features learnt, max |<w, z_k>|", low=0),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        signs = two_class_net(self, state).signs
        along = signs * overlap(self, state, problem, "shared")
        by_sign = along.reshape(2, -1).max(1)
        own = overlap(self, state, problem, "task")
        return {"shared_feature": by_sign.min(), "task_feature": jnp.abs(own).max()}


class TaskNoise(AbstractProbe):
    r"""The noise memorised of each half, $\max_{j,r,k,i} \langle w_{j,r}, \xi_{k,i} \rangle$ over
    the training examples of the tasks and over their validation examples (Lemma 6.3)."""

    papers: ClassVar = ("zuo2023split",)
    outputs: ClassVar = {
        "training_noise": Output(
            "noise memorised, training half, max <w, xi>", floor="task_noise_floor"
        ),
        "validation_noise": Output(
            "noise memorised, validation half, max <w, xi>", floor="task_noise_floor"
        ),
        "task_noise_floor": Output("rounding error of <w, xi>", low=0),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        halves = parts_of(type(self).__name__, problem, "train-validation").sets
        noise = [hidden_of(self, state, half, "noise").max() for half in halves]
        floors = [floor_of(state, half, "noise") for half in halves]
        return dict(zip(self.outputs, (*noise, jnp.maximum(*floors)), strict=True))


class Amplification(AbstractAdapting):
    r"""The factor by which adapting multiplies the inner products of filters with a task's patches
    (Lemmas 6.1 and 6.2), as medians:

    - of the feature, $j \langle w_{j,r}, \nu_k \rangle$ for the filter r where it is largest, over
      tasks and signs j;
    - of the noise of training and of validation examples, $\langle w_{y,r}, \xi_{k,i} \rangle$ for
      the filter of the example's own sign where it is largest, over examples. (With
      `split="train-train"` both halves are adapted to.)
    """

    outputs: ClassVar = {
        "feature_amplification": Output("feature after / before adapting"),
        "training_noise_amplification": Output("training noise after / before adapting"),
        "validation_noise_amplification": Output("validation noise after / before adapting"),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        two_class_net(self, state)
        examples = self.tasks(problem)

        def one(task: Task) -> tuple[Array, Array]:
            before, after = task.state, self.adapted(task)
            assert isinstance(before, SpanState) and isinstance(after, SpanState)
            return jnp.stack(before.seen), jnp.stack(after.seen)

        before, after = tasks_of(state, examples).map(one)
        y = jnp.concatenate([half.y.reshape(half.groups, -1) for half in examples.sets], axis=1)
        if before.shape[1] != 2:
            refuse(self, "examples of a feature and a noise patch")
        tasks, _, filters, n = before.shape

        def by_sign(seen: Array) -> Float[Array, "task sign filter sample"]:
            return seen.reshape(tasks, 2, filters // 2, n)

        signs = jnp.array([1.0, -1.0], before.dtype)[None, :, None]
        # <w, nu_k> from the first example, whose patch is y nu_k.
        feature = [by_sign(seen[:, 0])[..., 0] * signs * y[:, :1, None] for seen in (before, after)]
        noise = [
            jnp.where((y > 0)[:, None], *(by_sign(seen[:, 1])[:, s] for s in (0, 1)))
            for seen in (before, after)
        ]
        ratios = _ratio(*noise, axis=1)
        first = examples.sizes[0]
        return {
            "feature_amplification": jnp.median(_ratio(*feature, axis=2)),
            "training_noise_amplification": jnp.median(ratios[:, :first]),
            "validation_noise_amplification": jnp.median(ratios[:, first:]),
        }


def _ratio(before: Array, after: Array, axis: int) -> Array:
    """`after` / `before`, where `before` is largest along an axis."""
    at = jnp.argmax(before, axis=axis, keepdims=True)
    over, under = (jnp.take_along_axis(v, at, axis=axis).squeeze(axis) for v in (after, before))
    return over / jnp.where(under == 0, 1.0, under)
