"""The convolution against XLA's own, with all of its derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from learnscope.nets.convolution import convolve

# Side of the images, side of the filters, zeros at the edges, stride.
CASES = [(8, 3, 1, 1), (7, 3, 1, 2), (9, 5, 0, 1), (8, 1, 0, 2)]


def slope(f):
    return jax.grad(lambda x, w: (f(x, w) ** 3).sum(), (0, 1))


TRANSFORMS = {
    "values": lambda f: f,
    "slope": slope,
    "forward over reverse": lambda f: lambda x, w: jax.jvp(slope(f), (x, w), (x + 1, w - 1)),
    "reverse over reverse": lambda f: jax.grad(
        lambda x, w: sum((leaf**2).sum() for leaf in slope(f)(x, w)), (0, 1)
    ),
    "slopes of examples": lambda f: (
        lambda x, w: jax.vmap(jax.grad(lambda w, x: (f(x[None], w) ** 3).sum()), (None, 0))(w, x)
    ),
    "filters and images": lambda f: (
        lambda x, w: jax.vmap(lambda w, x: f(x[None], w), (3, 0), 2)(
            jnp.stack([w, w + 1, w * 2], 3), x
        )
    ),
    "slopes of several filters": lambda f: (
        lambda x, w: jax.grad(lambda w: (jax.vmap(lambda one: f(x, one), 3, 2)(w) ** 2).sum())(
            jnp.stack([w, w + 1, w * 2], 3)
        )
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize(("side", "size", "edge", "stride"), CASES)
def test_like_that_of_xla(float64, side, size, edge, stride, name):
    one, two = jax.random.split(jax.random.key(0))
    x = jax.random.normal(one, (3, side, side, 2))
    w = jax.random.normal(two, (size, size, 2, 4))
    edges = ((edge, edge), (edge, edge))

    def of_xla(x, w):
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(x, w, (stride, stride), edges, dimension_numbers=layout)

    made = jax.jit(TRANSFORMS[name](lambda x, w: convolve(x, w, edges, stride)))(x, w)
    wanted = jax.jit(TRANSFORMS[name](of_xla))(x, w)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-9), made, wanted)


def test_it_is_plain_in_a_loop():
    """Derivatives inside a loop are in the one layout that is fast there."""
    x, w = jnp.ones((2, 6, 6, 2)), jnp.ones((3, 3, 2, 3))
    step = jax.grad(lambda w: (convolve(x, w, ((1, 1), (1, 1))) ** 2).sum())
    loop = jax.jit(lambda w: jax.lax.fori_loop(0, 3, lambda _, w: step(w), w))
    lines = [line for line in loop.lower(w).as_text().splitlines() if "convolution(" in line]
    assert len(lines) == 2
    assert all("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" in line for line in lines)


def test_few_filters_are_applied_at_neighbouring_places_together():
    """Moved copies of the filters, and more channels, but not where outputs are few."""
    layer = lambda n: jax.eval_shape(lambda: (jnp.ones((n, 8, 8, 3)), jnp.ones((3, 3, 3, 6))))  # noqa: E731
    made = jax.jit(lambda x, w: convolve(x, w, ((1, 1), (1, 1))))
    assert "tensor<3x10x4x48xf32>" in made.lower(*layer(4)).as_text()
    assert "tensor<3x3x3x6xf32>" in made.lower(*layer(1)).as_text()
    assert "48xf32" not in made.lower(*layer(1)).as_text()


def test_slopes_of_single_examples_are_one_matrix_product():
    x, w = jnp.ones((5, 8, 8, 2)), jnp.ones((3, 3, 2, 4))
    one = lambda w, x: (convolve(x[None], w, ((1, 1), (1, 1))) ** 2).sum()  # noqa: E731
    made = jax.jit(jax.vmap(jax.grad(one), (None, 0))).lower(w, x).as_text()
    assert "dot_general" in made and "while" not in made
