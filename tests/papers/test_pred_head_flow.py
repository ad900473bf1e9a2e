"""Wen and Li's population dynamics as a flow: laws, phases, times and chances."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.errors import BadInput
from learnscope.nets import PatchEncoder
from learnscope.papers.pred_head import theory as pred_head
from learnscope.papers.pred_head.parts.population import PopulationDescent
from learnscope.papers.pred_head.parts.population_flow import Flow, PopulationFlow
from learnscope.papers.pred_head.parts.rosenbrock import (
    Walk,
    finished,
    integrate,
    rosenbrock_step,
    until_event,
)
from learnscope.papers.pred_head.quantities import learnt
from tests.errata import pred_head_laws as laws
from tests.law import assert_counts, assert_mean
from tests.small import experiment, run, strong_weak

RUNS = 20


@pytest.fixture(scope="module")
def model():
    return strong_weak(1000, strengths=(4, 2))


@pytest.fixture(scope="module")
def both(model):
    """With a trained head, and from the same start without one, to time 10^7."""
    rule = PopulationFlow(1.0, 0.05, horizon=1e7, points=120, tolerance=1e-8)
    probes = [ls.probes.FeatureStrengths(), ls.probes.HeadOffDiagonal()]
    setting = experiment(rule, 120, 1, probes, model, PatchEncoder(2))
    return run(setting, {"rule.head_rate": [0.05, 0.0]}, seeds=RUNS, precision="float64")


@pytest.fixture
def flowed(both):
    return both.sel(head_rate=0.05).transpose("seed", "step", ...)


@pytest.fixture
def alone(both):
    return both.sel(head_rate=0.0).transpose("seed", "step", ...)


def noise_of(result):
    return result.noise_norm.values**2


def test_initial_law(flowed):
    """Mean and variance of B and G over 40 neurons."""
    start = flowed.isel(step=0)
    overlaps = start.strength.values.ravel() * math.sqrt(1000)
    for values, mean, variance in (
        (overlaps, 0, 1), (overlaps**2, 1, 2), (noise_of(start).ravel(), 0.998, 2 / 1000),
        (start.noise_gram.values[:, 0, 1] ** 2 * 1000, 1, 2),
    ):  # fmt: skip
        assert_mean(values, mean, variance)


def test_norm_law_along_the_flow(flowed):
    overlaps, noise = flowed.strength.values, noise_of(flowed)
    heads = flowed["head"].values + np.eye(2)
    found, head = laws.norm_invariants(overlaps, noise, heads, 0.05), np.abs(heads)
    assert np.abs(found - found[:, :1]).max() < 1e-7
    bounds = ((overlaps[:, 0] ** 2).sum(-1) + noise[:, 0]) * 0.05 / 3
    assert (head[:, :, 1, 0] ** 2 - head[:, :, 0, 1] ** 2 <= bounds[:, None, 1] + 1e-9).all()
    # The bound is nearly reached, so it is no bound by far.
    assert head[:, :, 1, 0].max() > 0.9 * pred_head.head_bound(1.0, 0.05)


def test_feature_law_along_the_flow(model, alone):
    with jax.enable_x64(True):
        law = pred_head.Law.of(model)
    found = laws.feature_invariants(law, alone.strength.values)[..., 1]
    scale = (alone.strength.values[:, :1] ** -4 / np.asarray(law.across)).max(-1)
    assert (np.abs(found - found[:, :1]) / scale).max() < 1e-7
    lengths = (alone.strength.values**2).sum(-1) + noise_of(alone)
    assert np.abs(lengths - lengths[:, :1]).max() < 1e-7


def test_learning_times_without_a_head(model, alone):
    """Each neuron's time is an integral: right up to the recorded times."""
    law, noise = pred_head.Law.of(model), noise_of(alone)[:, 0]
    time = np.concatenate([[0.0], np.geomspace(1, 1e7, 120)])
    for one, neuron in itertools.product(range(RUNS), range(2)):
        own = alone.strength.values[one, :, neuron]
        grown = np.abs(own).max(1) > np.sqrt((own[0] ** 2).sum() + noise[one, neuron]) / 2
        exact = laws.learning_time(law, own[0], noise[one, neuron])
        if grown.any():
            at = int(np.argmax(grown))
            assert time[at - 1] <= exact * 1.0001 and exact <= time[at] * 1.0001
        else:
            assert exact > 1e7


