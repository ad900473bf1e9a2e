"""Frames: chi variables, Gaussian rows in compressed coordinates, and rotations."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from learnscope.space import Basis, Frame, chi, orthonormal, turn
from learnscope.space import frame as frame_module
from tests.law import assert_law, assert_mean, assert_other_law
from tests.small import quick

DEGREES = (1, 2, 3, 5, 50, 1e3, 1e6, 1e9)
PRECISIONS = ("float32", "float64")


@functools.lru_cache
def chi_draws(degrees, precision, count=20_000):
    with jax.enable_x64(precision == "float64"):
        key = jax.random.key(round(degrees) % 1009)
        drawn = quick(chi)(key, jnp.full(count, degrees, precision))
        assert drawn.dtype == precision
        return np.asarray(drawn, np.float64)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("degrees", DEGREES)
def test_chi_has_its_law_and_is_told_from_a_seventh_of_its_spread(degrees, precision):
    drawn, law = chi_draws(degrees, precision), stats.chi(degrees)
    assert_law({"chi": drawn}, {"chi": law})
    # A chi variable's spread is 0.7, and this moves its mean by 0.1.
    assert_other_law({"chi": drawn}, {"chi": stats.chi(degrees + max(1.0, 0.2 * degrees**0.5))})
    if precision == "float64" and degrees <= 1e6:
        assert_mean(drawn, law.mean(), law.var())
        fourth = float(law.stats("k")) + 3
        assert_mean((drawn - law.mean()) ** 2, law.var(), law.var() ** 2 * (fourth - 1))


def test_chi_in_single_precision_keeps_its_deviation():
    # Neighbouring floats are 0.002 apart at sqrt(10^9), and a chi variable's spread is 0.7: of the
    # some 2000 values within three spreads, most are met. Coarser arithmetic would meet fewer.
    drawn = np.unique(chi_draws(1e9, "float32"))
    assert np.diff(drawn).min() == np.spacing(np.float32(31622))
    assert len(drawn) > 1500


@pytest.mark.parametrize("degrees", DEGREES)
def test_chi_is_the_same_in_both_precisions(degrees):
    # A proposal that is taken in one precision only would be off by a spread.
    one, two = (chi_draws(degrees, precision) for precision in PRECISIONS)
    np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-6)


def refusal(degrees):
    r"""P(a proposal is refused), exactly: 1 - e^b Gamma(a) b^{1/2 - a} / sqrt(2 pi).

    It is the integral of the normal density times the chance to be accepted, with v = (1 + c x)^3
    in place of x; a = degrees/2 (one more below two degrees) and b = a - 1/3.
    """
    a = np.where(degrees < 2, degrees / 2 + 1, degrees / 2)
    b = a - 1 / 3
    return 1 - np.exp(b + special.gammaln(a) + (0.5 - a) * np.log(b)) / np.sqrt(2 * np.pi)


def test_refusals_are_as_rare_as_the_library_says():
    degrees = np.arange(1.0, 31.0)
    exact = refusal(degrees)
    assert exact.max() < 0.05
    assert exact[degrees <= 2].max() == exact.max()
    assert exact[degrees >= 20].max() < 0.005
    assert (exact**frame_module._PROPOSALS).max() < 1e-13


def test_refusals_of_the_library_are_those(float64):
    # The second proposal, x = 0, is always accepted and then gives sqrt(2b) exactly: a draw equals
    # that if and only if its first proposal was refused.
    degrees, count = np.arange(1.0, 31.0), 200_000
    key_x, key_u = jax.random.split(jax.random.key(5))

    @jax.jit
    def refused(degrees, key_x, key_u):
        x = jnp.stack([jax.random.normal(key_x, (count,)), jnp.zeros(count)], axis=-1)
        u = jax.random.uniform(key_u, (count,))
        u = jnp.stack([u, jnp.full(count, 0.5), jnp.ones(count)], axis=-1)
        drawn = frame_module.chi_from(jnp.full(count, degrees), x, u)
        b = jnp.where(degrees < 2, degrees / 2 + 1, degrees / 2) - 1 / 3
        return drawn == jnp.sqrt(2 * b)

    keys = zip(jax.random.split(key_x, 30), jax.random.split(key_u, 30), strict=True)
    found = np.array([refused(k, *pair) for k, pair in zip(degrees, keys, strict=True)])
    exact = refusal(degrees)
    assert_mean(found.T, exact, exact * (1 - exact))


# Gaussian rows: 5 of them after 3 axes, in R^60, in 8 coordinates.

DIM, COUNT, AFTER, DRAWS = 60, 5, 3, 4000


@quick
def compressed_rows(keys, dim):
    def one(key):
        axes, frame = Frame(dim, AFTER + COUNT).axes(AFTER)
        drawn, frame = frame.gaussian_rows(key, COUNT)
        assert frame.used == frame.rank == AFTER + COUNT
        return jnp.concatenate([axes, drawn])

    return jax.vmap(one)(keys)


@functools.lru_cache
def rows(dim, compressed, precision="float32"):
    """Rows of many draws: 3 axes, then 5 Gaussian vectors (draw, 8, coordinate)."""
    if not compressed:
        normal = np.random.default_rng(18).normal(size=(DRAWS, COUNT, dim))
        return np.concatenate([np.broadcast_to(np.eye(AFTER, dim), (DRAWS, AFTER, dim)), normal], 1)
    with jax.enable_x64(precision == "float64"):
        keys = jax.random.split(jax.random.key(17), DRAWS)
        return np.asarray(compressed_rows(keys, jnp.asarray(dim, precision)), np.float64)


def features(drawn):
    """Numbers a draw that between them see every part of the joint Gram matrix."""
    grams = drawn @ np.swapaxes(drawn, 1, 2)
    own = grams[:, AFTER:, AFTER:]
    outside = own - grams[:, AFTER:, :AFTER] @ grams[:, :AFTER, AFTER:]
    values = np.linalg.eigvalsh(own)
    found = {f"square {i}": own[:, i, i] for i in range(COUNT)}
    found |= {f"product {i}": own[:, 0, i] for i in range(1, COUNT)}
    found |= {f"axis {i}": grams[:, 0, AFTER + i] for i in range(COUNT)}
    found |= {f"outside {i}": outside[:, i, i] for i in range(COUNT)}
    found |= {"smallest": values[:, 0], "largest": values[:, -1]}
    found |= {"volume": np.log(values).sum(1), "outside volume": np.linalg.slogdet(outside)[1]}
    found["triple"] = own[:, 2, 3] * own[:, 3, 4] * own[:, 2, 4]
    return found


@pytest.mark.parametrize("precision", PRECISIONS)
def test_gaussian_rows_have_the_ambient_law(precision):
    ambient = features(rows(DIM, False))
    assert_law(features(rows(DIM, True, precision)), ambient)
    # A frame that forgets its three axes is told.
    assert_other_law(features(rows(DIM - AFTER, True, precision)), ambient)


def test_gaussian_rows_have_a_wishart_gram_matrix():
    # Squares are chi^2(60), outside the three axes chi^2(57), and entries along axes normal.
    laws = {f"square {i}": stats.chi2(DIM) for i in range(COUNT)}
    laws |= {f"outside {i}": stats.chi2(DIM - AFTER) for i in range(COUNT)}
    assert_law(features(rows(DIM, True)), laws | {"axis 0": stats.norm(), "axis 4": stats.norm()})
    # E G = d I, Var G_ii = 2d, Var G_ij = d.
    drawn = rows(DIM, True)[:, AFTER:]
    grams = (drawn @ np.swapaxes(drawn, 1, 2))[:, *np.triu_indices(COUNT)]
    same = np.equal(*np.triu_indices(COUNT))
    assert_mean(grams, DIM * same, DIM * (1.0 + same))
    assert_mean((grams - DIM * same) ** 2, DIM * (1.0 + same))


def test_rows_continue_a_frame():
    # Every vector is written in the coordinates taken so far and at most one of its own.
    @quick
    def draw(key):
        axes, frame = Frame(1e9, 9).axes(2)
        first, frame = frame.gaussian_rows(key, 3)
        second, frame = frame.gaussian_rows(jax.random.fold_in(key, 1), 4)
        return jnp.concatenate([axes, first, second]), frame

    stacked, frame = draw(jax.random.key(0))
    assert stacked.shape == (9, 9)
    assert np.all(np.triu(stacked, 1) == 0)
    assert np.all(np.diag(stacked)[2:] > 1e4)
    with pytest.raises(ValueError, match="rank 9 has no room for 1 vectors after 9"):
        frame.gaussian_rows(jax.random.key(2), 1)


def test_ambient_frames_take_nothing_up_and_the_smallest_has_one_degree_of_freedom_left():
    frame = Frame.of_dimension(7)
    drawn, after = frame.gaussian_rows(jax.random.key(0), 20)
    assert (drawn.shape, after.used) == ((20, 7), 0)
    assert frame.gaussian_points(jax.random.key(1), 5).shape == (5, 7)
    # rank = dim: the last vector's own coordinate is |normal|.
    last = quick(jax.vmap(lambda key: Frame(4.0, 4).gaussian_rows(key, 4)[0][3, 3]))
    drawn = last(jax.random.split(jax.random.key(3), DRAWS))
    assert_law({"last": np.asarray(drawn, float)}, {"last": stats.halfnorm()})


def test_a_basis_keeps_all_inner_products(float64):
    vectors = jnp.asarray(np.random.default_rng(0).normal(size=(6, 40)))
    # Dependent rows, as the signal patches of all examples are.
    dependent = jnp.concatenate([vectors[:1], -2 * vectors[:1], vectors[:1] + vectors[1:2]])
    onto = orthonormal(vectors, dependent)
    assert onto.shape == (9, 40)
    np.testing.assert_allclose(onto @ onto.T, np.eye(9), atol=1e-13)
    every = jnp.concatenate([vectors, dependent])
    turned = Basis(onto)(every)
    np.testing.assert_allclose(turned @ turned.T, every @ every.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(turned @ onto, every, atol=1e-12)


def test_a_basis_sees_of_other_vectors_what_the_span_sees(float64):
    random = np.random.default_rng(1)
    vectors, other = (jnp.asarray(random.normal(size=(count, 40))) for count in (6, 3))
    onto = orthonormal(vectors)
    turned, seen = Basis(onto)(vectors), Basis(onto)(other)
    np.testing.assert_allclose(turned @ seen.T, vectors @ other.T, rtol=1e-12, atol=1e-12)
    # ... and no more: what stands outside is lost.
    assert np.all(jnp.sum(seen**2, axis=1) < 0.5 * jnp.sum(other**2, axis=1))


def test_a_basis_of_more_vectors_than_dimensions_is_all_of_space(float64):
    vectors = jnp.asarray(np.random.default_rng(2).normal(size=(9, 4)))
    turned = Basis(orthonormal(vectors))(vectors)
    assert turned.shape == (9, 4)
    np.testing.assert_allclose(turned @ turned.T, vectors @ vectors.T, atol=1e-12)


@pytest.mark.parametrize("dim", [12, 200])
def test_a_turn_puts_directions_on_the_first_axes(dim, float64):
    random = np.random.default_rng(3)
    directions, rest = (jnp.asarray(random.normal(size=(count, dim))) for count in (4, 20))
    onto = turn([directions[:1], directions[1:]], [rest])
    assert onto.rank == min(dim, 24)
    turned, moved = onto(directions), onto(rest)
    np.testing.assert_allclose(turned[:, 4:], 0, atol=1e-12)
    np.testing.assert_allclose(turned[0, 1:], 0, atol=1e-12)
    np.testing.assert_allclose(moved @ moved.T, rest @ rest.T, atol=1e-12)
    np.testing.assert_allclose(turned @ moved.T, directions @ rest.T, atol=1e-12)
