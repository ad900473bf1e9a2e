"""A user's own Equinox model as a net."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, Key

from learnscope.data import Problem
from learnscope.errors import refuse
from learnscope.nets.net import AbstractNet, Params


class Model(AbstractNet):
    """Any Equinox module: `build(key)` makes it, and a call maps one example to outputs.

    Its inexact arrays are trained; everything else stays as built.

    >>> import equinox as eqx, jax, jax.numpy as jnp
    >>> net = Model(lambda key: eqx.nn.MLP(3, "scalar", 8, 1, key=key))
    >>> params = net.init(jax.random.key(0), None)
    >>> net(params, jnp.ones((4, 3))).shape
    (4,)
    """

    build: Callable[[Key[Array, ""]], Any] = eqx.field(static=True)

    def __check_init__(self):
        if not callable(self.build):
            refuse(self, "build", "it must be a function of a key that returns an Equinox module")

    def init(self, key: Key[Array, ""], problem: Problem | None) -> Params:
        with jax.enable_x64(False):  # in double precision JAX would draw other numbers
            params = eqx.filter(self.build(key), eqx.is_inexact_array)
        wide = lambda leaf: leaf.astype(float) if leaf.dtype == np.float32 else leaf  # noqa: E731
        return jax.tree.map(wide, params)

    def __call__(self, params: Params, x: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
        # Under jit the weights built here are dead code: only untrained leaves are used.
        model = eqx.combine(params, self.build(jax.random.key(0)))
        return jax.vmap(model)(x)
