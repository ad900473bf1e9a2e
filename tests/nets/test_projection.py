"""A projection on the features of any deep network."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.nets import Conv4, FullyConnected, LeNet5, Projection
from learnscope.rules import optimiser as opt

X = np.random.default_rng(1).standard_normal((6, 64)).astype(np.float32)


@pytest.mark.parametrize("net", [LeNet5(), Conv4(width=3), FullyConnected(width=7)])
def test_outputs_are_a_linear_layer_on_features(net):
    @jax.jit
    def both(key):
        params = net.layers(key, (8, 8, 1))
        last = params[net.last]
        wanted = net.features(params, X.reshape(6, 8, 8, 1)) @ last["weight"] + last["bias"][None]
        return net(params, X), wanted

    found, wanted = both(jax.random.key(0))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_projection_is_what_it_says():
    net = Projection(FullyConnected(width=7, activation="relu"), width=5, outputs=4)
    params = net.parameters(jax.random.key(0), (8, 8, 1))
    assert "dense" not in params["body"]
    hidden = params["body"]["hidden"]
    z = np.maximum(X @ hidden["weight"] + hidden["bias"][None], 0)
    np.testing.assert_allclose(net.features(params, X), z, rtol=1e-5, atol=1e-6)
    z = np.maximum(z @ params["dense1"]["weight"] + params["dense1"]["bias"][None], 0)
    z = z @ params["dense2"]["weight"] + params["dense2"]["bias"][None]
    np.testing.assert_allclose(net(params, X), z, rtol=1e-4, atol=1e-5)


def test_calibrated_examples_stand_alone():
    net = Projection(Conv4(width=3), width=5, outputs=4, normalise="batch")

    @jax.jit
    def read(key):
        params = net.parameters(key, (8, 8, 1))
        fixed = net.calibrated(params, X)
        return net(params, X), net(fixed, X), net(fixed, X[:1])

    wanted, together, alone = read(jax.random.key(0))
    np.testing.assert_allclose(together, wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(alone, wanted[:1], rtol=1e-4, atol=1e-5)


def test_one_layer_is_linear_in_features():
    net = Projection(FullyConnected(width=7), outputs=4, layers=1)
    params = net.parameters(jax.random.key(0), (8, 8, 1))
    assert set(params) == {"body", "dense1"}
    wanted = net.features(params, X) @ params["dense1"]["weight"]
    np.testing.assert_allclose(net(params, X), wanted, rtol=1e-5, atol=1e-6)


def test_a_rate_that_falls():
    """The sum of steps of gradient descent along a constant slope is that of the cosine."""
    transform = opt.build("sgd", 0.1, {"cosine_steps": 4})
    state, moved = transform.init(jnp.zeros(())), []
    for _ in range(6):
        update, state = transform.update(jnp.ones(()), state)
        moved.append(-float(update))
    right = 0.05 * (1 + np.cos(np.pi * np.array([0, 1, 2, 3, 4, 4]) / 4))
    np.testing.assert_allclose(moved, right, atol=1e-7)
    rule = ls.rules.GradientDescent(rate=0.1, optimiser="adam", options={"cosine_steps": 4.0})
    assert rule.options == {"cosine_steps": 4.0}
