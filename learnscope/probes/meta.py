"""What meta-learning learns: losses before and after adapting, features, noise, amplification."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from learnscope.data import Columns, Problem
from learnscope.errors import BadInput
from learnscope.nets import PatchCNN
from learnscope.part import Number, choice, count, number
from learnscope.probes.probe import AbstractProbe, Output, filters_of, hidden
from learnscope.rules import State, correct
from learnscope.rules.losses import loss_of
from learnscope.rules.meta import SPLITS, AbstractTask, Parts, descend, parts_of, view


class MetaLoss(AbstractProbe):
    r"""The meta-training loss $\frac1K \sum_k L(\tilde W_k, S_k^{out})$, $\tilde W_k$ adapted to
    $S_k^{in}$ by J steps of rate $\gamma$ (Zuo et al. 2023, section 3), and the mean of $-\ell'$ of
    the same examples (Lemma 6.4)."""

    papers: ClassVar = ("zuo2023split",)
    outputs: ClassVar = {
        "meta_loss": Output("meta-training loss", "nat", low=0),
        "outer_slope": Output("mean -l' of the outer examples", low=0, high=1),
    }

    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0)
    split: str = choice(*SPLITS, default="train-validation")

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        def one(task: AbstractTask) -> tuple[Array, Array]:
            outputs, y = task.outer_outputs(descend(task, self.inner_rate, self.inner_steps).point)
            losses = loss_of(state.loss, outputs, y)
            slope = jax.grad(lambda out: loss_of(state.loss, out, y).sum())(outputs)
            return losses.mean(), jnp.abs(slope).mean()

        parts = parts_of(type(self).__name__, problem, self.split)
        losses, slopes = view(state.net, state.params, parts, state.loss).map(one)
        return {"meta_loss": losses.mean(), "outer_slope": slopes.mean()}


class AdaptedTest(AbstractProbe):
    """Loss and accuracy on fresh tasks after adapting to each: on its queries, after J steps on as
    many examples as the rule adapts to (the training half of them, or all). `TestLoss` and
    `TestAccuracy` are those before adapting."""

    papers: ClassVar = ("zuo2023split",)
    outputs: ClassVar = {
        "adapted_test_loss": Output("test loss after adapting", "nat", low=0),
        "adapted_test_accuracy": Output("test accuracy after adapting", low=0, high=1),
    }

    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0)
    split: str = choice(*SPLITS, default="train-validation")

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        losses, right = _adapted(self, state, problem)
        return {"adapted_test_loss": losses.mean(), "adapted_test_accuracy": right.mean()}


class AdaptedTasks(AbstractProbe):
    """Loss and accuracy of `AdaptedTest` on every fresh task by itself, of which intervals over
    tasks are made (Zuo et al. 2023, Tables 1 to 6)."""

    papers: ClassVar = ("zuo2023split",)
    outputs: ClassVar = {
        "task_loss": Output("test loss after adapting", "nat", ("task",), low=0),
        "task_accuracy": Output("test accuracy after adapting", dims=("task",), low=0, high=1),
    }

    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0)
    split: str = choice(*SPLITS, default="train-validation")

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        losses, right = _adapted(self, state, problem)
        return {"task_loss": losses, "task_accuracy": right}


def _adapted(
    probe: AdaptedTest | AdaptedTasks, state: State, problem: Problem
) -> tuple[Float[Array, " task"], Float[Array, " task"]]:
    """Loss and accuracy of every fresh task's queries."""
    name = type(probe).__name__
    parts = parts_of(name, problem, probe.split)
    support, each = sum(parts.sizes), problem.test.size // problem.test.groups
    if each <= support:
        raise BadInput(
            f"the probe {name} needs fresh tasks of more than the {support} examples that it "
            f"adapts to; they have {each}."
        )

    def one(task: AbstractTask) -> tuple[Array, Array]:
        outputs, y = task.outer_outputs(descend(task, probe.inner_rate, probe.inner_steps).point)
        return loss_of(state.loss, outputs, y).mean(), correct(outputs, y).mean()

    fresh = Parts((Columns.undone(problem.test),), parts.inner, (support, each))
    return view(state.net, state.params, fresh, state.loss).map(one)


