"""Two steps that find features, and fixed features: against NumPy, each other and any coordinates.

Also the two-layer network that they train, with its smoothed neurons. All of it in float64, but
where a test says otherwise.
"""

import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.rules import two_step
from learnscope.space import turn
from tests.reference import input_structure as reference
from tests.small import quick, refused, run

STEPS, KEY = 5, jax.random.key(6)
DATA = ls.data.Patterns(
    dim=80, patterns=8, relevant=3, train=30, test=5, batch=7, background=0.4, negative=0.7
)
DICTIONARIES = {
    "orthonormal": DATA,
    "equiangular": DATA.replace("dictionary", "equiangular").replace("incoherence", 3.0),
    "random": DATA.replace("dictionary", "random"),
}
NET = ls.nets.TwoLayer(width=4, scale=0.5, bias_scale=0.2)
SMOOTH = NET.replace("smoothing", 0.3)
FIRST, LATER = {"first_rate": 0.3, "second_rate": 1.5}, {"rate": 0.2, "noise": 0.15}
RULES = {
    "smoothed": ls.rules.TwoStep(**FIRST, rate=0.2, decay=0.3, noise=0.15),
    "plain": ls.rules.TwoStep(**FIRST, rate=0.2, weighted=False),
    "frozen": ls.rules.FrozenFeatures(after=2, rescale=3.0, **FIRST, **LATER),
    "rescaled": ls.rules.FrozenFeatures(after=1, rescale=50.0, head="zero", **FIRST, **LATER),
    "random": ls.rules.RandomFeatures(rate=0.2),
    "linear": ls.rules.Linearised(rate=0.1, loss="logistic"),
}


@functools.cache
def started(dictionary="orthonormal"):
    """A problem, first parameters, and each step's key and batch."""

    @quick
    def draw():
        problem = DICTIONARIES[dictionary].sample(jax.random.key(1))
        keys = jax.vmap(lambda t: jax.random.fold_in(KEY, t))(jnp.arange(STEPS))
        return problem, NET.init(jax.random.key(3), problem), keys, jax.vmap(problem.batch)(keys)

    with jax.enable_x64(True):
        return draw()


@quick
def walk(rule, net, problem, params, keys):
    """The parameters before and after each step, and outputs on training examples, stacked."""

    def step(state, key):
        state = rule.step(state, problem, key)
        return state, (state.params, state(problem.train.x))

    state = rule.init(net, problem, keys[0], params)
    first = state.params, state(problem.train.x)
    stepped = jax.lax.scan(step, state, keys)[1]
    return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, stepped)


@functools.cache
def path(name, dictionary="orthonormal", rotated=False):
    problem, params, keys, _ = started(dictionary)
    net = SMOOTH if name == "linear" else NET
    with jax.enable_x64(True):
        if rotated:
            directions, rest = problem.span()
            onto = turn(directions, [*rest, params["filters"]])
            problem, params = problem.project(onto), net.project(params, onto)
        found = walk(RULES[name], net, problem, params, keys)
        return jax.tree.map(np.asarray, (*found, problem.directions["truth"]))


def at(name, step):
    return {field: values[step] for field, values in vars(path(name)[0]).items()}


def close(one, other, tolerance=1e-12):
    for name, right in other.items():
        error = np.abs(one[name] - right).max()
        assert error <= tolerance * np.abs(right).max(), (name, error)


def arrays(samples):
    return np.asarray(samples.x), np.asarray(samples.y)


def batch(step):
    batches = started()[3]
    return np.asarray(batches.x[step]), np.asarray(batches.y[step])


@pytest.mark.parametrize("name", ["smoothed", "plain"])
def test_two_steps_and_sgd_are_those_of_the_reference(name):
    problem, params, _, _ = started()
    rule = RULES[name]
    right = reference.train(
        vars(params), arrays(problem.train), map(batch, range(2, STEPS)), (0.3, 1.5, 0.2),
        rule.decay, rule.noise, rule.weighted,
    )  # fmt: skip
    for step, expected in enumerate(right):
        close(at(name, step), expected)
    # No step does nothing: all of it was compared.
    for before, after in itertools.pairwise(right):
        assert np.abs(after["filters"] - before["filters"]).max() > 1e-4


def test_the_cases_differ():
    assert np.abs(at("smoothed", 1)["filters"] - at("plain", 1)["filters"]).max() > 1e-3
    _, y = arrays(started()[0].train)
    assert 0.2 < np.mean(y > 0) < 0.45  # class weights matter
    assert len({np.mean(batch(step)[1]) for step in range(STEPS)}) > 1  # and so do batches


@functools.cache
def early(precision):
    """The parameters after one step and after two, by update; in slices of 7 of 30 examples."""
    updates = ("exact", "naive")
    rules = [ls.rules.TwoStep(first_rate=1e-7, second_rate=4.0, rate=1.0, noise=0.15, update=how)
             for how in updates]  # fmt: skip

    @quick
    def two(problem, params):
        found = []
        for rule in rules:
            first = rule.early(rule.init(NET, problem, KEY, params), problem)
            found.append((first.params, rule.early(first, problem).params))
        return found

    def convert(leaf):
        return np.asarray(leaf, precision) if eqx.is_inexact_array(leaf) else leaf

    problem, params, _, _ = started()
    with jax.enable_x64(precision == "float64"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_step, "_SLICE", 7)
        found = jax.tree.map(np.asarray, two(*jax.tree.map(convert, (problem, params))))
    return dict(zip(updates, found, strict=True))


def reference_early():
    problem, params, _, _ = started()
    return reference.train(vars(params), arrays(problem.train), [], (1e-7, 4.0), noise=0.15)


