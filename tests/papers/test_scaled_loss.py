"""The test loss at the best scale of the outputs, against SciPy and on a network."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import learnscope as ls
from learnscope.papers.meta_split import experiments as ex
from learnscope.papers.meta_split.parts import ScaledLoss
from learnscope.papers.meta_split.parts.scaled_loss import scaled_loss


@pytest.mark.parametrize("shift", [-0.3, 0.0, 0.3, 3.0])
@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0])
def test_it_is_the_least_loss_over_scales(shift, size):
    margins = size * (shift + np.random.default_rng(0).normal(size=1000))

    def loss(log_scale):
        return np.logaddexp(0.0, -np.exp(log_scale) * margins / size).mean()

    least = min(minimize_scalar(loss, bounds=(-20, 10), method="bounded").fun, np.log(2))
    found = float(scaled_loss(jnp.asarray(margins)))
    np.testing.assert_allclose(found, least, atol=2e-6)
    assert (found < np.log(2) - 1e-3) == (shift > 0.1)


def test_separable_outputs_have_no_loss_and_no_outputs_are_a_guess():
    assert float(scaled_loss(jnp.array([1.0, 2.0, 3.0]))) < 1e-30
    for guess in (jnp.zeros(4), -jnp.ones(4)):
        np.testing.assert_allclose(scaled_loss(guess), np.log(2), rtol=1e-6)
    assert np.isnan(scaled_loss(jnp.array([1.0, np.nan])))


def test_weights_that_shrink_change_the_loss_only():
    """Of a network of section 5.1, whose outputs on noise are large."""
    setting = ex.paper_setting("stated", "5 steps, ReLU", "train-train", 1, 1)
    setting = setting.replace("data.tasks", 16).replace("data.test_tasks", 10)
    shrunk = setting.replace("net.scale", 0.7 * setting.net.scale)
    values = [ls.run(each, progress=False, seeds=2).isel(step=0) for each in (setting, shrunk)]
    ratio = values[1].test_loss / values[0].test_loss
    assert float(ratio.max()) < 0.75
    np.testing.assert_allclose(*(each.scaled_test_loss for each in values), rtol=1e-4)


def test_it_needs_one_output():
    data = ls.data.ClassNoise(dim=20, classes=3, train_per_class=2, test=6, signal=1.0)
    net = ls.nets.PatchCNN(width=4, activation="relu", classes=3)
    rule = ls.rules.GradientDescent(rate=0.1)
    made = ls.Experiment(data=data, net=net, rule=rule, steps=1, probes=(ScaledLoss(),))
    with pytest.raises(ls.errors.BadInput, match="one output"):
        ls.run(made, progress=False)
    assert jax.eval_shape(scaled_loss, jnp.zeros(3)).shape == ()
