"""Exact gradients of the first two steps against enumeration, lattices and samples."""

import math

import equinox as eqx
import jax
import numpy as np
import pytest
from scipy import stats

import learnscope as ls
from learnscope.papers.input_structure import theory
from tests.data.test_patterns import CASES, every
from tests.papers.pattern_models import (
    by_enumeration,
    components_of,
    neurons,
    parts,
    patterns,
    smoothed,
)
from tests.small import refused, signals


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [None, 2.0, 1e-9])
@pytest.mark.parametrize("case", CASES)
def test_gradient_by_enumeration(case, scale, weighted):
    model = CASES[case]
    compare(model, neurons(model, scale=scale), 0.04, weighted)


def compare(model, start, noise=0.04, weighted=False):
    found = theory.population_gradient(model, *start, noise, weighted)
    for name, values in by_enumeration(model, *start, noise, weighted).items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-13, err_msg=name)


def test_factors_that_vanish_and_sixteen_patterns():
    """Components at which 1 - p + p e^{it q} is 0 at a node, for many patterns at once."""
    model = patterns(12, 5)
    q, bias, second = neurons(model, 1)
    q[:] = theory.exact_law(model).scale
    q[0, ::3] = 0
    compare(model, (q, bias, second))
    model = patterns(16, 5, background=0.3)
    compare(model, neurons(model, 2), 0.2)


def test_law_is_the_models():
    for name, model in CASES.items():
        law, (bits, likely, y) = theory.exact_law(model), every(model)
        mean = likely @ bits
        correlation = (likely * y) @ bits[:, 0] - (likely @ y) * mean[0]
        assert law.positive == pytest.approx(likely[y > 0].sum(), rel=1e-12), name
        assert law.mean == pytest.approx(mean, abs=1e-13), name
        assert law.correlation == pytest.approx(correlation, abs=1e-13), name
        spread = (likely[:, None] * (bits - mean) ** 2).sum()
        assert law.scale == pytest.approx(math.sqrt(spread), rel=1e-13), name
        assert (law.chances.sum(), law.patterns) == (pytest.approx(1), model.patterns)
    assert len(theory.exact_law(patterns()).chances) == 1  # at p_o = 1/2 both groups are alike
    assert len(theory.exact_law(patterns(background=0.2)).chances) == 2


def on_lattice(model, steps, bias, noise, pinned=None):
    """E[y (phi~_j) sigma~(z)] and the same of sigma~', of z on a lattice, by counting subsets."""
    chances, background, signs = parts(model)
    k, law = len(signs) - 1, theory.exact_law(model)
    reach = int(abs(steps).sum())
    subsets = np.zeros((k + 1, 2 * reach + 1))
    subsets[0, reach] = 1
    for j in range(k):  # with pattern j; then without it
        more = np.zeros_like(subsets)
        more[1:] = np.roll(subsets[:-1], steps[j], 1)
        subsets = more + (0 if j == pinned else subsets)
    likely = np.zeros(2 * reach + 1)
    ways = np.array([math.comb(k, r) for r in range(k + 1)], float)
    for own, chance in zip(chances, background, strict=True):
        joint = (own * signs / ways) @ subsets
        for j, p in enumerate(chance, start=k):
            joint = p * np.roll(joint, steps[j]) + (0 if j == pinned else (1 - p) * joint)
        likely += joint
    unit = 0.3 / law.relevant / law.scale
    value, slope = smoothed(bias + unit * (np.arange(-reach, reach + 1) - steps @ law.mean), noise)
    return likely @ value, likely @ slope


@pytest.mark.parametrize(
    "model",
    [
        patterns(100, 5),
        patterns(100, 50, background=0.2, label="majority"),
        patterns(100, 51, structure="independent", background=tuple(np.linspace(0.05, 0.95, 49))),
        patterns(300, 30, label="interval", counts=(20, 30), structure="independent", chance=0.7),
    ],
)
def test_gradient_on_a_lattice(model):
    """Many patterns, of which many are relevant: nothing is lost to cancellation."""
    law, k = theory.exact_law(model), model.k
    steps = np.random.default_rng(1).integers(-3, 4, model.patterns)
    q, bias = 0.3 / k * steps[None].astype(float), np.array([0.03])
    found = theory.expectations(law, q, bias, 0.05, law.signs)
    value, slope = on_lattice(model, steps, bias[0], 0.05)
    assert found.value[0] == pytest.approx(value, abs=1e-13)
    assert found.slope[0] == pytest.approx(slope, abs=1e-13)
    for j in (0, k - 1, k, model.patterns - 1):
        _, there = on_lattice(model, steps, bias[0], 0.05, pinned=j)
        expected = (there - law.mean[j] * slope) / law.scale
        assert found.patterns[0, j] == pytest.approx(expected, abs=1e-13), j


