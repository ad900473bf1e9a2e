"""Class noise: its ratio, its moments, its coordinates, and what it refuses."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import learnscope as ls
from learnscope.data import (
    Basis,
    ClassNoise,
    MatrixFactors,
    MatrixNoise,
    Reflections,
    SpikeFactors,
    noise_correlation_ratio,
    overlaps,
    turn,
)
from learnscope.data.class_noise import NOISES, draw_labels
from learnscope.lab import engine

USUAL = {"dim": 20, "classes": 3, "train_per_class": 2, "test": 5, "signal": 1.0}


def quick(function):
    """Compiled without optimisation: nearly all of a draw is random bits."""
    return eqx.filter_jit(function, compiler_options={"xla_backend_optimization_level": 0})


def model(**given):
    return ClassNoise(**USUAL | given)


# ------------------------------------------------------------------------------------- the matrices


@pytest.mark.parametrize("bulk", [0.5, 1e-3, 7.0])
@pytest.mark.parametrize(("dim", "classes"), [(5, 2), (21, 3), (60, 5), (150, 2)])
def test_the_matrices_have_the_ratio_asked_for(dim, classes, bulk):
    for correlation in (1.0, 1.0 + 1e-6, 1.2, 5.0, 37.0, 400.0, 1400.0):
        data = model(dim=dim, classes=classes, correlation=correlation, bulk=bulk)
        squares = overlaps(data.matrices(seed=1))
        np.testing.assert_allclose(data.squares(), squares, rtol=1e-12)
        ratio = noise_correlation_ratio(squares)
        off = ~np.eye(classes, dtype=bool)
        np.testing.assert_allclose(ratio[off], correlation, rtol=1e-12)
        np.testing.assert_allclose(np.diag(ratio), 1.0, rtol=1e-12)
        assert float(data.spike) >= bulk


def test_the_ratio_counts_class_sizes():
    data = model(correlation=5.0)
    ratio = noise_correlation_ratio(data.squares(), [10, 20, 40])
    np.testing.assert_allclose(ratio[0], [1.0, 2.5, 1.25], rtol=1e-12)
    np.testing.assert_allclose(ratio[2], [20.0, 10.0, 1.0], rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_matrices_are_as_the_docstring_says(seed):
    data = model(correlation=30.0, bulk=0.3)
    for matrix in data.matrices(seed):
        values = np.linalg.eigvalsh(matrix)  # symmetric: K features, one spike, the rest bulk
        np.testing.assert_allclose(values, [0.0] * 3 + [0.3] * 16 + [data.spike], atol=1e-13)
    # No direction of one class's spike is another's, and all are off the same features.
    np.testing.assert_allclose(np.linalg.matrix_rank(data.matrices(seed).sum(0)), 17)


def test_factors_are_the_matrices_they_stand_for(float64):
    """In R^d and in coordinates of a span: what they colour, see and weigh."""
    data, draw = model(correlation=7.0, bulk=0.4), np.random.default_rng(3)
    frame = np.linalg.qr(draw.normal(size=(20, 6)))[0].T
    flat, outer = np.eye(20) - frame[:3].T @ frame[:3], np.einsum("ki,kj->kij", *[frame[3:]] * 2)
    matrices = data.bulk * (flat - outer) + float(data.spike) * outer
    zeta, labels = draw.normal(size=(5, 20)), np.array([0, 1, 2, 1, 0])
    noise = np.einsum("nij,nj->ni", matrices[labels], zeta)
    rows = [draw.normal(size=(4, 20)), noise, frame]
    onto = Basis(np.linalg.qr(np.concatenate(rows).T)[0].T)
    weights = np.stack([rows[0][:2]] * 3) + frame[3:, None]
    total = rows[0][[0, 1, 2, 3, 0]]
    strength = [np.linalg.norm(matrices[y].T @ w) for w, y in zip(total, labels, strict=True)]
    for kind in (
        SpikeFactors(frame[:3], frame[3:], data.bulk, data.spike),
        MatrixFactors(matrices),
    ):
        kind = jax.tree.map(jnp.asarray, kind)
        np.testing.assert_allclose(kind.colour(zeta, labels), noise, atol=1e-13)
        seen = np.linalg.svd(weights @ matrices, compute_uv=False)
        for at, turned in ((lambda x: x, kind), (onto, kind.project(onto))):
            found = np.linalg.svd(turned.seen(at(weights)), compute_uv=False)
            np.testing.assert_allclose(found, seen, atol=1e-12)
            np.testing.assert_allclose(turned.strength(at(total), labels), strength, rtol=1e-12)


def test_overlaps_of_any_matrices_are_the_definition():
    some = np.random.default_rng(0).normal(size=(3, 6, 4))
    expected = [[np.linalg.norm(a.T @ b) ** 2 for b in some] for a in some]
    np.testing.assert_allclose(overlaps(some), expected, rtol=1e-12)


# -------------------------------------------------------------------------------- what zeta follows

KURTOSIS = {"gaussian": 3.0, "uniform": 1.8, "rademacher": 1.0, "triangular": 2.4}
LAWS = {
    "gaussian": stats.norm(),
    "uniform": stats.uniform(-(3**0.5), 2 * 3**0.5),
    "triangular": stats.triang(0.5, -(6**0.5), 2 * 6**0.5),
}


@functools.cache
def unit_noise(name):
    with jax.enable_x64(True):
        return np.asarray(NOISES[name](jax.random.key(11), (500, 400))).ravel()


def test_every_noise_is_known_here():
    assert set(KURTOSIS) == set(NOISES)


@pytest.mark.parametrize("name", NOISES)
def test_noise_has_its_moments(name):
    # Six standard errors each: 16 comparisons, one false alarm in 3 * 10^7 choices of seeds.
    drawn = unit_noise(name)
    for power, expected in ((1, 0.0), (2, 1.0), (3, 0.0), (4, KURTOSIS[name])):
        values = drawn**power
        assert abs(values.mean() - expected) <= 6 * values.std() / len(values) ** 0.5 + 1e-12, power


@pytest.mark.parametrize("name", LAWS)
def test_noise_has_its_law(name):
    # Three Kolmogorov-Smirnov tests: one false alarm in 3000 choices of seeds.
    assert stats.kstest(unit_noise(name), LAWS[name].cdf).pvalue > 1e-4
    # Symmetric, by the same test of what is above and below 0 (independent halves).
    drawn = unit_noise(name)
    assert stats.ks_2samp(drawn[drawn > 0], -drawn[drawn < 0]).pvalue > 1e-4


def test_rademacher_noise_is_a_sign():
    values, counts = np.unique(unit_noise("rademacher"), return_counts=True)
    np.testing.assert_array_equal(values, [-1.0, 1.0])
    assert stats.binomtest(int(counts[0]), int(counts.sum())).pvalue > 1e-6


# ------------------------------------------------------------------------------- what a problem has

PER_CLASS = {"train_per_class": (600, 900, 1200), "signal": (0.5, 1.0, 3.0)}
DRAWN = {
    name: model(dim=12, correlation=6.0, bulk=0.7, noise=name, test=3000, **PER_CLASS,
                prior=(0.6, 0.3, 0.1))
    for name in NOISES
}  # fmt: skip
DRAWN["matrices"] = MatrixNoise(
    factors=np.einsum(
        "ij,kjl->kil",
        np.diag([0.0] * 3 + [1.0] * 9),
        np.random.default_rng(5).normal(size=(3, 12, 12)),
    ),
    test=3000,
    **PER_CLASS,
    prior=(0.6, 0.3, 0.1),
)


@functools.cache
def problem_of(name):
    with jax.enable_x64(True):
        drawn = quick(DRAWN[name].sample)(jax.random.key(3))
        return jax.tree.map(np.asarray, drawn)


def matrices_of(name):
    """A_k along the problem's own directions."""
    directions, data = problem_of(name).directions, DRAWN[name]
    if name == "matrices":
        return data.factors
    flat = np.eye(12) - directions["features"].T @ directions["features"]
    outer = np.einsum("ki,kj->kij", directions["spikes"], directions["spikes"])
    return data.bulk * (flat - outer) + float(data.spike) * outer


