"""What every test runs under: strict shapes, and float64 where a test asks for it."""

import jax
import pytest


@pytest.fixture(scope="session", autouse=True)
def strict_shapes():
    """A (3,) array added to a (4, 3) one is an error: such promotions hide missing axes.

    Set for the whole process, since `run` computes blocks in threads of its own, which a context
    manager would not reach.
    """
    before = jax.config.jax_numpy_rank_promotion
    jax.config.update("jax_numpy_rank_promotion", "raise")
    yield
    jax.config.update("jax_numpy_rank_promotion", before)


@pytest.fixture
def float64():
    """Double precision, for this test only."""
    with jax.enable_x64(True):
        yield
