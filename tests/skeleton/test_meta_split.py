"""The nouns fit `meta_split`: tasks, a train-validation split and a bilevel rule.

Zuo et al.: FOMAML that adapts and evaluates on the same samples memorises their noise and stays at
log 2 on new tasks; with a train-validation split it learns the feature that the tasks share.
"""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Key

import learnscope as ls
from learnscope.data import AbstractData, Frame, Problem, Samples
from learnscope.nets import Params
from learnscope.part import Number, choice, count, number
from learnscope.probes import AbstractProbe, Output
from learnscope.rules import LOSSES, AbstractGradientRule, State
from learnscope.rules import optimiser as opt


class TinyTaskFamily(AbstractData):
    r"""Task k has the feature $\nu + z_k$, its $z_k$ one of a dictionary (Definitions 3.1, 3.2).

    Patches $y (\nu + z_k)$ and $\xi$; the noise is orthogonal to $\nu$ and the whole dictionary.
    Half of a task's `samples` are positive; `validation` of them are held for the outer loop.
    """

    dim: Number = number(low=2, whole=True, shape=True)
    dictionary: int = count()
    tasks: int = count()
    samples: int = count(low=2)
    validation: int = count()
    test_tasks: int = count()
    signal: Number = number(low=0)
    task_signal: Number = number(low=0)
    noise: Number = number(low=0)

    @property
    def compression(self) -> str:
        return "gaussian_rows"

    @property
    def span(self) -> int:
        return 1 + self.dictionary + self.tasks * self.samples

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(self.dim) if frame is None else frame
        task_key, noise_key, test_key = jax.random.split(key, 3)
        axes, frame = frame.axes(1 + self.dictionary)
        rows, frame = frame.gaussian_rows(noise_key, self.tasks * self.samples)
        points = frame.gaussian_points(test_key, self.test_tasks * self.samples)
        shared, dictionary = self.signal * axes[0], self.task_signal * axes[1:]
        drawn = jax.random.randint(task_key, (self.tasks + self.test_tasks,), 0, self.dictionary)
        features = shared[None] + dictionary[drawn]
        held = self.tasks * self.validation
        observed, new = features[: self.tasks], features[self.tasks :]
        return Problem(
            train=self._samples(rows[held:], observed, frame, self.span),
            test=self._samples(points, new, frame, frame.rank),
            directions={"shared": shared, "dictionary": dictionary},
            frame=frame,
            validation=self._samples(rows[:held], observed, frame, self.span),
        )

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        """A positive and a negative example of a new task, of which one is taken."""
        noise_key, task_key, coin = jax.random.split(key, 3)
        noise = problem.frame.gaussian_points(noise_key, 2)
        drawn = jax.random.randint(task_key, (1,), 0, self.dictionary)
        feature = problem.directions["shared"][None] + problem.directions["dictionary"][drawn]
        made = self._samples(noise, feature, problem.frame, problem.frame.rank)
        return made.take(jax.random.randint(coin, (), 0, 2))

    def _samples(self, normal: Array, features: Array, frame: Frame, width: int) -> Samples:
        """As many examples of each feature, one feature after the other."""
        known = 1 + self.dictionary
        size, groups = normal.shape[0], features.shape[0]
        y = jnp.where(jnp.arange(size) % 2 == 0, 1.0, -1.0)
        noise = self.noise * normal.at[:, :known].set(0.0)
        carried = y[:, None] * jnp.repeat(features, size // groups, axis=0)
        if frame.ambient:
            x = jnp.stack([carried, noise], axis=1)
        else:
            x = (carried[:, :known], noise[:, :width])
        return Samples(x=x, y=y, vectors={"noise": noise}, groups=groups)


def joined(one: Samples, other: Samples) -> Samples:
    """The samples of both, task by task (with a leading axis of tasks)."""
    both = lambda a, b: jnp.concatenate([a, b], axis=1)  # noqa: E731
    return jax.tree.map(both, one.by_group(), other.by_group())


def adapt(state: State, params: Params, samples: Samples, rate: Number, steps: int) -> Params:
    """Parameters after some steps of gradient descent on the samples of one task."""
    slope = jax.grad(lambda p: state.losses(p, samples).mean())
    descend = lambda w, g: w - rate * g  # noqa: E731
    move = lambda _, p: jax.tree.map(descend, p, slope(p))  # noqa: E731
    return jax.lax.fori_loop(0, steps, move, params)


class TinyFomaml(AbstractGradientRule):
    r"""$W \leftarrow W - \eta \frac1K \sum_k \nabla L(\tilde W_k, S_k^{out})$ (3.1, 3.2).

    $\tilde W_k$: `inner_steps` of gradient descent from $W$ on $S_k^{in}$. The split says which
    samples of a task are which: all of them in both, or the training and the validation ones.
    """

    rate: Number = number(above=0)
    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0)
    split: str = choice("train-train", "train-validation", default="train-validation")
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def gradient(self, state: State, problem: Problem, key: Key[Array, ""]) -> Params:
        def one(inner: Samples, outer: Samples) -> Params:
            adapted = adapt(state, state.params, inner, self.inner_rate, self.inner_steps)
            return jax.grad(lambda params: state.losses(params, outer).mean())(adapted)

        if self.split == "train-train":
            inner = outer = joined(problem.train, problem.validation)
        else:
            inner, outer = problem.train.by_group(), problem.validation.by_group()
        each = jax.vmap(one)(inner, outer)
        return jax.tree.map(lambda leaf: leaf.mean(0), each)