def test_slices_and_forms_of_the_update_do_not_matter():
    for exact, naive, right in zip(*early("float64").values(), reference_early()[1:], strict=True):
        close(exact, right, 1e-8)  # differences of two numbers near 1/2 are 1e-8
        close(naive, vars(exact), 1e-6)


def test_the_naive_update_leaves_rounding_errors_of_the_old_weights():
    """A rate of 1e-7 leaves weights of 1e-8 from those of 1/2, whose last bit is 3e-8."""
    right = reference_early()[1]["filters"]
    size = np.abs(right).max()
    exact, naive = (early("float32")[how][0]["filters"] for how in ("exact", "naive"))
    assert np.abs(exact - right).max() < 1e-5 * size
    assert np.abs(naive - right).max() > size


@pytest.mark.parametrize(("name", "start"), [("random", 0), ("frozen", 2), ("rescaled", 1)])
def test_a_frozen_layer_never_changes(name, start):
    for step in range(start, STEPS):
        before, after = at(name, step), at(name, step + 1)
        np.testing.assert_array_equal(after["filters"], before["filters"])
        np.testing.assert_array_equal(after["bias"], before["bias"])
        # The last layer follows the batches.
        right = before["second"] - 0.2 * reference.gradient(before, *batch(step))["second"]
        np.testing.assert_allclose(after["second"], right, rtol=0, atol=1e-13)
        assert np.abs(after["second"] - before["second"]).max() > 1e-4


def test_features_are_those_of_the_first_steps():
    close(at("frozen", 1), at("smoothed", 1), 1e-14)
    two = at("smoothed", 2)
    close(at("frozen", 2), two | {"filters": 3 * two["filters"]}, 1e-14)
    one, other = at("rescaled", 1), at("smoothed", 1)
    np.testing.assert_allclose(one["filters"], 50 * other["filters"], rtol=1e-14)
    np.testing.assert_array_equal(one["bias"], other["bias"])
    assert (one["second"] == 0).all()


def test_the_linearised_net_is_the_first_order_expansion():
    """By differences of the network itself, in the direction of all five steps."""
    x, _ = arrays(started()[0].train)
    start, last = at("linear", 0), at("linear", STEPS)
    value = lambda s: reference.outputs(  # noqa: E731
        {name: start[name] + s * (last[name] - start[name]) for name in start}, x, 0.3
    )
    right = value(0) + (value(1e-5) - value(-1e-5)) / 2e-5
    found = path("linear")[1]
    np.testing.assert_allclose(found[0], value(0), rtol=0, atol=1e-14)
    np.testing.assert_allclose(found[-1], right, rtol=0, atol=1e-9)
    assert np.abs(found[-1] - found[0]).max() > 0.05


def test_linearised_training_is_descent_on_tangent_features():
    start = at("linear", 0)

    def features(x):
        """The derivatives of outputs by the parameters at the start, by hand."""
        value, slope = reference.neuron(x @ start["filters"].T + start["bias"], 0.3)
        gate = slope * start["second"]
        return {"filters": gate[:, :, None] * x[:, None], "bias": gate, "second": value}

    moved = {name: np.zeros_like(value) for name, value in start.items()}
    for step in range(STEPS):
        x, y = batch(step)
        phi = features(x)
        out = reference.outputs(start, x, 0.3)
        out = out + sum((phi[k] * moved[k]).reshape(len(y), -1).sum(1) for k in moved)
        pull = -y / (1 + np.exp(y * out)) / len(y)
        moved = {k: moved[k] - 0.1 * np.tensordot(pull, phi[k], 1) for k in moved}
        now = at("linear", step + 1)
        for name, right in moved.items():
            np.testing.assert_allclose(now[name] - start[name], right, rtol=0, atol=1e-13)


SAME = [
    ("smoothed", "orthonormal"), ("smoothed", "equiangular"), ("smoothed", "random"),
    ("rescaled", "random"), ("random", "equiangular"), ("linear", "random"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dictionary"), SAME)
def test_rotated_paths_are_the_ambient_ones(name, dictionary):
    """Outputs, what has no coordinates, inner products of weights, and with the truth."""
    ambient, rotated = (path(name, dictionary, turned) for turned in (False, True))

    def seen(found):
        params, outputs, truth = found
        filters = params["filters"]
        inner = np.einsum("tik,tjk->tij", filters, filters)
        return outputs, params["bias"], params["second"], inner, filters @ truth

    assert rotated[0]["filters"].shape[-1] < ambient[0]["filters"].shape[-1]
    for one, other in zip(seen(rotated), seen(ambient), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)
    assert np.abs(ambient[1][-1] - ambient[1][0]).max() > 1e-2  # something was learnt


def test_what_a_rule_cannot_do_is_refused():
    flat = lambda key: eqx.nn.MLP(80, "scalar", width_size=2, depth=1, key=key)  # noqa: E731
    nets = ls.nets.PatchCNN(width=2), ls.nets.Model(flat)
    for name, net in itertools.product(("smoothed", "frozen", "random"), nets):
        rule = RULES[name]
        setting = ls.Experiment(data=DATA, net=net, rule=rule, steps=2)
        words = rf"{type(rule).__name__} needs .*TwoLayer, not {type(net).__name__}\."
        refused(lambda setting=setting: run(setting), match=words)
    for after in (0, 3):
        make = lambda after=after: ls.rules.FrozenFeatures(after=after, **FIRST, rate=1.0)  # noqa: E731
        refused(make, f"FrozenFeatures.after = {after}")
