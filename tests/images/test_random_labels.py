"""Images with permuted labels."""

import jax
import numpy as np

import learnscope as ls
from tests.small import refused

IMAGES = ls.data.Images("digits", train=60, test=20, classes=(0, 1), batch=8)


def test_only_training_labels_change_and_keep_their_numbers():
    key = jax.random.key(3)
    plain, mixed = IMAGES.sample(key), ls.data.RandomLabels(IMAGES).sample(key)
    for part in ("train", "test"):
        np.testing.assert_array_equal(getattr(plain, part).x, getattr(mixed, part).x)
    np.testing.assert_array_equal(plain.test.y, mixed.test.y)
    np.testing.assert_array_equal(np.sort(plain.train.y), np.sort(mixed.train.y))
    agree = (np.asarray(plain.train.y) == np.asarray(mixed.train.y)).mean()
    assert 0.25 < agree < 0.75
    assert mixed.batches == plain.batches


def test_other_models_are_refused():
    signals = ls.data.SignalNoise(dim=9, train=4, test=3, signal=1, noise=1)
    refused(lambda: ls.data.RandomLabels(signals), "RandomLabels.data")


def test_it_is_read_back_from_a_file():
    experiment = ls.Experiment(
        data=ls.data.RandomLabels(IMAGES), net=ls.nets.TwoLayer(2, "relu", symmetric=False),
        rule=ls.rules.GradientDescent(rate=0.1), steps=1,
    )  # fmt: skip
    assert ls.Experiment.from_toml(experiment.to_toml()) == experiment
