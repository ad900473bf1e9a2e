"""Gradient penalties: two implementations, the objective written out, and the NumPy reference."""

import dataclasses
import functools
import itertools
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Problem, Samples
from learnscope.nets import AbstractInnerProductNet
from learnscope.rules import WeightState
from learnscope.rules import examples as module
from learnscope.space import Frame
from tests import small
from tests.reference import pegr

WIDTH, DIM, COUNT, WEIGHT = 3, 7, 5, 0.3
POWER, THRESHOLD = 2.5, 0.5
# The activations as textbooks write them: not the library's own formulas.
ACTIVATIONS = {
    "relu": lambda z: jnp.maximum(z, 0),
    "relu2": lambda z: jnp.maximum(z, 0) ** 2,
    "relu_power": lambda z: jnp.where(z > 0, jnp.abs(z) ** POWER, 0),
    "huberised": lambda z: jnp.where(
        z < THRESHOLD, jnp.maximum(z, 0) ** 2 / (2 * THRESHOLD), z - THRESHOLD / 2
    ),
    "cubic": lambda z: z**3,
    "truncated": lambda z: jnp.clip(z, 0, 1),
}


def output(filters, patches, activation, second_layer, classes):
    """F_1 - F_2, or (F_1, ..., F_K), of one example with patches (patch, dim)."""
    scale = 1 / WIDTH if second_layer == "mean" else 1.0
    total = ACTIVATIONS[activation](filters @ patches.T).sum(1)
    parts = [scale * total[k * WIDTH : (k + 1) * WIDTH].sum() for k in range(classes)]
    return parts[0] - parts[1] if classes == 2 else jnp.stack(parts)


def example_loss(filters, patches, label, *how):
    found = output(filters, patches, *how)
    if found.ndim == 0:
        return jnp.log1p(jnp.exp(-label * found))
    return -jax.nn.log_softmax(found)[label]


def mean_loss(filters, patches, labels, *how):
    return jnp.mean(jax.vmap(lambda x, y: example_loss(filters, x, y, *how))(patches, labels))


def per_example_objective(filters, patches, labels, factor, *how):
    """L + factor / n sum_i ||grad l_i||^2, written out."""
    own = jax.vmap(lambda x, y: jax.grad(example_loss)(filters, x, y, *how))(patches, labels)
    return mean_loss(filters, patches, labels, *how) + factor * jnp.sum(own**2) / len(labels)


def full_objective(filters, patches, labels, factor, *how):
    """L + factor ||grad L||^2, written out."""
    slope = jax.grad(mean_loss)(filters, patches, labels, *how)
    return mean_loss(filters, patches, labels, *how) + factor * jnp.sum(slope**2)


def mean_objective(filters, patches, labels, factor, *how):
    return mean_loss(filters, patches, labels, *how)


OBJECTIVES = {"PerExamplePenalty": per_example_objective, "FullPenalty": full_objective}


class Patches(eqx.Module):
    """The same network as a user's own module, for one example."""

    filters: jax.Array
    how: tuple = eqx.field(static=True)

    def __call__(self, x):
        return output(self.filters, padded(x), *self.how)


def padded(x):
    """Patches of one example (patch, dim) from an array or from a tuple of groups cut short."""
    groups = [jnp.atleast_2d(leaf) for leaf in jax.tree.leaves(x)]
    return jnp.concatenate([jnp.pad(g, ((0, 0), (0, DIM - g.shape[-1]))) for g in groups])


def draw(layout, classes, seed=0):
    """Filters, and examples whose patches overlap in every way."""
    random = np.random.default_rng(seed)
    filters = jnp.asarray(0.6 * random.normal(size=(classes * WIDTH, DIM)))
    labels = np.arange(COUNT) % classes
    labels = jnp.asarray(1.0 - 2.0 * labels if classes == 2 else labels)
    x = jnp.asarray(random.normal(size=(COUNT, 3, DIM)))
    if layout == "signal":  # Definition 2.1: the signal's own coordinate is free of noise
        x = jnp.stack([jnp.zeros((COUNT, DIM)).at[:, 0].set(1 - 2.0 * labels), x[:, 0]], axis=1)
        x = x.at[:, 1, 0].set(0.0)
    elif layout == "tuple":  # one coordinate wide, a patch cut short, two patches in full
        x = (x[:, 0, :1], x[:, 1, :4], x[:, 1:])
    return filters, Samples(x, labels)


def nets(how):
    """The library's network, and the same as any Equinox module."""
    named = dict(zip(("activation", "second_layer", "classes"), how, strict=True))
    fast = ls.nets.PatchCNN(width=WIDTH, power=POWER, threshold=THRESHOLD, **named)
    empty = jnp.zeros((how[2] * WIDTH, DIM))
    return fast, ls.nets.Model(lambda key: Patches(empty, how))


