"""Normal variables: the hash is JAX's Threefry, the law the normal, the draws independent."""

import functools
import math
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32
from scipy import stats

from learnscope.space import random as random_module
from learnscope.space.random import (
    _turn,
    distinct,
    integers,
    inverse_normal,
    normal,
    permutation,
    signs,
    threefry,
    uniform,
)
from tests.law import assert_counts, assert_law, assert_mean, assert_other_law
from tests.small import quick

SEEDS, COUNT = (0, 1, 2), 10**6
small = jax.jit(normal, static_argnums=1, compiler_options={"xla_backend_optimization_level": 0})


@functools.lru_cache
def draws(seed, count=COUNT):
    return np.asarray(jax.jit(normal, static_argnums=1)(jax.random.key(seed), (count,)), float)


def halves(seed):
    """The draws from cosines and those from sines, pair by pair."""
    return np.split(draws(seed), 2)


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1])
@pytest.mark.parametrize("count", [1, 2, 1001])
def test_the_hash_is_jax_own(seed, count):
    key = jax.random.fold_in(jax.random.key(seed), 5)
    left, right = quick(lambda key: threefry(key, count))(key)
    # JAX takes the first words of all counters, then the second ones.
    counters = np.concatenate([np.zeros(count, np.uint32), np.arange(count, dtype=np.uint32)])
    expected = threefry_2x32(jax.random.key_data(key), jnp.asarray(counters))
    assert left.dtype == right.dtype == np.uint32
    np.testing.assert_array_equal(np.concatenate([left, right]), expected)


@pytest.mark.parametrize("shape", [(), (1,), (2,), (7,), (3, 5), (4, 2, 3), (0,), (3, 0, 2)])
def test_any_shape_is_drawn(shape):
    drawn = small(jax.random.key(3), shape)
    assert (drawn.shape, drawn.dtype) == (shape, np.float32)
    assert np.isfinite(drawn).all() and len(np.unique(drawn)) == drawn.size
    # The same numbers in whatever shape, for odd and even sizes.
    np.testing.assert_array_equal(drawn.reshape(-1), small(jax.random.key(3), (drawn.size,)))


def test_a_key_fixes_the_draw():
    # Alone or beside others.
    keys = jax.random.split(jax.random.key(4), 3)
    together = quick(jax.vmap(lambda key: normal(key, (5,))))(keys)
    for key, drawn in zip(keys, together, strict=True):
        np.testing.assert_allclose(drawn, small(key, (5,)), rtol=1e-5, atol=1e-6)


DRAWS = {
    "normal": lambda key: normal(key, (501,)),
    "inverse_normal": lambda key: inverse_normal(key, (501,)),
    "uniform": lambda key: uniform(key, (501,), -2, 3),
    "signs": lambda key: signs(key, (501,)),
    "integers": lambda key: integers(key, (501,), 1000),
    "permutation": lambda key: permutation(key, 501),
    "distinct": lambda key: distinct(key, 10**5, 50),
    "distinct of few": lambda key: distinct(key, 100, 50),
}


@pytest.mark.parametrize("kind", DRAWS)
def test_double_precision_is_the_same_draw(kind):
    found = {}
    for precision in ("float32", "float64"):
        with jax.enable_x64(precision == "float64"):
            found[precision] = np.asarray(quick(DRAWS[kind])(jax.random.key(5)))
    one, two = found["float32"], found["float64"]
    if one.dtype.kind == "f":
        assert (str(one.dtype), str(two.dtype)) == tuple(found)
    assert len(np.unique(two)) > 1
    np.testing.assert_allclose(one, two, rtol=3e-7, atol=3e-7)


def test_nothing_else_draws():
    """Outside `space/random.py`, `jax.random` makes keys only."""
    keys = {"key", "split", "fold_in", "key_data", "wrap_key_data", "key_impl", "PRNGKey"}
    package = Path(random_module.__file__).parents[1]
    for file in set(package.rglob("*.py")) - {Path(random_module.__file__)}:
        code = [line for line in file.read_text().splitlines() if not re.match(r" *(>>>|#)", line)]
        used = set(re.findall(r"jax\.random\.(\w+)", "\n".join(code)))
        assert used <= keys, f"{file} draws by jax.random: {used - keys}"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_law_is_the_normal(seed):
    # E x^2k = (2k - 1)!!, so the variances of x, x^2, x^3, x^4 are 1, 2, 15, 96.
    assert_mean(draws(seed)[:, None] ** np.arange(1, 5), [0, 1, 0, 3], np.array([1, 2, 15, 96]))
    assert_law(dict(enumerate(halves(seed))), dict.fromkeys(range(2), stats.norm()))


