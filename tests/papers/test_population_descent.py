"""Steps on a whole population of pairs: against formulas, many examples, and Algorithm 1."""

import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from tests.law import assert_mean
from tests.reference import pairs as reference
from tests.rules import pair_steps
from tests.rules.pair_steps import DEFAULT, KEY, POPULATIONS, RATES, STEPS, numbers, path, word
from tests.small import quick, strong_weak

CHOICES = {
    "head": ("identity", "linear", "symmetric", "none"),
    "normalise": ("batch", "none"),
    "stop_gradient": (True, False),
    "target": ("shared", "ema"),
}
CLOSED = [dict(zip(CHOICES, case, strict=True)) for case in itertools.product(*CHOICES.values())]


def weights(model, width, seed=0):
    """Of size 1, and not nearly parallel."""
    return 0.8 * np.random.default_rng(seed).normal(size=(width, int(model.dim)))


@functools.cache
def problem_of(model, precision):
    with jax.enable_x64(precision == "float64"):
        return quick(model.sample)(KEY)


def population_state(rule, model, width, seed=0):
    """A state in ambient coordinates with any weights, head and target."""
    net = ls.nets.PatchEncoder(width=width)
    problem = problem_of(model, jax.dtypes.canonicalize_dtype(float).name)
    rng = np.random.default_rng(seed + 1)
    state = rule.init(net, problem, KEY, {"filters": jnp.asarray(weights(model, width, seed))})
    if rule.head in ("identity", "linear"):
        noise = rng.normal(size=(width, width)) * 0.3
        noise = noise if rule.head == "linear" else noise * (1 - np.eye(width))
        state = eqx.tree_at(lambda s: s.memory.head, state, {"matrix": jnp.eye(width) + noise})
    if rule.target == "ema":
        other = {"filters": jnp.asarray(weights(model, width, seed + 2))}
        state = eqx.tree_at(lambda s: s.memory.target, state, other)
    return problem, state


