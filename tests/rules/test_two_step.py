"""Two steps that find features, and fixed features: against NumPy, each other and any coordinates.

Also the two-layer network that they train, with its smoothed neurons.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.nets import Params
from learnscope.nets.activations import ACTIVATIONS, SMOOTHED
from learnscope.rules import two_step
from tests.reference import input_structure as reference

STEPS = 5
DATA = ls.data.Patterns(
    dim=15, patterns=8, relevant=3, train=30, test=5, batch=7, background=0.4, negative=0.7
)
NET = ls.nets.TwoLayer(width=4, scale=0.5, bias_scale=0.2)
FIRST = {"first_rate": 0.3, "second_rate": 4.0}
RULES = {
    "smoothed": ls.rules.TwoStep(**FIRST, rate=0.2, decay=0.3, noise=0.15),
    "plain": ls.rules.TwoStep(**FIRST, rate=0.2, weighted=False),
    "frozen": ls.rules.FrozenFeatures(after=2, **FIRST, rate=0.2, noise=0.15),
    "rescaled": ls.rules.FrozenFeatures(
        after=1, **FIRST, rate=0.2, rescale=50.0, head="zero", noise=0.15
    ),
    "random": ls.rules.RandomFeatures(rate=0.2),
}


@functools.cache
def started():
    """One problem and first parameters for all, in double precision."""

    @functools.partial(eqx.filter_jit, compiler_options={"xla_backend_optimization_level": 0})
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

    @eqx.filter_jit
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
    for noise in (None, 0.15):

        def loss(params, noise=noise):
            z = x @ params["filters"].T + params["bias"][None]
            value = jnp.clip(z, 0, 1) if noise is None else SMOOTHED["truncated"](z, noise)
            return jnp.mean(weights * jax.nn.relu(1 - y * (value @ params["second"])))

        right = jax.tree.map(np.asarray, jax.jit(jax.grad(loss))(params))
        given = {name: np.asarray(value) for name, value in params.items()}
        close(reference.gradient(given, x, y, noise, True), right, 1e-13)


@pytest.mark.parametrize("name", ["smoothed", "plain"])
def test_two_steps_and_sgd_are_those_of_the_reference(name):
    problem, params, _, batches = started()
    rule = RULES[name]
    later = [
        (np.asarray(x), np.asarray(y)) for x, y in zip(batches.x[2:], batches.y[2:], strict=True)
    ]
    right = reference.train(
        params, arrays(problem.train), later, (0.3, 4.0, 0.2), rule.decay, rule.noise,
        rule.weighted,
    )  # fmt: skip
    for step, expected in enumerate(right):
        close(at(name, step), expected)
    # No step does nothing: all of it was compared.
    for before, after in zip(right[:-1], right[1:], strict=True):
        assert np.abs(after["filters"] - before["filters"]).max() > 1e-3


def test_the_cases_differ():
    assert np.abs(path("smoothed")["filters"][1] - path("plain")["filters"][1]).max() > 1e-3
    _, y = arrays(started()[0].train)
    assert 0.2 < np.mean(y > 0) < 0.45  # class weights matter
    shares = [np.mean(y > 0) for y in started()[3].y]
    assert len(set(shares)) > 1  # and so do batches


# -------------------------------------------------------------------------------- how it is computed


def early(update, slice_size=None, precision="float64", rate=1e-3):
    """The parameters after the first step and after the second."""
    rule = ls.rules.TwoStep(first_rate=rate, second_rate=4.0, rate=1.0, noise=0.15, update=update)

    def two(problem, params):
        first = rule.early(rule.init(NET, problem, jax.random.key(0), params), problem)
        return first.params, rule.early(first, problem).params

    problem, params, _, _ = started()
    with jax.enable_x64(precision == "float64"):
        given = jax.tree.map(
            lambda leaf: np.asarray(leaf, precision) if eqx.is_inexact_array(leaf) else leaf,
            (problem, params),
        )
        return jax.tree.map(np.asarray, eqx.filter_jit(two)(*given))


def test_exact_and_naive_updates_are_one_formula():
    exact, naive = early("exact"), early("naive")
    for one, other in zip(exact, naive, strict=True):
        close(other, one, 1e-6)


def test_the_naive_update_leaves_rounding_errors_of_the_old_weights():
    """eta of 1e-9 leaves weights of 1e-10 from those of 1/2, whose last bit is 3e-8."""
    right = early("exact", rate=1e-9)[0]["filters"]
    size = np.abs(right).max()
    exact, naive = (early(how, None, "float32", 1e-9)[0]["filters"] for how in ("exact", "naive"))
    assert np.abs(exact - right).max() < 1e-5 * size
    assert np.abs(naive - right).max() > size


@pytest.mark.parametrize("size", [7, 15])  # 30 examples: not a multiple, and one
def test_slices_do_not_matter(monkeypatch, size):
    whole = early("exact")
    monkeypatch.setattr(two_step, "_SLICE", size)
    for one, other in zip(early("exact"), whole, strict=True):
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

    @eqx.filter_jit
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


@pytest.mark.parametrize("noise", [0.05, 0.7])
@pytest.mark.parametrize("name", SMOOTHED)
def test_smoothed_neurons_are_expectations(float64, name, noise):
    z = np.linspace(-2, 3, 41)
    grid = np.linspace(-9, 9, 20_001)
    chances = np.exp(-(grid**2) / 2) * (grid[1] - grid[0]) / np.sqrt(2 * np.pi)

    def expected(z, noise):
        each = {
            "relu": lambda u: np.maximum(u, 0),
            "truncated": lambda u: np.clip(u, 0, 1),
            "quadratic": lambda u: u**2,
        }[name](z[:, None] + noise * grid)
        return each @ chances

    value = SMOOTHED[name](jnp.asarray(z), noise)
    np.testing.assert_allclose(value, expected(z, noise), rtol=0, atol=1e-6)
    ones = (np.ones_like(z), 1.0)
    for place in (0, 1):  # by z, and by the noise
        tangents = tuple(one if i == place else 0 * one for i, one in enumerate(ones))
        _, slope = jax.jvp(SMOOTHED[name], (jnp.asarray(z), noise), tangents)
        ends = [[a + s * 1e-4 * t for a, t in zip((z, noise), tangents, strict=True)]
                for s in (1, -1)]  # fmt: skip
        right = (expected(*ends[0]) - expected(*ends[1])) / 2e-4
        np.testing.assert_allclose(slope, right, rtol=0, atol=1e-5)
    # Without noise they are the neurons themselves.
    sharp = ACTIVATIONS[name](jnp.asarray(z), 1.0, 1.0)
    np.testing.assert_allclose(SMOOTHED[name](jnp.asarray(z), 1e-9), sharp, atol=1e-8)


@pytest.mark.parametrize("symmetric", [True, False])
def test_twins_cancel(symmetric):
    problem = started()[0]
    net = NET.replace("symmetric", symmetric).replace("second_scale", 3.0)
    with jax.enable_x64(True):
        params = jax.jit(net.init)(jax.random.key(5), problem)
        outputs = np.asarray(net(params, problem.train.x))
    count = 8 if symmetric else 4
    assert {name: value.shape[0] for name, value in params.items()} == dict.fromkeys(params, count)
    if symmetric:
        for name in ("filters", "bias"):
            np.testing.assert_array_equal(params[name][:4], params[name][4:])
        np.testing.assert_array_equal(params["second"][:4], -params["second"][4:])
        np.testing.assert_allclose(outputs, 0, atol=1e-14)
    else:
        assert np.abs(outputs).min() > 1e-3
    right = reference.outputs(
        {k: np.asarray(v) for k, v in params.items()}, *arrays(problem.train)[:1]
    )
    np.testing.assert_allclose(outputs, right, atol=1e-14)


def test_scales_are_those_asked_for(float64):
    # 3 x 3 standard deviations of 20000 numbers, each within 5 standard errors: one false alarm in
    # 10^5 choices of seeds.
    problem = started()[0]
    for scales in ((0.5, 0.2, 3.0), (2.0, 0.0, 0.1)):
        net = ls.nets.TwoLayer(20_000, "relu", *scales)
        params = jax.jit(net.init)(jax.random.key(6), problem)
        for name, scale in zip(("filters", "bias", "second"), scales, strict=True):
            drawn = np.asarray(params[name][:20_000])
            error = scale / np.sqrt(2 * drawn.size)
            assert abs(np.sqrt(np.mean(drawn**2)) - scale) <= 5 * error, name


# ---------------------------------------------------------------------------------- any coordinates

SIZES = {"dim": 40, "patterns": 8, "relevant": 3, "train": 20, "test": 10, "background": 0.4}
PLACES = {
    "orthonormal": ls.data.Patterns(**SIZES, batch=6),
    "equiangular": ls.data.Patterns(**SIZES, dictionary="equiangular", incoherence=2.0),
    "random": ls.data.Patterns(**SIZES, dictionary="random"),
    # Most of the eight codes of three patterns: the first three may depend on each other.
    "codes": ls.data.Patterns(
        **SIZES, dictionary="random", label="codes", structure="independent", codes=4
    ),
}
SAME = [
    ("orthonormal", RULES["smoothed"]),
    ("equiangular", LINEAR),
    ("random", RULES["rescaled"]),
    ("random", RULES["random"]),
    ("codes", RULES["smoothed"]),
]


@pytest.mark.parametrize(
    ("place", "rule"), SAME, ids=lambda v: v if isinstance(v, str) else type(v).__name__
)
def test_rotated_runs_are_the_ambient_ones(place, rule):
    setting = ls.Experiment(
        data=PLACES[place],
        net=NET,
        rule=rule,
        steps=STEPS,
        probes=[ls.probes.Loss(), ls.probes.TestLoss(), ls.probes.Alignment(bins=1)],
    )
    ambient, rotated = (
        ls.run(setting, None, 4, how, "float64", progress=False) for how in ("ambient", "rotate")
    )
    assert rotated.attrs["coordinates_used"] == "rotate"
    for name in ambient:
        np.testing.assert_allclose(rotated[name], ambient[name], rtol=0, atol=1e-10, err_msg=name)
    assert (abs(ambient.loss.isel(step=-1) - ambient.loss.isel(step=0)) > 1e-3).all()


# ----------------------------------------------------------------------------------------- refused


def flat(key):
    return eqx.nn.MLP(in_size=15, out_size="scalar", width_size=2, depth=1, key=key)


@pytest.mark.parametrize("name", ["smoothed", "frozen", "random"])
@pytest.mark.parametrize("net", [ls.nets.PatchCNN(width=2), ls.nets.Model(flat)])
def test_nets_that_a_rule_cannot_train_are_refused(net, name):
    rule = RULES[name]
    setting = ls.Experiment(data=DATA, net=net, rule=rule, steps=2)
    words = rf"^{type(rule).__name__} needs .*TwoLayer, not {type(net).__name__}\.$"
    with pytest.raises(ls.BadInput, match=words):
        ls.run(setting, progress=False)


def test_after_is_one_step_or_two():
    for after in (0, 3):
        with pytest.raises(ls.BadInput, match=rf"FrozenFeatures\.after = {after}"):
            ls.rules.FrozenFeatures(after=after, **FIRST, rate=1.0)
