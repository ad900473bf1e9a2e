"""Class noise: its ratio, its moments, its coordinates, and what it refuses."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import ClassNoise, MatrixFactors, MatrixNoise, SpikeFactors, overlaps
from learnscope.data.class_noise import NOISES, draw_labels
from learnscope.space import Basis, Reflections, turn
from tests import law, small
from tests.law import LAWS
from tests.small import quick, refuses, run

USUAL = {"dim": 20, "classes": 3, "train_per_class": 2, "test": 5, "signal": 1.0}


def model(**given):
    return ClassNoise(**USUAL | given)


@pytest.mark.parametrize("bulk", [0.5, 1e-3, 7.0])
@pytest.mark.parametrize(("dim", "classes"), [(5, 2), (21, 3), (60, 5), (150, 2)])
def test_the_matrices_have_the_ratio_asked_for(dim, classes, bulk):
    for correlation, block in ((1.0, 1), (1.0 + 1e-6, 1), (5.0, 1), (1400.0, 1), (5.0, 4)):
        if (1 + block) * classes >= dim:
            continue
        data = model(dim=dim, classes=classes, correlation=correlation, bulk=bulk, block=block)
        squares = overlaps(data.matrices(seed=1))
        np.testing.assert_allclose(data.squares(), squares, rtol=1e-12)
        ratio = ls.data.noise_correlation_ratio(squares)
        np.testing.assert_allclose(ratio[~np.eye(classes, dtype=bool)], correlation, rtol=1e-12)
        np.testing.assert_allclose(np.diag(ratio), 1.0, rtol=1e-12)
        assert float(data.spike) >= bulk


def test_the_ratio_counts_class_sizes_and_overlaps_are_the_definition():
    ratio = ls.data.noise_correlation_ratio(model(correlation=5.0).squares(), [10, 20, 40])
    np.testing.assert_allclose(ratio[0], [1.0, 2.5, 1.25], rtol=1e-12)
    np.testing.assert_allclose(ratio[2], [20.0, 10.0, 1.0], rtol=1e-12)
    some = np.random.default_rng(0).normal(size=(3, 6, 4))
    expected = [[np.linalg.norm(a.T @ b) ** 2 for b in some] for a in some]
    np.testing.assert_allclose(overlaps(some), expected, rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_matrices_are_as_the_docstring_says(seed):
    data = model(correlation=30.0, bulk=0.3)
    for matrix in data.matrices(seed):
        values = np.linalg.eigvalsh(matrix)  # symmetric: K features, one spike, the rest bulk
        np.testing.assert_allclose(values, [0.0] * 3 + [0.3] * 16 + [data.spike], atol=1e-13)
    # No direction of one class's spike is another's, and all are off the same features.
    np.testing.assert_allclose(np.linalg.matrix_rank(data.matrices(seed).sum(0)), 17)


@pytest.mark.parametrize("block", [1, 4])
def test_factors_are_the_matrices_they_stand_for(block, float64):
    """In R^d and in coordinates of a span: what they colour, see and weigh."""
    data, draw = model(correlation=7.0, bulk=0.4, block=block), np.random.default_rng(3)
    frame = np.linalg.qr(draw.normal(size=(20, 3 + 3 * block)))[0].T
    own = frame[3:].reshape(3, block, 20)
    flat, outer = np.eye(20) - frame[:3].T @ frame[:3], np.einsum("kpi,kpj->kij", own, own)
    matrices = data.bulk * (flat - outer) + float(data.spike) * outer
    zeta, labels = draw.normal(size=(5, 20)), np.array([0, 1, 2, 1, 0])
    noise = np.einsum("nij,nj->ni", matrices[labels], zeta)
    rows = [draw.normal(size=(4, 20)), noise, frame]
    onto = Basis(np.linalg.qr(np.concatenate(rows).T)[0].T)
    weights = np.stack([rows[0][:2]] * 3) + own[:, :1]
    total = rows[0][[0, 1, 2, 3, 0]]
    strength = [np.linalg.norm(matrices[y].T @ w) for w, y in zip(total, labels, strict=True)]
    spikes = SpikeFactors(frame[:3], frame[3:], data.bulk, data.spike)
    for kind in (spikes, MatrixFactors(matrices)):
        kind = jax.tree.map(jnp.asarray, kind)
        np.testing.assert_allclose(kind.colour(zeta, labels), noise, atol=1e-13)
        seen = np.linalg.svd(weights @ matrices, compute_uv=False)
        for at, turned in ((lambda x: x, kind), (onto, kind.project(onto))):
            found = np.linalg.svd(turned.seen(at(weights)), compute_uv=False)
            np.testing.assert_allclose(found, seen, atol=1e-12)
            np.testing.assert_allclose(turned.strength(at(total), labels), strength, rtol=1e-12)


FOURTH = {"gaussian": 3.0, "uniform": 1.8, "rademacher": 1.0, "triangular": 2.4}


@pytest.mark.parametrize("name", NOISES)
def test_noise_has_its_law(name):
    with jax.enable_x64(True):
        drawn = np.asarray(NOISES[name](jax.random.key(11), (500, 400))).ravel()
    law.assert_mean(drawn[:, None] ** np.arange(1, 5), [0.0, 1.0, 0.0, FOURTH[name]])
    if name in LAWS:
        law.assert_law({name: drawn}, {name: LAWS[name]})
    else:  # a sign
        values, counts = np.unique(drawn, return_counts=True)
        np.testing.assert_array_equal(values, [-1.0, 1.0])
        law.assert_counts(counts)


MANY = {"train_per_class": (600, 900, 1200), "signal": (0.5, 1.0, 3.0), "test": 3000}
MANY |= {"prior": (0.6, 0.3, 0.1)}
DRAWN = {name: model(dim=12, correlation=6.0, bulk=0.7, noise=name, **MANY) for name in NOISES}
DRAWN["matrices"] = MatrixNoise(
    np.diag([0.0] * 3 + [1.0] * 9) @ np.random.default_rng(5).normal(size=(3, 12, 12)), **MANY
)


@functools.cache
def problem_of(name):
    """A problem, and 4000 fresh examples of it."""

    @quick
    def draw(data):
        problem = data.sample(jax.random.key(3))
        keys = jax.random.split(jax.random.key(8), 4000)
        return problem, jax.vmap(lambda key: data.example(key, problem))(keys)

    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, draw(DRAWN[name]))


def matrices_of(name):
    """A_k along the problem's own directions."""
    directions, data = problem_of(name)[0].directions, DRAWN[name]
    if name == "matrices":
        return data.factors
    flat = np.eye(12) - directions["features"].T @ directions["features"]
    outer = np.einsum("ki,kj->kij", directions["spikes"], directions["spikes"])
    return data.bulk * (flat - outer) + float(data.spike) * outer


