"""Python functions inside of compiled programs: every digit passes, in whichever thread."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.images.callback import called


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
def test_every_digit_passes_both_ways(dtype: str):
    """The callback runs while this thread has double precision and the function's does not."""
    given = np.array([[1 / 3, 2 / 3, 1e9 / 7]]).astype(dtype)
    arrived = []

    def function(array):
        arrived.append(array)
        return array * 2

    with jax.enable_x64(True):
        shape = jax.ShapeDtypeStruct(given.shape, given.dtype)
        program = jax.jit(lambda array: called(function, shape, array)).lower(jnp.asarray(given))
        program = program.compile()
        argument = jnp.asarray(given)
    results = []
    # Another thread has JAX's defaults, 32 bits.
    thread = threading.Thread(target=lambda: results.append(np.asarray(program(argument))))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(arrived[0], given)
    np.testing.assert_array_equal(results[0], given * 2)
    assert results[0].dtype == given.dtype


def test_images_in_double_precision():
    """They failed at random: XLA chooses the thread that reads them."""
    experiment = ls.Experiment(
        ls.data.Images("digits", train=8, test=4),
        ls.nets.FullyConnected(width=4, classes=10),
        ls.rules.GradientDescent(rate=0.1),
        steps=1,
    )
    for test in (4, 5, 6):  # each a program of its own
        experiment = experiment.replace("data.test", test)
        assert ls.run(experiment, seeds=3, precision="float64").loss.dtype == np.float64
