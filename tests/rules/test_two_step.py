"""Two steps that find features, and fixed features: against NumPy, each other and any coordinates.

Also the two-layer network that they train, with its smoothed neurons.
"""

import functools
import itertools
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.lab import engine
from learnscope.nets import Params
from learnscope.nets.activations import ACTIVATIONS, SMOOTHED
from learnscope.rules import two_step
from tests.reference import input_structure as reference

STEPS, KEY = 5, jax.random.key(6)
DATA = ls.data.Patterns(
    dim=15, patterns=8, relevant=3, train=30, test=5, batch=7, background=0.4, negative=0.7
)
NET = ls.nets.TwoLayer(width=4, scale=0.5, bias_scale=0.2)
FIRST = {"first_rate": 0.3, "second_rate": 1.5}
RULES = {
    "smoothed": ls.rules.TwoStep(**FIRST, rate=0.2, decay=0.3, noise=0.15),
    "plain": ls.rules.TwoStep(**FIRST, rate=0.2, weighted=False),
    "frozen": ls.rules.FrozenFeatures(after=2, **FIRST, rate=0.2, noise=0.15),
    "rescaled": ls.rules.FrozenFeatures(
        after=1, **FIRST, rate=0.2, rescale=50.0, head="zero", noise=0.15
    ),
    "random": ls.rules.RandomFeatures(rate=0.2),
}


def quick(function):
    """Compiled without optimisation: each runs once."""
    return eqx.filter_jit(function, compiler_options={"xla_backend_optimization_level": 0})


@functools.cache
def started():
    """One problem and first parameters for all, in double precision."""

    @quick
    def draw():
        problem = DATA.sample(jax.random.key(1))
        keys = jax.vmap(lambda t: jax.random.fold_in(jax.random.key(2), t))(jnp.arange(STEPS))
        batches = jax.vmap(problem.batch)(keys)
        return problem, NET.init(jax.random.key(3), problem), keys, batches

    with jax.enable_x64(True):
        return draw()


@functools.cache
def path(name) -> Params:
    """The parameters at steps 0, 1, ..., stacked."""
    problem, params, keys, _ = started()

    @quick
    def walk(rule):
        def step(state, key):
            state = rule.step(state, problem, key)
            return state, state.params

        state = rule.init(NET, problem, keys[0], params)
        stepped = jax.lax.scan(step, state, keys)[1]
        return jax.tree.map(
            lambda start, then: jnp.concatenate([start[None], then]), params, stepped
        )

    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, walk(RULES[name]))


def at(name, step):
    return {field: values[step] for field, values in path(name).items()}


def close(one, other, tolerance=1e-12):
    for name, right in other.items():
        error = np.abs(one[name] - right).max()
        assert error <= tolerance * np.abs(right).max(), (name, error)


def arrays(samples):
    return np.asarray(samples.x), np.asarray(samples.y)


# ------------------------------------------------------------------------------- against the paper


def test_the_reference_gradient_is_that_of_autodiff(float64):
    problem, params, _, _ = started()
    x, y = arrays(problem.train)
    weights = reference.class_weights(y, True)
    assert weights[y > 0].sum() == pytest.approx(weights[y < 0].sum())

    def loss(params, noise):
        z = x @ params["filters"].T + params["bias"][None]
        value = jnp.clip(z, 0, 1) if noise is None else SMOOTHED["truncated"](z, noise)
        return jnp.mean(weights * jax.nn.relu(1 - y * (value @ params["second"])))

    noises = (None, 0.15)
    right = quick(lambda p: [jax.grad(loss)(p, noise) for noise in noises])(params)
    given = {name: np.asarray(value) for name, value in params.items()}
    for noise, slope in zip(noises, right, strict=True):
        found = reference.gradient(given, x, y, noise, True)
        close(found, jax.tree.map(np.asarray, slope), 1e-13)


@pytest.mark.parametrize("name", ["smoothed", "plain"])
def test_two_steps_and_sgd_are_those_of_the_reference(name):
    problem, params, _, batches = started()
    rule = RULES[name]
    later = [
        (np.asarray(x), np.asarray(y)) for x, y in zip(batches.x[2:], batches.y[2:], strict=True)
    ]
    right = reference.train(
        params, arrays(problem.train), later, (0.3, 1.5, 0.2), rule.decay, rule.noise,
        rule.weighted,
    )  # fmt: skip
    for step, expected in enumerate(right):
        close(at(name, step), expected)
    # No step does nothing: all of it was compared.
    for before, after in itertools.pairwise(right):
        assert np.abs(after["filters"] - before["filters"]).max() > 1e-4