def flat_numbers(state):
    w, head, target = numbers(state)
    return w, head["matrix"], target


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (i > 0)) for i, name in enumerate(POPULATIONS)],
)
def test_population_steps_are_the_formula(float64, name):
    model, law = POPULATIONS[name], reference.Population(POPULATIONS[name])
    for case in CLOSED if name == "two features" else CLOSED[:: len(CLOSED) // 6]:
        rule = ls.rules.PopulationDescent(**RATES, **case)
        problem, state = population_state(rule, model, 3)
        found = flat_numbers(rule.step(state, problem, KEY))
        for one, other in zip(found, law.step(flat_numbers(state), RATES | case), strict=True):
            if other is not None:
                assert np.abs(one - other).max() <= 1e-12 * max(1.0, np.abs(other).max()), case
    # Nothing is drawn.
    again = rule.step(state, problem, jax.random.key(99))
    np.testing.assert_array_equal(again.params["filters"], found[0])


@pytest.mark.parametrize("case", [{}, {"target": "ema", "stop_gradient": False}], ids=word)
def test_population_paths_are_the_formula(float64, case):
    case = {"head": "identity"} | DEFAULT | case
    del case["both_ways"]
    model = POPULATIONS["unlike frequencies"]
    law, rule = reference.Population(model), ls.rules.PopulationDescent(**RATES, **case)
    problem, state = population_state(rule, model, 4)
    found = path(rule, state, problem, jax.random.split(KEY, STEPS))
    right = first = flat_numbers(state)
    for t in range(STEPS):
        right = law.step(right, RATES | case)
        np.testing.assert_allclose(found[0]["filters"][t], right[0], rtol=0, atol=1e-10)
        np.testing.assert_allclose(found[1]["matrix"][t], right[1], rtol=0, atol=1e-10)
    assert np.abs(right[0] - first[0]).max() > 0.05


@pytest.mark.parametrize(
    ("name", "width"), [("two features", 2), ("unlike frequencies", 4), ("together", 3)]
)
def test_population_gradients_are_those_of_many_examples(float64, name, width):
    """By Monte Carlo of 24 blocks of pairs in R^d, in NumPy: weights, head and loss."""
    model = POPULATIONS[name]
    rule = ls.rules.PopulationDescent(rate=1.0, head_rate=1.0, head="linear")
    problem, state = population_state(rule, model, width)
    w, head, _ = flat_numbers(state)

    after = flat_numbers(quick(rule.step)(state, problem, KEY))
    moments = quick(ls.probes.PopulationMoments())(state, problem)

    def seen(views):
        matrix = {"matrix": head}
        slope, _, by_head = reference.gradients(w, w, matrix, views, DEFAULT)
        value = reference.loss(w, w, matrix, views, DEFAULT)
        return np.concatenate([slope.ravel(), by_head["matrix"].ravel(), [value]])

    views = reference.sample(np.random.default_rng(4), model, 24 * 3000)
    pieces = [np.split(view, 24) for view in views]
    blocks = np.array([seen(pair) for pair in zip(*pieces, strict=True)])
    blocks += seen(views) - blocks.mean(0)  # the ratio of all examples has less of a bias
    moved = (w - after[0]).ravel(), (head - after[1]).ravel()
    right = np.concatenate([*moved, [moments["population_loss"]]])
    assert_mean(blocks, right)
    # The errors are small, so that this says something.
    spread = np.linalg.norm(np.std(blocks, axis=0)) / 24**0.5
    assert spread < 0.05 * np.linalg.norm(right)


def test_population_descent_is_algorithm_1_with_a_large_batch(float64):
    """16 steps from one state, each with 2^15 new examples."""
    model = POPULATIONS["unlike frequencies"].replace("batch", 2**15)
    case = {"rate": 1.0, "head_rate": 1.0}
    exact = ls.rules.PopulationDescent(**case)
    problem, state = population_state(exact, model, 4)
    right = flat_numbers(quick(lambda: exact.step(state, problem, KEY))())
    rule = ls.rules.NonContrastive(**case)
    sampled = rule.init(state.net, problem, KEY, state.params)
    sampled = eqx.tree_at(lambda s: s.memory.head, sampled, state.memory.head)

    def one(key):
        after = rule.step(sampled, problem, key)
        return after.params["filters"], after.memory.head["matrix"]

    found = quick(lambda keys: jax.lax.map(one, keys))(jax.random.split(KEY, 16))
    for steps, other in zip(found, right[:2], strict=True):
        assert_mean(steps, other)


def test_a_population_in_compressed_coordinates_is_the_same():
    """The formula has only inner products: dimension 10^6 runs at the cost of any."""
    model = strong_weak(10**6, patches=4, feature_patches=2, strengths=(2, 1.5), noise=0.5)
    rule = ls.rules.PopulationDescent(**RATES)
    setting = ls.Experiment(data=model, net=ls.nets.PatchEncoder(width=3), rule=rule, steps=1)
    with jax.enable_x64(True):
        problem, params = pair_steps.first_draw(setting, "float64")
        state = rule.init(setting.net, problem, KEY, params)
        assert rule.refreshed(state, problem) is state
        found = flat_numbers(rule.step(state, problem, KEY))
    case = RATES | DEFAULT | {"head": "identity"}
    right = reference.Population(model).step(flat_numbers(state), case)
    np.testing.assert_allclose(found[0], right[0], rtol=0, atol=1e-14)
    # Weights are N(0, I/d): all of norm 1 within 5 standard errors, 1/sqrt(2 d) each.
    assert np.abs(np.linalg.norm(params["filters"], axis=1) - 1).max() < 5 / (2 * 10**6) ** 0.5


def test_a_population_without_noise_is_finite(float64):
    model = POPULATIONS["two features"].replace("noise", 0.0)
    rule = ls.rules.PopulationDescent(**RATES)
    problem, state = population_state(rule, model, 2)
    state = eqx.tree_at(lambda s: s.params["filters"], state, 1e-4 * state.params["filters"])
    after = quick(lambda state: rule.step(state, problem, KEY).params["filters"])(state)
    assert np.isfinite(after).all()