def scores(noise, covariance, features):
    """How many standard errors each second moment is off, off the features."""
    basis = np.linalg.svd(features)[2][len(features) :]
    rows, right = noise @ basis.T, basis @ covariance @ basis.T
    i, j = np.triu_indices(len(basis))
    products = rows[:, i] * rows[:, j]
    error = products.std(0) / len(rows) ** 0.5
    return np.abs(products.mean(0) - right[i, j]) / error


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("name", DRAWN)
def test_noise_has_the_covariance_of_its_class(name, part):
    # 45 moments, 3 classes, 10 tests: at 6 standard errors and a thousand examples or so (300 of
    # the rarest) one false alarm in more than 10^4 choices of seeds, heavy tails of products
    # included.
    problem, matrices = problem_of(name), matrices_of(name)
    samples, features = getattr(problem, part), problem.directions["features"]
    for k, matrix in enumerate(matrices):
        noise = samples.x[samples.y == k, 1]
        assert scores(noise, matrix @ matrix.T, features).max() < 6
        wrong = matrices[k - 1]  # the power of it: another class's matrix
        assert scores(noise, wrong @ wrong.T, features).max() > 6


@pytest.mark.parametrize("name", DRAWN)
def test_features_are_orthogonal_and_noise_is_off_them(name):
    problem = problem_of(name)
    features = problem.directions["features"]
    np.testing.assert_allclose(features @ features.T, np.eye(3), atol=1e-12)
    for samples in (problem.train, problem.test):
        np.testing.assert_allclose(samples.x[:, 1] @ features.T, 0.0, atol=1e-12)
    if "spikes" in problem.directions:
        both = np.concatenate([features, problem.directions["spikes"]])
        np.testing.assert_allclose(both @ both.T, np.eye(6), atol=1e-12)