def test_the_cases_differ():
    assert np.abs(path("smoothed")["filters"][1] - path("plain")["filters"][1]).max() > 1e-3
    _, y = arrays(started()[0].train)
    assert 0.2 < np.mean(y > 0) < 0.45  # class weights matter
    shares = [np.mean(np.asarray(y) > 0) for y in started()[3].y]
    assert len(set(shares)) > 1  # and so do batches


# ------------------------------------------------------------------------------- how it is computed


@functools.cache
def early(precision, slice_size, rate):
    """The parameters after the first step and after the second, by update."""
    updates = ("exact", "naive")
    rules = [ls.rules.TwoStep(first_rate=rate, second_rate=4.0, rate=1.0, noise=0.15, update=how)
             for how in updates]  # fmt: skip

    def two(problem, params):
        found = []
        for rule in rules:
            first = rule.early(rule.init(NET, problem, KEY, params), problem)
            found.append((first.params, rule.early(first, problem).params))
        return found

    problem, params, _, _ = started()
    with jax.enable_x64(precision == "float64"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_step, "_SLICE", slice_size)
        given = jax.tree.map(
            lambda leaf: np.asarray(leaf, precision) if eqx.is_inexact_array(leaf) else leaf,
            (problem, params),
        )
        found = jax.tree.map(np.asarray, quick(two)(*given))
    return dict(zip(updates, found, strict=True))


def test_exact_and_naive_updates_are_one_formula():
    found = early("float64", 2000, 1e-9)
    for exact, naive in zip(found["exact"], found["naive"], strict=True):
        close(naive, exact, 1e-6)


def test_the_naive_update_leaves_rounding_errors_of_the_old_weights():
    """A rate of 1e-9 leaves weights of 1e-10 from those of 1/2, whose last bit is 3e-8."""
    right = early("float64", 2000, 1e-9)["exact"][0]["filters"]
    size = np.abs(right).max()
    exact, naive = (early("float32", 2000, 1e-9)[how][0]["filters"] for how in ("exact", "naive"))
    assert np.abs(exact - right).max() < 1e-5 * size
    assert np.abs(naive - right).max() > size


def test_slices_do_not_matter():
    """Of 7 examples, which 30 are not a multiple of."""
    whole, cut = (early("float64", size, 1e-9)["exact"] for size in (2000, 7))
    for one, other in zip(cut, whole, strict=True):
        close(one, other, 1e-13)


# ----------------------------------------------------------------------------------- fixed features


@pytest.mark.parametrize(("name", "start"), [("random", 0), ("frozen", 2), ("rescaled", 1)])
def test_a_frozen_layer_never_changes(name, start):
    for field in ("filters", "bias"):
        for later in path(name)[field][start + 1 :]:
            np.testing.assert_array_equal(later, path(name)[field][start])
    assert (np.diff(path(name)["second"][start:], axis=0) != 0).any(1).all()


def test_features_are_those_of_the_first_steps():
    for step in (1, 2):
        close(at("frozen", step), at("smoothed", step), 1e-14)
    one, other = at("rescaled", 1), at("smoothed", 1)
    close({"filters": one["filters"] / 50, "bias": one["bias"]},
          {name: other[name] for name in ("filters", "bias")}, 1e-14)  # fmt: skip
    assert (one["second"] == 0).all()


@pytest.mark.parametrize(("name", "start"), [("random", 0), ("frozen", 2), ("rescaled", 1)])
def test_the_last_layer_follows_the_batches(name, start):
    batches = started()[3]
    for step in range(start, STEPS):
        batch = np.asarray(batches.x[step]), np.asarray(batches.y[step])
        slope = reference.gradient(at(name, step), *batch)["second"]
        right = path(name)["second"][step] - 0.2 * slope
        np.testing.assert_allclose(path(name)["second"][step + 1], right, rtol=0, atol=1e-13)


# --------------------------------------------------------------------------------------- linearised

SMOOTH = NET.replace("smoothing", 0.3)
LINEAR = ls.rules.Linearised(rate=0.1, loss="logistic")


