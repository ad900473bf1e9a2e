"""Steps in the span of the training vectors are the rule's own steps; and when they are taken."""

import functools

import equinox as eqx
import jax
import numpy as np
import optax
import pytest

import learnscope as ls
from learnscope.engine import size
from learnscope.lab import one_run, worker
from learnscope.lab.blocks import Runs
from learnscope.rules.way import InSpan, Plain, way_for
from tests import small
from tests.small import PENALTY, run

STEPS, SEED = 24, 5
SIGNS = {"dim": 200, "train": 8, "test": 2, "signal": 1.5, "noise": 0.3}
CLASSES = {"dim": 200, "classes": 3, "train_per_class": (2, 5, 3), "test": 2, "signal": 1.0}
PROBES = small.probes("Loss TestLoss GradientNorm")
NET = ls.nets.PatchCNN(width=3, scale=0.05)
CLASS_NET = ls.nets.PatchCNN(width=3, activation="relu", scale=0.05, classes=3)


def experiment(data=SIGNS, net=NET, rule=None, every=STEPS):
    rule = ls.rules.GradientDescent(rate=0.5) if rule is None else rule
    return small.experiment(rule, STEPS, every, PROBES, data, net)


def descent(loss):
    return ls.rules.GradientDescent(rate=1.0, loss=loss)


CASES = {
    "two classes": (experiment(), "compressed"),
    "two classes, not orthogonal": (
        experiment(SIGNS | {"orthogonal": False, "flip": 0.2}), "compressed"
    ),
    "classes": (
        experiment(ls.data.ClassNoise(**CLASSES, correlation=9), CLASS_NET, descent("logistic")),
        "compressed",
    ),
    "classes, balanced, of uniform noise": (
        experiment(ls.data.ClassNoise(**CLASSES, noise="uniform"), CLASS_NET, descent("balanced")),
        "rotate",
    ),
    "squared": (experiment(rule=descent("squared")), "rotate"),
    "penalised, closed half-way": (
        experiment(rule=ls.rules.PerExamplePenalty(rate=0.5, weight=0.3, until=11)),
        "compressed",
    ),
    "penalised classes": (
        experiment(
            ls.data.ClassNoise(**CLASSES, correlation=9), CLASS_NET,
            ls.rules.PerExamplePenalty(rate=1.0, weight=0.05, half=False),
        ),
        "compressed",
    ),
}  # fmt: skip


@functools.cache
def started(case):
    """The experiment with its numbers as arrays, the problem and the first state."""
    setting, how = CASES[case]
    with jax.enable_x64(True):
        run = eqx.filter_jit(lambda: one_run(setting, SEED, how, "float64"))()
        return run.experiment, run.problem, run.state


@eqx.filter_jit
def interval(way, walk, start, stop):
    """The walk from step `start` to `stop`, as the engine goes there."""
    key = jax.random.key(0)
    return jax.lax.fori_loop(start, stop, lambda t, walk: way.step(walk, t, key), walk)


def path(way, state, every):
    """The states at every so many steps and at the last."""
    states, walk = [state], way.begin(state)
    for start in range(0, STEPS, every):
        stop = np.int64(min(start + every, STEPS))
        walk = interval(way, walk, np.int64(start), stop)
        states.append(way.state(walk, stop))
    return states


@functools.cache
def plain_path(case):
    fixed, problem, state = started(case)
    with jax.enable_x64(True):
        return path(Plain(fixed.rule, problem), state, 1)


@pytest.mark.parametrize("every", [1, 5, STEPS])
@pytest.mark.parametrize("case", CASES)
def test_both_ways_lead_to_the_same_states(float64, case, every):
    fixed, problem, state = started(case)
    way = InSpan.of(fixed.rule, state, problem)
    steps = [*range(0, STEPS, every), STEPS]
    for step, found in zip(steps, path(way, state, every), strict=True):
        right = plain_path(case)[step]
        filters = np.asarray(right.params["filters"])
        assert np.abs(found.params["filters"] - filters).max() < 1e-12 * np.abs(filters).max()
        assert found.step == right.step == step
        assert found.step.dtype == right.step.dtype
        assert jax.tree.structure(found) == jax.tree.structure(right)
        np.testing.assert_array_equal(found.start["filters"], right.start["filters"])
    # The filters moved far, in directions of both kinds of patches.
    moved = np.abs(plain_path(case)[-1].params["filters"] - state.params["filters"])
    few = problem.train.x[0].shape[1]
    assert moved[:, :few].max() > 1e-2 and moved[:, few:].max() > 1e-2


def test_a_way_that_forgets_is_told_apart(float64):
    """The power of the test above: without the narrow patch's part the paths part."""
    fixed, problem, state = started("two classes, not orthogonal")
    way = InSpan.of(fixed.rule, state, problem)
    forgetful = eqx.tree_at(lambda way: way.narrow, way, (0 * way.narrow[0],))
    one, other = (path(w, state, STEPS)[-1].params["filters"] for w in (way, forgetful))
    assert np.abs(one - other).max() > 1e-2


