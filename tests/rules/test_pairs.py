"""Rules on pairs of views: against NumPy, their population, and compressed against ambient.

Wen and Li (2022): Algorithm 1 with its variants, equations 1.1, 2.1, 3.1-3.3. What is compared with
`tests.reference.pred_head` is in float64. Statistical tests have fixed seeds; each says how often
it would fail for other seeds.
"""

import functools
import itertools
import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import learnscope as ls
from learnscope.lab import engine
from learnscope.lab.plan import Plan
from learnscope.rules import AbstractPairRule, AbstractRule
from learnscope.rules.heads import initial_head
from learnscope.rules.siamese import misaligned, normalised
from learnscope.rules.way import Plain, Turning, way_for
from tests.reference import pairs as reference

STEPS, KEY = 20, jax.random.key(11)
DATA = ls.data.StrongWeak(
    dim=7, patches=6, feature_patches=2, strengths=(2, 1.5), noise=0.8, batch=12, test=5
)
NET = ls.nets.PatchEncoder(width=3)
HEADS = ("identity", "linear", "mlp", "symmetric", "none")
RATES = {"rate": 0.07, "head_rate": 0.05, "momentum": 0.9}
EVERY = [
    {"head": head, "normalise": how, "stop_gradient": stop, "target": target, "both_ways": both}
    for head in HEADS
    for how, stop, target, both in itertools.product(
        ("batch", "l2", "none"), (True, False), ("shared", "ema"), (False, True)
    )
]


def quick(function, level=0):
    """Compiled without optimisation: it runs once or twice."""
    return eqx.filter_jit(function, compiler_options={"xla_backend_optimization_level": level})


@functools.cache
def started():
    """A problem, weights of size 1, and the keys and explicit pairs of all steps."""

    @quick
    def draw():
        problem = DATA.sample(jax.random.key(1))
        keys = jax.vmap(lambda t: jax.random.fold_in(KEY, t))(jnp.arange(STEPS))
        return problem, jax.random.normal(KEY, (3, 7)), keys, jax.vmap(problem.pair)(keys)

    with jax.enable_x64(True):
        problem, filters, keys, pairs = draw()
        return problem, {"filters": 0.5 * filters}, keys, [np.asarray(view) for view in pairs]


class Given(NamedTuple):
    """All that a rule on pairs asks of a problem."""

    views: tuple

    def pair(self, key):
        return self.views


def rule_of(case):
    return ls.rules.NonContrastive(**RATES, hidden=5, **case)


@functools.cache
def first_head(name):
    """The head at the start, away from where derivatives of it vanish."""
    with jax.enable_x64(True):
        head = initial_head(name, jax.random.key(7), 3, 5)
        if name == "identity":
            head = {"matrix": jnp.eye(3) + 0.3 * jnp.asarray(np.triu(np.ones((3, 3)), 1))}
        return head


def first_state(rule):
    """Also with a target that is not the encoder's own, where there is one."""
    problem, params, keys, _ = started()
    state = rule.init(NET, problem, keys[0], params)
    state = eqx.tree_at(lambda s: s.memory.head, state, first_head(rule.head))
    if rule.target == "ema":
        other = {"filters": params["filters"][::-1] * 0.7}
        state = eqx.tree_at(lambda s: s.memory.target, state, other)
    return state


def numbers(state):
    """Weights, head and target as NumPy arrays."""
    target = state.memory.target
    head = {name: np.asarray(value) for name, value in state.memory.head.items()}
    return (
        np.asarray(state.params["filters"]), head,
        None if target is None else np.asarray(target["filters"]),
    )  # fmt: skip


def close(found, right, tolerance):
    leaves = zip(jax.tree.leaves(found), jax.tree.leaves(right), strict=True)
    for one, other in leaves:
        assert np.abs(one - other).max() <= tolerance * max(1.0, np.abs(other).max())


def word(case):
    return "-".join(str(value) for value in case.values())


# ---------------------------------------------------------------------------- the yardstick itself