@pytest.mark.parametrize("name", DRAWN)
def test_sizes_signals_and_labels_are_those_asked_for(name):
    problem, data = problem_of(name), DRAWN[name]
    assert data.sizes == (600, 900, 1200)
    np.testing.assert_array_equal(problem.train.y, np.repeat([0, 1, 2], [600, 900, 1200]))
    for samples in (problem.train, problem.test):
        strength = np.array([0.5, 1.0, 3.0])[samples.y][:, None]
        expected = strength * problem.directions["features"][samples.y]
        np.testing.assert_allclose(samples.x[:, 0], expected, atol=1e-12)
    # Five chi-squared tests: one false alarm in 2000 choices of seeds.
    seen = np.bincount(problem.test.y, minlength=3)
    assert stats.chisquare(seen, 3000 * np.array([0.6, 0.3, 0.1])).pvalue > 1e-4
    assert stats.chisquare(seen).pvalue < 1e-4  # ... and labels of equal chances are told apart


def test_labels_have_equal_chances_if_nothing_is_said():
    # One false alarm in 10^4 choices of seeds.
    drawn = draw_labels(jax.random.key(0), 5000, None, 3)
    assert stats.chisquare(np.bincount(drawn, minlength=3)).pvalue > 1e-4


def test_a_class_of_no_chance_is_never_drawn():
    for zero in range(3):
        prior = [0.0 if k == zero else 0.5 for k in range(3)]
        drawn = draw_labels(jax.random.key(0), 2000, prior, 3)
        np.testing.assert_array_equal(np.unique(drawn), [k for k in range(3) if k != zero])


@pytest.mark.parametrize("name", ["gaussian", "matrices"])
def test_fresh_examples_are_like_the_others(name):
    # At 6 standard errors as above: one false alarm in more than 10^4 choices of seeds.
    data, matrices = DRAWN[name], matrices_of(name)
    with jax.enable_x64(True):
        problem = jax.tree.map(jax.numpy.asarray, problem_of(name))
        keys = jax.random.split(jax.random.key(8), 4000)
        drawn = quick(jax.vmap(lambda key: data.example(key, problem)))(keys)
        drawn = jax.tree.map(np.asarray, drawn)
    for k, matrix in enumerate(matrices):
        noise = drawn.x[drawn.y == k, 1]
        assert scores(noise, matrix @ matrix.T, problem_of(name).directions["features"]).max() < 6
    assert stats.chisquare(np.bincount(drawn.y), 4000 * np.array([0.6, 0.3, 0.1])).pvalue > 1e-4


