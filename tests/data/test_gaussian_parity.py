"""Gaussian clusters that are labelled by parity."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from learnscope.data import GaussianParity
from tests.law import assert_counts, assert_law, assert_other_law
from tests.small import quick, refuses

KEY = jax.random.key(3)


@functools.cache
def clusters(noise):
    @quick
    def draw(noise):
        data = GaussianParity(dim=20, factors=3, train=1000, test=500, noise=noise)
        problem = data.sample(KEY)
        keys = jax.random.split(jax.random.key(4), 500)
        return problem, jax.vmap(lambda key: data.example(key, problem))(keys)

    with jax.enable_x64(True):
        problem, fresh = jax.tree.map(np.asarray, draw(jnp.asarray(noise)))
    parts = (problem.train, problem.test, fresh)
    x, y = (np.concatenate([getattr(part, name) for part in parts]) for name in ("x", "y"))
    return problem.directions, x, y


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_clusters_are_labelled_by_parity(noise):
    directions, x, y = clusters(noise)
    axes = directions["axes"]
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
    signs = np.sign(x @ axes.T)  # with a noise of 0.04 a coordinate none is ever another
    np.testing.assert_array_equal(y, signs.prod(1))
    centres = np.unique(directions["centres"] @ axes.T, axis=0)
    np.testing.assert_array_equal(centres, np.unique(signs, axis=0))
    assert directions["centres"].shape == (8, 20)
    assert_counts(np.bincount((signs > 0) @ (1 << np.arange(3))))
    left = (x - signs @ axes).ravel()
    if noise == 0:
        np.testing.assert_allclose(left, 0, atol=1e-14)
    else:  # variance noise^2 k / d
        assert_law({"left": left}, {"left": stats.norm(scale=0.1 * (3 / 20) ** 0.5)})
        assert_other_law({"left": left}, {"left": stats.norm(scale=0.1)})


def test_what_does_not_fit_together_is_refused():
    usual = {"dim": 20, "factors": 3, "train": 10, "test": 5, "noise": 1.0}
    bad = {"factors = 3 .*dim = 2": {"dim": 2}, "batch = 11 .*at most 10": {"batch": 11}}
    refuses(lambda **given: GaussianParity(**usual | given), bad, r"GaussianParity\.")
