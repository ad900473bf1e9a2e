"""Strong and weak features: the law of examples and pairs, against its definition.

Wen and Li (2022), Definition 3.1, Remark 3.2, Assumption 3.3, equation 3.2. Statistical tests have
fixed seeds; each says how often it would fail for other seeds.
"""

import dataclasses
import functools
import itertools
import math
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import learnscope as ls
from learnscope.data import Columns, Frame
from learnscope.data.fresh import FreshPatches
from learnscope.data.views import HalfMask, Halves, random_places
from learnscope.lab import engine
from learnscope.lab.plan import Plan
from learnscope.lab.sweep import dim_of, zipped

RARE = 1e-5  # the false-alarm rate of a single test of chance
N = 6000
BASE = {"dim": 9, "patches": 6, "feature_patches": 2, "strengths": (3, 2), "noise": 0.7, "batch": N}
MODELS = {
    "two features": ls.data.StrongWeak(**BASE, test=50),
    "three, not equally frequent": ls.data.StrongWeak(
        **BASE | {"patches": 8, "feature_patches": 4, "strengths": (3, 2, 1.5)},
        frequencies=(1, 2, 5), test=50,
    ),
    "together": ls.data.StrongWeak(**BASE | {"patches": 8}, together=True, test=50),
    "no noise patches": ls.data.StrongWeak(**BASE | {"feature_patches": 6}, test=50),
}  # fmt: skip


def quick(function):
    """Compiled without optimisation: it runs once or twice."""
    return eqx.filter_jit(function, compiler_options={"xla_backend_optimization_level": 0})


def frame(model, dim=None, neurons=2, targets=0):
    """Compressed coordinates, as a run with so many neurons has them."""
    sets = model.sets
    return Frame(
        jnp.asarray(model.dim if dim is None else dim, float), model.span + sets * neurons,
        seen=model.span + (1 + targets) * neurons,
    )  # fmt: skip


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


# ---------------------------------------------------------------------------------------- the law


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
    if not model.together:
        which = has.argmax(1)
        right = 2 * which - 1 if model.features == 2 else which
        np.testing.assert_array_equal(np.asarray(drawn(name, compressed)[1].y), right)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_features_and_signs_are_as_frequent_as_they_should_be(name, compressed):
    model = MODELS[name]
    signs = parts(name, compressed)[2]
    # Signs and features together: independent, signs fair. One chi-square test, 1 in 10^5.
    if model.together:
        cases = list(itertools.product((-1, 1), repeat=model.features))
        found = [(signs == case).all(1).sum() for case in cases]
        right = np.full(len(cases), N / len(cases))
    else:
        shares = np.array(model.frequencies or (1,) * model.features) / sum(
            model.frequencies or (1,) * model.features
        )
        np.testing.assert_allclose(model.shares, shares, rtol=1e-6)
        found = [(signs[:, i] == s).sum() for i in range(model.features) for s in (-1, 1)]
        right = np.repeat(N * shares / 2, 2)
    assert stats.chisquare(found, right).pvalue > RARE


@pytest.mark.parametrize("compressed", [False, True])
def test_noise_is_gaussian_and_independent(compressed):
    name = "two features"
    _, noise, _ = parts(name, compressed)
    noisy = noise[(noise != 0).any(-1)]
    assert noisy.shape == (N * 4, 2 if compressed else 7)  # compressed: as weights have them
    # Every coordinate by a Kolmogorov-Smirnov test: at most 7 in 10^5.
    for column in noisy.T:
        assert stats.kstest(column / 0.7, "norm").pvalue > RARE
    # Squares have standard deviation sqrt(2), sixth powers sqrt(10395 - 225): 4.5 errors of
    # independent draws, 1 in 10^5 each.
    unit = noisy.ravel() / 0.7
    for power, mean, spread in ((1, 0, 1), (2, 1, 2**0.5), (4, 3, 96**0.5), (6, 15, 10170**0.5)):
        assert abs((unit**power).mean() - mean) < 4.5 * spread / unit.size**0.5, power
    # Coordinates of a patch, and the four patches of an example, do not correlate.
    wide = noise[(noise != 0).any(-1)].reshape(N, -1)
    moments = np.corrcoef(wide.T)[np.triu_indices(wide.shape[1], 1)]
    assert np.abs(moments).max() < 5.5 / N**0.5  # 378 correlations: 1 in 7 * 10^4 for all
    squares = np.corrcoef(wide.T**2)[np.triu_indices(wide.shape[1], 1)]
    assert np.abs(squares).max() < 6.5 / N**0.5


LAWS = {
    "uniform": stats.uniform(-(3**0.5), 2 * 3**0.5),
    "triangular": stats.triang(0.5, -(6**0.5), 2 * 6**0.5),
    "gaussian": stats.norm(),
}


