"""Gradient penalties: two implementations, the objective written out, and the NumPy reference."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.data import Frame, Problem, Samples
from learnscope.nets import AbstractInnerProductNet
from learnscope.probes import AbstractProbe, Output
from learnscope.rules import AbstractPenalty, penalised_gradient
from learnscope.rules import per_example_penalty as module
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
    each = [example_loss(filters, x, y, *how) for x, y in zip(patches, labels, strict=True)]
    return sum(each) / len(each)


def per_example_objective(filters, patches, labels, factor, *how):
    """L + factor / n sum_i ||grad l_i||^2, written out."""
    pairs = list(zip(patches, labels, strict=True))
    squares = [jnp.sum(jax.grad(example_loss)(filters, x, y, *how) ** 2) for x, y in pairs]
    return mean_loss(filters, patches, labels, *how) + factor * sum(squares) / len(squares)


def full_objective(filters, patches, labels, factor, *how):
    """L + factor ||grad L||^2, written out."""
    slope = jax.grad(mean_loss)(filters, patches, labels, *how)
    return mean_loss(filters, patches, labels, *how) + factor * jnp.sum(slope**2)


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
    activation, second_layer, classes = how
    fast = ls.nets.PatchCNN(
        width=WIDTH,
        activation=activation,
        second_layer=second_layer,
        classes=classes,
        power=POWER,
        threshold=THRESHOLD,
    )
    empty = jnp.zeros((classes * WIDTH, DIM))
    return fast, ls.nets.Model(lambda key: Patches(empty, how))


def expected(objective, filters, samples, factor, how):
    patches = [padded(jax.tree.map(lambda leaf, i=i: leaf[i], samples.x)) for i in range(COUNT)]
    return jax.grad(objective)(filters, patches, list(samples.y), factor, *how)


def error(found, right):
    return float(jnp.abs(found - right).max() / jnp.abs(right).max())


LAYOUTS = ("array", "signal", "tuple")
EVERY = [(name, second, 2) for name in ACTIVATIONS for second in ("mean", "sum")]
EVERY += [("relu2", "mean", 3), ("huberised", "sum", 3), ("cubic", "mean", 3)]


@pytest.mark.parametrize("how", EVERY, ids=lambda how: "-".join(map(str, how)))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_three_ways_to_the_penalised_gradient(float64, layout, how):
    filters, samples = draw(layout, how[2])
    right = expected(per_example_objective, filters, samples, WEIGHT / 2, how)
    fast, generic = nets(how)
    own = penalised_gradient(fast, {"filters": filters}, samples, "logistic", WEIGHT)
    any_net = penalised_gradient(generic, Patches(filters, how), samples, "logistic", WEIGHT)
    assert penalised_gradient.dispatch(type(fast)) is not penalised_gradient.dispatch(type(generic))
    assert error(own["filters"], right) < 1e-12
    assert error(any_net.filters, right) < 1e-12
    # The penalty is there to be seen.
    plain = expected(per_example_objective, filters, samples, 0.0, how)
    assert error(plain, right) > 1e-3


def gradient_of(rule, net, params, samples, step=0):
    problem = Problem(samples, samples, {}, Frame.of_dimension(DIM))
    state = rule.init(net, problem, jax.random.key(0), params)
    state = dataclasses.replace(state, step=jnp.asarray(step))
    return rule.gradient(state, problem, jax.random.key(1))


@pytest.mark.parametrize("how", EVERY, ids=lambda how: "-".join(map(str, how)))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_three_ways_to_the_full_penalty(float64, layout, how):
    filters, samples = draw(layout, how[2])
    right = expected(full_objective, filters, samples, WEIGHT / 2, how)
    fast, generic = nets(how)
    rule = ls.rules.FullPenalty(rate=0.1, weight=WEIGHT)
    own = gradient_of(rule, fast, {"filters": filters}, samples)
    any_net = gradient_of(rule, generic, Patches(filters, how), samples)
    assert error(own["filters"], right) < 1e-12
    assert error(any_net.filters, right) < 1e-12
    plain = expected(full_objective, filters, samples, 0.0, how)
    assert error(plain, right) > 1e-3


class _Weighted(AbstractInnerProductNet):
    """A net with a trained second layer: the fast path must follow parameters beside the filters."""

    @property
    def rows(self):
        return 2 * WIDTH

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

    found = penalised_gradient(net, params, samples, "logistic", WEIGHT)
    right = jax.grad(objective)(params)
    for name in params:
        assert error(found[name], right[name]) < 1e-12


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_the_convention_is_half_or_all_of_the_weight(float64, kind, half):
    how = ("relu2", "mean", 2)
    filters, samples = draw("array", 2)
    rule = getattr(ls.rules, kind)(rate=0.1, weight=WEIGHT, half=half)
    found = gradient_of(rule, nets(how)[0], {"filters": filters}, samples)["filters"]
    factor = WEIGHT / 2 if half else WEIGHT
    assert error(found, expected(OBJECTIVES[kind], filters, samples, factor, how)) < 1e-12


@pytest.mark.parametrize(
    ("until", "step", "acts"),
    [(3, 2, True), (3, 3, False), (2.5, 2, True), (2.5, 3, False), (0, 0, False)]
    + [(float("inf"), 10**6, True)],
)
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_the_penalty_acts_before_until_only(float64, kind, until, step, acts):
    how = ("relu2", "mean", 2)
    filters, samples = draw("array", 2)
    rule = getattr(ls.rules, kind)(rate=0.1, weight=WEIGHT, until=until)
    found = gradient_of(rule, nets(how)[0], {"filters": filters}, samples, step)["filters"]
    factor = WEIGHT / 2 if acts else 0.0
    assert error(found, expected(OBJECTIVES[kind], filters, samples, factor, how)) < 1e-12


# Whole trajectories against the NumPy reference.


class _Watched(AbstractProbe):
    """The filters, and the data that they are trained on."""

    outputs = {  # noqa: RUF012
        "filters": Output("filters", dims=("filter", "coordinate")),
        "noise": Output("training noise", dims=("sample", "coordinate")),
        "signal": Output("signal", dims=("coordinate",)),
        "labels": Output("training labels", dims=("sample",)),
    }

    def __call__(self, state, problem):
        return {
            "filters": state.params["filters"],
            "noise": problem.train.vectors["noise"],
            "signal": problem.directions["signal"],
            "labels": problem.train.y,
        }


STEPS = 200
SETTING = {"rate": 0.1, "weight": 0.1, "until": 120}
RULES = {
    ("gradient_descent", True): ls.rules.GradientDescent(rate=SETTING["rate"]),
    ("per_example", True): ls.rules.PerExamplePenalty(**SETTING),
    ("per_example", False): ls.rules.PerExamplePenalty(**SETTING, half=False),
    ("full", True): ls.rules.FullPenalty(**SETTING),
    ("full", False): ls.rules.FullPenalty(**SETTING, half=False),
}
SECOND_LAYERS = ("mean", "sum")


def trained(kind, half, second_layer, steps):
    """Filters of the library along a run in ambient float64, and those of the reference."""
    experiment = ls.Experiment(
        data=ls.data.SignalNoise(dim=40, train=8, test=1, signal=1.0, noise=0.4),
        net=ls.nets.PatchCNN(width=4, scale=0.1, second_layer=second_layer),
        rule=RULES[kind, half],
        steps=steps,
        probes=[_Watched()],
        record=ls.Record(every=10),
    )
    result = ls.run(experiment, coordinates="ambient", precision="float64", progress=False)
    result = result.isel(seed=0)
    assert np.isnan(result.diverged_at)
    data = [result[name].isel(step=0).values for name in ("signal", "noise", "labels")]
    start = result.filters.isel(step=0).values
    more = (SETTING["rate"], SETTING["weight"], SETTING["until"], half, second_layer, steps)
    return result.filters.values, pegr.train(start, *data, kind, *more)[::10]


def largest(difference):
    return float(np.abs(difference).max())


@pytest.mark.parametrize("second_layer", SECOND_LAYERS)
@pytest.mark.parametrize(("kind", "half"), RULES, ids=str)
def test_trajectories_are_those_of_the_reference(kind, half, second_layer):
    found, right = trained(kind, half, second_layer, STEPS)
    assert found.shape == (STEPS // 10 + 1, 8, 40)
    assert largest(right[-1] - right[0]) > 0.1
    assert largest(found - right) < 1e-10


# A comparison that cannot fail proves nothing: three slips, each of which it must see. Programs are
# cached by what they depend on, and `steps` is part of that: 150 is used under mutations only.


def flipped(weight_at):
    """The penalty with the wrong sign."""
    return lambda self, step: -weight_at(self, step)


def halved(weight_at):
    """The penalty's gradient without the factor 2 of a square's derivative."""
    return lambda self, step: weight_at(self, step) / 2


@pytest.mark.parametrize("mutation", [flipped, halved])
@pytest.mark.parametrize(("kind", "half"), [("per_example", True), ("full", False)])
def test_a_wrong_penalty_is_seen(monkeypatch, kind, half, mutation):
    monkeypatch.setattr(AbstractPenalty, "weight_at", mutation(AbstractPenalty.weight_at))
    steps = 150 if mutation is flipped else 140
    found, right = trained(kind, half, "sum", steps)
    assert largest(found - right) > 1e-3


def test_a_wrong_step_is_seen(monkeypatch):
    right_gradient = ls.rules.GradientDescent.gradient

    def gradient(self, state, problem, key):
        return jax.tree.map(lambda leaf: leaf / 2, right_gradient(self, state, problem, key))

    monkeypatch.setattr(ls.rules.GradientDescent, "gradient", gradient)
    found, right = trained("gradient_descent", True, "sum", 150)
    assert largest(found - right) > 1e-3


@pytest.mark.parametrize("slip", [-1.0, 0.5])
def test_a_wrong_product_is_seen(float64, monkeypatch, slip):
    how = ("relu2", "mean", 2)
    filters, samples = draw("signal", 2)
    right = expected(per_example_objective, filters, samples, WEIGHT / 2, how)
    product = module._gram_product
    scaled = lambda *given: jax.tree.map(lambda leaf: slip * leaf, product(*given))  # noqa: E731
    monkeypatch.setattr(module, "_gram_product", scaled)
    found = penalised_gradient(nets(how)[0], {"filters": filters}, samples, "logistic", WEIGHT)
    assert error(found["filters"], right) > 1e-3