def second_moments(noise, matrix, features):
    """Products of coordinates off the features, and what they should be on average."""
    basis = np.linalg.svd(features)[2][len(features) :]
    rows, right = noise @ basis.T, basis @ matrix @ matrix.T @ basis.T
    i, j = np.triu_indices(len(basis))
    return rows[:, i] * rows[:, j], right[i, j]


@pytest.mark.parametrize("part", ["train", "test", "fresh"])
@pytest.mark.parametrize("name", DRAWN)
def test_noise_has_the_covariance_of_its_class(name, part):
    (problem, fresh), matrices = problem_of(name), matrices_of(name)
    samples = fresh if part == "fresh" else getattr(problem, part)
    features = problem.directions["features"]
    for k, matrix in enumerate(matrices):
        noise = samples.x[samples.y == k, 1]
        law.assert_mean(*second_moments(noise, matrix, features))
        # The power of it: another class's matrix.
        off = law.errors_off(*second_moments(noise, matrices[k - 1], features))
        assert off.max() > 1 or part == "fresh"
    np.testing.assert_allclose(samples.x[:, 1] @ features.T, 0.0, atol=1e-12)
    expected = np.array(MANY["signal"])[samples.y][:, None] * features[samples.y]
    np.testing.assert_allclose(samples.x[:, 0], expected, atol=1e-12)
    if part == "train":
        np.testing.assert_array_equal(samples.y, np.repeat([0, 1, 2], DRAWN[name].sizes))
    else:
        law.assert_counts(np.bincount(samples.y), MANY["prior"])
        law.assert_other_counts(np.bincount(samples.y))


