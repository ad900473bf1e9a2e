"""The family of tasks: its definition, its law in compressed coordinates, what it refuses."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Samples, joined, patch_gram, task_problem, with_gram
from learnscope.engine.experiment import obstacle
from learnscope.space import Frame
from tests.law import assert_law, assert_other_law
from tests.small import drawn, experiment, quick, refused, tasks

SIZES = {"dim": 60, "dictionary": 20, "tasks": 5, "samples": 4, "test_tasks": 6, "queries": 3}
SMALL = tasks(**SIZES, signal=1.5, task_signal=0.7)
ROWS = 6


def frame_of(data, dim=None):
    dim = jnp.asarray(float(data.dim)) if dim is None else dim
    return Frame(dim, data.span + ROWS, room=data.span)


@pytest.fixture(scope="module")
def ambient():
    return drawn(SMALL)


def test_the_definition(ambient):
    shared, own = ambient.directions["shared"], ambient.directions["task"]
    np.testing.assert_allclose(jnp.linalg.norm(shared), 1.5, rtol=1e-6)
    np.testing.assert_allclose(own @ shared, 0, atol=1e-6)
    both = joined(ambient.train, ambient.validation)
    assert both.x.shape == (5, 4, 2, 60)
    features = both.y[:, :, None] * (shared[None] + own)[:, None]
    np.testing.assert_allclose(both.x[:, :, 0], features, rtol=1e-5, atol=1e-6)
    noise = both.x[:, :, 1].reshape(-1, 60)
    fresh = ambient.test.x[:, 0]
    for vectors in (shared[None], own, fresh):  # orthogonal to the whole dictionary
        np.testing.assert_allclose(noise @ vectors.T, 0, atol=1e-4)
    np.testing.assert_allclose(ambient.test.x[:, 1] @ own.T, 0, atol=1e-4)


def test_halves_are_balanced(ambient):
    for part, size in ((ambient.train, 2), (ambient.validation, 2)):
        assert part.groups == 5
        np.testing.assert_array_equal(part.y.reshape(5, size).sum(1), 0)
    assert ambient.test.groups == 6
    assert ambient.test.size == 6 * (4 + 3)
    assert (np.abs(drawn(SMALL.replace("samples", 7)).train.y.reshape(5, 5).sum(1)) == 1).all()


def test_grams_are_those_of_the_patches(ambient):
    table = patch_gram(ambient.test.by_group().x)
    np.testing.assert_allclose(ambient.test.by_group().marks["gram"], table, rtol=1e-5, atol=1e-5)
    train, held = with_gram(ambient.train, ambient.validation)
    np.testing.assert_allclose(ambient.train.marks["gram"], train.marks["gram"], atol=1e-5)
    assert held.marks["gram"].shape == (10, 2, 2, 4)
    cut = patch_gram((jnp.ones((1, 2, 1)), 2 * jnp.ones((1, 2, 3))))
    np.testing.assert_array_equal(cut[0, 0, :, :, 1], [[1, 2], [2, 12]])


def statistics(problem, filters):
    """Numbers of a draw that tell the two laws apart if they differ: within a task, between, and
    with filters that are drawn after the data."""
    test = problem.test.by_group()
    x = test.x if isinstance(test.x, tuple) else (test.x[:, :, 0], test.x[:, :, 1])
    gram = test.marks["gram"]
    halves = [part.by_group().marks["gram"] for part in (problem.train, problem.validation)]
    train = jnp.concatenate(halves, axis=1)
    feature, noise = (jnp.einsum("fd,tsd->fts", filters[:, : v.shape[-1]], v) for v in x)
    learnt = problem.train.vectors["noise"]
    return {
        "noise norm": gram[:, 0, 1, 1, 0].mean(),
        "noise pair": gram[0, 0, 1, 1, 1],
        "feature norm": gram[:, 0, 0, 0, 0].mean(),
        "feature by noise": jnp.abs(gram[:, :, 0, 1]).max() < 1e-3,
        "training norm": train[:, 0, 1, 1, 0].mean(),
        "training pair": train[0, 0, 1, 1, 1],
        "seen feature": (feature**2).mean(),
        "seen noise": (noise**2).mean(),
        "two filters": noise[0, 0, 0] * noise[1, 0, 0] * (filters @ filters.T)[0, 1],
        "feature and noise": noise[0, 0, 0] ** 2 * feature[0, 0, 0] ** 2,
        "seen training noise": ((filters @ learnt.T) ** 2).mean(),
        "test and training noise": ((x[1][0] @ learnt[:, : x[1].shape[-1]].T) ** 2).mean(),
        "filters": (filters @ filters.T)[0, 0],
    }


@pytest.mark.parametrize("dictionary", [pytest.param(20, marks=pytest.mark.slow), 45])
def test_compressed_coordinates_have_the_same_law(dictionary):
    """With a dictionary of 20 there is room for noise; with 45 it has 14 dimensions for 20 vectors,
    and fills all."""
    data = SMALL.replace("dictionary", dictionary)
    assert data.span == 1 + 5 + min(20, 60 - dictionary - 1)

    def one(key, dim):
        draw, init = jax.random.split(key)
        problem = data.sample(draw, None if dim is None else frame_of(data, dim))
        filters, _ = problem.frame.gaussian_rows(init, ROWS)
        return statistics(problem, filters)

    @quick
    def many(keys, dim):
        return jax.lax.map(lambda key: one(key, dim), keys, batch_size=50)

    seeds = [(7, None), (8, jnp.asarray(60.0)), (8, jnp.asarray(75.0))]
    ambient, right, wrong = (
        jax.tree.map(np.asarray, many(jax.random.split(jax.random.key(seed), 600), dim))
        for seed, dim in seeds
    )
    assert_law(right, ambient)
    assert_other_law(wrong, ambient, by=3)


def test_the_dimension_is_only_a_number_and_task_features_may_repeat():
    """In any dimension the same program, as long as noise does not fill it."""
    setting = experiment(ls.rules.Pooled(rate=0.1), data=SMALL)
    assert obstacle(setting, [60.0, 1e6]) is None
    full = setting.replace("data.dictionary", 45)
    assert "different numbers of coordinates" in obstacle(full, [60.0, 1e6])
    assert obstacle(full, [60.0]) is None
    # Three features for eight tasks: all of the dictionary has coordinates.
    data = SMALL.replace("dictionary", 3).replace("tasks", 8)
    rows = np.asarray(drawn(data, frame=frame_of(data)).directions["task"])
    assert len({tuple(np.round(row, 4)) for row in rows}) <= 3
    assert data.span == 1 + 3 + 32


def test_bad_input():
    empty = "balanced = True is not allowed .* leaves one of its classes empty"
    for field, value, words in (
        ("training", 3, "training = 3 is not allowed: .* add up to samples = 4"),
        ("validation", 4, "validation = 4 is not allowed: it must be below samples = 4"),
        ("validation", 1, empty),
        ("validation", 3, empty),
        ("dictionary", 59, "dictionary = 59 is not allowed: .* at most dim - 2 = 58"),
    ):
        refused(lambda f=field, v=value: SMALL.replace(f, v), match=f".*{words}")


def test_an_empty_class_without_balance_warns():
    with pytest.warns(UserWarning, match="leaves one of its classes empty"):
        made = SMALL.replace("balanced", False).replace("validation", 1)
    assert made.halves == (3, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SMALL.replace("balanced", False).halves == (2, 2)


def test_tasks_of_ones_own():
    x, y = jnp.ones((3, 4, 7)), jnp.ones((3, 4))
    problem = task_problem((x, y), (x[:, :2], y[:, :2]), (x[:1], y[:1]))
    assert isinstance(problem.train, Samples)
    assert (problem.train.groups, problem.validation.groups, problem.test.groups) == (3, 3, 1)
    refused(lambda: task_problem((x, y), (x[:2], y[:2]), (x, y)), "validation has 2 tasks")
    refused(lambda: task_problem((x, y[:, :2]), (x, y), (x, y)), "train has inputs")
