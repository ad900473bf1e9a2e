"""Losses by class: balanced and adjusted, against sums written out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.rules import losses
from learnscope.rules.losses import BATCH_LOSSES, LOSSES, correct, loss_of
from tests.small import drawn, experiment, quick, refused, run

adjusted, balanced, logistic = map(quick, (losses.adjusted, losses.balanced, losses.logistic))

LABELS = np.array([0, 0, 0, 0, 1, 1, 2])
EQUAL = np.array([0, 1, 2, 2, 0, 1])


@quick
def mean_loss(f, name, labels):
    """Of all examples; and its gradient by the outputs."""
    return jax.value_and_grad(lambda f: loss_of(name, f, labels).mean())(f)


def outputs(n, classes=3, seed=0):
    return 2 * np.random.default_rng(seed).normal(size=(n, classes))


def chances(f, prior=None):
    """p_k proportional to pi_k exp(f_k), one example and class at a time."""
    prior = np.ones(f.shape[1]) if prior is None else np.asarray(prior)
    rows = [[pi * np.exp(value) for pi, value in zip(prior, row, strict=True)] for row in f]
    return np.array([[value / sum(row) for value in row] for row in rows])


def cross_entropy(f, labels, prior=None):
    return np.array([-np.log(p[y]) for p, y in zip(chances(f, prior), labels, strict=True)])


def test_balanced_is_weighting_by_hand(float64):
    f = outputs(7)
    found = balanced(jnp.asarray(f), jnp.asarray(LABELS))
    weights = np.array([7 / (3 * 4)] * 4 + [7 / (3 * 2)] * 2 + [7 / 3])
    np.testing.assert_allclose(found, weights * cross_entropy(f, LABELS), rtol=1e-13)
    # So that the mean is the mean of the classes' means.
    plain = cross_entropy(f, LABELS)
    assert abs(np.mean(found) - np.mean([plain[:4].mean(), plain[4:6].mean(), plain[6]])) < 1e-13


def test_adjusted_is_that_of_menon_et_al_by_hand(float64):
    # Their eq. (10) with tau = 1: log(1 + sum_{k != y} (pi_k / pi_y) exp(f_k - f_y)).
    f, prior = outputs(7), np.array([4, 2, 1]) / 7
    right = [
        np.log1p(sum(prior[k] / prior[y] * np.exp(row[k] - row[y]) for k in range(3) if k != y))
        for row, y in zip(f, LABELS, strict=True)
    ]
    found = adjusted(jnp.asarray(f), jnp.asarray(LABELS))
    np.testing.assert_allclose(found, right, rtol=1e-13)
    np.testing.assert_allclose(found, cross_entropy(f, LABELS, prior), rtol=1e-13)


@pytest.mark.parametrize("name", BATCH_LOSSES)
def test_gradients_are_those_by_hand(float64, name):
    f, prior = outputs(7), np.array([4, 2, 1]) / 7
    weights = {"balanced": 1 / (3 * prior[LABELS]), "adjusted": np.ones(7)}[name]
    found = chances(f, prior if name == "adjusted" else None)
    right = weights[:, None] * (found - np.eye(3)[LABELS]) / 7
    slope = mean_loss(jnp.asarray(f), name, jnp.asarray(LABELS))[1]
    np.testing.assert_allclose(slope, right, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", BATCH_LOSSES)
def test_classes_of_equal_size_leave_cross_entropy(float64, name):
    f, labels = jnp.asarray(outputs(6)), jnp.asarray(EQUAL)
    loss = {"adjusted": adjusted, "balanced": balanced}[name]
    np.testing.assert_allclose(loss(f, labels), logistic(f, labels), rtol=1e-13)
    # ... and others do not.
    uneven = jnp.asarray(outputs(7)), jnp.asarray(LABELS)
    assert np.abs(np.asarray(loss(*uneven)) - logistic(*uneven)).min() > 1e-3


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_an_absent_class_counts_for_nothing(precision):
    with jax.enable_x64(precision == "float64"):
        f, labels = outputs(5, 4).astype(precision), np.array([0, 0, 0, 3, 3])
        tolerance = 1e-5 if precision == "float32" else 1e-13
        given = jnp.asarray(f), jnp.asarray(labels)
        # Balanced over the two classes that are there.
        right = np.array([5 / (2 * 3)] * 3 + [5 / (2 * 2)] * 2) * cross_entropy(f, labels)
        np.testing.assert_allclose(balanced(*given), right, rtol=tolerance)
        # Adjusted as if the others were not among the outputs.
        left = cross_entropy(f[:, [0, 3]], np.array([0, 0, 0, 1, 1]), [0.6, 0.4])
        np.testing.assert_allclose(adjusted(*given), left, rtol=tolerance)
        for name in BATCH_LOSSES:
            slope = mean_loss(given[0], name, given[1])[1]
            assert slope.dtype == precision
            assert np.isfinite(slope).all()


@pytest.mark.parametrize("name", BATCH_LOSSES)
def test_outputs_far_out_stay_finite(name):
    f = jnp.asarray(100 * outputs(7), "float32")
    value, slope = mean_loss(f, name, jnp.asarray(LABELS))
    assert np.isfinite(value) and np.isfinite(slope).all()


@pytest.mark.parametrize("name", BATCH_LOSSES)
def test_nets_and_runs_of_one_output_are_refused(name):
    signs, words = jnp.array([1.0, -1.0]), "need a net with one output per class"
    refused(lambda: loss_of(name, jnp.zeros(2), signs), f"adjusted {words}")
    words_of_signs = "labels +1 and -1 need a net with one output"
    refused(lambda: loss_of(name, jnp.zeros((2, 3)), signs), words_of_signs)
    setting = experiment(ls.rules.GradientDescent(rate=0.1, loss=name), steps=2)
    refused(lambda: run(setting), words)


@pytest.mark.parametrize("name", ["hinge", "squared"])
def test_nets_of_an_output_a_class_are_refused(name):
    words = "squared need a net with one output per example"
    refused(lambda: loss_of(name, jnp.zeros((2, 3)), jnp.array([0, 1])), words)


def test_penalties_take_no_loss_that_hangs_on_other_examples():
    """An example's own gradient would not be its own."""
    assert not set(LOSSES) & set(BATCH_LOSSES)
    for name in BATCH_LOSSES:
        make = lambda n=name: ls.rules.PerExamplePenalty(0.1, weight=0.1, loss=n)  # noqa: E731
        refused(make, f"PerExamplePenalty.loss = '{name}'")


