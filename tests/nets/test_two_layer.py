"""The two-layer network: smoothed neurons, twins, and as many neurons as asked for."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.nets.activations import ACTIVATIONS, SMOOTHED
from tests.law import assert_mean
from tests.reference import input_structure as reference
from tests.rules.test_two_step import KEY, arrays, at, path, started
from tests.small import quick

SHARP = {
    "relu": lambda u: np.maximum(u, 0),
    "truncated": lambda u: np.clip(u, 0, 1),
    "quadratic": lambda u: u**2,
}


def expectation(name, z, noise):
    """E sigma(z + xi) as an integral over u = z + xi, on a grid that has both kinks."""
    u = np.arange(-30_000, 35_001) * 2e-4
    likely = np.exp(-(((u - z[:, None]) / noise) ** 2) / 2) / (noise * np.sqrt(2 * np.pi))
    return 2e-4 * likely @ SHARP[name](u)


@pytest.mark.parametrize("name", SMOOTHED)
def test_smoothed_neurons_are_expectations(float64, name):
    z, h = np.linspace(-0.5, 1.4, 9), 1e-4

    @quick
    def found(z, noise):
        function = SMOOTHED[name]
        by_z = jax.jvp(function, (z, noise), (jnp.ones_like(z), 0.0 * noise))[1]
        by_noise = jax.jvp(function, (z, noise), (0.0 * z, jnp.ones_like(noise)))[1]
        return function(z, noise), by_z, by_noise, function(z, 1e-9), ACTIVATIONS[name](z, 1.0, 1.0)

    for noise in (0.15, 0.7):
        value, by_z, by_noise, nearly, sharp = found(jnp.asarray(z), jnp.asarray(noise))
        right = functools.partial(expectation, name)
        np.testing.assert_allclose(value, right(z, noise), rtol=0, atol=1e-6)
        slope = (right(z + h, noise) - right(z - h, noise)) / (2 * h)
        np.testing.assert_allclose(by_z, slope, rtol=0, atol=1e-6)
        slope = (right(z, noise + h) - right(z, noise - h)) / (2 * h)
        np.testing.assert_allclose(by_noise, slope, rtol=0, atol=1e-6)
        # Without noise they are the neurons themselves.
        np.testing.assert_allclose(nearly, sharp, atol=1e-8)
        np.testing.assert_allclose(sharp, SHARP[name](z), atol=1e-15)


def test_twins_cancel():
    params = at("plain", 0)
    for name, sign in (("filters", 1), ("bias", 1), ("second", -1)):
        assert len(params[name]) == 8
        np.testing.assert_array_equal(params[name][:4], sign * params[name][4:])
    np.testing.assert_allclose(path("plain")[1][0], 0, atol=1e-14)


def test_without_twins_there_are_as_many_neurons_as_asked_for():
    problem, width = started()[0], 1000

    @quick
    def draw(scales):
        net = ls.nets.TwoLayer(width, "truncated", *scales, symmetric=False)
        params = net.init(KEY, problem)
        return params, net(params, problem.train.x)

    for scales in ((0.5, 0.2, 3.0), (2.0, 0.0, 0.1)):
        with jax.enable_x64(True):
            params, outputs = jax.tree.map(np.asarray, draw([jnp.asarray(s) for s in scales]))
        for name, scale in zip(("filters", "bias", "second"), scales, strict=True):
            assert len(params[name]) == width
            assert_mean(params[name].ravel() ** 2, scale**2, 2 * scale**4)
        right = reference.outputs(params, arrays(problem.train)[0])
        np.testing.assert_allclose(outputs, right, atol=1e-11)
        assert np.abs(outputs).min() > 1e-6
