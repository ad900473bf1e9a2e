"""Closed-form updates and early rates against the NumPy reference; the misprints fail."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from learnscope.papers.pegr import theory as pegr
from tests.errata import pegr_closed_forms as closed_forms
from tests.errata.pegr_closed_forms import LEMMA_5_8
from tests.reference import pegr as reference

WIDTH, DIM, COUNT = 6, 40, 8
RATE, WEIGHT = 0.1, 0.7
SCALES = [1.0 / WIDTH, 1.0, 0.3]


pytestmark = pytest.mark.usefixtures("float64")


def draw(seed, orthogonal, size=0.3):
    """Filters, signal, noise and labels: noise orthogonal to the signal, or also to each other."""
    random = np.random.default_rng(seed)
    filters, signal = size * random.normal(size=(2 * WIDTH, DIM)), random.normal(size=DIM)
    noise = random.normal(size=(COUNT, DIM))
    noise -= np.outer(noise @ signal, signal) / (signal @ signal)
    if orthogonal:
        noise = np.linalg.norm(noise, axis=1)[:, None] * np.linalg.qr(noise.T)[0].T
    labels = np.where(np.arange(COUNT) % 2 == 0, 1.0, -1.0)
    return tuple(jnp.asarray(array) for array in (filters, signal, noise, labels))


GRADIENTS = {"per_example": reference.per_example_gradient, "full": reference.full_gradient}


def movement(rule, problem, rate, weight, scale):
    return -rate * GRADIENTS[rule](*map(np.asarray, problem), weight, True, scale)


def error(found, expected):
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("rule", GRADIENTS)
def test_updates(rule, seed, scale):
    problem = draw(seed, orthogonal=rule == "full")
    found = getattr(closed_forms, f"{rule}_update")(*problem, RATE, WEIGHT, scale)
    assert error(found - problem[0], movement(rule, problem, RATE, WEIGHT, scale)) < 1e-12


def test_full_update_needs_its_assumption():
    problem = draw(0, orthogonal=False)
    found = closed_forms.full_update(*problem, RATE, WEIGHT, 1.0 / WIDTH)
    assert error(found - problem[0], movement("full", problem, RATE, WEIGHT, 1.0 / WIDTH)) > 1e-3


def test_coefficients_follow_the_decomposition():
    initial, signal, noise, labels = draw(1, orthogonal=False)
    filters, gamma, rho = initial, jnp.zeros(2 * WIDTH), jnp.zeros((2 * WIDTH, COUNT))
    for _ in range(20):
        state = (filters, signal, noise, labels)
        moved = movement("per_example", state, 0.02, WEIGHT, 1.0 / WIDTH)
        gamma, rho = closed_forms.coefficient_update(gamma, rho, *state, 0.02, WEIGHT, 1.0 / WIDTH)
        filters = filters + moved
    directions = np.vstack([signal[None], noise])
    basis = directions / np.sum(directions**2, axis=1, keepdims=True)
    solved = np.linalg.lstsq(basis.T, np.asarray(filters - initial).T, rcond=None)[0].T
    assert error(gamma, np.repeat([1.0, -1.0], WIDTH) * solved[:, 0]) < 1e-12
    assert error(rho, solved[:, 1:]) < 1e-12
    assert error(closed_forms.compose(initial, gamma, rho, signal, noise), filters) < 1e-12


def test_updates_compile_and_keep_single_precision():
    problem = tuple(array.astype(jnp.float32) for array in draw(0, orthogonal=True))
    for update in (closed_forms.per_example_update, closed_forms.full_update):
        eager = update(*problem, RATE, WEIGHT, 0.5)
        assert eager.dtype == jnp.float32
        swept = jax.jit(jax.vmap(lambda weight, update=update: update(*problem, RATE, weight, 0.5)))
        weights = jnp.array([0.0, WEIGHT], jnp.float32)
        np.testing.assert_allclose(swept(weights)[1], eager, rtol=1e-4, atol=1e-5)


# What docs/errata.md says: each printed formula is wrong by more than a tenth.


def test_printed_lemmas_5_1_and_5_3_are_off():
    problem, how = draw(1, orthogonal=False), (RATE, WEIGHT, 1.0 / WIDTH)
    printed = closed_forms.per_example_update(*problem, *how, power=1)
    assert error(printed - problem[0], movement("per_example", problem, *how)) > 1.0
    start = (jnp.zeros(2 * WIDTH), jnp.zeros((2 * WIDTH, COUNT)))
    printed = closed_forms.coefficient_update(*start, *problem, *how, power=1)
    right = closed_forms.coefficient_update(*start, *problem, *how)
    for wrong, good in zip(printed, right, strict=True):
        assert error(wrong, good) > 1.0


@pytest.mark.parametrize("printed", [LEMMA_5_8, *((name,) for name in LEMMA_5_8)])
def test_printed_lemma_5_8_is_off(printed):
    # The misplaced label stands in the plain gradient, so it shows without a penalty.
    problem, how = draw(1, True), (RATE, 0.0 if printed == ("label",) else WEIGHT, 1.0 / WIDTH)
    found = closed_forms.full_update(*problem, *how, printed)
    assert error(found - problem[0], movement("full", problem, *how)) > 0.1


def test_printed_lemmas_are_right_without_a_penalty():
    # So that what the tests above measure is the misprint and not a slip of ours.
    problem, how = draw(1, orthogonal=True), (RATE, 0.0, 1.0 / WIDTH)
    for found in (
        closed_forms.per_example_update(*problem, *how, power=1),
        closed_forms.full_update(*problem, *how, ("factor", "mixed", "gate")),
    ):
        assert error(found - problem[0], movement("full", problem, *how)) < 1e-12


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("second_layer", ["mean", "sum"])
@pytest.mark.parametrize("rule", GRADIENTS)
def test_rates_are_those_of_one_small_step(rule, second_layer, half):
    filters, signal, noise, labels = draw(0, orthogonal=True, size=1e-7)
    noise = 3.0 * noise / jnp.linalg.norm(noise, axis=1, keepdims=True)
    problem, scale = (filters, signal, noise, labels), pegr.second_layer_scale(second_layer, WIDTH)
    predict = {"per_example": pegr.rates, "full": pegr.full_rates}[rule]
    setting = (DIM, COUNT, WIDTH, float(jnp.linalg.norm(signal)), 3.0 / DIM**0.5, RATE, WEIGHT)
    rates = predict(*setting, second_layer=second_layer, half=half)
    grown = movement(rule, problem, RATE, 0.0, scale)
    suppressed = grown - movement(rule, problem, RATE, WEIGHT if half else 2.0 * WEIGHT, scale)

    sign, along = np.repeat([1.0, -1.0], WIDTH), filters @ signal
    overlap = np.asarray(filters @ noise.T)
    active = overlap > 0
    for found, right in (
        (grown @ signal / along, sign * np.sign(along) * rates.signal_growth),
        (suppressed @ signal / along, rates.signal_suppression),
        ((grown @ noise.T / overlap)[active], np.outer(sign, labels)[active] * rates.noise_growth),
        ((suppressed @ noise.T / overlap)[active], rates.noise_suppression),
    ):
        np.testing.assert_allclose(found, right, rtol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_signal_needs_twice_the_printed_closing_time(seed):
    """Proposition 5.6 at the paper's T_1 and at twice that, under the paper's weight."""
    dim, train, width, noise, scale, rate = 400, 20, 10, 1.5, 0.001, 0.1
    random = np.random.default_rng(seed)
    initial = jnp.asarray(scale * random.normal(size=(2 * width, dim)))
    signal = jnp.zeros(dim).at[0].set(1.0)
    vectors = jnp.asarray(noise * random.normal(size=(train, dim))).at[:, 0].set(0.0)
    data = (signal, vectors, jnp.asarray(np.where(np.arange(train) % 2 == 0, 1.0, -1.0)))
    weight = pegr.theorem_weight(noise, dim)

    @jax.jit
    def coefficients(steps):
        def step(_, state):
            filters = closed_forms.compose(initial, *state, *data[:2])
            return closed_forms.coefficient_update(
                *state, filters, *data, rate, weight, 1.0 / width
            )

        start = (jnp.zeros(2 * width), jnp.zeros((2 * width, train)))
        return jax.lax.fori_loop(0, steps, step, start)

    signal_range = pegr.signal_bounds(train, width)
    noise_range = pegr.noise_bounds(dim, train, width, noise, scale)
    reached = {}
    for share in (1.0, 0.5):
        closing = pegr.closing_time(train, width, 1.0, scale, rate, share=share)
        gamma, rho = coefficients(int(closing))
        reached[share] = gamma.reshape(2, width).max(axis=1)
        assert noise_range.lower <= rho.min()
        assert rho.max() <= noise_range.upper
        assert reached[share].max() <= signal_range.upper
    assert reached[1.0].max() < signal_range.lower
    assert reached[0.5].min() >= signal_range.lower
