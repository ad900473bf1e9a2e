"""Strong and weak features: the law of examples and pairs, against its definition.

Wen and Li (2022), Definition 3.1, Remark 3.2, Assumption 3.3, equation 3.2.
"""

import functools
import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import learnscope as ls
from learnscope.data.views import HalfMask, Halves, random_places
from learnscope.space import Columns, Frame
from learnscope.space.fresh import FreshPatches
from tests import law
from tests.reference.pairs import counts
from tests.small import quick, refuses

N = 6000
BASE = {"dim": 9, "patches": 6, "feature_patches": 2, "strengths": (3, 2), "noise": 0.7, "batch": N}
MODELS = {
    name: ls.data.StrongWeak(**BASE | {"test": 50} | given)
    for name, given in {
        "two features": {},
        "three, not equally frequent": {
            "patches": 8, "feature_patches": 4, "strengths": (3, 2, 1.5), "frequencies": (1, 2, 5)
        },
        "together": {"patches": 8, "together": True},
        "no noise patches": {"feature_patches": 6},
    }.items()
}  # fmt: skip


def frame(model, dim=None, neurons=2, targets=0):
    """Compressed coordinates, as a run with so many neurons has them."""
    dim = jnp.asarray(model.dim if dim is None else dim, float)
    return Frame(dim, model.span + model.sets * neurons, seen=model.span + (1 + targets) * neurons)


@functools.cache
def drawn(name, compressed):
    """A problem, a batch of it and that batch's views."""
    model = MODELS[name]

    @quick
    def draw(key):
        problem = model.sample(key, frame(model) if compressed else None)
        batch_key, view_key = jax.random.split(key)
        batch = problem.batch(batch_key)
        return problem, batch, problem.viewed(batch, view_key)

    return draw(jax.random.key(8))


def parts(name, compressed):
    """Feature coordinates, noise coordinates, and the signs of the batch."""
    model, (_, batch, _) = MODELS[name], drawn(name, compressed)
    x = np.asarray(batch.x[0].values if compressed else batch.x)
    return x[..., : model.features], x[..., model.features :], np.asarray(batch.marks["signs"])


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_patches_are_one_feature_or_noise(name, compressed):
    model = MODELS[name]
    feature, noise, signs = parts(name, compressed)
    assert feature.shape == (N, model.patches, model.features)
    carrying = feature != 0
    noisy = (noise != 0).any(-1)
    # A patch has at most one feature, and noise if and only if it has none.
    assert (carrying.sum(-1) + noisy == 1).all()
    assert ((noise != 0).all(-1) == noisy).all()
    # P0 patches of a feature, all with the same sign and the given strength.
    has = signs != 0
    np.testing.assert_array_equal(carrying.sum(1), model.feature_patches * has)
    right = carrying * (signs * np.array(model.strengths))[:, None]
    np.testing.assert_allclose(feature, right, rtol=1e-6)
    assert set(np.unique(signs)) <= {-1.0, 0.0, 1.0}
    assert (has.sum(1) == (model.features if model.together else 1)).all()
    # Signs and features together: independent, signs fair.
    if model.together:
        cases = itertools.product((-1, 1), repeat=model.features)
        law.assert_counts([(signs == case).all(1).sum() for case in cases])
        return
    which = has.argmax(1)
    right = 2 * which - 1 if model.features == 2 else which
    np.testing.assert_array_equal(np.asarray(drawn(name, compressed)[1].y), right)
    shares = np.array(model.frequencies or (1,) * model.features, float)
    shares /= shares.sum()
    np.testing.assert_allclose(model.shares, shares, rtol=1e-6)
    found = [(signs[:, i] == s).sum() for i in range(model.features) for s in (-1, 1)]
    law.assert_counts(found, np.repeat(shares / 2, 2))