def test_the_reference_has_the_gradients_that_differences_give():
    rng, views = np.random.default_rng(0), [pair[0] for pair in started()[3]]
    w, target = rng.normal(size=(2, 3, 7))
    heads = {"matrix": rng.normal(size=(3, 3))}, {
        "first": rng.normal(size=(4, 3)), "first_bias": rng.normal(size=4),
        "second": rng.normal(size=(3, 4)), "second_bias": rng.normal(size=3),
    }  # fmt: skip
    for how, both, head in itertools.product(("batch", "l2", "none"), (False, True), heads):
        rule = {"normalise": how, "both_ways": both}
        value = functools.partial(reference.loss, views=views, rule=rule)
        by_w, by_target, by_head = reference.gradients(w, target, head, views, rule)
        found = [reference.differences(lambda x, v=value, h=head: v(x, target, h), w),
                 reference.differences(lambda x, v=value, h=head: v(w, x, h), target)]  # fmt: skip
        for name in head:
            found.append(
                reference.differences(
                    lambda x, v=value, h=head, n=name: v(w, target, h | {n: x}), head[name]
                )
            )
        for one, right in zip(found, [by_w, by_target, *by_head.values()], strict=True):
            np.testing.assert_allclose(one, right, rtol=0, atol=1e-6 * (1 + np.abs(right).max()))
    value, slope = reference.contrastive(w, views, 0.3)
    found = reference.differences(lambda x: reference.contrastive(x, views, 0.3)[0], w)
    np.testing.assert_allclose(found, slope, rtol=0, atol=1e-6 * np.abs(slope).max())
    for model, how in itertools.product(POPULATIONS.values(), ("batch", "none")):
        law = reference.Population(model)
        w, target = rng.normal(size=(2, 3, law.features + 2))
        head = rng.normal(size=(3, 3))
        right = law.gradients(w, target, head, how)
        found = (
            reference.differences(lambda x, a=law, t=target, h=head, n=how: a.loss(x, t, h, n), w),
            reference.differences(lambda x, a=law, v=w, h=head, n=how: a.loss(v, x, h, n), target),
            reference.differences(lambda x, a=law, v=w, t=target, n=how: a.loss(v, t, x, n), head),
        )
        for one, other in zip(found, right, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-7 * (1 + np.abs(other).max()))


# ------------------------------------------------------------------------------------- Algorithm 1


@pytest.mark.parametrize("head", HEADS)
def test_one_step_is_the_reference(float64, head):
    """For every normalisation, with and without stop-gradient and a target, one way and both."""
    views = [pair[0] for pair in started()[3]]
    given, moved = Given(tuple(map(jnp.asarray, views))), set()
    for case in (case for case in EVERY if case["head"] == head):
        rule = rule_of(case)
        state = first_state(rule)
        found = numbers(rule.step(state, given, KEY))
        right = reference.step(numbers(state), views, RATES | case)
        close(found, right, 1e-8 if case["normalise"] == "none" else 1e-10)
        if head == "identity":
            np.testing.assert_array_equal(np.diag(found[1]["matrix"]), 1)
        if head == "none":
            np.testing.assert_array_equal(found[1]["matrix"], np.eye(3))
        moved.add(round(float(np.abs(found[0] - numbers(state)[0]).sum()), 9))
    # 24 settings, of which six pairs agree: with a target there is nothing more to stop. Without
    # head and stop-gradient three more: the loss is the same in both orders.
    assert len(moved) == (15 if head == "none" else 18)


@pytest.mark.parametrize("head", ["none", "identity"])
def test_decay_moves_only_what_is_trained(float64, head):
    views = [pair[0] for pair in started()[3]]
    given = Given(tuple(map(jnp.asarray, views)))
    decay = {"optimiser": "adamw", "options": {"weight_decay": 0.5}}
    rule = ls.rules.NonContrastive(rate=0.1, head_rate=0.1, head=head, **decay)
    state = first_state(rule)
    for _ in range(2):
        state = rule.step(state, given, KEY)
    matrix = np.asarray(state.memory.head["matrix"])
    np.testing.assert_array_equal(np.diag(matrix), 1)
    assert (np.abs(matrix - np.eye(len(matrix))).max() > 0) == (head == "identity")


PATHS = [
    {"head": "identity"}, {"head": "linear", "stop_gradient": False},
    {"head": "mlp", "target": "ema", "both_ways": True}, {"head": "mlp", "both_ways": True},
    {"head": "symmetric", "normalise": "l2"}, {"head": "none", "target": "ema"},
    {"head": "identity", "normalise": "l2", "both_ways": True, "stop_gradient": False},
]  # fmt: skip
DEFAULT = {"normalise": "batch", "stop_gradient": True, "target": "shared", "both_ways": False}


@quick
def path(rule, state, problem, keys):
    def step(state, key):
        state = rule.step(state, problem, key)
        return state, (state.params, state.memory.head, state.memory.target)

    return jax.lax.scan(step, state, keys)[1]


