"""The NumPy reference of class-dependent noise against automatic differentiation, and the library's
runs, ways and probes against the reference; in float64."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.data import Columns
from learnscope.lab import engine
from learnscope.rules.way import InSpan, Plain, way_for
from learnscope.studies.benign import checks
from tests.reference import benign

CLASSES, WIDTH, DIM, STEPS, SEED = 3, 5, 50, 30, 7
KINDS = {"logistic": "plain", "balanced": "balanced", "adjusted": "adjusted"}


# The reference by itself.


@pytest.fixture(params=[0, 1])
def problem(request):
    draw = np.random.default_rng(request.param)
    filters = 0.5 * draw.normal(size=(CLASSES, WIDTH, 9))
    labels = np.array([0, 0, 0, 1, 2, 2, 0])
    return filters, draw.normal(size=(CLASSES, 9)), draw.normal(size=(len(labels), 9)), labels


def mean_loss(filters, features, noise, labels, kind):
    """The objective by JAX, for all examples at once."""
    patches = jnp.stack([features[labels], noise], axis=1)
    f = jax.nn.relu(jnp.einsum("kmd,npd->nkmp", filters, patches)).sum(-1).mean(-1)
    counts = jnp.bincount(labels, length=CLASSES)
    shift = jnp.log(counts / len(labels)) if kind == "adjusted" else jnp.zeros(CLASSES)
    each = -jax.nn.log_softmax(f + shift[None])[jnp.arange(len(labels)), labels]
    if kind == "balanced":
        return jnp.mean(jnp.stack([each[labels == k].mean() for k in range(CLASSES)]))
    return each.mean()


@pytest.mark.parametrize("kind", KINDS.values())
def test_loss_and_gradient_are_those_of_autodiff(float64, problem, kind):
    value, slope = jax.value_and_grad(mean_loss)(*map(jnp.asarray, problem), kind)
    assert abs(benign.losses(*problem, kind).mean() - value) < 1e-13
    found = benign.gradient(*problem, kind)
    assert np.linalg.norm(found - slope) < 1e-13 * np.linalg.norm(slope)


def test_the_kinds_of_loss_differ(problem):
    slopes = [benign.gradient(*problem, kind) for kind in KINDS.values()]
    for i in range(3):
        assert np.linalg.norm(slopes[i] - slopes[i - 1]) > 0.01 * np.linalg.norm(slopes[i])


def test_probes_on_a_network_done_by_hand():
    # Two classes of two neurons in R^3: u_0 = 2 e1, u_1 = e1, xi = 3 e2 - e3 of class 0.
    filters = np.array([[[1.0, 1, 0], [0, 1, 1]], [[0, -1, 0], [1, 0, -1]]])
    features, noise = np.array([[2.0, 0, 0], [1, 0, 0]]), np.array([[0, 3.0, -1]])
    labels, matrices = np.array([0]), np.stack([np.diag([0, 2.0, 3.0]), np.diag([0, 1.0, 1.0])])
    # <w, u>: 2, 0 and 0, 2. <w, xi>: 3, 2 and -3, 1.
    np.testing.assert_array_equal(benign.outputs(filters, features, noise, labels), [[3.5, 1.5]])
    residual = np.exp(1.5) / (np.exp(3.5) + np.exp(1.5))
    assert benign.residuals(filters, features, noise, labels) == pytest.approx([residual])
    assert benign.losses(filters, features, noise, labels, "plain") == pytest.approx(
        [-np.log(1 - residual)]
    )
    assert benign.active_shares(filters, noise, labels) == [1.0]
    assert benign.active_shares(filters, noise, np.array([1])) == [0.5]
    # The sum of active neurons is (1, 2, 1): 5 / ||(0, 4, 3)||; of class 1, (1, 0, -1): 1 / 1.
    assert benign.equivalent_noise(filters, noise, labels, matrices) == pytest.approx([1.0])
    assert benign.equivalent_noise(filters, noise, np.array([1]), matrices) == pytest.approx([1.0])
    # W_0 A_0 = [[0, 2, 0], [0, 2, 3]] has squared singular values (17 -+ sqrt(145)) / 2.
    squares = benign.singular_values(filters, matrices)[0] ** 2
    assert squares == pytest.approx([(17 + 145**0.5) / 2, (17 - 145**0.5) / 2])
    assert benign.kappa(filters, features, noise, labels) == 1.0


def test_the_spike_gives_the_ratio():
    for correlation in (1.0, 1.2, 20.0, 1400.0):
        frame = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 6)))[0].T
        spike = benign.spike_of(correlation, 40, 3, 0.5)
        a, b, _ = benign.spike_matrices(frame[:3], frame[3:], 0.5, spike)
        found = np.linalg.norm(a.T @ a) ** 2 / np.linalg.norm(a.T @ b) ** 2
        assert found == pytest.approx(correlation, rel=1e-10)


# The library against it.


def _matrices():
    """Three matrices, neither symmetric nor commuting, that leave three dimensions free."""
    draw = np.random.default_rng(3)
    free = np.linalg.qr(draw.normal(size=(DIM, CLASSES)))[0]
    off = np.eye(DIM) - free @ free.T
    return [off @ (0.5 * np.eye(DIM) + 0.1 * draw.normal(size=(DIM, DIM))) for _ in range(CLASSES)]


SIZES = {"train_per_class": [3, 5, 2], "test": 40, "signal": [0.5, 1.0, 1.5]}
SPIKES = {"dim": DIM, "classes": CLASSES, "correlation": 8.0, "bulk": 0.4} | SIZES
DATA = {
    "gaussian": ls.data.ClassNoise(**SPIKES, prior=[0.5, 0.3, 0.2]),
    "uniform": ls.data.ClassNoise(**SPIKES, noise="uniform"),
    "matrices": ls.data.MatrixNoise(factors=_matrices(), **SIZES),
}
INITIAL = {"uniform": "torch"}
SHARE = 0.3


def experiment(data, loss, every):
    net = {"width": WIDTH, "activation": "relu", "scale": 0.1, "classes": CLASSES}
    probes = ls.probes
    return ls.Experiment(
        data=DATA[data],
        net=ls.nets.PatchCNN(**net, initial=INITIAL.get(data, "gaussian")),
        rule=ls.rules.GradientDescent(rate=1.0, loss=loss),
        steps=STEPS,
        probes=[
            probes.Loss(), probes.TestLoss(), probes.TrainAccuracy(), probes.TestAccuracy(),
            probes.GradientNorm(), probes.ClassAccuracy(), probes.LongTailAccuracy(share=SHARE),
            probes.ActiveNeurons(), probes.NoiseSpectrum(), probes.Residual(),
            probes.GradientBalance(), probes.Contributions(), probes.Activations(),
        ],
        record=ls.Record(every=every),
    )  # fmt: skip


@functools.cache
def drawn(data, loss, how):
    """The problem and the first parameters, as the engine draws them."""
    setting = experiment(data, loss, 1)
    with jax.enable_x64(True):
        fixed = engine._traced(setting, np.dtype("float64"), how == "compressed")
        rank, chunk = engine._room(setting, how), engine.run_size(setting, how, "float64").chunk
        seeds = np.full(chunk, SEED, np.uint32)
        runs = engine._draw(engine._source(fixed), {}, seeds, how, rank, chunk)
        return jax.tree.map(lambda leaf: leaf[0], runs)


def arrays(data, loss, how):
    """Filters, features, training and test examples, and matrices, as NumPy arrays; compressed ones
    as if their coordinates were all there are."""
    problem, params = drawn(data, loss, how)
    filters = np.asarray(params["filters"])
    dim = filters.shape[1]

    def noise(samples):
        x = Columns.undone(samples.x)
        last = np.asarray(x[1] if isinstance(x, tuple) else x[:, 1])
        return np.pad(last, ((0, 0), (0, dim - last.shape[1])))

    units = np.asarray(problem.directions["features"])
    model = DATA[data]
    if isinstance(model, ls.data.MatrixNoise):
        matrices = model.factors
    else:
        spike = benign.spike_of(model.correlation, model.dim, CLASSES, model.bulk)
        spikes = np.asarray(problem.directions["spikes"])
        matrices = benign.spike_matrices(units, spikes, model.bulk, spike)
    features = units * np.array(SIZES["signal"])[:, None]
    train, test = (
        (features, noise(part), np.asarray(part.y)) for part in (problem.train, problem.test)
    )
    return filters.reshape(CLASSES, WIDTH, dim), train, test, matrices


def expected(filters, start, train, test, matrices, kind):
    """Every recorded variable, by the reference."""
    right = benign.correct(filters, *test)
    shares = benign.active_shares(filters, *test[1:])
    tail = (*test, matrices, SHARE)
    return {
        "loss": benign.losses(filters, *train, kind).mean(),
        "test_loss": benign.losses(filters, *test, kind).mean(),
        "train_accuracy": benign.correct(filters, *train).mean(),
        "test_accuracy": right.mean(),
        "gradient_norm": np.sum(benign.gradient(filters, *train, kind) ** 2),
        "class_accuracy": benign.class_means(right, test[2], CLASSES),
        "long_tail_accuracy": benign.long_tail_accuracy(filters, *tail),
        "long_tail_untrained": benign.long_tail_accuracy(start, *tail),
        "active_share": benign.class_means(shares, test[2], CLASSES),
        "active_share_least": shares.min(),
        "noise_spectrum": benign.singular_values(filters, matrices),
        "residual": benign.residuals(filters, *train),
        "gradient_balance": benign.kappa(filters, *train),
        "activation": benign.activations(filters, *train[1:]),
        "test_activation": benign.activations(filters, *test[1:]),
        **benign.contributions(filters, *test),
    }


@functools.cache
def reference(data, loss, how):
    """All variables at all steps, and the path."""
    filters, train, test, matrices = arrays(data, loss, how)
    kind = KINDS[loss]
    path = benign.train(filters, *train, 1.0, STEPS, kind)
    return path, [expected(now, path[0], train, test, matrices, kind) for now in path]


@functools.cache
def recorded(data, loss, how, every):
    setting = experiment(data, loss, every)
    result = ls.run(setting, None, [SEED], how, "float64", progress=False)
    assert result.attrs["coordinates_used"] == how
    assert np.isnan(result.diverged_at).all()
    return result.isel(seed=0)


# Steps are taken in the span of the training vectors if enough of them come in a row.
RUNS = [
    ("gaussian", "logistic", "ambient", 1, Plain),
    ("gaussian", "logistic", "compressed", 1, Plain),
    ("gaussian", "adjusted", "compressed", 7, InSpan),
    ("uniform", "balanced", "rotate", 1, Plain),
    ("matrices", "adjusted", "rotate", 10, InSpan),
]


@pytest.mark.parametrize(("data", "loss", "how", "every", "way"), RUNS)
def test_runs_are_those_of_the_reference(data, loss, how, every, way):
    setting = experiment(data, loss, every)
    with jax.enable_x64(True):
        problem, params = drawn(data, loss, how)
        state = setting.rule.init(setting.net, problem, jax.random.key(0), params)
        assert type(way_for(setting.rule, state, problem, every)) is way
    # A rotated run is that of the ambient draw.
    _, right = reference(data, loss, "compressed" if how == "compressed" else "ambient")
    result = recorded(data, loss, how, every)
    assert set(result) == {*right[0], "diverged_at"}
    for name in right[0]:
        values = np.stack([right[int(step)][name] for step in result.step])
        np.testing.assert_allclose(result[name], values, rtol=1e-10, atol=1e-10, err_msg=name)
    # Something was learnt, and not all at once.
    assert result.loss[-1] < 0.5 * result.loss[0]
    assert result.gradient_balance[-1] > 1.5
    assert 0 < result.test_accuracy[-1] <= 1


def test_residuals_recorded_at_every_step_give_b_of_equation_8():
    path, _ = reference("gaussian", "logistic", "compressed")
    _, train, _, _ = arrays("gaussian", "logistic", "compressed")
    right = benign.residual_sums(path, *train)
    residual = recorded("gaussian", "logistic", "compressed", 1).residual
    total = residual.isel(step=slice(0, -1)).sum("step").values
    found = [np.linalg.norm(total[train[2] == k]) for k in range(CLASSES)]
    np.testing.assert_allclose(found, right, rtol=1e-10)


def test_the_study_sums_residuals_alike():
    # The study's own function takes classes of equal size, as its sweeps have them.
    values = np.random.default_rng(0).random((4, 2 * checks.CLASSES))
    found = checks.residual_sums(xr.Dataset({"residual": (("step", "sample"), values)}))
    sums = values[:-1].sum(0).reshape(checks.CLASSES, 2)
    right = np.linalg.norm(sums, axis=1)
    np.testing.assert_allclose(found.isel(step=-1), right, rtol=1e-12)