def test_probability_of_collapse_without_a_head():
    """2000 draws of the flow."""
    model = strong_weak(100, strengths=(2, 1.6), noise=0.8, frequencies=(2, 1))
    rule = PopulationFlow(1.0, 0.0, horizon=1e9, points=1, tolerance=1e-3, head="none")
    probes = [ls.probes.PopulationMoments()]
    setting = experiment(rule, 1, 1, probes, model, PatchEncoder(2))
    shares = run(setting, seeds=2000, precision="float64").population_share.isel(step=-1)
    which = learnt(shares.transpose("seed", "neuron", "feature").values, clear=0.5)
    assert (which < 0).mean() < 0.02
    expected = 2 / math.pi * math.atan((2 / 1.6) ** 1.5 * 2**0.25)
    np.testing.assert_allclose(pred_head.learning_probabilities(model)[0], expected)
    both = expected**2
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
def test_another_integrator_agrees(float64, model):
    """Diffrax's diagonally implicit method, to time 10^4."""
    import diffrax

    law = pred_head.Law.of(model)
    flow = Flow(law, jnp.eye(2), jnp.eye(2), 1.0, 0.05, "identity", "batch", True)
    first = flow.start(jnp.array([[2.0, 1.0], [1.0, 1.3]]) / math.sqrt(1000))
    zero, end, limit = jnp.zeros((), int), jnp.asarray(1e4), jnp.asarray(1e-8)
    begun = Walk(jnp.zeros(()), first, jnp.asarray(1e-2), zero, zero)
    found = integrate(flow, begun, end, limit, 9999)
    other = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, value, args: flow(value)), diffrax.Kvaerno5(), 0.0, end, 1e-2,
        first, stepsize_controller=diffrax.PIDController(rtol=1e-7, atol=1e-10), max_steps=20000,
    )  # fmt: skip
    np.testing.assert_allclose(found.value, other.ys[-1], atol=1e-5)


def test_events_are_roots(float64):
    """Growth from 1 to e takes the time 1; what holds at the start takes none, what never, all."""
    zero = jnp.zeros((), int)
    begun = Walk(jnp.zeros(()), jnp.ones(1), jnp.asarray(1e-3), zero, zero)
    end, limit = jnp.asarray(5.0), jnp.asarray(1e-10)
    for level, time, comes in ((math.e, 1.0, True), (0.5, 0.0, True), (1e9, 5.0, False)):
        event = lambda y, at=level: y[0] - at  # noqa: E731
        found, fired = until_event(lambda y: y, event, begun, end, limit, 9999)
        assert bool(fired) == comes
        np.testing.assert_allclose(found.time, time, atol=1e-8)
        np.testing.assert_allclose(found.value[0], math.exp(time), rtol=1e-8)


def test_phases_end_where_their_triggers_say():
    """In two dimensions: times between phases, and the values that define them."""
    models = [strong_weak(dim, strengths=(4, 2)) for dim in (1e5, 1e8)]
    starts = pred_head.proof_starts(models[0], 3, math.log(1e5))
    found = pred_head.phase_times(models, starts, [0.05, 0.05])
    overlaps, noise, head = (found[name].values for name in ("strength", "noise", "head"))
    assert np.isfinite(found.elapsed).all() and (found.elapsed.isel(step=[1, 2, 3, 5]) > 0).all()
    law = pred_head.Law.of(models[0])
    length = np.sqrt((overlaps[:, :, 0, 0] ** 2).sum(-1) + noise[:, :, 0, 0])
    np.testing.assert_allclose(overlaps[:, :, 1, 0, 0], length / 2, rtol=1e-6)
    own = 15 * float(law.noise) * noise[..., 1] ** 3
    borrowed = float(law.within[0]) * head[..., 1, 0] ** 2 * overlaps[..., 0, 0] ** 6
    np.testing.assert_allclose(borrowed[:, :, 2], own[:, :, 2], rtol=1e-5)
    grown = float(law.within[1]) * overlaps[..., 1, 1] ** 6
    np.testing.assert_allclose(grown[:, :, 3], own[:, :, 3], rtol=1e-4)
    np.testing.assert_allclose(head[:, :, 5, 1, 0], 0.01 * head[:, :, 4, 1, 0], rtol=1e-4)
    heads = head + np.eye(2)
    kept = laws.norm_invariants(overlaps, noise, heads, 0.05)
    assert np.abs(kept - kept[:, :, :1]).max() < 1e-5
    with pytest.raises(BadInput, match="triggers"):
        pred_head.phase_times(models, starts, [0.05, 0.05], triggers="mine")


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