@pytest.mark.parametrize("case", PATHS, ids=word)
def test_twenty_steps_are_the_reference(float64, case):
    """From the rule's own start: SimSiam and BYOL are two of them."""
    case = DEFAULT | case
    problem, params, keys, pairs = started()
    rule = rule_of(case)
    state = rule.init(NET, problem, jax.random.key(3), params)
    found = path(rule, state, problem, keys)
    right = numbers(state)
    if case["target"] == "ema":
        np.testing.assert_array_equal(right[2], right[0])
    first = right[0]
    for t in range(STEPS):
        right = reference.step(right, [pair[t] for pair in pairs], RATES | case)
        at = jax.tree.map(lambda leaf, t=t: np.asarray(leaf[t]), found)
        target = None if at[2] is None else at[2]["filters"]
        close((at[0]["filters"], at[1], target), right, 1e-8)
    assert np.abs(right[0] - first).max() > 0.1


def test_momentum_is_kept_for_encoder_and_head(float64):
    problem, params, keys, pairs = started()
    rule = ls.rules.NonContrastive(**RATES, optimiser="sgd", options={"momentum": 0.8})
    state = rule.init(NET, problem, KEY, params)
    found = path(rule, state, problem, keys[:5])
    w, head, _ = numbers(state)
    speed, head_speed = 0.0, 0.0
    for t in range(5):
        views = [pair[t] for pair in pairs]
        slope, _, by_head = reference.gradients(w, w, head, views, DEFAULT)
        speed = 0.8 * speed + slope
        head_speed = 0.8 * head_speed + by_head["matrix"] * (1 - np.eye(3))
        w, head = w - 0.07 * speed, {"matrix": head["matrix"] - 0.05 * head_speed}
        np.testing.assert_allclose(found[0]["filters"][t], w, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found[1]["matrix"][t], head["matrix"], rtol=0, atol=1e-10)


def test_views_that_a_rule_meets_are_halves_of_a_fresh_batch():
    *_, pairs = started()
    one, other = pairs
    assert one.shape == (STEPS, 12, 6, 7)
    assert (one * other == 0).all()
    shown = [(view != 0).any(-1).sum(-1) for view in pairs]
    assert (shown[0] == 3).all() and (shown[1] == 3).all()
    assert len({round(float(x), 12) for x in np.abs(one).sum((1, 2, 3))}) == STEPS


def test_what_is_zero_stays_zero():
    z = jnp.asarray([[1.0, 0.0], [3.0, 0.0], [0.0, 0.0]])
    for how in ("batch", "l2", "none"):
        assert (np.asarray(normalised(z, how))[:, 1] == 0).all()
        slope = quick(jax.grad(lambda z, h=how: misaligned(z, z[::-1], h)))(z)
        assert np.isfinite(slope).all()
    np.testing.assert_allclose(normalised(z, "l2")[:, 0], [1, 1, 0], rtol=1e-6)
    assert (np.asarray(normalised(jnp.full((4, 1), 7.0), "batch")) == 0).all()


@pytest.mark.parametrize("how", ["batch", "l2"])
def test_small_outputs_have_finite_gradients(how):
    """Two neurons on a view without noise have such outputs in dimension 10^6: (2e-5)^3."""
    z = 1e-14 * jnp.asarray([[1.0, 2.0], [3.0, -1.0], [0.5, 0.1]])
    assert np.isfinite(quick(jax.grad(lambda z: misaligned(z, z[::-1], how)))(z)).all()


def test_heads_begin_as_they_should():
    for name in ("identity", "none", "symmetric"):
        np.testing.assert_array_equal(initial_head(name, KEY, 4, 9)["matrix"], np.eye(4))
    # The largest of n uniform numbers is below 0.9 of the bound in 0.9^n of all draws: 400 or more
    # numbers, 1 in 10^18.
    big = quick(lambda: initial_head("mlp", KEY, 25, 400))()
    linear = quick(lambda: initial_head("linear", KEY, 25, 400)["matrix"])()
    shapes = {"first": (400, 25), "first_bias": (400,), "second": (25, 400), "second_bias": (25,)}
    assert {name: value.shape for name, value in big.items()} == shapes
    for values, bound in ((big["first"], 0.2), (big["first_bias"], 0.2), (big["second"], 0.05),
                          (linear, 0.2)):  # fmt: skip
        assert 0.9 * bound < np.abs(values).max() <= bound
        assert abs(float(values.mean())) < 5 * bound / (3 * values.size) ** 0.5
    # Numbers of one head are draws of their own.
    assert len(np.unique(np.concatenate([np.ravel(v)[:25] for v in big.values()]))) == 100


# ------------------------------------------------------------------------------------- contrastive