@functools.cache
def linearised():
    """Outputs before any step and after each; tangent features and outputs of the net; and the
    network's own outputs next to the start, in the direction of the last step."""
    problem, params, keys, _ = started()
    train = problem.train

    @quick
    def all_of_it():
        def step(state, key):
            state = LINEAR.step(state, problem, key)
            return state, (state.params, state(train.x))

        state = LINEAR.init(SMOOTH, problem, keys[0], params)
        features = jax.jacobian(lambda p: SMOOTH(p, train.x))(params)
        last, stepped = jax.lax.scan(step, state, keys)
        moved = jax.tree.map(lambda a, b: a - b, last.params, params)
        near = [
            SMOOTH(jax.tree.map(lambda p, m, s=sign: p + s * 1e-5 * m, params, moved), train.x)
            for sign in (1, -1)
        ]
        return SMOOTH(params, train.x), state(train.x), features, stepped, near

    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, all_of_it())


def test_the_linearised_net_is_the_first_order_expansion():
    start, at_start, _, (_, outputs), (above, under) = linearised()
    np.testing.assert_allclose(at_start, start, atol=1e-15)
    right = start + (above - under) / 2e-5
    np.testing.assert_allclose(outputs[-1], right, rtol=0, atol=1e-8)
    assert np.abs(outputs[-1] - start).max() > 0.05


def test_linearised_training_is_descent_on_tangent_features():
    problem, params, _, batches = started()
    start, _, features, (stepped, _), _ = linearised()
    names = sorted(params)
    flat = lambda tree, n: np.concatenate([tree[k].reshape(n, -1) for k in names], axis=1)  # noqa: E731
    phi = flat(features, len(start))
    x, _ = arrays(problem.train)
    moved = np.zeros(phi.shape[1])
    found = flat(stepped, STEPS) - flat({k: np.asarray(v) for k, v in params.items()}, 1)
    for step in range(STEPS):
        rows = [np.flatnonzero((x == row).all(1))[0] for row in np.asarray(batches.x[step])]
        y = np.asarray(batches.y[step])
        margin = y * (start[rows] + phi[rows] @ moved)
        moved = moved - 0.1 * (-y / (1 + np.exp(margin))) @ phi[rows] / len(rows)
        np.testing.assert_allclose(found[step], moved, rtol=0, atol=1e-13)


# --------------------------------------------------------------------------------- the network


SHARP = {
    "relu": lambda u: np.maximum(u, 0),
    "truncated": lambda u: np.clip(u, 0, 1),
    "quadratic": lambda u: u**2,
}


def expectation(name, z, noise):
    """E sigma(z + xi) as an integral over u = z + xi, on a grid that has both kinks."""
    u = np.arange(-6_000, 7_001) * 1e-3
    likely = np.exp(-(((u - z[:, None]) / noise) ** 2) / 2) / (noise * np.sqrt(2 * np.pi))
    return 1e-3 * likely @ SHARP[name](u)


@pytest.mark.parametrize("name", SMOOTHED)
def test_smoothed_neurons_are_expectations(float64, name):
    z = np.linspace(-0.5, 1.4, 9)

    @quick
    def found(z, noise):
        function = SMOOTHED[name]
        by_z = jax.jvp(function, (z, noise), (jnp.ones_like(z), 0.0 * noise))[1]
        by_noise = jax.jvp(function, (z, noise), (0.0 * z, jnp.ones_like(noise)))[1]
        sharp = ACTIVATIONS[name](z, 1.0, 1.0)
        return function(z, noise), by_z, by_noise, function(z, 1e-9), sharp

    for noise in (0.1, 0.7):
        value, by_z, by_noise, nearly, sharp = found(jnp.asarray(z), jnp.asarray(noise))
        right, h = functools.partial(expectation, name), 1e-4
        np.testing.assert_allclose(value, right(z, noise), rtol=0, atol=1e-6)
        slope = (right(z + h, noise) - right(z - h, noise)) / (2 * h)
        np.testing.assert_allclose(by_z, slope, rtol=0, atol=1e-6)
        slope = (right(z, noise + h) - right(z, noise - h)) / (2 * h)
        np.testing.assert_allclose(by_noise, slope, rtol=0, atol=1e-5)
        # Without noise they are the neurons themselves.
        np.testing.assert_allclose(nearly, sharp, atol=1e-8)
        np.testing.assert_allclose(sharp, SHARP[name](z), atol=1e-15)


@pytest.mark.parametrize("symmetric", [True, False])
def test_twins_cancel(symmetric):
    problem = started()[0]
    net = NET.replace("symmetric", symmetric).replace("second_scale", 3.0)

    @quick
    def draw():
        params = net.init(KEY, problem)
        return params, net(params, problem.train.x)

    with jax.enable_x64(True):
        params, outputs = jax.tree.map(np.asarray, draw())
    count = 8 if symmetric else 4
    assert {name: value.shape[0] for name, value in params.items()} == dict.fromkeys(params, count)
    if symmetric:
        for name in ("filters", "bias"):
            np.testing.assert_array_equal(params[name][:4], params[name][4:])
        np.testing.assert_array_equal(params["second"][:4], -params["second"][4:])
        np.testing.assert_allclose(outputs, 0, atol=1e-14)
    else:
        assert np.abs(outputs).min() > 1e-3
    x, _ = arrays(problem.train)
    np.testing.assert_allclose(outputs, reference.outputs(params, x), atol=1e-14)


