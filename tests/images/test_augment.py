"""Random views of images, against what they are to be."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.images.augment import resampling
from tests.small import experiment, refused, run

KEY = jax.random.key(0)
NOTHING = {"crop": 1.0, "flip": 0.0, "jitter": 0.0, "grey": 0.0, "blur": 0.0}


def images(n: int = 6, channels: int = 3) -> jnp.ndarray:
    return jax.random.uniform(jax.random.key(1), (n, 8 * 8 * channels))


def changed(**fields) -> ls.data.Augment:
    return ls.data.Augment(**{**NOTHING, **fields})


@eqx.filter_jit
def _views(augment: ls.data.Augment, x: jnp.ndarray) -> tuple:
    return augment(KEY, x)


def views(augment: ls.data.Augment, x: jnp.ndarray) -> tuple:
    """Two views; its numbers are traced, so that all share a program."""
    return _views(jax.tree.map(jnp.asarray, augment), x)


def view(augment: ls.data.Augment, x: jnp.ndarray) -> jnp.ndarray:
    return views(augment, x)[0]


@pytest.mark.parametrize("channels", [1, 3])
def test_nothing_is_done_if_nothing_is_asked_for(channels):
    x = images(channels=channels)
    for found in views(changed(), x):
        np.testing.assert_allclose(found, x, atol=1e-5)


def test_flip_mirrors_columns_and_grey_has_three_equal_colours():
    x = images().reshape(6, 8, 8, 3)
    grey = jnp.repeat((x @ jnp.asarray([0.299, 0.587, 0.114]))[..., None], 3, -1)
    for fields, wanted in (({"flip": 1.0}, x[:, :, ::-1]), ({"grey": 1.0}, grey)):
        found = view(changed(**fields), images())
        np.testing.assert_allclose(found, wanted.reshape(6, -1), atol=1e-5)


def test_probabilities_are_of_images():
    x = images(400)
    share = float((jnp.abs(view(changed(flip=0.3), x) - x).max(1) > 1e-3).mean())
    assert abs(share - 0.3) < 4.5 * np.sqrt(0.3 * 0.7 / 400)  # 7 false alarms in a million


def test_a_crop_is_the_part_it_says():
    """Half of a row of pixels that rise linearly is such a row, half as steep."""
    size, share, place = 16, 0.5, 0.25
    row = resampling(size, *map(jnp.asarray, (share, place, False, 0.0))) @ jnp.arange(float(size))
    np.testing.assert_allclose(jnp.diff(row), share, atol=1e-5)
    first = size * (place * (1 - share) + share * 0.5 / size) - 0.5
    np.testing.assert_allclose(row[0], first, atol=1e-5)


def test_crops_stay_inside_and_have_the_area_asked_for():
    augment = changed(crop=0.3)
    draws = jax.random.uniform(KEY, (1000, 2))
    high, wide = jax.vmap(lambda d: augment._crop_size(d[0], d[1]))(draws)
    assert float(jnp.maximum(high, wide).max()) <= 1 + 1e-6
    assert float((high * wide).min()) >= 0.3 - 1e-6
    ratio = high / wide
    assert 0.75 - 1e-6 <= float(ratio.min()) < 0.8 and 1.25 < float(ratio.max()) <= 4 / 3 + 1e-6


def test_blur_keeps_the_mean_and_jitter_leaves_grey_grey():
    flat = jnp.ones((6, 192))
    np.testing.assert_allclose(view(changed(blur=2.0), flat), flat, atol=1e-5)
    x = images()
    assert float(view(changed(blur=2.0), x).std()) < 0.8 * float(x.std())
    grey = jnp.repeat(images(channels=1)[..., None], 3, axis=-1).reshape(6, -1)
    found = view(changed(jitter=0.4), grey)
    np.testing.assert_allclose(found.reshape(6, 64, 3).std(-1), 0.0, atol=1e-5)
    assert float(jnp.abs(found - grey).max()) > 0.01
    x = images()
    assert float(jnp.abs(view(changed(jitter=0.4), x) - x).max()) > 0.05


def test_views_differ_from_each_other_and_between_images():
    one, other = views(ls.data.Augment(), jnp.tile(images(1), (6, 1)))
    assert float(jnp.abs(one - other).max()) > 0.01
    assert float(jnp.abs(one[0] - one[1]).max()) > 0.01


def test_a_nested_part_is_stored_with_the_rest():
    data = ls.data.Images("digits", train=30, test=20, batch=8, views=changed(crop=0.5))
    net = ls.nets.Projection(ls.nets.FullyConnected(width=5), width=6, outputs=4, layers=3)
    rule = ls.rules.NonContrastive(rate=0.01, head_rate=0.01, optimiser="adam")
    setting = experiment(rule, 2, 1, [ls.probes.NeuronCorrelation(bins=4)], data, net)
    assert ls.Experiment.from_toml(setting.to_toml()) == setting
    assert ls.Experiment.from_json(setting.to_json()) == setting
    assert data.compression == "none"
    result = run(setting, over={"data.views.crop": [0.5, 0.9]}, seeds=1)
    assert result.sizes["crop"] == 2
    assert np.isfinite(result.correlation_size).all()
    refused(lambda: ls.data.Images("digits", views=3), "Images.views = 3 is not allowed", "Augment")
    refused(lambda: ls.nets.Projection(None), "Projection.body")