def test_a_law_that_is_a_little_off_is_told_apart():
    # A hundredth of the spread; tails of a Student's law.
    assert_other_law({"wide": 1.01 * draws(0)}, {"wide": stats.norm()})
    heavy = stats.t(20).ppf(stats.norm.cdf(draws(0)[:100_000]))
    with pytest.raises(AssertionError):
        assert_mean(heavy**4, 3, 96)


def test_the_tails_are_those_of_the_normal():
    drawn = draws(9, 10**7)
    assert np.abs(drawn).max() < 6.8  # what 32 bits reach
    tails, chance = [(drawn > 4).sum(), (drawn < -4).sum()], stats.norm.sf(4)  # 317 of them
    assert_counts([*tails, 10**7 - sum(tails)], [chance, chance, 1 - 2 * chance])


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


def assert_uncorrelated(left, right):
    """Values and their squares, which have mean 1 and variance 2."""
    assert_mean(left * right, 0, 1)
    assert_mean((left**2 - 1) * (right**2 - 1) / 2, 0, 1)


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_cosines_and_sines_are_independent(seed):
    assert_uncorrelated(*halves(seed))


def test_neighbours_and_keys_are_independent():
    half = halves(0)[0]
    assert_uncorrelated(half[::2], half[1::2])
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


@pytest.mark.parametrize(("size", "count"), [(1000, 40), (60, 4), (20, 19)])
def test_distinct_numbers_are_distinct_and_uniform(size, count):
    draw = quick(jax.vmap(lambda key: distinct(key, size, count)))
    drawn = np.asarray(draw(jax.random.split(jax.random.key(3), 3000)))
    assert drawn.shape == (3000, count)
    assert drawn.min() >= 0 and drawn.max() < size
    assert all(len(set(row)) == count for row in drawn.tolist())
    # Uniform at the first place, at the last, and so is the way from one to the next.
    for column in (0, count - 1):
        assert_counts(np.bincount(drawn[:, column], minlength=size))
    next_to = (drawn[:, 1] - drawn[:, 0]) % size
    chances = np.where(np.arange(size) == 0, 0.0, 1 / (size - 1))
    assert_counts(np.bincount(next_to, minlength=size), chances)


@pytest.mark.parametrize(
    ("size", "count"),
    [(50_000, 1000), (50_000, 9000), (10_000, 1800), (10**5, 12_000), (10**6, 200_000)],
)
def test_enough_numbers_are_drawn(size, count, monkeypatch):
    """Among so many with repetition, `count` different ones are there but once in 10^12."""
    asked = []
    draw = lambda key, shape, below: asked.append(shape[0]) or jnp.arange(shape[0])  # noqa: E731
    every = lambda key, count: asked.append(math.inf) or jnp.arange(count)  # noqa: E731
    monkeypatch.setattr(random_module, "integers", draw)
    monkeypatch.setattr(random_module, "permutation", every)
    jax.eval_shape(lambda: distinct(jax.random.key(3), size, count))
    (drawn,) = asked
    if drawn < math.inf:
        # Between two different ones repeats have a geometric law, of chance j / size after j of
        # them; Chernoff's bound on their sum.
        chances = np.arange(count) / size
        tilts = np.geomspace(1e-3, -0.99 * math.log(chances[-1]), 100)
        each = lambda t: np.log1p(-chances).sum() - np.log1p(-chances * math.exp(t)).sum()  # noqa: E731
        logs = [each(t) - t * (drawn - count + 1) for t in tilts]
        assert min(logs) < math.log(1e-12)


def test_a_number_is_folded_in_as_jax_does_it():
    keys = jax.vmap(jax.random.key)(jnp.arange(5))
    fold_in = quick(jax.vmap(random_module.fold_in, (0, None)))
    for number in (0, 1, 77, 2**31 - 2):
        found = fold_in(keys, jnp.asarray(number))
        right = jax.vmap(lambda key, n=number: jax.random.fold_in(key, n))(keys)
        np.testing.assert_array_equal(jax.random.key_data(found), jax.random.key_data(right))


def test_normal_and_uniform_variables_of_one_hash():
    draw = quick(lambda key: random_module.normal_and_uniform(key, 9999, 7777))
    normal, uniform = map(np.asarray, draw(jax.random.key(3)))
    right = {"normal": stats.norm(), "uniform": stats.uniform()}
    assert_law({"normal": normal, "uniform": uniform}, right)
    assert len(np.unique(normal)) == 9999 and uniform.min() > 0
