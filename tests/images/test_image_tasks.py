"""Tasks of images: what is in a task, and that nothing is in two places."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.images.task_pools import pools
from tests.small import quick, refused

FEW = ls.data.ImageTasks("digits", tasks=4, ways=5, shots=2, validation=3, queries=4, test_tasks=3)
RAINBOW = ls.data.ImageTasks(
    "rainbow", source="digits", tasks=5, ways=10, shots=1, validation=2, queries=2, test_tasks=4,
    pixels="unit",
)  # fmt: skip


@pytest.fixture(scope="module")
def few():
    return quick(FEW.sample)(jax.random.key(0))


@pytest.fixture(scope="module")
def rainbow():
    return quick(RAINBOW.sample)(jax.random.key(0))


def rows(samples):
    """The images of each task, as bytes."""
    return [{np.asarray(row).tobytes() for row in task} for task in samples.by_group().x]


def test_examples_of_a_task_are_distinct(few, rainbow):
    for problem, model in ((few, FEW), (rainbow, RAINBOW)):
        for own, held in zip(rows(problem.train), rows(problem.validation), strict=True):
            assert len(own) == model.ways * model.shots
            assert len(held) == model.ways * model.validation
            assert not own & held
        fresh = model.ways * (model.shots + model.validation + model.queries)
        assert all(len(task) == fresh for task in rows(problem.test))


def test_every_class_has_as_many_examples(few):
    for part, each in ((few.train, 2), (few.validation, 3), (few.test, 9)):
        counts = [np.bincount(task, minlength=5).tolist() for task in np.asarray(part.by_group().y)]
        assert counts == [[each] * 5] * part.groups
    # Those to adapt to come first.
    assert np.bincount(np.asarray(few.test.by_group().y)[0, :10]).tolist() == [2] * 5


def test_labels_are_dealt_out_anew_only_in_few_shot_sets(few, rainbow):
    pool = np.asarray(few.episodes.pool[0], float)
    scaled = (pool - np.asarray(few.episodes.shift)) * np.asarray(few.episodes.factor)

    def class_of(row):
        return int(np.abs(scaled - np.asarray(row)).max(-1).min(-1).argmin())

    first = [[class_of(task[2 * k]) for k in range(5)] for task in few.train.by_group().x]
    assert all(len(set(classes)) == 5 for classes in first)
    assert len({tuple(classes) for classes in first}) == 4
    assert not rainbow.episodes.shuffled and few.episodes.shuffled


def test_a_rainbow_task_has_one_background(rainbow):
    corners = np.asarray(rainbow.train.by_group().x).reshape(5, 10, 8, 8, 3)[:, :, 0, 0]
    assert (np.abs(corners - corners[:, :1]).max((1, 2)) < 0.2).all()
    found = pools("rainbow", "digits", None, (5, 4), None, 1)
    tuned = pools("rainbow", "digits", None, (40, 16), None, 1, "validation")
    assert len(tuned.train) == 32 and len(tuned.test) == 8
    for one in (found, tuned):
        images = [one.train.reshape(-1, 192), one.test.reshape(-1, 192)]
        assert not {r.tobytes() for r in images[0]} & {r.tobytes() for r in images[1]}


def test_fresh_tasks_are_new_every_time(few):
    draw = quick(lambda key: few.episodes(key, 6))
    (one, held), (other, _) = draw(jax.random.key(0)), draw(jax.random.key(1))
    assert (one.groups, held.groups) == (6, 6)
    assert one.x.shape == (6 * 10, 64) and held.x.shape == (6 * 15, 64)
    assert bool(jnp.any(one.x != other.x))
    again, _ = draw(jax.random.key(0))
    np.testing.assert_array_equal(one.x, again.x)


def test_two_ways_have_signs_and_what_does_not_fit_is_said():
    two = quick(FEW.replace("ways", 2).sample)(jax.random.key(0))
    assert sorted(set(np.asarray(two.train.y).tolist())) == [-1.0, 1.0]
    assert FEW.replace("ways", 2).labels is None and FEW.labels == 5
    for name, value, words in (
        ("ways", 13, "has 12 classes"), ("queries", 90, "per class"), ("shrink", 9, "no pixel"),
    ):  # fmt: skip
        model = FEW.replace(name, value)
        refused(lambda model=model: model.sample(jax.random.key(0)), words)
    refused(lambda: ls.data.ImageTasks("digits", root=3), "root")
    tuning = FEW.replace("held_out", "validation")
    refused(lambda: tuning.sample(jax.random.key(0)), "no validation classes")


@pytest.mark.skipif("LEARNSCOPE_DATA" not in os.environ, reason="LEARNSCOPE_DATA is not set")
def test_real_pools():
    omniglot = pools("omniglot", "mnist", None, (1, 1), None, 2)
    assert omniglot.train.shape == (1, 1100, 20, 196) and omniglot.test.shape[1] == 423
    held = pools("omniglot", "mnist", None, (1, 1), None, 2, "validation")
    assert held.test.shape[1] == 100 and (held.train == omniglot.train).all()
    rainbow = pools("rainbow", "mnist", None, (40, 16), 12, 2)
    assert rainbow.train.shape == (40, 10, 12, 588) and rainbow.test.shape[0] == 16
    missing = ls.data.ImageTasks("mini-imagenet")
    with pytest.raises(ls.MissingData):
        missing.sample(jax.random.key(0))
