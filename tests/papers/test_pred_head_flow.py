"""Wen and Li's population dynamics as a flow: laws, phases, times and chances."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.nets import PatchEncoder
from learnscope.papers.pred_head import theory as pred_head
from learnscope.papers.pred_head.parts.population import PopulationDescent
from learnscope.papers.pred_head.parts.population_flow import PopulationFlow
from learnscope.papers.pred_head.parts.rosenbrock import Walk, finished, integrate, rosenbrock_step
from tests.law import assert_counts, assert_mean
from tests.small import experiment, run, strong_weak


@pytest.fixture(scope="module")
def model():
    return strong_weak(1000, strengths=(4, 2))


RUNS = 20


@pytest.fixture(scope="module")
def start(model):
    with jax.enable_x64(True):
        return pred_head.draw(model, 2, RUNS, jax.random.key(0))


@pytest.fixture(scope="module")
def both(model, start):
    """With a trained head, then from the same start without one, to time 10^7."""
    twice = pred_head.Start(*(jnp.concatenate([x, x]) for x in start))
    ratio = np.repeat([0.05, 0.0], RUNS)
    return pred_head.flow(model, twice, np.geomspace(1, 1e7, 120), ratio, tolerance=1e-8)


@pytest.fixture
def flowed(both):
    return both.isel(run=slice(0, RUNS))


@pytest.fixture
def alone(both):
    return both.isel(run=slice(RUNS, None))


def noise_of(result):
    return np.diagonal(result.gram.values, axis1=2, axis2=3)


def test_initial_law(start):
    """Mean and variance of B and G over 40 neurons."""
    overlaps = np.asarray(start.overlaps).ravel() * math.sqrt(1000)
    gram = np.asarray(start.gram)
    lengths = np.diagonal(gram, axis1=1, axis2=2).ravel()
    for values, mean, variance in (
        (overlaps, 0, 1), (overlaps**2, 1, 2), (lengths, 0.998, 2 / 1000),
        (gram[:, 0, 1] ** 2 * 1000, 1, 2),
    ):  # fmt: skip
        assert_mean(values, mean, variance)


def test_norm_law_along_the_flow(flowed):
    assert (flowed.reached == 1e7).all()
    overlaps, noise, heads = flowed.overlaps.values, noise_of(flowed), flowed.prediction_head.values
    found, head = pred_head.norm_invariants(overlaps, noise, heads, 0.05), np.abs(heads)
    assert np.abs(found - found[:, :1]).max() < 1e-8
    bounds = ((overlaps[:, 0] ** 2).sum(-1) + noise[:, 0]) * 0.05 / 3
    assert (head[:, :, 1, 0] ** 2 - head[:, :, 0, 1] ** 2 <= bounds[:, None, 1] + 1e-9).all()
    # The bound is nearly reached, so it is no bound by far.
    assert head[:, :, 1, 0].max() > 0.9 * pred_head.head_bound(1.0, 0.05)


def test_feature_law_along_the_flow(model, alone):
    with jax.enable_x64(True):
        law = pred_head.Law.of(model)
    found = pred_head.feature_invariants(law, alone.overlaps.values)[..., 1]
    scale = (alone.overlaps.values[:, :1] ** -4 / np.asarray(law.across)).max(-1)
    assert (np.abs(found - found[:, :1]) / scale).max() < 1e-8
    lengths = (alone.overlaps.values**2).sum(-1) + noise_of(alone)
    assert np.abs(lengths - lengths[:, :1]).max() < 1e-8


def test_working_phases_are_ordered_and_printed_ones_fail(model, flowed):
    law, time, noise = pred_head.Law.of(model), flowed.time.values, noise_of(flowed)
    shares = pred_head.variance_shares(law, flowed.overlaps.values[:, -1], noise[:, -1])
    assert (pred_head.outcomes(shares) == "all").sum() >= 12
    passed, fired = 0, 0
    for one in range(RUNS):
        path = [x[one] for x in (flowed.overlaps.values, flowed.prediction_head.values, noise)]
        times = pred_head.phase_times(law, time, *path, 0.05, 1000)
        literal = pred_head.phase_times(law, time, *path, 0.05, 1000, triggers="paper")
        fired += not math.isnan(literal.second)
        assert not literal.second <= times.second
        if math.isnan(times.third):
            continue
        passed += 1
        assert times.first < times.second < times.third <= 1.2 * times.fourth
        labels = pred_head.phase_labels(time, times)
        assert (np.diff(labels) >= 0).all()
        assert set(labels) == {0, 1, 2, 3}
    # The printed T2 needs a plateau so long that noise has died out on it.
    assert fired <= passed / 2
    assert passed >= 6
    with pytest.raises(ValueError, match="triggers is 'mine'"):
        pred_head.phase_times(law, time, *path, 0.05, 1000, triggers="mine")


def test_growth_predicts_the_first_time(model, flowed, alone):
    law, time, noise = pred_head.Law.of(model), flowed.time.values, noise_of(flowed)[:, 0]
    spacing, compared = time[2] / time[1], 0
    for one in range(RUNS):
        overlaps = flowed.overlaps.values[one]
        winner = pred_head.first_learned(law, overlaps[0], noise[one])
        size = np.abs(overlaps[:, winner.neuron, winner.feature])
        length = np.sqrt((overlaps[0, winner.neuron] ** 2).sum() + noise[one].max())
        if not (size > length / 2).any():
            continue
        measured = time[np.argmax(size > length / 2)]
        assert winner.time < 1.02 * measured
        assert measured < 1.1 * spacing * winner.time
        compared += 1
        # Without a head, each neuron's time is an integral: right up to the recorded times.
        for neuron in range(2):
            own = alone.overlaps.values[one, :, neuron]
            length = np.sqrt((own[0] ** 2).sum() + noise[one, neuron])
            grown = np.abs(own).max(1) > length / 2
            exact = pred_head.learning_time(law, own[0], noise[one, neuron])
            if grown.any():
                at = int(np.argmax(grown))
                assert time[at - 1] <= exact * 1.0001 and exact <= time[at] * 1.0001
            else:
                assert exact > 1e7
    assert compared >= 18


def test_probability_of_collapse_without_a_head(float64):
    """2000 draws of the flow."""
    model = strong_weak(100, strengths=(2, 1.6), noise=0.8, frequencies=(2, 1))
    start = pred_head.draw(model, 2, 2000, jax.random.key(3))
    found = pred_head.flow(model, start, [1e9], 0.0, head="none", tolerance=1e-3, chunk=200)
    ended = found.overlaps.values[:, -1], noise_of(found)[:, -1]
    which = pred_head.learned(pred_head.variance_shares(pred_head.Law.of(model), *ended), clear=0.5)
    assert (which < 0).mean() < 0.02
    expected = 2 / math.pi * math.atan((2 / 1.6) ** 1.5 * 2**0.25)
    np.testing.assert_allclose(pred_head.learning_probabilities(model)[0], expected)
    both = pred_head.collapse_probability(model, 2)
    assert both == pytest.approx(expected**2)
    strong = (which[(which >= 0).all(1)] == 0).all(1)
    assert_counts([strong.sum(), (~strong).sum()], [both, 1 - both])
    assert strong.sum() > 100


def test_probabilities_of_more_features():
    model = strong_weak(100, strengths=(3, 2, 1))
    draws = np.abs(np.random.default_rng(0).standard_normal((200_000, 3)))
    winner = np.argmax(np.array([3, 2, 1]) ** 1.5 * draws, axis=1)
    assert_counts(np.bincount(winner), pred_head.learning_probabilities(model))


class _Filters(ls.probes.AbstractProbe):
    """The first coordinates of two filters, and the head."""

    outputs = {  # noqa: RUF012
        name: ls.probes.Output((), "") for name in ("first", "second", "upper", "lower")
    }

    def __call__(self, state, problem):
        filters, matrix = state.params["filters"], state.memory.head["matrix"]
        found = filters[0, 0], filters[1, 1], matrix[0, 1], matrix[1, 0]
        return dict(zip(self.outputs, found, strict=True))


def test_flow_rule_is_the_limit_of_descent():
    data, net = strong_weak(20), PatchEncoder(2, overlaps=(2, 1, 1, 1.3))

    def last(rule, steps):
        setting = experiment(rule, steps, steps, [_Filters()], data, net)
        found = run(setting, seeds=2, precision="float64")
        return np.stack([found[name].isel(step=-1) for name in _Filters.outputs])

    flow = last(PopulationFlow(1.0, 0.5, horizon=20, points=3, first=0.1, tolerance=1e-9), 4)
    coarse = last(PopulationDescent(0.01, 0.005), 2000)
    fine = last(PopulationDescent(0.005, 0.0025), 4000)
    assert np.abs(fine - flow).max() < 5e-3
    assert np.abs(fine - flow).max() == pytest.approx(np.abs(coarse - flow).max() / 2, rel=0.1)
    np.testing.assert_allclose(2 * fine - coarse, flow, atol=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kvaerno3", "kvaerno5"])
def test_methods_agree(model, start, flowed, method):
    few = pred_head.Start(*(x[:4] for x in start))
    times = flowed.time.values[1:80]
    found = pred_head.flow(model, few, times, 0.05, method=method, tolerance=1e-7)
    for name in ("overlaps", "prediction_head"):
        np.testing.assert_allclose(found[name].values, flowed[name].values[:4, :80], atol=1e-4)


def test_an_integration_that_runs_out_of_steps_says_so(float64):
    zero = jnp.zeros((), int)
    begun = Walk(jnp.zeros(()), jnp.ones(1), jnp.asarray(1e-3), zero, zero)
    until, tolerance = jnp.asarray(1e3), jnp.asarray(1e-8)
    short = integrate(lambda y: -y, begun, until, tolerance, 5)
    assert short.tried == 5
    assert not finished(short, until)
    np.testing.assert_allclose(short.value[0], jnp.exp(-short.time), rtol=1e-6)
    whole = integrate(lambda y: -y, short, jnp.asarray(3.0), tolerance, 500)
    assert finished(whole, jnp.asarray(3.0))
    np.testing.assert_allclose(whole.value[0], math.exp(-3), rtol=1e-6)
    lost = integrate(lambda y: y / 0, begun, until, tolerance, 5)
    assert lost.time == 0 and lost.value[0] == 1
    with pytest.raises(ValueError, match="method is 'euler'"):
        pred_head.flow(ls.data.StrongWeak(20, 4, 2, (2, 1), 1, 2), None, [1.0], 1.0, method="euler")


def test_steps_are_of_fourth_order(float64):
    """Halving the step of a pendulum divides the error by 16."""

    def field(y):
        return jnp.stack([y[1], -jnp.sin(y[0])])

    def at(steps):
        one = lambda _, y: rosenbrock_step(field, y, jnp.asarray(2 / steps))[0]  # noqa: E731
        return jax.lax.fori_loop(0, steps, one, jnp.array([1.0, 0.5]))

    exact = at(2000)
    ratio = jnp.abs(at(20) - exact).max() / jnp.abs(at(40) - exact).max()
    assert 14 < ratio < 20


def test_conditions_and_predictions(model):
    rule = PopulationFlow(rate=1, head_rate=0.05, horizon=1e6, points=3)
    setting = ls.Experiment(model, PatchEncoder(2), rule, 3)
    table, other = (
        {row.name: row for row in ls.theory.conditions(setting, **more)}
        for more in ({}, {"exponent": 3})
    )
    assert table["steps"].margin == pytest.approx(1)
    assert not table["feature imbalance"].holds
    assert table["head rate, small enough"].holds
    assert not table["head rate, large enough"].holds and other["head rate, large enough"].holds
    found = ls.theory.predict(setting)
    assert found["outcome"] == "all features"
    assert found["optimum"] == pytest.approx(2 - 2 * 3 / 4.5, abs=0.2)
    assert found["all_strong"] == pytest.approx((2 / math.pi * math.atan(2**1.5)) ** 2)
    assert found["head_bound"] == pytest.approx(math.sqrt(0.05 / 3))
    assert 100 < found["first_time"] < 2000
    without = ls.Experiment(model, PatchEncoder(2), PopulationDescent(0.01, 0.0, "none"), 10)
    assert "head rate, small enough" not in {row.name for row in ls.theory.conditions(without)}
    assert ls.theory.predict(without)["outcome"] == "collapse"
    assert ls.theory.boundary(without, "data.dim") is None