@pytest.mark.parametrize("temperature", [0.5, 0.1])
def test_contrastive_steps_are_the_reference(float64, temperature):
    problem, params, keys, pairs = started()
    rule = ls.rules.Contrastive(rate=0.2, temperature=temperature)
    state = rule.init(NET, problem, KEY, params)

    @quick
    def walk(state):
        def step(state, key):
            state = rule.step(state, problem, key)
            return state, state.params["filters"]

        return jax.lax.scan(step, state, keys)[1]

    found, w = np.asarray(walk(state)), np.asarray(params["filters"])
    for t in range(STEPS):
        w = w - 0.2 * reference.contrastive(w, [pair[t] for pair in pairs], temperature)[1]
        np.testing.assert_allclose(found[t], w, rtol=0, atol=1e-10)
    assert np.abs(w - np.asarray(params["filters"])).max() > 0.1


# -------------------------------------------------------------------------------------- population

POPULATIONS = {
    "two features": ls.data.StrongWeak(
        dim=4, patches=4, feature_patches=2, strengths=(1.5, 1.2), noise=0.7, batch=2, test=5
    ),
    "unlike frequencies": ls.data.StrongWeak(
        dim=5, patches=6, feature_patches=3, strengths=(1.2, 1, 1.1), noise=0.6, batch=2, test=5,
        frequencies=(1, 3, 2),
    ),
    "together": ls.data.StrongWeak(
        dim=4, patches=6, feature_patches=2, strengths=(1.3, 1.1), noise=0.7, batch=2, test=5,
        together=True,
    ),
}  # fmt: skip
CLOSED = [
    {"head": head, "normalise": how, "stop_gradient": stop, "target": target}
    for head, how, stop, target in itertools.product(
        ("identity", "linear", "symmetric", "none"), ("batch", "none"), (True, False),
        ("shared", "ema"),
    )
]  # fmt: skip


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
        right = law.step(flat_numbers(state), RATES | case)
        for one, other in zip(found, right, strict=True):
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


def standard_errors(estimate, blocks, right):
    """How many standard errors, as blocks of the draws tell them, an estimate is off at most."""
    error = np.std(blocks, axis=0, ddof=1) / len(blocks) ** 0.5
    return (np.abs(estimate - right) / np.maximum(error, 1e-12)).max()


@pytest.mark.parametrize(
    ("name", "width"), [("two features", 2), ("unlike frequencies", 4), ("together", 3)]
)
def test_population_gradients_are_those_of_many_examples(float64, name, width):
    """By Monte Carlo of pairs in R^d, in NumPy. At most 36 numbers (weights, head and loss), each
    within 6 standard errors by 24 blocks: a t variable with 23 degrees of freedom exceeds that in
    4 of 10^6 draws, so 1.5 in 10^4 for a case."""
    model = POPULATIONS[name]
    rule = ls.rules.PopulationDescent(rate=1.0, head_rate=1.0, head="linear")
    problem, state = population_state(rule, model, width)
    w, head, _ = flat_numbers(state)

    @quick
    def both():
        return rule.step(state, problem, KEY), ls.probes.PopulationMoments()(state, problem)

    after, moments = both()
    after = flat_numbers(after)
    views = reference.sample(np.random.default_rng(4), model, 24 * 3000)

    def seen(views):
        matrix = {"matrix": head}
        slope, _, by_head = reference.gradients(w, w, matrix, views, DEFAULT)
        value = reference.loss(w, w, matrix, views, DEFAULT)
        return np.concatenate([slope.ravel(), by_head["matrix"].ravel(), [value]])

    pieces = [np.split(view, 24) for view in views]
    blocks = np.array([seen(pair) for pair in zip(*pieces, strict=True)])
    right = np.concatenate(
        [(w - after[0]).ravel(), (head - after[1]).ravel(), [moments["population_loss"]]]
    )
    assert standard_errors(seen(views), blocks, right) < 6
    # The errors are small, so that this says something.
    spread = np.linalg.norm(np.std(blocks, axis=0)) / 24**0.5
    assert spread < 0.05 * np.linalg.norm(right)


def test_population_descent_is_algorithm_1_with_a_large_batch(float64):
    """16 steps from one state, each with 2^15 new examples: weights and head, 28 numbers within 7
    standard errors by 16 draws (t with 15 degrees of freedom): 1 in 10^4."""
    model = POPULATIONS["unlike frequencies"].replace("batch", 2**15)
    case = {"rate": 1.0, "head_rate": 1.0}
    exact = ls.rules.PopulationDescent(**case)
    problem, state = population_state(exact, model, 4)
    right = flat_numbers(quick(lambda: exact.step(state, problem, KEY))())
    rule = ls.rules.NonContrastive(**case)
    sampled = rule.init(state.net, problem, KEY, state.params)
    sampled = eqx.tree_at(lambda s: s.memory.head, sampled, state.memory.head)

    @quick
    def steps(keys):
        def one(key):
            after = rule.step(sampled, problem, key)
            return after.params["filters"], after.memory.head["matrix"]

        return jax.lax.map(one, keys)

    for found, other in zip(steps(jax.random.split(KEY, 16)), right[:2], strict=True):
        found = np.asarray(found)
        assert standard_errors(found.mean(0), found, other) < 7