def expected(objective, filters, samples, factor, how):
    """The gradient of an objective, by reverse over reverse differentiation."""
    return jax.grad(objective)(filters, jax.vmap(padded)(samples.x), samples.y, factor, *how)


def gradient_of(rule, net, params, samples, step=0):
    problem = Problem(samples, samples, {}, Frame.of_dimension(DIM))
    state = rule.init(net, problem, jax.random.key(0), params)
    state = dataclasses.replace(state, step=jnp.asarray(step))
    return rule.gradient(state, problem, jax.random.key(1))


def error(found, right):
    return float(jnp.abs(found - right).max() / jnp.abs(right).max())


def penalised_gradient(net, params, samples, loss, weight):
    state = WeightState(
        net=net, params=params, start=params, memory=None, step=jnp.zeros((), int), loss=loss
    )
    return module.penalised(state, samples, weight)


# Each program runs once: not worth optimising.
quick = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
LAYOUTS = itertools.cycle([("array", "mean"), ("tuple", "sum")])
CASES = [(how, (name, scale, 2)) for name, (how, scale) in zip(ACTIVATIONS, LAYOUTS, strict=False)]
CASES += [("tuple", ("relu2", "sum", 2)), ("array", ("huberised", "mean", 2))]
CASES += [("array", ("relu2", "mean", 3)), ("tuple", ("huberised", "sum", 3))]
CASES += [("signal", ("relu2", "sum", 2))]


@pytest.mark.parametrize(("layout", "how"), CASES, ids=str)
def test_three_ways_to_a_penalised_gradient(float64, layout, how):
    filters, samples = draw(layout, how[2])
    fast, generic = nets(how)
    assert isinstance(fast, AbstractInnerProductNet)
    assert not isinstance(generic, AbstractInnerProductNet)
    rules = {kind: getattr(ls.rules, kind)(rate=0.1, weight=WEIGHT) for kind in OBJECTIVES}

    @quick
    def ways(filters):
        found = {"plain": expected(mean_objective, filters, samples, 0.0, how)}
        for kind, objective in OBJECTIVES.items():
            own = gradient_of(rules[kind], fast, {"filters": filters}, samples)
            any_net = gradient_of(rules[kind], generic, Patches(filters, how), samples)
            right = expected(objective, filters, samples, WEIGHT / 2, how)
            found[kind] = right, own["filters"], any_net.filters
        return found

    found = ways(filters)
    for kind in OBJECTIVES:
        right, own, any_net = found[kind]
        assert error(own, right) < 1e-12
        assert error(any_net, right) < 1e-12
        # The penalty is there to be seen.
        assert error(found["plain"], right) > 1e-3


class _Weighted(AbstractInnerProductNet):
    """A net that also trains its second layer: parameters beside the filters."""

    rows: ClassVar = 2 * WIDTH
    isotropic: ClassVar = True

    def init(self, key, problem):
        raise NotImplementedError

    def read(self, params, seen):
        return params["second"] @ sum(jnp.tanh(z).reshape(*z.shape[:2], -1).sum(-1) for z in seen)


@pytest.mark.parametrize("layout", ["array", "tuple"])
def test_the_fast_path_follows_other_parameters(float64, layout):
    filters, samples = draw(layout, 2)
    second = jnp.asarray(np.random.default_rng(3).normal(size=2 * WIDTH))
    params, net = {"filters": filters, "second": second}, _Weighted()

    def objective(params):
        def one(i, p):
            z = p["filters"] @ padded(jax.tree.map(lambda leaf: leaf[i], samples.x)).T
            return jnp.log1p(jnp.exp(-samples.y[i] * (p["second"] @ jnp.tanh(z).sum(1))))

        total = 0.0
        for i in range(COUNT):
            slope = jax.grad(functools.partial(one, i))(params)
            square = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(slope))
            total += (one(i, params) + WEIGHT / 2 * square) / COUNT
        return total

    given = (net, params, samples, "logistic", WEIGHT)
    found = quick(penalised_gradient, static_argnums=(0, 3))(*given)
    right = quick(jax.grad(objective))(params)
    for name in params:
        assert error(found[name], right[name]) < 1e-12


@functools.cache
def written(kind):
    """The gradient of an objective at one point, written out, as a function of the factor."""
    given, how = draw("array", 2), ("relu2", "mean", 2)
    return quick(lambda factor: expected(OBJECTIVES[kind], *given, factor, how))


def penalised(kind, factor):
    return written(kind)(factor)