class AdaptedLoss(AbstractProbe):
    """Loss after adapting to a task: on all samples of a training task, as train-train does.

    On new tasks it is taken on the second half of the samples, after adapting to the first.
    """

    inner_rate: Number = number(above=0)
    inner_steps: int = count(5, low=0)
    outputs: ClassVar = {
        "adapted_loss": Output("adapted training loss", "nat"),
        "adapted_test_loss": Output("adapted test loss", "nat", dims=("task",)),
    }

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        def one(inner: Samples, outer: Samples) -> Array:
            params = adapt(state, state.params, inner, self.inner_rate, self.inner_steps)
            return state.losses(params, outer).mean()

        observed, new = joined(problem.train, problem.validation), problem.test.by_group()
        half = problem.test.size // problem.test.groups // 2
        first = jax.tree.map(lambda leaf: leaf[:, :half], new)
        second = jax.tree.map(lambda leaf: leaf[:, half:], new)
        return {
            "adapted_loss": jax.vmap(one)(observed, observed).mean(),
            "adapted_test_loss": jax.vmap(one)(first, second),
        }


class SharedFeature(AbstractProbe):
    """How far the shared feature and the training noise are learnt, max <w, v> of each."""

    outputs: ClassVar = {
        "shared_feature": Output("shared feature learnt"),
        "noise_learnt": Output("training noise learnt"),
    }

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        filters = state.params["filters"]
        return {
            "shared_feature": jnp.abs(filters @ problem.directions["shared"]).max(),
            "noise_learnt": (filters @ problem.train.vectors["noise"].T).max(),
        }


EXPERIMENT = ls.Experiment(
    data=TinyTaskFamily(
        dim=400, dictionary=60, tasks=16, samples=4, validation=2, test_tasks=50,
        signal=1.0, task_signal=0.3, noise=0.27,
    ),
    net=ls.nets.PatchCNN(width=10, activation="huberised", scale=0.05, second_layer="sum"),
    rule=TinyFomaml(rate=0.4, inner_rate=2.0),
    steps=150,
    probes=[
        ls.probes.TestLoss(), ls.probes.TestAccuracy(), AdaptedLoss(inner_rate=2.0),
        SharedFeature(),
    ],
    record=ls.Record(every=50),
)  # fmt: skip
SPLITS = ["train-train", "train-validation"]


def test_the_split_is_what_generalises():
    result = ls.run(EXPERIMENT, over={"rule.split": SPLITS}, seeds=10, progress=False)
    assert result.attrs["coordinates_used"] == "compressed"
    first, last = result.isel(step=0), result.isel(step=-1)
    # The same seeds draw the same tasks and weights whatever the split.
    assert (first.test_loss.sel(split=SPLITS[0]) == first.test_loss.sel(split=SPLITS[1])).all()
    same, apart = (last.sel(split=split).mean("seed") for split in SPLITS)
    assert same.adapted_loss < 0.02
    assert apart.adapted_loss < 0.02
    assert same.test_loss > 0.65  # log 2 = 0.69
    assert apart.test_loss < 0.4
    assert apart.test_accuracy > 0.9
    assert apart.adapted_test_loss.sizes == {"task": 50}
    assert apart.adapted_test_loss.mean() < 0.2 < 0.6 < same.adapted_test_loss.mean()
    assert apart.shared_feature > 3 * same.shared_feature


@pytest.mark.parametrize(
    ("how", "split"),
    [("ambient", "train-train"), ("compressed", "train-validation"), ("own model", "train-train")],
)
def test_a_step_is_what_plain_autodiff_says(how, split, float64):
    data = TinyTaskFamily(
        dim=30, dictionary=4, tasks=3, samples=4, validation=2, test_tasks=2,
        signal=1.0, task_signal=0.3, noise=0.5,
    )  # fmt: skip
    net = ls.nets.PatchCNN(width=2, activation="huberised", scale=0.3, second_layer="sum")
    if how == "own model":
        mlp = lambda key: eqx.nn.MLP(60, "scalar", 5, 1, key=key)  # noqa: E731
        net = ls.nets.Model(lambda key: eqx.nn.Sequential([eqx.nn.Lambda(jnp.ravel), mlp(key)]))
    frame = Frame(jnp.asarray(30.0), data.span + net.rows) if how == "compressed" else None
    rule = TinyFomaml(rate=0.1, inner_rate=0.7, inner_steps=2, split=split)

    def loss(params, samples):
        return jnp.log1p(jnp.exp(-samples.y * net(params, samples.x))).mean()

    @jax.jit
    def both():
        problem = data.sample(jax.random.key(0), frame)
        state = rule.init(net, problem, jax.random.key(1))
        moved = rule.step(state, problem, jax.random.key(2))
        total = jax.tree.map(jnp.zeros_like, state.params)
        for task in range(3):
            at = jnp.arange(2) + 2 * task
            fit, held = problem.train.take(at), problem.validation.take(at)
            if split == "train-train":
                fit = held = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), fit, held)
            params = state.params
            for _ in range(2):
                params = jax.tree.map(lambda w, g: w - 0.7 * g, params, jax.grad(loss)(params, fit))
            total = jax.tree.map(lambda a, g: a + g / 3, total, jax.grad(loss)(params, held))
        return moved.params, jax.tree.map(lambda w, g: w - 0.1 * g, state.params, total)

    moved, expected = both()
    for one, other in zip(jax.tree.leaves(moved), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_the_experiment_can_be_stored():
    assert ls.Experiment.from_toml(EXPERIMENT.to_toml()) == EXPERIMENT
    assert ls.Experiment.from_json(EXPERIMENT.to_json()) == EXPERIMENT
