"""Data models that bring others to rules: dealt out to tasks, in pairs, pruned, with signs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from tests.small import drawn, refused, signals, strong_weak

KEY = jax.random.key(5)
SIGNAL = signals(dim=9, train=14, test=21, noise=1.0)
CLASSES = ls.data.ClassNoise(dim=40, classes=2, train_per_class=10, test=30, signal=1.0)


def draw(data):
    return drawn(data, 5)


def rows(*parts):
    return [tuple(row) for part in parts for row in np.asarray(part.x).reshape(part.size, -1)]


def test_every_example_is_dealt_to_one_task():
    whole = draw(SIGNAL)
    tasks = draw(ls.data.Grouped(SIGNAL, tasks=3, validation=1, queries=2))
    assert (tasks.train.groups, tasks.validation.groups) == (3, 3)
    assert (tasks.train.size, tasks.validation.size) == (9, 3)
    dealt = rows(tasks.train, tasks.validation)
    assert len(set(dealt)) == 12
    assert set(dealt) == set(rows(whole.train)[:12])
    # Fresh tasks: 4 to adapt to and 2 queries each, of the test examples alone.
    assert (tasks.test.groups, tasks.test.size) == (3, 18)
    assert set(rows(tasks.test)) == set(rows(whole.test)[:18])
    # Labels and hidden vectors go along.
    by_row = {row: i for i, row in enumerate(rows(whole.train))}
    at = np.array([by_row[row] for row in rows(tasks.train)])
    np.testing.assert_array_equal(tasks.train.y, np.asarray(whole.train.y)[at])
    noise = np.asarray(whole.train.vectors["noise"])[at]
    np.testing.assert_array_equal(tasks.train.vectors["noise"], noise)
    # A task's own are those k, k + 3, ...: as cards are dealt.
    first = {by_row[row] for row in rows(tasks.train)[:3] + rows(tasks.validation)[:1]}
    assert first == {0, 3, 6, 9}


def test_both_halves_of_a_task_have_both_classes():
    tasks = draw(ls.data.Grouped(CLASSES, tasks=5))
    for half in (tasks.train, tasks.validation):
        assert (np.asarray(half.by_group().y).sum(1) == 0).all()


def not_drawn(words, kind, *given, **more):
    refused(lambda: jax.eval_shape(lambda: kind(*given, **more).sample(KEY)), words)


def test_tasks_fresh_examples_and_too_few_are_not_taken_apart():
    tasks = ls.data.LinearTasks(dim=6, tasks=3, samples=4, validation=2, spread=1, test_tasks=3)
    for data in (tasks, strong_weak(9)):
        not_drawn("it must have one set of", ls.data.Pruned, data)
        not_drawn("it must have one set of", ls.data.Grouped, data, tasks=2)
    not_drawn("Grouped.tasks = ", ls.data.Grouped, SIGNAL, tasks=7)
    not_drawn("Grouped.queries = ", ls.data.Grouped, SIGNAL, tasks=3, queries=18)


def test_views_share_the_example_and_nothing_else():
    one, other = ls.data.NoisyViews(0.5)(KEY, jnp.full((900, 2, 9), 3.0))
    one, other = np.asarray(one) - 3, np.asarray(other) - 3
    for view in (one, other):
        assert np.std(view) == pytest.approx(0.5, rel=0.03)
    # 16200 products of standard deviation 1/4: six standard errors.
    assert abs((one * other).mean()) < 6 * 0.25 / one.size**0.5
    viewed = draw(ls.data.Viewed(SIGNAL, ls.data.NoisyViews(0.5)))
    assert viewed.pair(KEY)[0].shape == viewed.train.x.shape
    np.testing.assert_array_equal(viewed.test.x, draw(SIGNAL).test.x)


def test_two_classes_have_signs():
    problem = draw(CLASSES)
    assert CLASSES.labels is None
    assert problem.train.y.tolist() == [-1.0] * 10 + [1.0] * 10
    feature = np.asarray(problem.test.x[:, 0] @ problem.directions["features"].T)
    np.testing.assert_array_equal(np.asarray(problem.test.y), 2 * feature.argmax(1) - 1)


def test_pruning_any_examples_goes_by_their_influence():
    whole = draw(CLASSES)
    flat = np.asarray(whole.train.x).reshape(20, -1)
    scores = ls.tools.influence_scores(flat, np.repeat([0, 1], 10))
    right = [set(np.argsort(scores[k : k + 10])[:7] + k) for k in (0, 10)]
    kept = rows(draw(ls.data.Pruned(CLASSES, 0.3)).train)
    assert {rows(whole.train).index(row) for row in kept} == set.union(*right)