def test_hidden_noise_is_the_noise_patch_in_full_width():
    """`Samples.vectors` are of full width in any coordinates."""
    data = model()
    for rank in (None, data.span + 4):
        frame = None if rank is None else ls.data.Frame(20.0, rank)
        draw = quick(lambda key, frame=frame: data.sample(key, frame))
        problem = draw(jax.random.key(0))
        x = problem.train.x
        patch = x[1] if isinstance(x, tuple) else x[:, 1]
        hidden = problem.train.vectors["noise"]
        assert hidden.shape == (6, problem.frame.rank)
        np.testing.assert_array_equal(hidden[:, : patch.shape[1]], patch)


# ------------------------------------------------------------------------ coordinates, path by path

NET = ls.nets.PatchCNN(width=2, activation="relu", scale=0.1, classes=3)
RANK = 6 + 6 + 6  # directions, training vectors, filters


def experiment(data, probes, steps=15, every=5):
    rule = ls.rules.GradientDescent(rate=1.0)
    return ls.Experiment(data, NET, rule, steps, probes, ls.Record(every=every))


def turn_of(data, key):
    problem = data.sample(key)
    directions, rest = problem.span()
    return turn(directions, [*rest, NET.init(key, problem)["filters"]])


PATH_PROBES = [
    ls.probes.Loss(), ls.probes.TestLoss(), ls.probes.NoiseSpectrum(), ls.probes.Contributions(),
]  # fmt: skip


@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
@pytest.mark.parametrize(("dim", "turned"), [(RANK - 4, Reflections), (5 * RANK, Basis)])
def test_rotated_runs_are_the_ambient_ones(noise, dim, turned):
    data = model(dim=dim, noise=noise, correlation=9.0, signal=(0.5, 1, 2), test=30)
    assert type(eqx.filter_eval_shape(turn_of, data, jax.random.key(0))) is turned
    setting = experiment(data, PATH_PROBES)
    ambient, rotated = (
        ls.run(setting, None, 2, how, "float64", progress=False) for how in ("ambient", "rotate")
    )
    for name in ambient:
        np.testing.assert_allclose(rotated[name], ambient[name], rtol=0, atol=1e-10, err_msg=name)
    assert (ambient.loss.isel(step=-1) < 0.8 * ambient.loss.isel(step=0)).all()


def test_features_of_matrices_do_not_hang_on_rounding():
    """They span a null space, in which every basis is as good: which one it is must not depend on
    the program that they are drawn in, or the same seed gives other runs in other coordinates."""
    mixed = np.linalg.qr(np.random.default_rng(2).normal(size=(12, 12)))[0]
    factors = np.einsum("ij,kjl->kil", mixed, DRAWN["matrices"].factors)
    data = MatrixNoise(factors, train_per_class=1, test=1, signal=1.0)
    draw = lambda key: data.sample(key).directions["features"]  # noqa: E731
    found = []
    for precision in ("float64", "float32"):
        with jax.enable_x64(precision == "float64"):
            keys = jax.random.split(jax.random.key(0), 3)
            found += [jax.jit(draw)(keys[0]), jax.jit(jax.vmap(draw))(keys)[0]]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-4)


# ------------------------------------------------------------------------------ coordinates, in law

SEEDS, ALARMS = 600, 1e-3
# Of 18 coordinates (12 of them for directions and training vectors) 10 or 15 exist; or all do.
DIMS = {10: 13, 15: 20, 60: 90}
MARKS = {
    "loss": (), "test_loss": (), "gradient_balance": (), "noise_spectrum": ("class", "rank"),
    "long_tail_accuracy": ("class",), "active_share_least": (), "implicit_own": ("class",),
}  # fmt: skip
LAW_PROBES = [
    ls.probes.Loss(), ls.probes.TestLoss(), ls.probes.GradientBalance(),
    ls.probes.NoiseSpectrum(), ls.probes.LongTailAccuracy(), ls.probes.ActiveNeurons(),
    ls.probes.Contributions(),
]  # fmt: skip
LAW = {"correlation": 4.0, "test": 40}


