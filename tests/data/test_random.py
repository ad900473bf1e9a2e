"""Normal variables: the hash is JAX's Threefry, the law is the normal, the draws are independent.

Statistical tests use fixed seeds and share one false-alarm rate: one in 1000 choices of the seeds
for all comparisons of this file together (Bonferroni). `LEVEL` is what each may take of it.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32
from scipy import stats

from learnscope.data import random as random_module
from learnscope.data.random import _turn, normal, threefry

COMPARISONS = 30  # at most: 28 are counted beside the tests below
LEVEL = 1e-3 / COMPARISONS
SEEDS = (0, 1, 2)
COUNT = 10**6
LIMIT = stats.norm.isf(LEVEL / 2)  # 4.1 standard errors

# Programs of random bits take long to optimise for nothing: each runs once or twice.
quick = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
small = quick(normal, static_argnums=1)


@functools.lru_cache
def draws(seed, count=COUNT):
    return np.asarray(jax.jit(normal, static_argnums=1)(jax.random.key(seed), (count,)), float)


def halves(seed):
    """The draws from cosines and those from sines, pair by pair."""
    return np.split(draws(seed), 2)


def assert_mean(values, mean, variance):
    """The mean of independent values, given their law's mean and variance."""
    error = np.sqrt(variance / len(values))
    assert abs(values.mean() - mean) < LIMIT * error


# The hash.


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1])
@pytest.mark.parametrize("count", [1, 2, 1001])
def test_the_hash_is_jax_own(seed, count):
    key = jax.random.fold_in(jax.random.key(seed), 5)
    left, right = quick(threefry, static_argnums=1)(key, count)
    # JAX takes the first words of all counters, then the second ones.
    counters = np.concatenate([np.zeros(count, np.uint32), np.arange(count, dtype=np.uint32)])
    expected = threefry_2x32(jax.random.key_data(key), jnp.asarray(counters))
    assert left.dtype == right.dtype == np.uint32
    np.testing.assert_array_equal(np.concatenate([left, right]), expected)


# Shapes and types.


@pytest.mark.parametrize("shape", [(), (1,), (2,), (7,), (3, 5), (4, 2, 3), (0,), (3, 0, 2)])
def test_any_shape_is_drawn(shape):
    drawn = small(jax.random.key(3), shape)
    assert drawn.shape == shape
    assert drawn.dtype == np.float32
    assert np.isfinite(drawn).all()
    size = drawn.size
    assert len(np.unique(drawn)) == size
    # The same numbers in whatever shape, for odd and even sizes.
    np.testing.assert_array_equal(drawn.reshape(-1), small(jax.random.key(3), (size,)))


def test_a_key_fixes_the_draw():
    # Alone or beside others.
    keys = jax.random.split(jax.random.key(4), 3)
    together = quick(jax.vmap(lambda key: normal(key, (5,))))(keys)
    for key, drawn in zip(keys, together, strict=True):
        np.testing.assert_allclose(drawn, small(key, (5,)), rtol=1e-5, atol=1e-6)


def test_double_precision_is_jax_own(float64):
    key = jax.random.key(5)
    for shape in ((), (2, 3), (0,)):
        drawn = normal(key, shape)
        assert drawn.dtype == np.float64
        np.testing.assert_array_equal(drawn, jax.random.normal(key, shape))


# The law.


@pytest.mark.parametrize("seed", SEEDS)  # 3 x 4 comparisons
def test_moments_are_those_of_the_normal(seed):
    # E x^2k = (2k - 1)!!, so the variances of x, x^2, x^3, x^4 are 1, 2, 15, 96.
    for power, (mean, variance) in enumerate([(0, 1), (1, 2), (0, 15), (3, 96)], start=1):
        assert_mean(draws(seed) ** power, mean, variance)


@pytest.mark.parametrize("seed", SEEDS)  # 3 x 2 comparisons
def test_the_law_is_the_normal(seed):
    for half in halves(seed):
        assert stats.kstest(half, stats.norm.cdf).pvalue > LEVEL


