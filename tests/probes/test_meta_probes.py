"""Probes of meta-learning against what they say, on ambient data."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.space import Frame
from tests.small import DESCENT, drawn, quick, refused, signals, tasks

SIZES = {"dictionary": 5, "samples": 4, "test_tasks": 3, "queries": 2}
DATA = tasks(**SIZES, task_signal=0.4, noise=0.4)
NET = ls.nets.PatchCNN(width=3, activation="huberised", scale=0.3, second_layer="sum")
GAMMA, J = 0.6, 2


def loss(params, x, y):
    return jnp.log1p(jnp.exp(-y * NET(params, x))).mean()


def adapted(params, x, y):
    for _ in range(J):
        params = jax.tree.map(lambda w, g: w - GAMMA * g, params, jax.grad(loss)(params, x, y))
    return params


@pytest.mark.parametrize(
    "split", [pytest.param("train-train", marks=pytest.mark.slow), "train-validation"]
)
def test_losses_after_adapting(split):
    settings = {"inner_rate": GAMMA, "inner_steps": J, "split": split}
    probes = [
        ls.probes.MetaLoss(**settings), ls.probes.AdaptedTest(**settings),
        ls.probes.FeatureLearning(), ls.probes.TaskNoise(), ls.probes.Amplification(**settings),
    ]  # fmt: skip

    def both():
        problem = DATA.sample(jax.random.key(0))
        state = ls.rules.Pooled(rate=0.1).init(NET, problem, jax.random.key(1))
        found = {}
        for probe in probes:
            found |= probe(state, problem)
        return problem, state.params, found, _expected(problem, state.params, split)

    problem, params, found, expected = quick(both)()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-4, err_msg=name)
    filters = np.asarray(params["filters"])
    along = filters @ np.asarray(problem.directions["shared"])
    shared = min(along[:3].max(), (-along[3:]).max())
    np.testing.assert_allclose(found["shared_feature"], shared, rtol=1e-4)
    own = np.abs(filters @ np.asarray(problem.directions["task"]).T).max()
    np.testing.assert_allclose(found["task_feature"], own, rtol=1e-4)
    for name, part in (("training", problem.train), ("validation", problem.validation)):
        noise = (filters @ np.asarray(part.x[:, 1]).T).max()
        np.testing.assert_allclose(found[f"{name}_noise"], noise, rtol=1e-4)


def _expected(problem, params, split):
    first, second = (part.by_group() for part in (problem.train, problem.validation))
    both = jax.tree.map(lambda a, b: jnp.concatenate([a, b], 1), (first.x, first.y),
                        (second.x, second.y))  # fmt: skip
    inner = both if split == "train-train" else (first.x, first.y)
    outer = both if split == "train-train" else (second.x, second.y)
    after = jax.vmap(lambda x, y: adapted(params, x, y))(*inner)
    meta = jax.vmap(loss)(after, *outer).mean()
    slope = jax.vmap(lambda p, x, y: (1 / (1 + jnp.exp(y * NET(p, x)))).mean())(after, *outer)
    test = problem.test.by_group()
    used = 4 if split == "train-train" else 2
    fresh = jax.vmap(lambda x, y: adapted(params, x, y))(test.x[:, :used], test.y[:, :used])
    outputs = jax.vmap(NET)(fresh, test.x[:, 4:])
    losses = jnp.log1p(jnp.exp(-test.y[:, 4:] * outputs)).mean()
    right = (outputs * test.y[:, 4:] > 0).mean()
    # Amplification: by filters and examples themselves.
    rows = after["filters"]
    features = problem.directions["shared"][None] + problem.directions["task"]
    signs = jnp.repeat(jnp.array([1.0, -1.0]), 3)
    before_f = signs[None] * (features @ params["filters"].T)
    after_f = signs[None] * jnp.einsum("tfd,td->tf", rows, features)
    pick = jnp.argmax(before_f.reshape(3, 2, 3), axis=2, keepdims=True)
    ratio = jnp.take_along_axis(after_f.reshape(3, 2, 3), pick, 2)
    ratio = ratio / jnp.take_along_axis(before_f.reshape(3, 2, 3), pick, 2)
    return {
        "meta_loss": meta, "outer_slope": slope.mean(), "adapted_test_loss": losses,
        "adapted_test_accuracy": right, "feature_amplification": jnp.median(ratio),
    }  # fmt: skip


@pytest.mark.slow
def test_adapting_does_not_depend_on_coordinates():
    """Fresh tasks' noise lies mostly outside a frame; its length still counts. The mean over many
    draws of the loss after adapting, ambient and compressed, within 4.2 standard errors."""
    probe = ls.probes.AdaptedTest(inner_rate=3.0, inner_steps=2)
    rule = ls.rules.Pooled(rate=0.1)

    def one(key, frame):
        problem = DATA.sample(key, frame)
        state = rule.init(NET, problem, jax.random.fold_in(key, 1))
        return probe(state, problem)["adapted_test_loss"]

    frame = Frame(jnp.asarray(30.0), DATA.span + NET.rows, room=DATA.span)
    keys = jax.random.split(jax.random.key(0), 400)
    a, b = (
        np.asarray(quick(lambda k, f=f: jax.lax.map(lambda x: one(x, f), k, batch_size=50))(keys))
        for f in (None, frame)
    )
    assert abs(a.mean() - b.mean()) < 4.2 * np.sqrt((a.var() + b.var()) / len(a))
    assert abs(a.var() / b.var() - 1) < 0.6


def test_what_is_refused():
    problem = drawn(signals(dim=30))
    state = quick(lambda p: DESCENT.init(NET, p, jax.random.key(1)))(problem)
    meta_loss = ls.probes.MetaLoss(inner_rate=0.1)
    refused(lambda: meta_loss(state, problem), "MetaLoss needs a problem with tasks")
    refused(lambda: ls.probes.FeatureLearning()(state, problem), "needs the data model's 'shared'")