@pytest.mark.parametrize("law", ["uniform", "triangular", "rademacher", "gaussian"])
def test_noise_of_other_laws(law):
    model = ls.data.StrongWeak(**BASE, noise_law=law)
    x = np.asarray(quick(lambda key: model.sample(key).batch(key).x)(jax.random.key(2)))
    noise = x[:, 2:, 2:].ravel() / 0.7
    assert (x[:, 2:, :2] == 0).all() and (x[:, :2, 2:] == 0).all()
    if law == "rademacher":
        np.testing.assert_allclose(np.abs(noise), 1, rtol=1e-6)
        assert abs(noise.mean()) < 4.5 / noise.size**0.5
    else:
        assert stats.kstest(noise[:20_000], LAWS[law].cdf).pvalue > RARE
        assert abs(LAWS[law].var() - 1) < 1e-12
    assert model.compression == ("gaussian_rows" if law == "gaussian" else "none")


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


# ------------------------------------------------------------------------------------------ views


@pytest.mark.parametrize("name", ["two features", "together"])
def test_views_are_complementary_halves(name):
    model, (_, batch, views) = MODELS[name], drawn(name, False)
    one, other, x = (np.asarray(a) for a in (*views, batch.x))
    np.testing.assert_array_equal(one + other, x)
    shown = [(view != 0).any(-1) for view in (one, other)]
    assert not (shown[0] & shown[1]).any() and (shown[0] | shown[1]).all()
    for each in shown:
        assert (each.sum(1) == model.patches // 2).all()


@pytest.mark.parametrize("patches", [2, 4, 6])
def test_every_half_is_equally_likely(patches):
    views = quick(HalfMask())(jax.random.key(1), jnp.ones((N, patches, 1)))
    masks = np.asarray(views[0])[..., 0].astype(int)
    codes, found = np.unique(masks @ 2 ** np.arange(patches), return_counts=True)
    assert len(codes) == math.comb(patches, patches // 2)
    assert stats.chisquare(found).pvalue > RARE


def test_orders_are_uniform_and_whole():
    places = np.asarray(quick(lambda key: random_places(key, N, 4))(jax.random.key(2)))
    assert (np.sort(places, axis=1) == np.arange(4)).all()
    codes, found = np.unique(places @ 4 ** np.arange(4), return_counts=True)
    assert len(codes) == 24
    assert stats.chisquare(found).pvalue > RARE


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


# ----------------------------------------------------------------------------------------- counts


def by_enumeration(patches, feature_patches, taken):
    """Means over all masks of: those in one view times in the other, squares, noise patches."""
    half = [np.array(m) for m in itertools.combinations(range(patches), patches // 2)]
    k = np.array([(mask < feature_patches).sum() for mask in half])
    noise = np.array([(mask >= taken).sum() for mask in half])
    return (k * (feature_patches - k)).mean(), (k**2).mean(), noise.mean()


@pytest.mark.parametrize(
    ("patches", "feature_patches", "features", "together", "frequencies"),
    [(4, 2, 2, False, None), (6, 2, 3, True, None), (10, 4, 2, True, None), (8, 8, 2, False, None),
     (12, 5, 3, False, (1, 2, 5)), (10, 3, 2, False, (0.1, 0.9))],
)  # fmt: skip
def test_counts_by_enumeration(float64, patches, feature_patches, features, together, frequencies):
    model = ls.data.StrongWeak(
        dim=9, patches=patches, feature_patches=feature_patches, strengths=(1,) * features, noise=1,
        batch=2, frequencies=frequencies, together=together,
    )  # fmt: skip
    across, within, noise = by_enumeration(patches, feature_patches, model.taken)
    assert model.taken == feature_patches * (features if together else 1)
    shares = np.ones(features) if together else np.ones(features) / features
    shares = shares if frequencies is None else np.array(frequencies) / sum(frequencies)
    np.testing.assert_allclose(model.counts.across, shares * across, rtol=1e-13)
    np.testing.assert_allclose(model.counts.within, shares * within, rtol=1e-13)
    assert model.counts.noise == pytest.approx(noise, rel=1e-13)


# ----------------------------------------------------------------------------- compressed, in law


def feature_counts(name, compressed):
    """How many patches of each feature the first view shows."""
    model, (_, _, views) = MODELS[name], drawn(name, compressed)
    one = np.asarray(views[0][0].values if compressed else views[0])
    return (one[..., : model.features] != 0).sum(1)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_features_fall_into_views_as_into_a_random_half(name, compressed):
    """All counts together, against all masks; given which feature it is."""
    model, signs = MODELS[name], parts(name, compressed)[2]
    found = feature_counts(name, compressed)
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
        expected = np.array([right.count(case) for case in cases]) * N / len(right)
        got = np.array([found.count(case) for case in cases])
        assert stats.chisquare(got, expected).pvalue > RARE
        # ... whatever the sign of the first feature is.
        positive = signs[:, 0] > 0
        table = [[sum(f == case for f, s in zip(found, positive, strict=True) if s == which)
                  for case in cases] for which in (True, False)]  # fmt: skip
        assert stats.chi2_contingency(table).pvalue > RARE


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
            slopes = [
                jax.grad(lambda w, view, h: (h * view.inner(w)).sum())(
                    filters, view, jnp.asarray(h)
                )
                for view, h in zip(group.halves(), _SLOPES, strict=True)
            ]
            return jnp.stack(slopes)

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
    rng = np.random.default_rng(5)
    xi = 0.5 * rng.normal(size=(WALK, 2, *SIZES, dim - 4))
    return np.einsum("vfip,nvipd->nvfd", _OF_NOISE, xi)


def test_what_a_step_adds_beyond_the_frame_has_the_ambient_law():
    # Ten inner products by Kolmogorov-Smirnov, 1 in 10^4 for all; squared norms also against
    # their chi-square law.
    right = inner_products(ambient_rows(WIDE))
    for rows, same in zip(beyond([WIDE, WIDE + 10]), (True, False), strict=True):
        found = inner_products(rows)
        values = [stats.ks_2samp(found[:, i, j], right[:, i, j]).pvalue
                  for i in range(4) for j in range(i + 1)]  # fmt: skip
        norms = [
            stats.kstest(
                found[:, i, i] / (0.25 * (_OF_NOISE[divmod(i, 2)] ** 2).sum()),
                stats.chi2(WIDE - 4).cdf,
            ).pvalue
            for i in range(4)
        ]
        if same:
            assert min(values) > RARE and min(norms) > RARE, (values, norms)
        else:  # the power of it
            assert max(norms) < RARE and max(values[k] for k in (0, 2, 5, 9)) < RARE


def test_a_dimension_is_only_a_number():
    model = MODELS["two features"]
    shapes = [
        jax.tree.map(
            np.shape,
            eqx.filter_eval_shape(
                lambda place: model.sample(jax.random.key(0), place).pair(jax.random.key(1)),
                frame(model, dim),
            ),
        )
        for dim in (20, 10**6)
    ]
    assert shapes[0] == shapes[1]


# --------------------------------------------------------------------------------------- bad input

REFUSED = {
    "dim": [(1, "dim = 1"), (2, "dim = 2 is not allowed: it must be above 2"), (9.5, "dim = 9.5"),
            ("9", "dim = '9'"), (1e13, "dim = 1"), (None, "dim = None"), (True, "dim = True")],
    "patches": [(5, "patches = 5 is not allowed: it must be even"), (0, "patches = 0"),
                (6.5, "patches = 6.5"), ("six", "patches = 'six'")],
    "feature_patches": [(1, "feature_patches = 1"), (7, "feature_patches = 7 is not allowed: "
                        "features would take 7 of patches = 6"), (2.5, "feature_patches = 2.5")],
    "strengths": [((3, 0), "strengths"), ((3, -1), "strengths"), ((3,), "strengths has 1 values"),
                  (3, "strengths = 3"), ((), "strengths"), ((3, math.nan), "strengths"),
                  ((3, math.inf), "strengths"), ((3, "2"), "strengths"), (None, "strengths"),
                  ((3, (2, 1)), "strengths")],
    "noise": [(-0.1, "noise = -0.1"), (math.nan, "noise = nan"), (math.inf, "noise = inf"),
              ("loud", "noise = 'loud'")],
    "batch": [(1, "batch = 1"), (2.5, "batch = 2.5"), (None, "batch = None")],
    "frequencies": [((1, 2, 3), "frequencies has 3 values"), ((1, 0), "frequencies"),
                    ((1, -1), "frequencies"), (2.0, "frequencies = 2.0"), ((), "frequencies"),
                    ((1, math.nan), "frequencies")],
    "together": [("yes", "together = 'yes'"), (1, "together = 1"), (None, "together = None")],
    "noise_law": [("cauchy", "noise_law = 'cauchy'"), (None, "noise_law = None")],
    "test": [(0, "test = 0"), (1.5, "test = 1.5"), ("few", "test = 'few'")],
}  # fmt: skip


def refused(words, make):
    """One sentence that begins with the field."""
    with pytest.raises(ls.BadInput, match=rf"^{re.escape(words)}") as caught:
        make()
    message = str(caught.value)
    assert message.endswith(".")
    assert ". " not in message and "\n" not in message


def test_every_field_is_checked():
    names = {field.name for field in dataclasses.fields(ls.data.StrongWeak)}
    assert set(REFUSED) == names


@pytest.mark.parametrize("field", REFUSED)
def test_bad_input_is_refused(field):
    for value, words in REFUSED[field]:
        refused(f"StrongWeak.{words}", lambda v=value: ls.data.StrongWeak(**BASE | {field: v}))


def test_features_together_must_fit():
    refused(
        "StrongWeak.feature_patches = 4 is not allowed: features would take 8 of patches = 6",
        lambda: ls.data.StrongWeak(**BASE | {"feature_patches": 4}, together=True),
    )
    assert ls.data.StrongWeak(**BASE | {"feature_patches": 3}, together=True).taken == 6


def test_lists_of_any_kind_are_lists():
    model = ls.data.StrongWeak(**BASE)
    for given in ([3, 2], np.array([3.0, 2.0]), (np.float32(3), 2)):
        assert ls.data.StrongWeak(**BASE | {"strengths": given}) == model


# ---------------------------------------------------------------------------------- lists as axes

EXPERIMENT = ls.Experiment(
    data=ls.data.StrongWeak(**BASE | {"batch": 4}, frequencies=(1, 2), test=3),
    net=ls.nets.PatchEncoder(width=2, overlaps=(2, 1, 1, 1.3)),
    rule=ls.rules.NonContrastive(rate=0.1, head_rate=0.1),
    steps=1,
    probes=[ls.probes.FeatureStrengths()],
)


def test_an_axis_over_an_entry_is_named_after_its_list():
    assert dim_of("data.strengths.1") == "strengths_1"
    assert dim_of("net.overlaps.10") == "overlaps_10"
    assert dim_of("data.noise") == "noise"
    assert zipped({"data.strengths.0": [1.0, 2], "data.strengths.1": [3, 4]}).dim == "strengths_0"


def test_entries_are_numbers_of_one_program():
    over = {
        "data.strengths.1": [1, 1.5, 2],
        "data.frequencies.0": [0.2, 1],
        "net.overlaps.2": [1, 2],
    }
    for coordinates in ("ambient", "compressed"):
        plan = Plan.of(EXPERIMENT, over, 1, coordinates, "float32")
        (group,) = plan.groups
        assert group.shape == {"strengths_1": 3, "frequencies_0": 2, "overlaps_2": 2}


def test_an_entry_is_put_into_its_place():
    data = EXPERIMENT.data
    source = {"data": data, "net": EXPERIMENT.net}
    changed = engine._with(source, {"data.strengths.1": 5.0, "net.overlaps.2": 7.0})
    assert changed["data"].strengths == (3.0, 5.0)
    assert changed["net"].overlaps == (2.0, 1.0, 7.0, 1.3)
    assert data.replace("strengths.0", 4).strengths == (4, 2)
    assert EXPERIMENT.replace("data.frequencies.1", 9).data.frequencies == (1, 9)
    assert EXPERIMENT.replace("net.overlaps.3", 9).net.overlaps == (2, 1, 1, 9)


@pytest.mark.parametrize(
    ("path", "values", "words"),
    [
        ("data.strengths.2", [1.0], "unknown entry of .*strengths '2'"),
        ("data.strengths.-1", [1.0], "unknown entry of .*strengths '-1'"),
        ("data.strengths.one", [1.0], "unknown entry of .*strengths 'one'"),
        ("data.strengths.01", [1.0], "unknown entry of .*strengths '01'"),
        ("data.strengths.1", [1.0, 0.0], r"StrongWeak\.strengths"),
        ("data.strengths.1", [1.0, math.nan], r"StrongWeak\.strengths"),
        ("data.frequencies.0", [-1.0], r"StrongWeak\.frequencies"),
        ("data.noise.0", [1.0], "data.noise.0"),
    ],
)
def test_entries_that_are_not_there_or_not_allowed(path, values, words):
    with pytest.raises(ls.BadInput, match=words):
        ls.run(EXPERIMENT, {path: values}, progress=False)


def test_entries_of_a_list_that_is_not_given():
    plain = EXPERIMENT.replace("data.frequencies", None)
    with pytest.raises(ls.BadInput, match="frequencies"):
        ls.run(plain, {"data.frequencies.0": [1.0]}, progress=False)


@pytest.mark.parametrize("entry", ["2", "-1", "one", "", "0.5"])
def test_replacing_an_entry_that_is_not_there(entry):
    with pytest.raises(ls.BadInput):
        EXPERIMENT.data.replace(f"strengths.{entry or 'x'}", 1.0)


@pytest.mark.parametrize("entry", ["01", "²"])
def test_replacing_an_entry_by_another_spelling(entry):
    with pytest.raises(ls.BadInput):
        EXPERIMENT.data.replace(f"strengths.{entry}", 1.0)


def test_the_experiment_can_be_stored():
    for setting in (EXPERIMENT, EXPERIMENT.replace("data.frequencies", None)):
        assert ls.Experiment.from_toml(setting.to_toml()) == setting
        assert ls.Experiment.from_json(setting.to_json()) == setting