@pytest.mark.parametrize("compressed", [False, True])
def test_noise_is_gaussian_and_independent(compressed):
    _, noise, _ = parts("two features", compressed)
    noisy = noise[(noise != 0).any(-1)] / 0.7
    assert noisy.shape == (N * 4, 2 if compressed else 7)  # compressed: as weights have them
    law.assert_law(noisy, dict.fromkeys(range(noisy.shape[1]), stats.norm()))
    # Sixth powers have variance 10395 - 225.
    powers = noisy.ravel()[:, None] ** [1, 2, 4, 6]
    law.assert_mean(powers, [0, 1, 3, 15], np.array([1, 2, 96, 10170]))
    # Coordinates of a patch, and the four patches of an example, do not correlate.
    wide, pairs = noisy.reshape(N, -1), np.triu_indices(4 * noisy.shape[1], 1)
    for values in (wide, (wide**2 - 1) / 2**0.5):
        law.assert_mean(values[:, pairs[0]] * values[:, pairs[1]], 0)


@pytest.mark.parametrize("name", [*law.LAWS, "rademacher"])
def test_noise_of_other_laws(name):
    model = ls.data.StrongWeak(**BASE, noise_law=name)
    x = np.asarray(quick(lambda key: model.sample(key).batch(key).x)(jax.random.key(2)))
    noise = x[:, 2:, 2:].ravel() / 0.7
    assert (x[:, 2:, :2] == 0).all() and (x[:, :2, 2:] == 0).all()
    if name == "rademacher":
        np.testing.assert_allclose(np.abs(noise), 1, rtol=1e-6)
        law.assert_mean(noise, 0, 1)
    else:
        law.assert_law({name: noise[:20_000]}, {name: law.LAWS[name]})
        assert abs(law.LAWS[name].var() - 1) < 1e-12
    assert model.compression == ("gaussian_rows" if name == "gaussian" else "none")


def test_features_are_orthonormal_and_examples_use_them():
    for name in MODELS:
        problem = drawn(name, False)[0]
        features = np.asarray(problem.directions["features"])
        np.testing.assert_array_equal(features @ features.T, np.eye(MODELS[name].features))
        x = np.asarray(problem.test.x)
        assert x.shape[0] == 50
        components = x @ features.T
        sizes = np.abs(components[components != 0])
        assert set(np.round(sizes, 4)) <= {float(s) for s in MODELS[name].strengths}
        rest = x - components @ features
        assert ((rest != 0).any(-1) != (components != 0).any(-1)).all()


def test_batches_are_fresh():
    model = ls.data.StrongWeak(**BASE | {"batch": 64}, test=64)

    @quick
    def draw():
        problem = model.sample(jax.random.key(0))
        batches = [problem.batch(jax.random.key(seed)) for seed in (1, 1, 2)]
        one = model.example(jax.random.key(5), problem)
        return [batch.x for batch in batches], problem.test.x, one

    (one, same, other), held, single = jax.tree.map(np.asarray, draw())
    assert one.shape == held.shape == (64, 6, 9) and single.x.shape == (6, 9)
    np.testing.assert_array_equal(one, same)
    for a, b in itertools.combinations((one, other, held), 2):
        assert not (a[:, None, 2:, 2:] == b[None, :, 2:, 2:]).all((2, 3)).any()
    noise = one[:, 2:, 2:]  # nor is an example of a batch there twice
    assert (noise[:, None] == noise[None]).all((2, 3)).sum() == 64