def way_of(setting, how="compressed"):
    """The way that the engine takes."""
    with jax.enable_x64(True):
        problem, carry, *_ = size.shapes(setting, how, "float64")
        return type(eqx.filter_eval_shape(way_for, setting.rule, carry.position, problem))


def test_diverging_runs_report_the_same_step():
    rates = {"rule.rate": [0.01, 3.0, 5.0, 10.0, 100.0, 1e4]}
    setting, both = experiment(rule=descent("squared")), ("ambient", "rotate")
    assert [way_of(setting, how) for how in both] == [Plain, InSpan]
    plain, in_span = (run(setting, rates, 5, how, "float64") for how in both)
    np.testing.assert_array_equal(plain.diverged_at, in_span.diverged_at)
    assert np.isnan(plain.diverged_at.sel(rate=0.01)).all()
    assert len(np.unique(plain.diverged_at)) > 3  # at several steps, and not at all
    lost = plain.diverged_at.notnull()
    assert not np.isfinite(in_span.loss.isel(step=-1)).values[lost.values].any()


def test_near_the_largest_number_they_are_a_step_apart_at_most():
    """Coefficients and weights differ by the length of an example, and so may the step at which
    they leave the finite numbers; which runs do is the same."""
    rates = {"rule.rate": np.geomspace(1.0, 1e4, 12)}
    net = ls.nets.PatchCNN(width=3, scale=0.3, activation="relu")
    setting = experiment(net=net, rule=descent("squared"))
    plain, in_span = (run(setting, rates, 5, how) for how in ("ambient", "rotate"))
    lost = plain.diverged_at.notnull()
    np.testing.assert_array_equal(lost, in_span.diverged_at.notnull())
    assert 0.2 < lost.mean() < 1
    assert abs(plain.diverged_at - in_span.diverged_at).max() <= 1


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("case", ["classes", "penalised, closed half-way"])
def test_neither_records_nor_segments_change_a_digit(case, precision):
    """Nor, with segments, checkpoints: these are kept between them."""
    setting, how = CASES[case]
    last = {}
    for every, segments in [(1, 1), (1, 7), (5, 1), (8, 3), (STEPS, 1), (STEPS, 7)]:
        runs = Runs(
            setting.replace("record.every", every), {}, np.array([3, 4]), how, precision,
            batch=2, padded=2, segments=segments,
        )  # fmt: skip
        last[every, segments] = {k: v.T[-1] for k, v in worker.compute(runs).items()}
    for values in last.values():
        for name, array in last[1, 1].items():
            np.testing.assert_array_equal(values[name], array, err_msg=name)


class _Linear(eqx.Module):
    weights: jax.Array

    def __call__(self, x):
        return (self.weights * x).sum()


def linear(key):
    return _Linear(0.01 * jax.random.normal(key, (2, 200)))


WITH = {
    "momentum": {"options": {"momentum": 0.9}},
    "nesterov": {"options": {"momentum": 0.9, "nesterov": True}},
    "adam": {"optimiser": "adam"},
    "a function": {"optimiser": lambda rate: optax.sgd(rate)},
}
CHOICES = {
    "usual": (experiment(), "compressed", InSpan),
    "rotated": (experiment(), "rotate", InSpan),
    "classes": (CASES["classes"][0], "compressed", InSpan),
    "ambient": (experiment(), "ambient", Plain),
    "recorded at every step": (experiment(every=1), "compressed", InSpan),
    "mini-batch": (experiment(SIGNS | {"batch": 4}), "compressed", Plain),
    "mini-batch of all": (experiment(SIGNS | {"batch": 8}), "compressed", Plain),
    "per-example penalty": (experiment(rule=PENALTY), "compressed", InSpan),
    "full penalty": (experiment(rule=ls.rules.FullPenalty(0.1, 0.1)), "compressed", Plain),
    "any module": (experiment(net=ls.nets.Model(linear)), "ambient", Plain),
    **{
        name: (experiment(rule=ls.rules.GradientDescent(rate=0.1, **given)), how, Plain)
        for name, given in WITH.items()
        for how in (["compressed"] if "options" in given else ["ambient"])
    },
}  # fmt: skip


@pytest.mark.parametrize("case", CHOICES)
def test_the_way_is_chosen(case):
    setting, how, expected = CHOICES[case]
    assert way_of(setting, how) is expected


@pytest.mark.parametrize("case", ["adam", "a function"])
def test_other_optimisers_step_as_they_say_in_any_coordinates(case):
    """Even where nothing but the optimiser stands against it."""
    rule = ls.rules.GradientDescent(rate=0.1, **WITH[case])
    assert way_of(experiment(rule=rule), "compressed") is Plain


def test_many_examples_in_few_coordinates_are_taken_plainly():
    # Of n = 60 examples in 25 coordinates the Gram matrix is the larger one.
    for each, way in ((6, InSpan), (60, Plain)):
        sizes = {"dim": 25, "train_per_class": each, "noise": "uniform"}
        data = ls.data.ClassNoise(**CLASSES | sizes)
        assert way_of(experiment(data, CLASS_NET, descent("logistic")), "rotate") is way