def test_a_second_step_keeps_its_digits():
    """Components of 1e-9: E[y sigma~(z)] is sigma~'(b) gamma sum_A q / sigma~ to first order, a
    number of 1e-10 of which sums of probabilities in double precision keep six digits."""
    model = patterns()
    law = theory.exact_law(model)
    q, bias, _ = neurons(model, 5, scale=1e-9)
    found = theory.expectations(law, q, bias, 0.04, law.signs)
    _, slope = smoothed(bias, 0.04)
    along = law.correlation * q[:, :5].sum(1) / law.scale
    assert found.value == pytest.approx(slope * along, rel=1e-7, abs=0)
    bend = stats.norm.pdf(bias, scale=0.04) - stats.norm.pdf(bias - 1, scale=0.04)
    assert found.slope == pytest.approx(bend * along, rel=1e-6, abs=0)


@pytest.mark.parametrize("model", [patterns(), patterns(background=0.2), CASES["imbalanced"]])
@pytest.mark.parametrize(("scale", "noise"), [(None, 0.04), (2.0, 0.3), (1e-9, 0.04), (0.3, 0.003)])
def test_quadrature_has_converged(model, scale, noise):
    law = theory.exact_law(model)
    q, bias, _ = neurons(model, 4, scale=scale)
    once, twice = (theory.expectations(law, q, bias, noise, law.signs, n) for n in (1, 2))
    for mine, finer in zip(once, twice, strict=True):
        np.testing.assert_allclose(mine, finer, rtol=0, atol=2e-14)


class Means:
    """Means of values that come in parts, and their standard errors."""

    def __init__(self):
        self.size, self.sums, self.squares = 0, np.zeros(()), np.zeros(())

    def add(self, values, by=None):
        """Of `values` (n, neuron), or of their products with `by` (n, pattern)."""
        by = np.ones((len(values), 1)) if by is None else by
        self.size += len(values)
        self.sums = self.sums + values.T @ by
        self.squares = self.squares + (values**2).T @ by**2

    def mean(self):
        return self.sums / self.size

    def variance(self):
        """Of the mean."""
        return np.maximum(self.squares / self.size - self.mean() ** 2, 0) / self.size


def descended(model, params, rate, kept, noise, weighted):
    """One step by the exact gradient."""
    by = theory.population_gradient(model, *params.values(), noise, weighted)
    return {
        "filters": -rate * by["filters"],
        "bias": params["bias"] - rate * by["bias"],
        "second": kept * params["second"] - rate * by["second"],
    }


def standard_errors(x, y, params, rate, noise, weighted):
    """Of a step on examples. With weights, classes have one half each, so that the variances are
    those of means over a class."""
    value, slope = smoothed(x @ params["filters"].T + params["bias"], noise)
    total = {"filters": 0.0, "bias": 0.0, "second": 0.0}
    for rows in [y > 0, y < 0] if weighted else [np.ones(len(y), bool)]:
        sign = (0.5 if weighted else 1.0) * y[rows, None]
        parts = (("filters", slope, x[rows]), ("bias", slope, None), ("second", value, None))
        for name, values, by in parts:
            means = Means()
            means.add(sign * values[rows], by)
            total[name] = total[name] + means.variance()
    a = {"filters": params["second"][:, None], "bias": params["second"], "second": 1.0}
    return {
        name: rate * abs(a[name]) * np.sqrt(each if name == "filters" else each[:, 0])
        for name, each in total.items()
    }