@pytest.mark.parametrize("name", DRAWN)
def test_features_and_spikes_are_orthonormal(name):
    directions = problem_of(name)[0].directions
    both = np.concatenate([directions["features"], directions.get("spikes", np.empty((0, 12)))])
    np.testing.assert_allclose(both @ both.T, np.eye(len(both)), atol=1e-12)
    assert len(both) == (3 if name == "matrices" else 6)


def test_labels_have_equal_chances_if_nothing_is_said_and_none_if_that_is_said():
    for prior in (None, [0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]):
        drawn = draw_labels(jax.random.key(0), 5000, prior, 3)
        law.assert_counts(np.bincount(drawn, minlength=3), prior)


def test_hidden_noise_is_the_noise_patch_in_full_width():
    """`Samples.vectors` are of full width in any coordinates."""
    data = model()
    for frame in (None, ls.data.Frame(20.0, data.span + 4)):
        problem = quick(lambda key, frame=frame: data.sample(key, frame))(jax.random.key(0))
        x = problem.train.x
        patch = x[1] if isinstance(x, tuple) else x[:, 1]
        hidden = problem.train.vectors["noise"]
        assert hidden.shape == (6, problem.frame.rank)
        np.testing.assert_array_equal(hidden[:, : patch.shape[1]], patch)


NET = ls.nets.PatchCNN(width=2, activation="relu", scale=0.1, classes=3)
RANK = 6 + 6 + 6  # directions, training vectors, filters


def experiment(data, probes, steps=15, every=5):
    rule = ls.rules.GradientDescent(rate=1.0)
    return small.experiment(rule, steps, every, small.probes(probes), data, NET)


def turn_of(data, key):
    problem = data.sample(key)
    directions, rest = problem.span()
    return turn(directions, [*rest, NET.init(key, problem)["filters"]])


@pytest.mark.parametrize(
    ("noise", "dim", "turned"), [("gaussian", RANK - 4, Reflections), ("uniform", 5 * RANK, Basis)]
)
def test_rotated_runs_are_the_ambient_ones(noise, dim, turned):
    data = model(dim=dim, noise=noise, correlation=9.0, signal=(0.5, 1, 2), test=30)
    assert type(eqx.filter_eval_shape(turn_of, data, jax.random.key(0))) is turned
    setting = experiment(data, "Loss TestLoss NoiseSpectrum Contributions")
    ambient, rotated = (run(setting, None, 2, how, "float64") for how in ("ambient", "rotate"))
    for name in ambient:
        np.testing.assert_allclose(rotated[name], ambient[name], rtol=0, atol=1e-10, err_msg=name)
    assert (ambient.loss.isel(step=-1) < 0.8 * ambient.loss.isel(step=0)).all()


def test_features_of_matrices_do_not_hang_on_rounding():
    """They span a null space, in which every basis is as good: which one it is must not depend on
    the program that they are drawn in, or the same seed gives other runs in other coordinates."""
    mixed = np.linalg.qr(np.random.default_rng(2).normal(size=(12, 12)))[0]
    data = MatrixNoise(mixed @ DRAWN["matrices"].factors, train_per_class=1, test=1, signal=1.0)
    draw = lambda key: data.sample(key).directions["features"]  # noqa: E731
    found = []
    for precision in ("float64", "float32"):
        with jax.enable_x64(precision == "float64"):
            keys = jax.random.split(jax.random.key(0), 3)
            found += [jax.jit(draw)(keys[0]), jax.jit(jax.vmap(draw))(keys)[0]]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-4)


SEEDS = 600
# Of 18 coordinates (12 of them for directions and training vectors) 10 exist, 15, or all.
DIMS = {10: 13, 15: 20, 60: 90}
MARKS = ("loss", "test_loss", "gradient_balance", "long_tail_accuracy")
MARKS += ("active_share_least", "implicit_own")
LAW_PROBES = "Loss TestLoss GradientBalance NoiseSpectrum LongTailAccuracy ActiveNeurons "
LAW_PROBES += "Contributions"


def numbers(result):
    """A number a run for every mark and step: the mean over classes, the largest singular value."""
    mean = lambda values: values.mean("class") if "class" in values.dims else values  # noqa: E731
    found = {name: mean(result[name]) for name in MARKS}
    found["noise_spectrum"] = result.noise_spectrum.max("class").isel(rank=0)
    found["least_singular_value"] = result.noise_spectrum.min("class").isel(rank=-1)
    return {
        (name, int(step)): np.nan_to_num(values.sel(step=step).values, nan=-1.0)
        for name, values in found.items()
        for step in values.step.values
    }


