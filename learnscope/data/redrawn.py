"""Positive pairs that share the signal and nothing else."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from learnscope.data.problem import AbstractData, FullBatch, Problem
from learnscope.data.views import AbstractViews, Pair
from learnscope.data.wrapper import AbstractWrapper
from learnscope.errors import refuse
from learnscope.part import slot
from learnscope.space import random
from learnscope.space.frame import Frame


class Redrawn(AbstractWrapper):
    r"""The data model `data` with positive pairs of two examples that have the signal in common:
    the training example $x = s + \xi$ and $s + \xi'$, in random order. Here $s$ is the projection
    of each patch onto the span of the directions named `truth`, and $\xi'$ is the noise of a new
    example of the same class, drawn in every step. Views that add noise to $x$ share $\xi$ as well,
    and a rule that aligns them must memorise it. Runs are in ambient coordinates.

    | symbol | argument |
    |---|---|
    | the directions that span $s$ | `truth` |

    >>> import jax
    >>> from learnscope.data import SignalNoise
    >>> data = Redrawn(SignalNoise(dim=9, train=4, test=3, signal=1, noise=1), "signal")
    >>> one, other = data.sample(jax.random.key(0)).pair(jax.random.key(1))
    >>> bool((one[:, 0] == other[:, 0]).all()), bool((one[:, 1, 1:] != other[:, 1, 1:]).all())
    (True, True)
    """

    data: AbstractData = slot(AbstractData)
    truth: str = eqx.field(static=True, default="signal")

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        whole = self.data.sample(key, frame)
        if not isinstance(whole.batches, FullBatch):
            refuse(self, "data", "it must learn from all of its training examples in every step")
        if self.truth not in whole.directions:
            refuse(self, "truth", f"it must be one of: {', '.join(whole.directions)}")
        basis = row_space(whole.directions[self.truth])
        return dataclasses.replace(whole, views=_FreshNoise(self.data, basis, whole.train.y))


class _FreshNoise(AbstractViews):
    """An example, and its signal with the noise of a fresh one of its class. `y` has the classes
    of the training set, which every step learns from."""

    model: AbstractData
    basis: Float[Array, "count dim"]
    y: Array

    def __call__(self, key: Key[Array, ""], x: Float[Array, "n *patch dim"]) -> Pair:
        draw_key, coin_key = jax.random.split(key)
        # The dimension is a traced number here, and decides shapes.
        dim = lambda path, leaf: x.shape[-1] if str(path[-1]) == ".dim" else leaf  # noqa: E731
        fresh = jax.tree_util.tree_map_with_path(dim, self.model).sample(draw_key).train
        apart = x - fresh.x[_partners(self.y, fresh.y)]
        other = x - (apart - apart @ self.basis.T @ self.basis)
        coins = random.signs(coin_key, (x.shape[0],)).reshape(-1, *[1] * (x.ndim - 1))
        return jnp.where(coins > 0, x, other), jnp.where(coins > 0, other, x)


def row_space(rows: Float[Array, "*count dim"]) -> Float[Array, "count dim"]:
    """An orthonormal basis of the rows' span; zero rows stand for directions that depend on
    others."""
    _, sizes, basis = jnp.linalg.svd(jnp.atleast_2d(rows), full_matrices=False)
    return jnp.where((sizes > 1e-5 * sizes.max())[:, None], basis, 0.0)


def _partners(y: Array, fresh: Array) -> Int[Array, " n"]:
    """For every label the number of a fresh example with that label: the first, second, ... fresh
    one for the first, second, ... example of a class, and again from the first if they run out."""
    same = y[:, None] == fresh[None]
    before = jnp.tril(y[:, None] == y[None], -1).sum(1)
    turn = (before % jnp.maximum(same.sum(1), 1))[:, None]
    place = jnp.tril(fresh[:, None] == fresh[None], -1).sum(1)
    return jnp.argmax(same & (place[None] == turn), axis=1)
