"""Which images a pruned data model keeps."""

import jax
import numpy as np
import pytest

import learnscope as ls
from tests.small import experiment, refused

KEY = jax.random.key(3)
IMAGES = ls.data.Images("digits", train=200, test=20, batch=16)


def pruned(**fields):
    return ls.data.Pruned(IMAGES, **fields).sample(KEY)


def rows(samples):
    return {tuple(row) for row in np.asarray(samples.x).round(4).tolist()}


@pytest.mark.parametrize("apart", [True, False])
def test_high_and_low_part_the_images_by_their_scores(apart):
    whole = IMAGES.sample(KEY)
    scores = ls.tools.influence_scores(whole.train.x, whole.train.y)
    without_high = pruned(removed=0.4, by="high", apart=apart).train
    without_low = pruned(removed=0.6, by="low", apart=apart).train
    assert (without_high.size, without_low.size) == (120, 80)
    assert not rows(without_high) & rows(without_low)
    assert rows(without_high) | rows(without_low) == rows(whole.train)
    if not apart:
        high = {tuple(r) for r in np.asarray(whole.train.x)[np.argsort(scores)[120:]].round(4)}
        assert rows(without_low) == high


def test_classes_lose_equal_shares_when_apart():
    before = np.bincount(np.asarray(IMAGES.sample(KEY).train.y))
    for by in ("high", "low", "random"):
        after = np.bincount(np.asarray(pruned(removed=0.5, by=by).train.y))
        assert np.abs(after - before / 2).max() <= 1, by


def test_nothing_else_changes_and_it_is_stored_with_its_images():
    whole, some = IMAGES.sample(KEY), pruned(removed=0.5, by="random")
    np.testing.assert_array_equal(whole.test.x, some.test.x)
    assert some.batch(KEY).size == 16
    assert rows(some.train) < rows(whole.train)
    np.testing.assert_array_equal(pruned(removed=0.0).train.x, whole.train.x)
    other = ls.data.Pruned(IMAGES, 0.5, "random").sample(jax.random.key(4))
    assert rows(other.train) != rows(some.train)
    data = ls.data.Pruned(IMAGES, 0.25, "low", apart=False)
    setting = experiment(data=data, net=ls.nets.LeNet5(), steps=3)
    assert ls.Experiment.from_toml(setting.to_toml()) == setting
    assert setting.replace("data.data.train", 100).data.data.train == 100
    refused(lambda: ls.data.Pruned("digits"), match=r"Pruned\.data = ")