@functools.cache
def ambient(dim, matrices=False):
    data = model(dim=dim, correlation=4.0, test=40)
    if matrices:
        data = MatrixNoise(data.matrices(seed=4), train_per_class=2, test=40, signal=1.0)
    return numbers(recorded(data, "ambient", SEEDS))


def recorded(data, how, first=0, over=None):
    setting = experiment(data, LAW_PROBES, steps=10, every=10)
    result = run(setting, over, range(first, first + SEEDS), how)
    assert result.attrs["coordinates_used"] == how
    return result


@functools.cache
def all_compressed():
    """Every dimension, by one program."""
    over = {"data.dim": [dim for pair in DIMS.items() for dim in pair]}
    return recorded(model(correlation=4.0, test=40), "compressed", over=over)


def compressed(dim):
    return numbers(all_compressed().sel(dim=dim))


@pytest.mark.parametrize(("dim", "matrices"), [(10, 0), (60, 0), (15, 1)])
def test_compressed_runs_have_the_ambient_law(dim, matrices):
    """Also that of matrices of spikes; and another dimension is told apart by several numbers."""
    law.assert_law(compressed(dim), ambient(dim, bool(matrices)))
    law.assert_other_law(compressed(DIMS[dim]), ambient(dim, bool(matrices)), by=4)


BAD = {
    "train_per_class has 2 values: .* class, 3": {"train_per_class": [2, 2]},
    r"train_per_class = \(2, 0, 2\)": {"train_per_class": [2, 0, 2]},
    "signal has 4 values: .* class, 3": {"signal": [1.0] * 4},
    r"signal = \(\) is not allowed": {"signal": []},
    "signal = .*finite number": {"signal": [1.0, float("nan"), 1.0]},
    "prior has 2 values": {"prior": [0.5, 0.5]},
    "prior = 0.5 .*one value per class": {"prior": 0.5},
    "prior = .*add up to 1": {"prior": [0.5, 0.5, 0.5]},
    "batch = 7 .*at most 6": {"batch": 7},
}
SOME = np.diag([0.0] * 3 + [1.0] * 5) @ np.ones((3, 8, 8))
BAD_MATRICES = {
    r"factors has the shape \(3, 8, 4\): .*square": SOME[:, :, :4],
    "factors has the shape .*two or more": SOME[:1],
    r"factors has the shape \(8, 8\)": SOME[0],
    "factors has entries that are not finite": np.where(SOME == 1, np.nan, SOME),
    "factors must leave 3 dimensions free": np.stack([np.diag([0.0] * 2 + [1.0] * 6)] * 3),
    "factors must be square matrices of numbers": [np.eye(3), np.eye(4)],
    "factors ": None,
}


def test_what_does_not_fit_together_is_refused_and_lists_are_one_value_a_class():
    refuses(model, BAD | {"dim = 6 .*above 6": {"dim": 6}}, r"ClassNoise\.")
    usual = {"factors": SOME, "train_per_class": 2, "test": 5, "signal": 1.0}
    matrices = {words: {"factors": factors} for words, factors in BAD_MATRICES.items()}
    refuses(lambda **given: MatrixNoise(**usual | given), BAD | matrices, r"MatrixNoise\.")
    made = [model(signal=kind([1, 2, 3])) for kind in (list, tuple, np.array)]
    assert made[0] == made[1] == made[2]
    assert made[0].signal == (1.0, 2.0, 3.0)
    assert model(train_per_class=np.array([1, 2, 3])).sizes == (1, 2, 3)


def test_what_runs_share_a_draw():
    """The ratio, the strengths and the bulk change nothing of zeta: comparisons are paired."""
    models = model(correlation=1.0), model(correlation=9.0, signal=3.0)
    base, other = (quick(data.sample)(jax.random.key(0)) for data in models)
    spikes = base.directions["spikes"]
    off = lambda x: x - (x @ spikes.T) @ spikes  # noqa: E731
    np.testing.assert_allclose(off(base.train.x[:, 1]), off(other.train.x[:, 1]), atol=1e-5)
    np.testing.assert_array_equal(base.test.y, other.test.y)
