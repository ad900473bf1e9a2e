"""The NumPy reference against automatic differentiation, in float64, with nothing orthogonal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.reference import pegr

WIDTH, DIM, COUNT = 5, 17, 6
SECOND_LAYERS = ["mean", "sum"]


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.fixture(params=[0, 1, 2])
def problem(request):
    draw = np.random.default_rng(request.param)
    filters = 0.3 * draw.normal(size=(2 * WIDTH, DIM))
    signal, noise = draw.normal(size=DIM), draw.normal(size=(COUNT, DIM))
    return filters, signal, noise, draw.choice([-1.0, 1.0], size=COUNT)


def example_loss(filters, signal, noise, label, scale):
    sign = jnp.repeat(jnp.array([1.0, -1.0]), filters.shape[0] // 2)
    on_signal = jax.nn.relu(filters @ (label * signal)) ** 2
    output = scale * jnp.sum(sign * (on_signal + jax.nn.relu(filters @ noise) ** 2))
    return jax.nn.softplus(-label * output)


def objective(filters, signal, noise, labels, rule, factor, scale):
    """L_S + factor times the squared norm that the rule penalises."""

    def mean_loss(filters):
        rows = jax.vmap(example_loss, (None, None, 0, 0, None))
        return jnp.mean(rows(filters, signal, noise, labels, scale))

    if rule == "per_example":
        rows = jax.vmap(jax.grad(example_loss), (None, None, 0, 0, None))
        own = rows(filters, signal, noise, labels, scale)
        return mean_loss(filters) + factor * jnp.sum(own**2) / noise.shape[0]
    return mean_loss(filters) + factor * jnp.sum(jax.grad(mean_loss)(filters) ** 2)


def autodiff(problem, rule, factor, second_layer):
    scale = pegr.scale_of(second_layer, WIDTH)
    arrays = [jnp.asarray(array) for array in problem]
    return np.asarray(jax.grad(objective)(*arrays, rule, factor, scale))


def error(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("second_layer", SECOND_LAYERS)
def test_gradient(problem, second_layer):
    expected = autodiff(problem, "full", 0.0, second_layer)
    assert error(pegr.gradient(*problem, second_layer), expected) < 1e-12


@pytest.mark.parametrize("second_layer", SECOND_LAYERS)
@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("rule", ["per_example", "full"])
def test_penalised_gradient(problem, rule, half, second_layer):
    function = {"per_example": pegr.per_example_gradient, "full": pegr.full_gradient}[rule]
    expected = autodiff(problem, rule, 0.35 if half else 0.7, second_layer)
    assert error(function(*problem, 0.7, half, second_layer), expected) < 1e-12


@pytest.mark.parametrize("rule", ["gradient_descent", "per_example", "full"])
def test_train_closes_the_penalty(problem, rule):
    filters, *data = problem
    path = pegr.train(filters, *data, rule, 0.1, 0.5, 3, True, "mean", 8)
    now = filters
    for step in range(8):
        factor = 0.25 if step < 3 and rule != "gradient_descent" else 0.0
        name = "per_example" if rule == "per_example" else "full"
        now = now - 0.1 * autodiff((now, *data), name, factor, "mean")
        assert error(path[step + 1], now) < 1e-12
    assert path.shape == (9, 2 * WIDTH, DIM)


def test_rules_agree_without_weight_and_differ_with_it(problem):
    paths = [
        pegr.train(*problem, rule, 0.1, weight, 5, True, "sum", 5)
        for rule, weight in [("gradient_descent", 1.0), ("per_example", 0.0), ("full", 0.0)]
    ]
    np.testing.assert_allclose(paths[0], paths[1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(paths[0], paths[2], rtol=0, atol=1e-13)
    penalised = pegr.train(*problem, "per_example", 0.1, 1.0, 5, True, "sum", 5)
    assert error(penalised[-1], paths[0][-1]) > 1e-3


def test_decomposition_is_exact_along_a_run(problem):
    filters, signal, noise, _ = problem
    path = pegr.train(*problem, "per_example", 0.1, 0.5, 10, True, "mean", 10)
    gamma, rho = pegr.decomposition(path[-1], filters, signal, noise)
    rebuilt = filters + np.outer(pegr.signs_of(filters) * gamma, signal / (signal @ signal))
    rebuilt = rebuilt + rho @ (noise / np.sum(noise**2, axis=1, keepdims=True))
    assert error(rebuilt - filters, path[-1] - filters) < 1e-12


def test_probes_on_a_network_done_by_hand():
    # One filter a sign in the plane: mu = e1, xi = 2 e2, y = 1.
    filters = np.array([[3.0, 1.0], [-5.0, 0.5]])
    signal, noise, labels = np.array([1.0, 0.0]), np.array([[0.0, 2.0]]), np.array([1.0])
    # f = (9 + 4) - (0 + 1) = 12.
    assert pegr.outputs(filters, signal, noise, labels, "mean") == pytest.approx([12.0])
    assert pegr.loss(filters, signal, noise, labels, "mean") == pytest.approx(np.log1p(np.exp(-12)))
    assert pegr.accuracy(filters, signal, noise, labels, "mean") == 1.0
    assert pegr.signal_learning(filters, signal) == 5.0
    assert pegr.noise_memorisation(filters, noise) == 2.0
    # grad f = 2 (3 e1 + 2 * 2 e2) for the first filter, -2 (1 * 2 e2) for the second.
    slope = 1 / (1 + np.exp(12))
    expected = slope * np.sqrt(6**2 + 8**2 + 4**2)
    assert pegr.gradient_norm(filters, signal, noise, labels, "mean") == pytest.approx(expected)


def test_the_second_layer_is_a_change_of_units(problem):
    # relu^2 has degree two: "sum" is "mean" at m eta, m lambda and sqrt(m) times the filters.
    filters, *data = problem
    plain = pegr.train(filters, *data, "per_example", 0.02, 0.05, 9, True, "sum", 9)
    root = np.sqrt(WIDTH)
    scaled = (root * filters, *data)
    other = pegr.train(*scaled, "per_example", 0.02 * WIDTH, 0.05 * WIDTH, 9, True, "mean", 9)
    assert error(other, root * plain) < 1e-12