def test_scales_are_those_asked_for(float64):
    # Six root mean squares of 2000 numbers or more, each within 5 standard errors: one false alarm
    # in 10^5 choices of seeds.
    problem, width = started()[0], 2000
    draw = quick(lambda scales: ls.nets.TwoLayer(width, "relu", *scales).init(KEY, problem))
    for scales in ((0.5, 0.2, 3.0), (2.0, 0.0, 0.1)):
        params = draw([jnp.asarray(scale) for scale in scales])
        for name, scale in zip(("filters", "bias", "second"), scales, strict=True):
            drawn = np.asarray(params[name][:width])
            error = scale / np.sqrt(2 * drawn.size)
            assert abs(np.sqrt(np.mean(drawn**2)) - scale) <= 5 * error, name


# ---------------------------------------------------------------------------------- any coordinates

SIZES = {"dim": 80, "patterns": 8, "relevant": 3, "train": 20, "test": 10}
PLACES = {
    "orthonormal": (
        ls.data.Patterns(**SIZES, background=0.4, batch=6), [RULES["smoothed"], RULES["random"]]
    ),
    "equiangular": (
        ls.data.Patterns(**SIZES, dictionary="equiangular", incoherence=2.0), [LINEAR]
    ),
    "random": (ls.data.Patterns(**SIZES, dictionary="random"), [RULES["rescaled"]]),
    # All eight codes of three patterns: the first ones may depend on each other.
    "codes": (
        ls.data.Patterns(
            **SIZES, dictionary="random", label="codes", structure="independent", codes=4
        ),
        [RULES["plain"]],
    ),
}  # fmt: skip


@functools.cache
def watched(place, how):
    """What probes read before the first step and after each, of several seeds, for each rule; drawn
    as the engine draws."""
    data, rules = PLACES[place]
    probes = [ls.probes.Loss(), ls.probes.TestLoss(), ls.probes.Alignment(bins=4)]

    @quick
    @jax.vmap
    def walk(seed):
        problem, params = engine._draw_one({"data": data, "net": NET}, seed, how, 0)

        def read(state):
            return [probe(state, problem) for probe in probes]

        def step(state, key, rule):
            state = rule.step(state, problem, key)
            return state, read(state)

        found = []
        for rule in rules:
            first = rule.init(NET, problem, KEY, params)
            keys = jax.random.split(KEY, STEPS)
            _, values = jax.lax.scan(functools.partial(step, rule=rule), first, keys)
            found.append((read(first), values))
        return found

    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, walk(np.arange(6, dtype=np.uint32)))


@pytest.mark.parametrize("place", PLACES)
def test_rotated_runs_are_the_ambient_ones(place):
    ambient, rotated = (watched(place, how) for how in ("ambient", "rotate"))
    pairs = zip(jax.tree.leaves(ambient), jax.tree.leaves(rotated), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-10)
    for before, after in ambient:  # something was learnt
        assert (np.abs(after[0][:, -1] - before[0]) > 1e-3).all()


# ----------------------------------------------------------------------------------------- refused


def flat(key):
    return eqx.nn.MLP(in_size=15, out_size="scalar", width_size=2, depth=1, key=key)


@pytest.mark.parametrize("name", ["smoothed", "frozen", "random"])
@pytest.mark.parametrize("net", [ls.nets.PatchCNN(width=2), ls.nets.Model(flat)])
def test_nets_that_a_rule_cannot_train_are_refused(net, name):
    rule = RULES[name]
    setting = ls.Experiment(data=DATA, net=net, rule=rule, steps=2)
    with pytest.raises(ls.BadInput) as caught:
        ls.run(setting, progress=False)
    words = rf"{type(rule).__name__} needs .*TwoLayer, not {type(net).__name__}\."
    assert re.fullmatch(words, str(caught.value))


def test_after_is_one_step_or_two():
    for after in (0, 3):
        with pytest.raises(ls.BadInput, match=rf"FrozenFeatures\.after = {after}"):
            ls.rules.FrozenFeatures(after=after, **FIRST, rate=1.0)
