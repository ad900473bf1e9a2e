"""Runs, states and probes of class-dependent noise against the NumPy reference, in float64."""

import functools

import equinox as eqx
import jax
import numpy as np
import pytest

import learnscope as ls
from learnscope.lab import one_run
from learnscope.rules import SpanState, WeightState
from learnscope.space import Columns
from tests import small
from tests.reference import benign

CLASSES, WIDTH, DIM, STEPS, SEED = 3, 5, 50, 30, 7
KINDS = {"logistic": "plain", "balanced": "balanced", "adjusted": "adjusted"}


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
PROBES = small.probes(
    "Loss TestLoss TrainAccuracy TestAccuracy GradientNorm ClassAccuracy Residual"
)
PROBES += small.probes("ActiveNeurons NoiseSpectrum GradientBalance Contributions Activations")
PROBES += [ls.probes.LongTailAccuracy(share=SHARE)]


def experiment(data, loss, every):
    net = {"width": WIDTH, "activation": "relu", "scale": 0.1, "classes": CLASSES}
    net |= {"initial": INITIAL.get(data, "gaussian")}
    rule = ls.rules.GradientDescent(rate=1.0, loss=loss)
    return small.experiment(rule, STEPS, every, PROBES, DATA[data], net)


@functools.cache
def drawn(data, loss, how):
    """The problem and the first parameters of a run."""
    setting = experiment(data, loss, 1)
    with jax.enable_x64(True):
        run = eqx.filter_jit(lambda: one_run(setting, SEED, how, "float64"))()
        return run.problem, run.state.params


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
    features, parts = units * np.array(SIZES["signal"])[:, None], (problem.train, problem.test)
    train, test = ((features, noise(part), np.asarray(part.y)) for part in parts)
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
        "activation_least": benign.activations(filters, *train[1:], np.min),
        "activation_most": benign.activations(filters, *train[1:], np.max),
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
    result = ls.run(experiment(data, loss, every), None, [SEED], how, "float64", progress=False)
    assert result.attrs["coordinates_used"] == how
    assert np.isnan(result.diverged_at).all()
    return result.isel(seed=0)


# Compressed and rotated steps are taken in the span of the training vectors.
RUNS = [
    ("gaussian", "logistic", "ambient", 1, WeightState),
    ("gaussian", "logistic", "compressed", 1, SpanState),
    ("gaussian", "adjusted", "compressed", 7, SpanState),
    ("uniform", "balanced", "rotate", 1, SpanState),
    ("matrices", "adjusted", "rotate", 10, SpanState),
]


@pytest.mark.parametrize(("data", "loss", "how", "every", "kind"), RUNS)
def test_runs_are_those_of_the_reference(data, loss, how, every, kind):
    setting = experiment(data, loss, every)
    with jax.enable_x64(True):
        assert type(one_run(setting, SEED, how, "float64").state) is kind
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