def test_a_population_in_compressed_coordinates_is_the_same():
    """The formula has only inner products: dimension 10^6 runs at the cost of any."""
    model = ls.data.StrongWeak(
        dim=10**6, patches=4, feature_patches=2, strengths=(2, 1.5), noise=0.5, batch=2, test=2
    )
    rule = ls.rules.PopulationDescent(**RATES)
    setting = ls.Experiment(data=model, net=ls.nets.PatchEncoder(width=3), rule=rule, steps=1)
    with jax.enable_x64(True):
        fixed = engine._traced(setting, np.dtype("float64"), True)
        room = engine._room(setting, "compressed")
        draw = quick(
            lambda: engine._draw_one(engine._source(fixed), np.uint32(0), "compressed", room)
        )
        problem, params = draw()
        state = rule.init(setting.net, problem, KEY, params)
        assert isinstance(way_for(rule, state, problem, 1), Plain)
        found = flat_numbers(rule.step(state, problem, KEY))
    right = reference.Population(model).step(
        flat_numbers(state), RATES | DEFAULT | {"head": "identity"}
    )
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


# ---------------------------------------------------------------------------------- any coordinates

SEEDS, ALARMS, DIM = 1500, 1e-3, 40
LAWS = {
    "one-sided": ls.rules.NonContrastive(rate=2.0, head_rate=0.1),
    "no stop-gradient": ls.rules.NonContrastive(rate=2.0, head_rate=0.1, stop_gradient=False),
    "ema, both ways": ls.rules.NonContrastive(
        rate=2.0, head_rate=0.1, target="ema", momentum=0.95, both_ways=True
    ),
    "contrastive": ls.rules.Contrastive(rate=2.0),
}
RECORDED = (0, 1, 4, 10)


def experiment(rule, dim=DIM, width=2, **data):
    given = {"patches": 4, "feature_patches": 2, "strengths": (2, 1.5), "noise": 1.0, "batch": 24}
    return ls.Experiment(
        data=ls.data.StrongWeak(dim=dim, test=5, **given | data),
        net=ls.nets.PatchEncoder(width=width), rule=rule, steps=RECORDED[-1],
        probes=[ls.probes.FeatureStrengths()],
    )  # fmt: skip


def basis_free(state, features):
    """All that inner products tell of a state: components along features, products of noise parts
    of all filters there are, and the head."""
    rows = [state.params["filters"], state.start["filters"]]
    head = jnp.zeros((0,))
    if hasattr(state.memory, "head"):
        head = state.memory.head["matrix"][~np.eye(2, dtype=bool)]
        rows += [] if state.memory.target is None else [state.memory.target["filters"]]
    rows = jnp.concatenate(rows)
    noise = rows[:, features:]
    products = (noise @ noise.T)[np.tril_indices(len(rows))]
    return jnp.concatenate([rows[:, :features].ravel(), products, head])