def test_a_state_weighs_the_examples_it_is_given(float64):
    """The batch's shares count, not those of the training set."""
    sizes = {"classes": 3, "train_per_class": (4, 2, 1), "test": 3, "batch": 5}
    data = ls.data.ClassNoise(dim=20, signal=1.0, **sizes)
    net = ls.nets.PatchCNN(width=2, activation="relu", scale=0.5, classes=3)
    rule = ls.rules.GradientDescent(rate=0.1, loss="balanced")
    problem = drawn(data)

    @quick
    def weighed():
        state = rule.init(net, problem, jax.random.key(1))
        batch = problem.batch(jax.random.key(2))
        return batch.y, state(batch.x), state.losses(batch)

    labels, f, found = map(np.asarray, weighed())
    counts = np.bincount(labels, minlength=3)
    right = 5 / (np.count_nonzero(counts) * counts[labels]) * cross_entropy(f, labels)
    np.testing.assert_allclose(found, right, rtol=1e-12)


def test_zero_is_half_right_and_nan_is_nan():
    found = correct(jnp.array([2.0, -3.0, 0.0, -0.0, jnp.nan, jnp.inf]), -jnp.ones(6))
    np.testing.assert_array_equal(found, [0, 1, 0.5, 0.5, np.nan, 0])