def test_a_law_that_is_a_little_off_is_told_apart():
    # The power of the tests above: a hundredth of the spread; tails of a Student's law.
    assert stats.kstest(1.01 * draws(0), stats.norm.cdf).pvalue < LEVEL
    heavy = stats.t(20).ppf(stats.norm.cdf(draws(0)[:100_000]))
    with pytest.raises(AssertionError):
        assert_mean(heavy**4, 3, 96)


def test_the_tails_are_those_of_the_normal():  # 2 comparisons
    count = 10**7
    drawn = draws(9, count)
    assert np.abs(drawn).max() < 6.8  # what 32 bits reach
    for tail in (drawn > 4, drawn < -4):
        found, chance = int(tail.sum()), stats.norm.sf(4)  # 317 of them
        assert stats.binomtest(found, count, chance).pvalue > LEVEL


def test_every_bit_of_the_radius_counts(monkeypatch):
    ends = [0, 1, 2, 2**31, 2**32 - 1]
    bits = np.concatenate([ends, np.random.default_rng(8).integers(0, 2**32, 1000)])
    words = jnp.asarray(bits, jnp.uint32), jnp.full(len(bits), 2**29, jnp.uint32)
    monkeypatch.setattr(random_module, "threefry", lambda key, count: words)
    # An angle of 0: the cosine half is the radius.
    found = quick(lambda key: normal(key, (2 * len(bits),)))(jax.random.key(0))[: len(bits)]
    expected = np.sqrt(-2 * np.log((bits + 0.5) / 2**32))
    assert expected.max() > 6.7
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(found[:4], expected[:4], rtol=1e-6)


# Independence.


def assert_uncorrelated(left, right):
    """Values and their squares, which have mean 1 and variance 2: two comparisons."""
    assert_mean(left * right, 0, 1)
    assert_mean((left**2 - 1) * (right**2 - 1) / 2, 0, 1)


@pytest.mark.parametrize("seed", SEEDS[:2])  # 2 x 2 comparisons
def test_cosines_and_sines_are_independent(seed):
    assert_uncorrelated(*halves(seed))


def test_neighbours_are_independent():  # 2 comparisons
    half = halves(0)[0]
    assert_uncorrelated(half[::2], half[1::2])


def test_keys_are_independent():  # 2 comparisons
    # As an experiment's roles and steps are told apart.
    keys = jax.vmap(lambda number: jax.random.fold_in(jax.random.key(6), number))(jnp.arange(1000))
    drawn = np.asarray(quick(jax.vmap(lambda key: normal(key, (500,))))(keys), float)
    assert_uncorrelated(drawn[::2].ravel(), drawn[1::2].ravel())


def test_a_dependence_would_be_seen():
    # The power of the tests above: a hundredth of the other half; the other's absolute value.
    cosine, sine = halves(0)
    for left, right in ((cosine, 0.01 * cosine + sine), (cosine, np.sign(sine) * cosine)):
        with pytest.raises(AssertionError):
            assert_uncorrelated(left, right)


# The turn.


def test_sine_and_cosine_are_exact_to_single_precision():
    corners = np.arange(9, dtype=np.float32) / 8
    edges = [np.nextafter(corners, np.float32(end)) for end in (-1, 2)]
    shares = np.random.default_rng(7).uniform(size=10**6).astype(np.float32)
    shares = np.concatenate([corners, *edges, shares, np.float32([2.0**-33])])
    shares = shares[(shares > 0) & (shares <= 1)]
    cosine, sine = jax.jit(_turn)(jnp.asarray(shares))
    # A share of a full turn, counted from an eighth before the first axis.
    angle = 2 * np.pi * (shares.astype(float) - 1 / 8)
    np.testing.assert_allclose(cosine, np.cos(angle), rtol=0, atol=3e-7)
    np.testing.assert_allclose(sine, np.sin(angle), rtol=0, atol=3e-7)
