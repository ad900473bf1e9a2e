"""Parameters of nets that see inner products: typed, or a dict of a user's own net."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from learnscope.nets import AbstractInnerProductNet, Weights, filters_of, replaced
from learnscope.nets.net import over_filters, summed
from learnscope.part import flag
from tests.small import DESCENT, PENALTY, experiment, probes, run


class Gained(AbstractInnerProductNet):
    """A user's own net, with a parameter that `Weights` does not have (or with filters alone)."""

    gain: bool = flag(False)
    rows: ClassVar = 3
    isotropic: ClassVar = True

    def init(self, key, problem):
        params = {"filters": 0.1 * problem.frame.gaussian_rows(key, 3)[0]}
        return params | {"gain": jnp.ones(3)} if self.gain else params

    def read(self, params, seen):
        total = summed(jax.nn.softplus(z) for z in seen)
        return (params["gain"] if self.gain else jnp.ones(3)) @ total


@pytest.mark.parametrize("gain", [True, False])
@pytest.mark.parametrize("rule", [DESCENT, PENALTY])
def test_a_dict_with_filters_trains_compressed(gain, rule):
    data, names = {"dim": 10**6, "noise": 1e-3}, "Loss SignalLearning Filters"
    result = run(experiment(rule, 3, 1, probes(names), data, Gained(gain)))
    assert result.attrs["coordinates_used"] == "compressed"
    assert float(result.loss.isel(step=-1).mean()) < float(result.loss.isel(step=0).mean())


def test_leaves_have_the_order_of_a_dict():
    arrays = {"filters": np.ones((2, 3)), "second": np.ones(2), "bias": np.zeros(2)}
    weights = Weights(**arrays)
    assert all(a is b for a, b in zip(*map(jax.tree.leaves, (weights, arrays)), strict=True))
    assert weights["second"] is weights.second
    for params in (weights, arrays):
        assert filters_of(replaced(params, filters=None)) is None


@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_a_sum_in_pairs_is_a_sum_and_so_are_its_derivatives(count):
    z = jax.random.normal(jax.random.key(0), (count, 3))
    along = jax.random.normal(jax.random.key(1), z.shape)

    def values(add):
        return [add(z), *jax.jvp(jax.grad(lambda z: jnp.sum(add(z) ** 3)), (z,), (along,))]

    found, expected = values(over_filters), values(lambda z: z.sum(0))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
