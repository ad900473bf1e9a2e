"""Probes of signal and noise against the NumPy reference and the paper's recursions."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from tests import small
from tests.errata import pegr_closed_forms as closed_forms
from tests.reference import pegr

WIDTH, TRAIN, STEPS = 4, 8, 60
DATA = {"dim": 40, "train": TRAIN, "test": 1, "signal": 1.5, "noise": 0.4}
NET = {"width": WIDTH, "scale": 0.1, "second_layer": "mean"}
PROBES = small.probes("Loss GradientNorm SignalLearning NoiseMemorisation Decomposition")
PROBES += [small.Watched()]
RATE, WEIGHT = 0.2, 0.2


RULES = {
    "gradient_descent": ls.rules.GradientDescent(rate=RATE),
    "per_example": ls.rules.PerExamplePenalty(rate=RATE, weight=WEIGHT),
    "per_example_all": ls.rules.PerExamplePenalty(rate=RATE, weight=WEIGHT, half=False),
}
# What closed forms call lambda: what multiplies half the squared norm.
WEIGHTS = {"gradient_descent": 0.0, "per_example": WEIGHT, "per_example_all": 2 * WEIGHT}


@functools.cache
def trained(rule="per_example", coordinates="compressed", orthogonal=True, flip=0.0):
    """Every probe along a run."""
    data = DATA | {"orthogonal": orthogonal, "flip": flip}
    setting = small.experiment(RULES[rule], STEPS, 1, PROBES, data, NET)
    result = small.run(setting, coordinates=coordinates, precision="float64")
    assert result.attrs["coordinates_used"] == coordinates
    return result.isel(seed=0)


def data_of(result):
    return [result[name].isel(step=0).values for name in ("signal", "noise", "labels")]


def largest(difference):
    return float(np.abs(difference).max())


@pytest.mark.parametrize("orthogonal", [True, False])
def test_a_span_state_holds_the_decomposition(float64, orthogonal):
    setting = small.experiment(
        RULES["per_example"], STEPS, 1, PROBES, DATA | {"orthogonal": orthogonal}, NET
    )
    run = ls.lab.one_run(setting, 3, "compressed", "float64").after(STEPS)
    span = run.state
    assert isinstance(span, ls.rules.SpanState)
    held, solved = (state.shares(run.problem, "signal", "noise") for state in (span, span.weights))
    np.testing.assert_array_equal(held[1], span.coefficients[1])  # no system was solved
    for one, other in zip(held, solved, strict=True):
        assert largest(one - other) < 1e-9 * largest(other)


SETTINGS = [{"coordinates": "compressed"}, {"coordinates": "ambient", "orthogonal": False}]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_decomposition_is_that_of_the_reference(setting):
    result = trained(**setting)
    signal, noise, labels = data_of(result)
    own = np.repeat([1.0, -1.0], WIDTH)[:, None] == labels[None]
    for step in result.step.values:
        now = result.sel(step=step)
        gamma, rho = pegr.decomposition(now.filters.values, result.filters.values[0], signal, noise)
        assert largest(now.gamma.values - gamma) < 1e-10
        assert largest(now.rho_bar.values - np.where(own, rho, 0)) < 1e-10
        assert largest(now.rho_underbar.values - np.where(own, 0, rho)) < 1e-10
    # There was something to decompose, of each kind.
    last = result.isel(step=-1)
    assert min(largest(last[name]) for name in ("gamma", "rho_bar", "rho_underbar")) > 1e-2


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_coefficients_put_the_filters_together_again(float64, setting):
    result = trained(**setting)
    signal, noise, _ = data_of(result)
    last = result.isel(step=-1)
    rho = last.rho_bar.values + last.rho_underbar.values
    start = jnp.asarray(result.filters.values[0])
    whole = closed_forms.compose(start, last.gamma.values, rho, signal, noise)
    assert largest(whole - last.filters.values) < 1e-10


def recursion_error(result, weight):
    """How far the recorded coefficients stray from Lemma 5.3, summed up along the run."""
    signal, noise, labels = data_of(result)
    update = jax.jit(closed_forms.coefficient_update)
    gamma, rho = np.zeros(2 * WIDTH), np.zeros((2 * WIDTH, TRAIN))
    worst = 0.0
    for step in range(STEPS):
        filters = result.filters.values[step]
        gamma, rho = update(gamma, rho, filters, signal, noise, labels, RATE, weight, 1 / WIDTH)
        after = result.isel(step=step + 1)
        found = after.rho_bar.values + after.rho_underbar.values
        worst = max(worst, largest(after.gamma.values - gamma), largest(found - rho))
    return worst


@pytest.mark.parametrize(
    ("rule", "coordinates"),
    [*((rule, "compressed") for rule in RULES), ("per_example_all", "ambient")],
)
def test_decomposition_follows_the_recursion_of_lemma_5_3(float64, rule, coordinates):
    result = trained(rule, coordinates)
    assert recursion_error(result, WEIGHTS[rule]) < 1e-10
    # ... and not that of another weight.
    assert recursion_error(result, WEIGHTS[rule] + WEIGHT) > 1e-3


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_other_probes_are_those_of_the_reference(setting):
    result = trained(**setting)
    signal, noise, labels = data_of(result)
    for step in (0, 1, STEPS // 2, STEPS):
        now = result.sel(step=step)
        filters = now.filters.values
        data = (signal, noise, labels, "mean")
        right = {
            "loss": pegr.loss(filters, *data),
            "gradient_norm": pegr.gradient_norm(filters, *data) ** 2,
            "signal_learning": pegr.signal_learning(filters, signal),
            "noise_memorisation": pegr.noise_memorisation(filters, noise),
        }
        for name, value in right.items():
            assert abs(float(now[name]) - value) < 1e-12, name


def test_flipped_labels_decide_what_is_a_filters_own():
    # The label that is trained on counts, not the sign of the patch.
    result = trained("gradient_descent", "compressed", flip=0.4)
    own = np.repeat([1.0, -1.0], WIDTH)[:, None] == data_of(result)[2][None]
    last = result.isel(step=-1)
    assert np.all(last.rho_bar.values[~own] == 0)
    assert np.all(last.rho_underbar.values[own] == 0)
    # Gradient descent pulls a filter towards the noise of its own label and away from the other's.
    assert last.rho_bar.values[own].max() > 1e-2
    assert last.rho_bar.values[own].min() >= -1e-12
    assert last.rho_underbar.values[~own].max() <= 1e-12


def test_what_is_not_defined_is_no_number():
    """Coefficients of more vectors than dimensions were rounding errors of a singular system; an
    accuracy on labels that do not occur counted 0."""
    probes = [ls.probes.Decomposition(), ls.probes.BalancedAccuracy(), ls.probes.TestAccuracy()]
    for train, unique in ((19, True), (20, False)):
        data = small.signals(dim=20, train=train, test=1)
        setting = small.experiment(data=data, probes=probes, steps=2)
        result = ls.run(setting, seeds=2, coordinates="ambient", progress=False)
        for name in ("gamma", "rho_bar"):
            assert np.isfinite(result[name]).all() == unique
        assert np.isnan(result.balanced_accuracy).all()
        assert np.isfinite(result.test_accuracy).all()