def numbers(result):
    """A number a run for every mark and step: the mean over classes, the largest singular value."""
    found = {name: result[name].mean([d for d in dims if d == "class"])
             for name, dims in MARKS.items()}  # fmt: skip
    found["noise_spectrum"] = result.noise_spectrum.max("class").isel(rank=0)
    found["least_singular_value"] = result.noise_spectrum.min("class").isel(rank=-1)
    return {
        (name, int(step)): np.nan_to_num(values.sel(step=step).values, nan=-1.0)
        for name, values in found.items()
        for step in values.step.values
    }


@functools.cache
def ambient(dim, kind="spikes", first=SEEDS):
    data = model(dim=dim, **LAW)
    if kind == "matrices":
        shared = {"train_per_class": 2, "test": 40, "signal": 1.0}
        data = MatrixNoise(factors=data.matrices(seed=4), **shared)
    return numbers(recorded(data, "ambient", first))


def recorded(data, how, first=0, over=None):
    setting = experiment(data, LAW_PROBES, steps=10, every=10)
    result = ls.run(setting, over, range(first, first + SEEDS), how, progress=False)
    assert result.attrs["coordinates_used"] == how
    return result


@functools.cache
def compressed_laws():
    """Every dimension, by one program."""
    over = {"data.dim": [dim for pair in DIMS.items() for dim in pair]}
    return recorded(model(**LAW), "compressed", over=over)


def compressed(dim):
    return numbers(compressed_laws().sel(dim=dim))


def p_values(one, other):
    return {mark: stats.ks_2samp(one[mark], other[mark], method="asymp").pvalue for mark in one}


@pytest.mark.parametrize("dim", DIMS)
def test_compressed_runs_have_the_ambient_law(dim):
    # 16 two-sample Kolmogorov-Smirnov tests, one false alarm in 1000 choices of seeds for all of
    # them together (Bonferroni; for discrete marks even fewer), at each of three dimensions.
    found = p_values(compressed(dim), ambient(dim))
    assert len(found) == 16
    assert min(found.values()) > ALARMS / len(found), found
    # Their power: another dimension is told apart by several.
    found = p_values(compressed(DIMS[dim]), ambient(dim))
    assert sum(p < ALARMS / len(found) for p in found.values()) >= 4, found


def test_matrices_of_spikes_have_the_law_of_spikes():
    # As above: one false alarm in 1000 choices of seeds; other matrices are told apart.
    matrices = ambient(15, "matrices")
    found = p_values(compressed(15), matrices)
    assert min(found.values()) > ALARMS / len(found), found
    found = p_values(compressed(20), matrices)
    assert sum(p < ALARMS / len(found) for p in found.values()) >= 4, found


# ---------------------------------------------------------------------------------------- bad input