@pytest.mark.parametrize("weighted", [False, True])
def test_two_steps_are_the_rules_own(weighted):
    """Each of the rule's two steps on 50,000 examples against the exact one from where it started.
    528 numbers within 6 standard errors: fails by chance once in 900,000 runs."""
    noise, rates = 0.1, (1e-3, 2.0)
    model = patterns(20, 3, dim=24, background=0.3, negative=0.7, train=50_000)
    net = ls.nets.TwoLayer(width=6, scale=1 / 3, bias_scale=0.1, second_scale=1.0)
    rule = ls.rules.TwoStep(*rates, rate=1.0, noise=noise, weighted=weighted)
    with jax.enable_x64(True):
        problem = eqx.filter_jit(model.sample)(jax.random.key(4))
        states = [rule.init(net, problem, jax.random.key(5))]
        step = eqx.filter_jit(rule.step)
        for _ in rates:
            states.append(step(states[-1], problem, jax.random.key(6)))
        x = components_of(problem.train.x, problem.directions)
        y = np.asarray(problem.train.y)
        names = ("filters", "bias", "second")
        params = [{name: np.asarray(each.params[name]) for name in names} for each in states]
        for each in params:
            each["filters"] = components_of(each["filters"], problem.directions)
    for each, most in zip(params, (1e-12, 0.1), strict=False):  # the hinge is linear; twins cancel
        value, _ = smoothed(x @ each["filters"].T + each["bias"], noise)
        assert abs(value @ each["second"]).max() < most
    exact, taken = theory.two_steps(model, *params[0].values(), *rates, noise, weighted), params[0]
    for t, (rate, kept) in enumerate(zip(rates, (1, 0), strict=True)):
        taken = descended(model, taken, rate, kept, noise, weighted)
        for name, each in taken.items():
            np.testing.assert_array_equal(exact[t][name], each)
        expected = descended(model, params[t], rate, kept, noise, weighted)
        for name, error in standard_errors(x, y, params[t], rate, noise, weighted).items():
            off = abs(params[t + 1][name] - expected[name]) / error
            assert (off < 6).all(), (t, name)
            assert off.mean() > 0.1, (t, name)  # standard errors, not more


def test_the_second_step_turns_weights_to_the_sum_of_relevant_patterns():
    model, number = patterns(), theory.settings(patterns(), 20, 600)
    rng = np.random.default_rng(0)
    q = np.tile(number.scale * rng.standard_normal((20, 100)), (2, 1))
    bias = np.tile(number.bias_scale * rng.standard_normal(20), 2)
    second = number.second_scale * np.concatenate([a := rng.standard_normal(20), -a])
    rates = number.first_rate, number.second_rate
    one, two = theory.two_steps(model, q, bias, second, *rates, number.noise)
    # Features: the cosine with the sum of relevant patterns, at first, then after each step.
    cosines = [
        np.median(abs(w[:, :5].sum(1)) / np.linalg.norm(w, axis=1)) / math.sqrt(5)
        for w in (q, one["filters"], two["filters"])
    ]
    assert cosines[0] < 0.2 and cosines[1] > 0.999 and cosines[2] > 1 - 1e-9


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (patterns(30, 10, label="codes", structure="independent"), "codes"),
        (patterns(dictionary="random"), "orthonormal"),
        (patterns(dictionary="equiangular", incoherence=0.1), "orthonormal"),
        (patterns(noise=0.1), "noise"),
        (signals(), "SignalNoise"),
    ],
)
def test_models_without_such_a_gradient(model, words):
    q, bias, second = np.zeros((2, 100)), np.zeros(2), np.ones(2)
    for call in (
        lambda: theory.population_gradient(model, q, bias, second, 0.1),
        lambda: theory.two_steps(model, q, bias, second, 1.0, 1.0, 0.1),
        lambda: theory.lemma_6(model, q, bias, 0.1),
    ):
        refused(call, words)


def test_arrays_that_do_not_fit():
    model, q, one = patterns(), np.zeros((2, 100)), np.ones(2)
    for bad, words in (
        ((q[:, :99], one, one, 0.1), "components has shape (2, 99)"),
        ((q[0], one, one, 0.1), "components"),
        ((q, one[:1], one, 0.1), "bias"),
        ((q, one, 1.0, 0.1), "second"),
        ((q, one, one, 0.0), "noise = 0.0"),
        ((q, one, one, -1.0), "noise"),
        ((q, one, one, math.nan), "noise"),
    ):
        refused(lambda bad=bad: theory.population_gradient(model, *bad), words)
    empty = theory.population_gradient(model, q[:0], one[:0], one[:0], 0.1)
    assert empty["filters"].shape == (0, 100)
