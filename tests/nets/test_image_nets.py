"""Deep networks on images: shapes, statistics, evaluation in parts, and NumPy's own LeNet5."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.nets.layers import max_pool, normalise
from learnscope.space.image_shape import square_images
from tests.small import refused

KEY = jax.random.key(0)
NETS = {
    "LeNet5": (ls.nets.LeNet5(), 61706),
    "Conv4": (ls.nets.Conv4(width=4, classes=5), None),
    "Conv6": (ls.nets.Conv6(width=4, normalise="group"), None),
    "ResNet": (ls.nets.ResNet(filters=2, classes=2), None),
    "FC": (ls.nets.FullyConnected(width=9), 784 * 9 + 9 + 90 + 10),
}


def drawn(net, shape=(28, 28, 1)):
    return eqx.filter_jit(net.layers)(KEY, shape)


def called(net, params, x):
    return eqx.filter_jit(net)(params, x)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == "ResNet" else n for n in NETS]
)
def test_outputs(name):
    net, size = NETS[name]
    params = drawn(net)
    x = jax.random.normal(KEY, (3, 784))
    outputs = called(net, params, x)
    assert outputs.shape == ((3,) if net.classes == 2 else (3, net.classes))
    np.testing.assert_array_equal(outputs, called(net, params, x.reshape(3, 28, 28, 1)))
    if size is not None:
        assert sum(leaf.size for leaf in jax.tree.leaves(params)) == size


def test_resnet_18_has_its_size():
    """As many parameters as the usual ResNet-18 for images of 32 x 32."""
    net = ls.nets.ResNet(filters=64)
    params = jax.eval_shape(lambda: drawn(net, (32, 32, 3)))
    assert sum(leaf.size for leaf in jax.tree.leaves(params)) == 11_173_962


def reference(params, image):
    """LeNet5 on one image, by loops, in NumPy's float64."""
    p = jax.tree.map(lambda leaf: np.asarray(leaf, float), params)

    def conv(x, layer, edge):
        x = np.pad(x, ((edge, edge), (edge, edge), (0, 0)))
        side = x.shape[0] - 4
        found = np.zeros((side, side, layer["weight"].shape[3]))
        for i in range(side):
            for j in range(side):
                found[i, j] = np.einsum("abc,abco->o", x[i : i + 5, j : j + 5], layer["weight"])
        return np.maximum(found + layer["bias"], 0)

    def pool(x):
        sides = range(0, x.shape[0] - 1, 2)
        return np.array([[x[i : i + 2, j : j + 2].max((0, 1)) for j in sides] for i in sides])

    x = pool(conv(pool(conv(image, p["conv1"], 2)), p["conv2"], 0)).ravel()
    for name in ("dense1", "dense2"):
        x = np.maximum(x @ p[name]["weight"] + p[name]["bias"], 0)
    return x @ p["dense3"]["weight"] + p["dense3"]["bias"]


def test_lenet_is_the_reference(float64):
    net = ls.nets.LeNet5()
    params = drawn(net)
    images = np.asarray(jax.random.normal(KEY, (2, 28, 28, 1)))
    wanted = np.stack([reference(params, image) for image in images])
    np.testing.assert_allclose(called(net, params, jnp.asarray(images)), wanted, atol=1e-12)


def test_batch_statistics_are_of_the_batch_and_can_be_fixed():
    net = ls.nets.Conv4(width=2)
    params = drawn(net, (8, 8, 1))
    x = jax.random.normal(KEY, (20, 64))
    own = called(net, params, x)
    assert not np.allclose(own[:5], called(net, params, x[:5]), atol=1e-3)
    fixed = eqx.filter_jit(net.calibrated)(params, x)
    np.testing.assert_allclose(called(net, fixed, x[:5]), own[:5], atol=1e-4)


def test_evaluation_in_parts(monkeypatch):
    monkeypatch.setattr("learnscope.nets.image_net._MOST", 8)
    net = ls.nets.LeNet5()
    params = drawn(net, (8, 8, 1))
    x = jax.random.normal(KEY, (27, 64))
    found = eqx.filter_jit(net.evaluate)(params, x)
    np.testing.assert_allclose(found, called(net, params, x), atol=1e-5)


def test_normalisation():
    x = 3 + 2 * jax.random.normal(KEY, (50, 4, 4, 16))
    layer = {"gain": jnp.ones(16), "shift": jnp.zeros(16)}
    by_channel = normalise("batch", layer, x)
    np.testing.assert_allclose(by_channel.mean((0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(by_channel.var((0, 1, 2)), 1, atol=1e-4)
    by_group = normalise("group", layer, x).reshape(50, 16, 8, 2)
    np.testing.assert_allclose(by_group.mean((1, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(by_group.var((1, 3)), 1, atol=1e-4)
    np.testing.assert_array_equal(normalise("none", {}, x), x)


def test_pooling_leaves_out_an_odd_row_and_images_are_square():
    x = jnp.arange(25.0).reshape(1, 5, 5, 1)
    np.testing.assert_array_equal(max_pool(x)[0, :, :, 0], [[6, 8], [16, 18]])
    for shape in ((2, 10), (2, 3, 5), (2, 50)):
        refused(lambda s=shape: square_images(jnp.ones(s)), "are not images: they must be square")


def penalised(net, train):
    rule = ls.rules.PerExamplePenalty(rate=0.1, weight=0.5)
    problem = ls.data.Images("digits", train=train, test=4).sample(KEY)
    return rule, problem, eqx.filter_jit(rule.init)(net, problem, KEY)


def test_per_example_gradients_in_chunks(monkeypatch):
    rule, problem, state = penalised(ls.nets.FullyConnected(width=40), 12)
    whole = eqx.filter_jit(rule.step)(state, problem, KEY).params
    monkeypatch.setattr("learnscope.rules.examples._GRADIENT_BYTES", 50_000)
    parts = eqx.filter_jit(lambda *given: rule.step(*given))(state, problem, KEY).params
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), whole, parts)


SLOW = pytest.param(ls.nets.LeNet5(), marks=pytest.mark.slow)


@pytest.mark.parametrize("net", [ls.nets.FullyConnected(width=4), SLOW])
def test_the_penalty_is_the_gradient_of_squared_norms(float64, net):
    """By differentiating every example's squared norm as it is written, one after the other."""
    rule, problem, state = penalised(net, 3)

    @jax.jit
    def slope(params):
        def objective(p):
            def one(i):
                own = lambda q: state.losses_at(q, problem.train.take(jnp.array([i]))).mean()  # noqa: E731
                squares = jax.tree.map(lambda leaf: (leaf**2).sum(), jax.grad(own)(p))
                return own(p) + 0.25 * sum(jax.tree.leaves(squares))

            return sum(one(i) for i in range(3)) / 3

        return jax.grad(objective)(params)

    made = eqx.filter_jit(rule.step)(state, problem, KEY).params
    wanted = jax.tree.map(lambda p, g: p - 0.1 * g, state.params, slope(state.params))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), made, wanted)