@functools.cache
def ruled(kind, half):
    """The gradient of a rule at that point, as a function of `until` and the step."""
    filters, samples = draw("array", 2)
    net = nets(("relu2", "mean", 2))[0]

    @quick
    def gradient(until, step):
        rule = getattr(ls.rules, kind)(rate=0.1, weight=WEIGHT, until=until, half=half)
        return gradient_of(rule, net, {"filters": filters}, samples, step)["filters"]

    return gradient


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_the_convention_is_half_or_all_of_the_weight(float64, kind, half):
    right = penalised(kind, WEIGHT / 2 if half else WEIGHT)
    assert error(ruled(kind, half)(jnp.inf, 0), right) < 1e-12
    assert error(ruled(kind, not half)(jnp.inf, 0), right) > 1e-3


UNTIL = [(3.0, 2, True), (3.0, 3, False), (2.5, 2, True), (2.5, 3, False)]
UNTIL += [(0.0, 0, False), (float("inf"), 10**6, True)]


@pytest.mark.parametrize(("until", "step", "acts"), UNTIL)
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_the_penalty_acts_before_until_only(float64, kind, until, step, acts):
    right = penalised(kind, WEIGHT / 2 if acts else 0.0)
    assert error(ruled(kind, True)(until, step), right) < 1e-12


STEPS = 200
SETTING = {"rate": 0.1, "weight": 0.1, "until": 120}
KINDS = {"per_example": ls.rules.PerExamplePenalty, "full": ls.rules.FullPenalty}
RULES = {("gradient_descent", True): ls.rules.GradientDescent(rate=SETTING["rate"])}
for _name, _kind in KINDS.items():
    RULES |= {(_name, half): _kind(**SETTING, half=half) for half in (True, False)}


def trained(kind, half, steps):
    """Filters of the library along a run in ambient float64, and those of the reference."""
    data = {"dim": 40, "train": 8, "test": 1, "noise": 0.4}
    net = {"width": 4, "scale": 0.1, "second_layer": "sum"}
    setting = small.experiment(RULES[kind, half], steps, 10, [small.Watched()], data, net)
    result = small.run(setting, coordinates="ambient", precision="float64").isel(seed=0)
    assert np.isnan(result.diverged_at)
    data = [result[name].isel(step=0).values for name in ("signal", "noise", "labels")]
    start = result.filters.isel(step=0).values
    more = (SETTING["rate"], SETTING["weight"], SETTING["until"], half, "sum", steps)
    return result.filters.values, pegr.train(start, *data, kind, *more)[::10]


def largest(difference):
    return float(np.abs(difference).max())


# `test_span.py` has the other second layer, and more rules.
@pytest.mark.parametrize(("kind", "half"), RULES, ids=str)
def test_trajectories_are_those_of_the_reference(kind, half):
    found, right = trained(kind, half, STEPS)
    assert found.shape == (STEPS // 10 + 1, 8, 40)
    assert largest(right[-1] - right[0]) > 0.1
    assert largest(found - right) < 1e-10


# A comparison that cannot fail proves nothing: three slips, each of which it must see. Programs are
# cached by what they depend on, and `steps` is part of that: 150 is used under mutations only.


# The wrong sign; and no factor 2 of a square's derivative.
@pytest.mark.parametrize(
    ("kind", "half", "slip"), [("per_example", True, -1), ("full", False, 0.5)]
)
def test_a_wrong_penalty_is_seen(monkeypatch, kind, half, slip):
    for rule in (ls.rules.PerExamplePenalty, ls.rules.FullPenalty):
        wrong = lambda self, state, batch, weight, right=rule.penalised: right(  # noqa: E731
            self, state, batch, slip * weight
        )
        monkeypatch.setattr(rule, "penalised", wrong)
    found, right = trained(kind, half, 150)
    assert largest(found - right) > 1e-3


def test_a_wrong_step_is_seen(monkeypatch):
    right_gradient = ls.rules.GradientDescent.gradient

    def gradient(self, state, problem, key):
        return jax.tree.map(lambda leaf: leaf / 2, right_gradient(self, state, problem, key))

    monkeypatch.setattr(ls.rules.GradientDescent, "gradient", gradient)
    found, right = trained("gradient_descent", True, 150)
    assert largest(found - right) > 1e-3


def test_a_wrong_product_is_seen(float64, monkeypatch):
    filters, samples = draw("array", 2)
    net, product = nets(("relu2", "mean", 2))[0], module._moved_by

    def gradient(filters):
        return penalised_gradient(net, {"filters": filters}, samples, "logistic", WEIGHT)["filters"]

    def slipped(filters, slip):
        wrong = lambda *given: jax.tree.map(lambda leaf: slip * leaf, product(*given))  # noqa: E731
        monkeypatch.setattr(module, "_moved_by", wrong)
        return gradient(filters)

    right = penalised("PerExamplePenalty", WEIGHT / 2)
    assert error(quick(gradient)(filters), right) < 1e-12
    slipped = quick(slipped)
    assert error(slipped(filters, 1.0), right) < 1e-12  # the slip is all that is wrong
    for slip in (-1.0, 0.5):
        assert error(slipped(filters, slip), right) > 1e-3