class FeatureLearning(AbstractProbe):
    r"""How far the shared feature is learnt, $\min_j \max_r j \langle w_{j,r}, \nu \rangle$ (Lemma
    6.5; its first passage of a threshold is $T^{(2)}$ of Lemma 6.2), and how far the observed
    tasks' own ones, $\max_{j,r,k} |\langle w_{j,r}, z_k \rangle|$."""

    papers: ClassVar = ("zuo2023split",)
    outputs: ClassVar = {
        "shared_feature": Output("shared feature learnt, min_j max_r j <w, nu>"),
        "task_feature": Output("task features learnt, max |<w, z_k>|", low=0),
    }

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        rows = filters_of(self, state)
        signs = _net(self, state).signs
        along = signs * (rows @ hidden(self, problem.directions, "shared"))
        by_sign = along.reshape(2, -1).max(1)
        own = rows @ hidden(self, problem.directions, "task").T
        return {"shared_feature": by_sign.min(), "task_feature": jnp.abs(own).max()}


class TaskNoise(AbstractProbe):
    r"""Noise memorised of either half, $\max_{j,r,k,i} \langle w_{j,r}, \xi_{k,i} \rangle$ over
    examples that are adapted to and over those held back (Lemma 6.3)."""

    papers: ClassVar = ("zuo2023split",)
    outputs: ClassVar = {
        "training_noise": Output("noise memorised, training half, max <w, xi>"),
        "validation_noise": Output("noise memorised, validation half, max <w, xi>"),
    }

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        rows = filters_of(self, state)
        parts = parts_of(type(self).__name__, problem, "train-validation")
        found = [(rows @ hidden(self, part.vectors, "noise").T).max() for part in parts.sets]
        return dict(zip(self.outputs, found, strict=True))


class Amplification(AbstractProbe):
    r"""By what factor J inner steps multiply what a task sees (Lemmas 6.1 and 6.2), as medians:

    - of the feature, $j \langle w_{j,r}, \nu_k \rangle$ for the filter r where it is largest, over
      tasks and signs j;
    - of the noise of examples that are adapted to and of those held back, $\langle w_{y,r},
      \xi_{k,i} \rangle$ for the filter of the example's own sign where it is largest, over
      examples. (With `split="train-train"` all are adapted to.)
    """

    papers: ClassVar = ("zuo2023split",)
    outputs: ClassVar = {
        "feature_amplification": Output("feature after / before adapting"),
        "training_noise_amplification": Output("training noise after / before adapting"),
        "validation_noise_amplification": Output("validation noise after / before adapting"),
    }

    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0)
    split: str = choice(*SPLITS, default="train-validation")

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        _net(self, state)
        parts = parts_of(type(self).__name__, problem, self.split)

        def one(task: AbstractTask) -> tuple[Array, Array]:
            after = descend(task, self.inner_rate, self.inner_steps).point["filters"]
            return task.start["filters"], after

        before, after = view(state.net, state.params, parts, state.loss).map(one)
        y = jnp.concatenate([part.y.reshape(part.groups, -1) for part in parts.sets], axis=1)
        if before.shape[1] != 2:
            raise BadInput("the probe Amplification needs examples of a feature and a noise patch.")
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
        first = parts.sizes[0]
        return {
            "feature_amplification": jnp.median(_ratio(*feature, axis=2)),
            "training_noise_amplification": jnp.median(ratios[:, :first]),
            "validation_noise_amplification": jnp.median(ratios[:, first:]),
        }


def _ratio(before: Array, after: Array, axis: int) -> Array:
    """After over before, where the latter is largest along an axis."""
    at = jnp.argmax(before, axis=axis, keepdims=True)
    over, under = (jnp.take_along_axis(v, at, axis=axis).squeeze(axis) for v in (after, before))
    return over / jnp.where(under == 0, 1.0, under)


def _net(probe: AbstractProbe, state: State) -> PatchCNN:
    if not isinstance(state.net, PatchCNN) or state.net.classes != 2:
        raise BadInput(
            f"the probe {type(probe).__name__} is defined for a two-class PatchCNN only."
        )
    return state.net


def threshold_time(values: xr.DataArray, threshold: float) -> xr.DataArray:
    """The first recorded step at which values reach a threshold (NaN: never): T^(2) of Lemma 6.2
    for the shared feature.

    >>> import xarray as xr
    >>> growing = xr.DataArray([0.1, 0.2, 0.4], dims="step", coords={"step": [0, 10, 20]})
    >>> float(threshold_time(growing, 0.2))
    10.0
    """
    reached = values >= threshold
    first = values.step.isel(step=reached.argmax("step")).drop_vars("step")
    return first.where(reached.any("step"), np.nan).astype(float)
