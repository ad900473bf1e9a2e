"""The NumPy reference against automatic differentiation, in float64, with nothing orthogonal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.reference import pegr

WIDTH, DIM, COUNT = 5, 17, 6
pytestmark = pytest.mark.usefixtures("float64")


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


@pytest.mark.parametrize("second_layer", ["mean", "sum"])
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


def test_the_second_layer_is_a_change_of_units(problem):
    # relu^2 has degree two: "sum" is "mean" at m eta, m lambda and sqrt(m) times the filters.
    filters, *data = problem
    plain = pegr.train(filters, *data, "per_example", 0.02, 0.05, 9, True, "sum", 9)
    root = np.sqrt(WIDTH)
    scaled = (root * filters, *data)
    other = pegr.train(*scaled, "per_example", 0.02 * WIDTH, 0.05 * WIDTH, 9, True, "mean", 9)
    assert error(other, root * plain) < 1e-12