@pytest.mark.parametrize("name", ["two features", "together"])
def test_views_are_complementary_halves(name):
    model, (_, batch, views) = MODELS[name], drawn(name, False)
    one, other, x = (np.asarray(a) for a in (*views, batch.x))
    np.testing.assert_array_equal(one + other, x)
    shown = [(view != 0).any(-1) for view in (one, other)]
    assert not (shown[0] & shown[1]).any() and (shown[0] | shown[1]).all()
    for each in shown:
        assert (each.sum(1) == model.patches // 2).all()


def test_every_half_and_every_order_is_equally_likely():
    for patches in (2, 4, 6):
        views = quick(HalfMask())(jax.random.key(1), jnp.ones((N, patches, 1)))
        masks = np.asarray(views[0])[..., 0].astype(int)
        codes, found = np.unique(masks @ 2 ** np.arange(patches), return_counts=True)
        assert len(codes) == math.comb(patches, patches // 2)
        law.assert_counts(found)
    places = np.asarray(quick(lambda key: random_places(key, N, 4))(jax.random.key(2)))
    assert (np.sort(places, axis=1) == np.arange(4)).all()
    codes, found = np.unique(places @ 4 ** np.arange(4), return_counts=True)
    assert len(codes) == 24
    law.assert_counts(found)


def test_compressed_views_are_the_two_halves_of_all_kinds_of_groups():
    x = np.arange(3 * 4 * 5.0).reshape(3, 4, 5)
    key, filters = jax.random.key(0), np.linspace(-1, 1, 10).reshape(2, 5)
    fresh = FreshPatches(
        jnp.asarray(x), jnp.ones((3, 4), bool), 1.0, jax.random.key_data(key),
        Frame(jnp.asarray(50.0), 12, 5),
    )  # fmt: skip
    seen = np.einsum("fd,npd->fnp", filters, x)
    for group in (jnp.asarray(x), Columns.of(jnp.asarray(x)), fresh):
        views = Halves()(key, (group,))
        for view, right in zip(views, (seen[..., :2], seen[..., 2:]), strict=True):
            found = ls.nets.net.inner(jnp.asarray(np.pad(filters, ((0, 0), (0, 7)))), view)
            np.testing.assert_allclose(found[0], right, rtol=1e-5)
            # As many zero patches as are masked.
            assert found[1].shape == (2, 3, 2) and (np.asarray(found[1]) == 0).all()


@pytest.mark.parametrize(
    ("patches", "feature_patches", "features", "together", "frequencies"),
    [(4, 2, 2, False, None), (6, 2, 3, True, None), (10, 4, 2, True, None), (8, 8, 2, False, None),
     (12, 5, 3, False, (1, 2, 5)), (10, 3, 2, False, (0.1, 0.9))],
)  # fmt: skip
def test_counts_by_enumeration(float64, patches, feature_patches, features, together, frequencies):
    sizes = {"patches": patches, "feature_patches": feature_patches, "strengths": (1,) * features}
    model = ls.data.StrongWeak(**BASE | sizes, frequencies=frequencies, together=together)
    assert model.taken == feature_patches * (features if together else 1)
    right = counts(patches, feature_patches, features, together, frequencies)
    found = model.counts.across, model.counts.within, model.counts.noise
    for one, other in zip(found, right, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_features_fall_into_views_as_into_a_random_half(name, compressed):
    """How many patches of each feature the first view shows: against all masks."""
    model, (_, _, views) = MODELS[name], drawn(name, compressed)
    one = np.asarray(views[0][0].values if compressed else views[0])
    found = (one[..., : model.features] != 0).sum(1)
    p, p0 = model.patches, model.feature_patches
    masks = [np.array(m) for m in itertools.combinations(range(p), p // 2)]
    if model.together:
        right = [tuple((m // p0 == i).sum() for i in range(model.features)) for m in masks]
        found = [tuple(row) for row in found]
    else:
        right = [(m < p0).sum() for m in masks]
        found = list(found.sum(1))
    cases = sorted(set(right))
    assert set(found) <= set(cases)
    if len(cases) > 1:
        chances = [right.count(case) / len(right) for case in cases]
        law.assert_counts([found.count(case) for case in cases], chances)
        # ... whatever the sign of the first feature is.
        positive = parts(name, compressed)[2][:, 0] > 0
        seen = np.array([cases.index(each) for each in found])
        halves = seen[positive], seen[~positive]
        law.assert_independent([np.bincount(half, minlength=len(cases)) for half in halves])


def test_compressed_patches_know_which_are_noise():
    for name in MODELS:
        model, (_, batch, views) = MODELS[name], drawn(name, True)
        (group,) = batch.x
        feature, noise, _ = parts(name, True)
        np.testing.assert_array_equal(group.noisy, (feature == 0).all(-1))
        assert noise.shape[-1] == 2  # as many as there are filters
        assert group.scale == 0.7
        half = model.patches // 2
        for view, cut in zip(views, (slice(half), slice(half, None)), strict=True):
            np.testing.assert_array_equal(view[0].values, group.values[:, cut])
            np.testing.assert_array_equal(view[0].noisy, group.noisy[:, cut])


WALK, WIDE, SIZES = 2000, 40, (3, 2)  # draws, the dimension, examples and patches of a view
_SLOPES = np.random.default_rng(3).normal(size=(2, 2, *SIZES))  # view, filter, example, patch
_NOISY = np.array([[1, 1, 0, 1], [0, 1, 1, 1], [1, 0, 1, 0]], bool)  # example, patch of both views
_OF_NOISE = _SLOPES * np.stack([_NOISY[:, :2], _NOISY[:, 2:]])[:, None]


def beyond(dims):
    """The derivative of <slope, inner> by the filters, in both views, of many fresh draws."""
    model = ls.data.StrongWeak(**BASE | {"patches": 4, "batch": 3, "noise": 0.5, "dim": WIDE})

    @quick
    def draw(keys, dim):
        place = frame(model, dim)

        def one(key):
            (group,) = model.fresh(key, 3, place).x
            group = eqx.tree_at(lambda g: g.noisy, group, jnp.asarray(_NOISY))
            filters = jnp.zeros((2, place.rank))
            slope = jax.grad(lambda w, view, h: (h * view.inner(w)).sum())
            views = zip(group.halves(), jnp.asarray(_SLOPES), strict=True)
            return jnp.stack([slope(filters, view, h) for view, h in views])

        return jax.vmap(one)(keys)

    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(4), WALK)
        seen = frame(model).seen
        return [np.asarray(draw(keys, jnp.asarray(float(d))))[..., seen:] for d in dims]


def inner_products(rows):
    """Of all four rows (two views, two filters): what does not depend on the basis."""
    flat = rows.reshape(len(rows), 4, -1)
    return np.einsum("nik,njk->nij", flat, flat)


def ambient_rows(dim):
    """sum_p h_p xi_p beyond the 4 coordinates that weights have, by definition."""
    xi = 0.5 * np.random.default_rng(5).normal(size=(WALK, 2, *SIZES, dim - 4))
    return np.einsum("vfip,nvipd->nvfd", _OF_NOISE, xi)


def test_what_a_step_adds_beyond_the_frame_has_the_ambient_law():
    """Ten inner products; squared norms also against their chi-square law."""
    ambient = inner_products(ambient_rows(WIDE))
    right, wrong = (inner_products(rows) for rows in beyond([WIDE, WIDE + 10]))
    law.assert_law(right, ambient)
    law.assert_other_law(wrong, ambient, by=4)
    scales = [0.25 * (_OF_NOISE[divmod(i, 2)] ** 2).sum() for i in range(4)]
    chi = dict.fromkeys(range(4), stats.chi2(WIDE - 4))
    law.assert_law(right[:, range(4), range(4)] / scales, chi)
    law.assert_other_law(wrong[:, range(4), range(4)] / scales, chi, by=4)


def test_what_does_not_fit_together_is_refused():
    words = "feature_patches = {} is not allowed: features would take {} of patches = 6"
    table = {
        "dim = 2 is not allowed: it must be above 2": {"dim": 2},
        "patches = 5 is not allowed: it must be even": {"patches": 5},
        words.format(7, 7): {"feature_patches": 7},
        words.format(4, 8): {"feature_patches": 4, "together": True},
        "strengths has 1 values": {"strengths": (3,)},
        "strengths ": {"strengths": (3, 0)},
        "strengths = 3": {"strengths": 3},
        "frequencies has 3 values": {"frequencies": (1, 2, 3)},
        "frequencies = 2.0": {"frequencies": 2.0},
    }
    make = lambda **given: ls.data.StrongWeak(**BASE | given)  # noqa: E731
    refuses(make, table, r"StrongWeak\.")
    assert make(feature_patches=3, together=True).taken == 6
    for given in ([3, 2], np.array([3.0, 2.0]), (np.float32(3), 2)):
        assert make(strengths=given) == make()
