"""Rules on pairs of views against NumPy: Algorithm 1 with its variants, and the contrastive loss.

Wen and Li (2022), equations 1.1, 2.1, 3.1-3.3; in float64.
"""

import functools
import itertools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.rules.heads import initial_head
from learnscope.rules.siamese import misaligned, normalised
from tests.reference import pairs as reference
from tests.rules.pair_steps import DEFAULT, KEY, POPULATIONS, RATES, STEPS, numbers, path, word
from tests.small import quick, strong_weak

DATA = strong_weak(7, patches=6, feature_patches=2, strengths=(2, 1.5), noise=0.8, batch=12)
NET = ls.nets.PatchEncoder(width=3)
HEADS = ("identity", "linear", "mlp", "symmetric", "none")
CHOICES = {
    "head": HEADS,
    "normalise": ("batch", "l2", "none"),
    "stop_gradient": (True, False),
    "target": ("shared", "ema"),
    "both_ways": (False, True),
}
EVERY = [dict(zip(CHOICES, case, strict=True)) for case in itertools.product(*CHOICES.values())]


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


def close(found, right, tolerance):
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(right), strict=True):
        assert np.abs(one - other).max() <= tolerance * max(1.0, np.abs(other).max())


def agree(function, points, slopes, tolerance):
    """Gradients by every one of some points are what differences give."""
    for i, slope in enumerate(slopes):
        at = lambda x, i=i: function(*points[:i], x, *points[i + 1 :])  # noqa: E731
        found = reference.differences(at, points[i])
        np.testing.assert_allclose(found, slope, rtol=0, atol=tolerance * (1 + np.abs(slope).max()))


def test_the_reference_has_the_gradients_that_differences_give():
    rng, views = np.random.default_rng(0), [pair[0] for pair in started()[3]]
    w, target = rng.normal(size=(2, 3, 7))
    heads = {"matrix": rng.normal(size=(3, 3))}, {
        "first": rng.normal(size=(4, 3)), "first_bias": rng.normal(size=4),
        "second": rng.normal(size=(3, 4)), "second_bias": rng.normal(size=3),
    }  # fmt: skip
    for how, both, head in itertools.product(("batch", "l2", "none"), (False, True), heads):
        rule = {"normalise": how, "both_ways": both}
        by_w, by_target, by_head = reference.gradients(w, target, head, views, rule)
        loss = lambda w, t, *parts, h=head, r=rule: reference.loss(  # noqa: E731
            w, t, dict(zip(h, parts, strict=True)), views, r
        )
        points = (w, target, *head.values())
        agree(loss, points, (by_w, by_target, *by_head.values()), 1e-6)
    slope = reference.contrastive(w, views, 0.3)[1]
    agree(lambda w: reference.contrastive(w, views, 0.3)[0], (w,), (slope,), 1e-6)
    for model, how in itertools.product(POPULATIONS.values(), ("batch", "none")):
        law = reference.Population(model)
        points = (*rng.normal(size=(2, 3, law.features + 2)), rng.normal(size=(3, 3)))
        loss = lambda *at, law=law, how=how: law.loss(*at, how)  # noqa: E731
        agree(loss, points, law.gradients(*points, how), 1e-7)


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
    given = Given(tuple(map(jnp.asarray, [pair[0] for pair in started()[3]])))
    decay = {"optimiser": "adamw", "options": {"weight_decay": 0.5}}
    rule = ls.rules.NonContrastive(rate=0.1, head_rate=0.1, head=head, **decay)
    state = first_state(rule)
    for _ in range(2):
        state = rule.step(state, given, KEY)
    matrix = np.asarray(state.memory.head["matrix"])
    np.testing.assert_array_equal(np.diag(matrix), 1)
    assert (np.abs(matrix - np.eye(len(matrix))).max() > 0) == (head == "identity")


# Single steps are compared above in every setting; paths, where memory differs.
PATHS = [
    {"head": "identity"}, {"head": "mlp", "target": "ema", "both_ways": True},
    {"head": "symmetric", "normalise": "l2", "stop_gradient": False},
    {"head": "none", "target": "ema"},
]  # fmt: skip


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
        slope, _, by_head = reference.gradients(w, w, head, [pair[t] for pair in pairs], DEFAULT)
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
        assert np.isfinite(quick(jax.grad(lambda z, h=how: misaligned(z, z[::-1], h)))(z)).all()
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


@pytest.mark.parametrize("temperature", [0.5, 0.1])
def test_contrastive_steps_are_the_reference(float64, temperature):
    problem, params, keys, pairs = started()
    rule = jax.tree.map(jnp.asarray, ls.rules.Contrastive(rate=0.2, temperature=temperature))
    found = path(rule, rule.init(NET, problem, KEY, params), problem, keys)[0]["filters"]
    first = w = np.asarray(params["filters"])
    for t in range(STEPS):
        w = w - 0.2 * reference.contrastive(w, [pair[t] for pair in pairs], temperature)[1]
        np.testing.assert_allclose(found[t], w, rtol=0, atol=1e-10)
    assert np.abs(w - first).max() > 0.1