def simulate(name, how, first, dims):
    """Runs as the engine takes them, at the recorded steps: dim, seed, step, number."""
    setting = experiment(LAWS[name])
    fixed = engine._traced(setting, np.dtype("float32"), how == "compressed")
    room = engine._room(setting, how)

    def walk(seeds, dim):
        def one(seed):
            here = fixed
            if how == "compressed":
                here = engine._with(fixed, {"data.dim": dim})
            problem, params = engine._draw_one(engine._source(here), seed, how, room)
            state = engine._start_one(here, seed, problem, params).state
            way = way_for(here.rule, state, problem, 1)
            assert isinstance(way, Turning if how == "compressed" else Plain)

            def step(state, t):
                state = way.step(state, t, jax.random.fold_in(engine._key(seed, "training"), t))
                return state, basis_free(state, 2)

            later = jax.lax.scan(step, state, jnp.arange(RECORDED[-1]))[1]
            return jnp.concatenate([basis_free(state, 2)[None], later])[np.array(RECORDED)]

        return jax.vmap(one)(seeds)

    walk = quick(walk, 0 if how == "compressed" else 1)  # ambient runs take longer
    seeds = jnp.arange(first, first + SEEDS, dtype=jnp.uint32)
    return [np.asarray(walk(seeds, jnp.asarray(float(dim)))) for dim in dims]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name != "ema, both ways")) for name in LAWS],
)
def test_compressed_runs_have_the_ambient_law(name):
    """By two-sample Kolmogorov-Smirnov tests of every number that inner products give, at four
    times: one false alarm in 1000 choices of seeds for all of a rule's tests together (Bonferroni).
    A dimension of 50 instead of 40 would be told, and 10^6 is the same program."""
    right, wrong, high = simulate(name, "compressed", 0, [DIM, 50, 10**6])
    (ambient,) = simulate(name, "ambient", SEEDS, [DIM])

    def p_values(one):
        return np.array([
            stats.ks_2samp(one[:, t, k], ambient[:, t, k]).pvalue
            for t in range(len(RECORDED))
            for k in range(one.shape[2])
            if np.ptp(ambient[:, t, k]) > 0  # the head is the identity before the first step
        ])  # fmt: skip

    assert all(np.isfinite(runs).all() for runs in (right, wrong, ambient))
    if name != "contrastive":  # see `test_small_outputs_have_finite_gradients`
        assert np.isfinite(high).all()
    found = p_values(right)
    assert len(found) > 60
    assert found.min() > ALARMS / len(found), np.sort(found)[:5]
    # The power of it.
    rejected = p_values(wrong) < ALARMS / len(found)
    assert rejected.sum() >= 3, np.sort(p_values(wrong))[:8]


def test_turning_keeps_all_inner_products_and_takes_the_first_coordinates():
    rule = LAWS["ema, both ways"]
    setting = experiment(rule)
    with jax.enable_x64(True):
        fixed = engine._traced(setting, np.dtype("float64"), True)
        room = engine._room(setting, "compressed")

        @quick
        def start():
            problem, params = engine._draw_one(
                engine._source(fixed), np.uint32(5), "compressed", room
            )
            return problem, engine._start_one(fixed, np.uint32(5), problem, params).state

        @quick
        def both(problem, state, t):
            key = jax.random.fold_in(KEY, t)
            plain = fixed.rule.step(state, problem, key)
            return plain, Turning(fixed.rule, problem).step(state, t, key)

        problem, turned = start()
        width = eqx.filter_eval_shape(problem.batch, KEY).x[0].values.shape[-1]
        for t in range(4):
            plain, turned = both(problem, turned, jnp.asarray(t))
            np.testing.assert_allclose(basis_free(plain, 2), basis_free(turned, 2), atol=1e-12)
            assert turned.step == plain.step
            filters = turned.params["filters"]
            assert filters.shape == (2, 2 + 5 * 2)
            assert (np.abs(plain.params["filters"][:, 8:]) > 1e-6).any()  # it had left the span
            target = turned.memory.target["filters"]
            for rows, used in ((filters, 4), (target, 6), (turned.start["filters"], 8)):
                np.testing.assert_allclose(rows[:, used:], 0, atol=1e-14)
            # Fresh patches have all coordinates of what they meet.
            assert (np.abs(target[:, 4:]) > 1e-6).any()
            np.testing.assert_allclose(target[:, width:], 0, atol=1e-14)


def test_the_cost_does_not_depend_on_the_dimension():
    shapes = []
    for dim in (100, 10**6):
        problem, carry, _ = engine._shapes(
            experiment(LAWS["one-sided"], dim), "compressed", "float32"
        )
        batch = eqx.filter_eval_shape(lambda p: p.batch(jax.random.key(0)), problem)
        shapes.append([leaf.shape for leaf in jax.tree.leaves((problem, carry, batch))])
    assert shapes[0] == shapes[1]
    assert max(math.prod(shape) for shape in shapes[0]) < 1000


@pytest.mark.slow
def test_byol_runs_in_any_dimension():
    """SimSiam with a target network, in one program for both dimensions, as a sweep."""
    rule = ls.rules.NonContrastive(
        rate=0.05, head_rate=0.05, head="mlp", hidden=8, both_ways=True, target="ema"
    )
    setting = experiment(rule, 100, batch=8)
    probes = [ls.probes.FeatureStrengths(), ls.probes.PairLoss()]
    setting = ls.Experiment(setting.data, setting.net, rule, steps=20, probes=probes)
    result = ls.run(setting, {"data.dim": [100, 10**6]}, seeds=2, progress=False)
    assert result.attrs["coordinates_used"] == "compressed"
    assert not result.diverged_at.notnull().any()
    assert np.isfinite(result.strength).all() and np.isfinite(result.pair_loss).all()
    moved = abs(result.noise_norm.isel(step=-1) - result.noise_norm.isel(step=0))
    assert (moved > 1e-3).all()