NAN = float("nan")
BAD = {
    "too few sizes": ({"train_per_class": [2, 2]}, "train_per_class has 2 values: .* class, 3"),
    "a size of 0": ({"train_per_class": [2, 0, 2]}, r"train_per_class = \(2, 0, 2\)"),
    "a broken size": ({"train_per_class": [2, 1.5, 2]}, "train_per_class = .*whole number"),
    "too many signals": ({"signal": [1.0] * 4}, "signal has 4 values: .* class, 3"),
    "no signal": ({"signal": []}, r"signal = \(\) is not allowed"),
    "a negative signal": ({"signal": [1.0, -1.0, 1.0]}, "signal = .*at least 0"),
    "a signal that is no number": ({"signal": [1.0, NAN, 1.0]}, "signal = .*finite number"),
    "a signal that is no number at all": ({"signal": NAN}, "signal = nan"),
    "a word for a signal": ({"signal": ["a", "b", "c"]}, "signal = .*finite number"),
    "a short prior": ({"prior": [0.5, 0.5]}, "prior has 2 values"),
    "one number for a prior": ({"prior": 0.5}, "prior = 0.5 .*one value a class"),
    "a prior of too much": ({"prior": [0.5, 0.5, 0.5]}, "prior = .*add up to 1"),
    "a negative prior": ({"prior": [1.5, -0.5, 0.0]}, "prior = .*at least 0"),
    "a prior that is no number": ({"prior": [0.5, NAN, 0.5]}, "prior = .*finite number"),
    "an unknown noise": ({"noise": "cauchy"}, "noise = 'cauchy' .*one of gaussian, uniform"),
    "a large batch": ({"batch": 7}, "batch = 7 .*at most 6"),
}
BAD_SPIKES = {
    "one class": ({"classes": 1}, "classes = 1"),
    "a tight dimension": ({"dim": 6}, "dim = 6 .*above 6"),
    "a small ratio": ({"correlation": 0.99}, "correlation = 0.99 .*at least 1"),
    "no ratio": ({"correlation": NAN}, "correlation = nan"),
    "no bulk": ({"bulk": 0.0}, "bulk = 0.0 .*above 0"),
}
SOME = np.einsum("ij,kjl->kil", np.diag([0.0] * 3 + [1.0] * 5), np.ones((3, 8, 8)))
BAD_MATRICES = {
    "not square": (SOME[:, :, :4], r"factors has the shape \(3, 8, 4\): .*square"),
    "one matrix": (SOME[:1], "factors has the shape .*two or more"),
    "a flat list": (SOME[0], r"factors has the shape \(8, 8\)"),
    "not finite": (np.where(SOME == 1, NAN, SOME), "factors has entries that are not finite"),
    "infinite": (np.where(SOME == 1, np.inf, SOME), "factors has entries that are not finite"),
    "no room": (np.stack([np.eye(8)] * 3), "factors must leave 3 dimensions free"),
    "room for two": (
        np.stack([np.diag([0.0] * 2 + [1.0] * 6)] * 3), "factors must leave 3 dimensions free"
    ),
    "words": ("matrices", "factors must be square matrices of numbers"),
    "of several sizes": ([np.eye(3), np.eye(4)], "factors must be square matrices of numbers"),
    "nothing": (None, "factors"),
}  # fmt: skip


def refused(owner, words, make):
    """One sentence that begins with the field."""
    with pytest.raises(ls.BadInput, match=rf"^{owner}\.{words}") as caught:
        make()
    message = str(caught.value)
    assert message.endswith(".")
    assert ". " not in message and "\n" not in message


@pytest.mark.parametrize("case", BAD | BAD_SPIKES)
def test_class_noise_refuses(case):
    given, words = (BAD | BAD_SPIKES)[case]
    refused("ClassNoise", words, lambda: model(**given))


@pytest.mark.parametrize("case", BAD)
def test_matrix_noise_refuses(case):
    given, words = BAD[case]
    usual = {"train_per_class": 2, "test": 5, "signal": 1.0}
    refused("MatrixNoise", words, lambda: MatrixNoise(**{"factors": SOME} | usual | given))


@pytest.mark.parametrize("case", BAD_MATRICES)
def test_matrix_noise_refuses_matrices(case):
    factors, words = BAD_MATRICES[case]
    refused("MatrixNoise", words, lambda: MatrixNoise(factors, 2, 5, 1.0))


def test_lists_and_arrays_are_one_value_a_class():
    made = [model(signal=kind([1, 2, 3])) for kind in (list, tuple, np.array)]
    assert made[0] == made[1] == made[2]
    assert made[0].signal == (1.0, 2.0, 3.0)
    assert model(train_per_class=np.array([1, 2, 3])).sizes == (1, 2, 3)


def test_what_runs_share_a_draw():
    """The ratio, the strengths and the bulk change nothing of zeta: comparisons are paired."""
    assert engine._ROLES["data"] == 0  # what the keys below stand for
    models = model(correlation=1.0), model(correlation=9.0, signal=3.0)
    base, other = (quick(data.sample)(jax.random.key(0)) for data in models)
    spikes = base.directions["spikes"]
    off = lambda x: x - (x @ spikes.T) @ spikes  # noqa: E731
    np.testing.assert_allclose(off(base.train.x[:, 1]), off(other.train.x[:, 1]), atol=1e-5)
    np.testing.assert_array_equal(base.test.y, other.test.y)