def test_patches_have_no_coordinates_beyond_the_dimension():
    setting = experiment(LAWS["one-sided"], dim=4, width=8)
    if Plan.of(setting, None, 1, "auto", "float32").coordinates == "compressed":
        fixed = engine._traced(setting, np.dtype("float32"), True)
        room = engine._room(setting, "compressed")

        @quick
        def draw():
            source = engine._source(fixed)
            problem, _ = engine._draw_one(source, np.uint32(0), "compressed", room)
            return problem.batch(KEY).x[0].values

        assert (np.asarray(draw())[..., 4:] == 0).all()


# ---------------------------------------------------------------------------------- what is refused


def refused(setting, words, **more):
    with pytest.raises(ls.BadInput, match=words) as caught:
        ls.run(setting, progress=False, **more)
    assert str(caught.value).endswith(".")


def with_rule(**given):
    return experiment(ls.rules.NonContrastive(rate=0.1, head_rate=0.1, **given))


def test_coordinates_that_are_not_possible():
    refused(with_rule(), "coordinates = 'rotate' is not possible: every step draws new vectors",
            coordinates="rotate")  # fmt: skip
    adam = with_rule(optimiser="adam")
    momentum = with_rule(options={"momentum": 0.9})
    refused(adam, "the optimiser adam treats coordinates one by one", coordinates="compressed")
    refused(momentum, "the optimiser sgd with options .*momentum.* remembers vectors of earlier "
            "steps", coordinates="compressed")  # fmt: skip
    uniform = with_rule().replace("data.noise_law", "uniform")
    refused(uniform, "StrongWeak draws vectors that leave any fixed span", coordinates="compressed")
    plain = with_rule().replace("rule", ls.rules.GradientDescent(rate=0.1))
    refused(plain, "GradientDescent may meet a fresh example twice", coordinates="compressed")
    contrastive = experiment(ls.rules.Contrastive(rate=0.1, options={"momentum": 0.9}))
    refused(contrastive, "remembers vectors", coordinates="compressed")
    for setting in (adam, momentum, uniform, plain, contrastive):
        assert Plan.of(setting, None, 1, "auto", "float32").coordinates == "ambient"
    for name in LAWS:
        assert (
            Plan.of(experiment(LAWS[name]), None, 1, "auto", "float32").coordinates == "compressed"
        )


POPULATION = ls.rules.PopulationDescent(rate=0.1, head_rate=0.1)


def test_populations_that_are_not_known():
    words = "PopulationDescent needs the net PatchEncoder with activation = 'cubic'"
    setting = experiment(POPULATION)
    refused(setting.replace("net.activation", "relu"), words)
    refused(setting.replace("net", ls.nets.PatchCNN(width=2)), words)
    words = "need the data model StrongWeak with Gaussian noise"
    refused(setting.replace("data.noise_law", "uniform"), words)
    other = ls.data.SignalNoise(dim=40, train=4, test=4, signal=1, noise=1)
    refused(setting.replace("data", other), words)


def test_data_without_views():
    other = ls.data.SignalNoise(dim=40, train=4, test=4, signal=1, noise=1)
    setting = with_rule().replace("data", other).replace("probes", [ls.probes.NeuronCorrelation()])
    refused(setting, "the data model has no positive pairs")


@pytest.mark.parametrize(
    ("rule", "field", "value"),
    [(POPULATION, "head", "mlp"), (POPULATION, "normalise", "l2"), (POPULATION, "target", "own"),
     (LAWS["one-sided"], "head", "quadratic"), (LAWS["one-sided"], "normalise", "layer"),
     (LAWS["one-sided"], "stop_gradient", "no"), (LAWS["one-sided"], "momentum", 1.5),
     (LAWS["one-sided"], "rate", 0.0), (LAWS["one-sided"], "head_rate", -1.0),
     (LAWS["one-sided"], "hidden", 0), (LAWS["one-sided"], "optimiser", "none_such"),
     (LAWS["contrastive"], "temperature", 0.0), (LAWS["contrastive"], "rate", math.nan)],
)  # fmt: skip
def test_bad_fields_are_refused(rule, field, value):
    with pytest.raises(ls.BadInput, match=rf"^{type(rule).__name__}\.{field} = ") as caught:
        rule.replace(field, value)
    assert str(caught.value).endswith(".")


def test_overlaps_are_one_a_neuron_and_feature():
    setting = experiment(POPULATION).replace("net.overlaps", (1, 2, 3))
    refused(setting, r"PatchEncoder\.overlaps has 3 entries, which is not allowed: it must have "
            r"width = 2 times 2")  # fmt: skip


@pytest.mark.parametrize("compressed", [False, True])
def test_overlaps_fix_sizes_and_leave_signs_free(compressed):
    setting = experiment(POPULATION).replace("net.overlaps", (2, 1, 0.5, 1.3))
    how = "compressed" if compressed else "ambient"
    room = engine._room(setting, how)

    @quick
    def draw(seeds):
        return jax.vmap(
            lambda seed: engine._draw_one(engine._source(setting), seed, how, room)[1]["filters"]
        )(seeds)

    found = np.asarray(draw(jnp.arange(400, dtype=jnp.uint32)))
    sizes = np.array([[2, 1], [0.5, 1.3]]) / DIM**0.5
    np.testing.assert_allclose(
        np.abs(found[..., :2]), np.broadcast_to(sizes, (400, 2, 2)), rtol=1e-6
    )
    codes = (found[..., :2] > 0).reshape(400, 4) @ 2 ** np.arange(4)
    assert stats.chisquare(np.bincount(codes, minlength=16)).pvalue > 1e-5
    norms = (found[..., 2:] ** 2).sum(-1) * DIM
    assert stats.kstest(norms[:, 0], stats.chi2(DIM - 2).cdf).pvalue > 1e-5


class OwnTarget(AbstractRule):
    """A rule that draws a second network, as a target that is not a copy would be."""

    loss: str = ls.part.choice("pairs", default="pairs")

    @property
    def basis_dependence(self):
        return None

    def prepare(self, net, params, problem, key):
        return net.init(key, problem)

    def step(self, state, problem, key):
        return state.advance(state.params, state.memory)


def test_what_a_rule_draws_is_independent_of_the_initial_weights():
    setting = experiment(OwnTarget())

    @quick
    def draw(seed):
        problem, params = engine._draw_one(engine._source(setting), seed, "ambient", None)
        return engine._start_one(setting, seed, problem, params).state

    state = draw(np.uint32(1))
    assert not issubclass(OwnTarget, AbstractPairRule)
    assert np.abs(state.params["filters"] - state.memory["filters"]).min() > 0


# ---------------------------------------------------------------------------------------- Figure 7


@pytest.mark.slow
def test_figure_7():
    """With a head both features are learnt, without one both neurons learn the strong one: in each
    of ten seeds. The off-diagonal rises and falls."""
    setting = ls.Experiment(
        data=ls.data.StrongWeak(
            dim=20, patches=16, feature_patches=4, strengths=(3, 2), noise=1, batch=1024, test=1000
        ),
        net=ls.nets.PatchEncoder(width=2, overlaps=(2, 1, 1, 1.3)),
        rule=ls.rules.NonContrastive(rate=0.05, head_rate=0.05),
        steps=1500,
        probes=[
            ls.probes.FeatureStrengths(), ls.probes.FeatureShares(), ls.probes.NeuronCorrelation(),
            ls.probes.HeadOffDiagonal(),
        ],
        record=ls.Record(every=50),
    )  # fmt: skip
    kinds = ls.zipped({"rule.head": ["identity", "none"]}, name="kind")
    result = ls.run(setting, kinds, seeds=10, progress=False)
    assert result.attrs["coordinates_used"] == "compressed"
    head, none = (result.sel(kind=name) for name in ("identity", "none"))
    np.testing.assert_allclose(head.strength.isel(step=0), none.strength.isel(step=0))
    np.testing.assert_allclose(
        abs(head.strength.isel(step=0, seed=0)) * 20**0.5, [[2, 1], [1, 1.3]], rtol=1e-5
    )
    last = none.isel(step=-1)
    assert (abs(last.strength).argmax("feature") == 0).all(), abs(last.strength).values
    assert (last.share.isel(feature=0) > 0.9).all()
    assert (abs(last.correlation.isel(neuron=0, other_neuron=1)) > 0.99).all()
    assert (last.effective_rank < 1.1).all()
    assert (none.head_norm == 0).all()

    last = head.isel(step=-1)
    assert (abs(last.strength).argmax("feature") == [0, 1]).all(), abs(last.strength).values
    assert (last.share.isel(neuron=0, feature=0) > 0.9).all()
    assert (last.share.isel(neuron=1, feature=1) > 0.9).all()
    assert (abs(last.correlation.isel(neuron=0, other_neuron=1)) < 0.3).all()
    assert (last.effective_rank > 1.9).all()
    highest = head.head_norm.max("step")
    assert (highest > 0.1).all() and (last.head_norm < 0.1 * highest).all()
