"""Positive pairs: two views of each example, which self-supervised rules align."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PyTree

from learnscope.space import random
from learnscope.space.columns import Columns
from learnscope.space.fresh import FreshPatches

Pair = tuple[PyTree[Array], PyTree[Array]]


class AbstractViews(eqx.Module):
    """A way to make two views of inputs."""

    @abstractmethod
    def __call__(self, key: Key[Array, ""], x: PyTree[Float[Array, "n ..."]]) -> Pair: ...


class HalfMask(AbstractViews):
    r"""A random half of the patches, and the other half: the rest of each view is zero (Wen and Li
    2022, equation 3.2)."""

    def __call__(self, key: Key[Array, ""], x: Float[Array, "n patch dim"]) -> Pair:
        chosen = (random_places(key, *x.shape[:2]) < x.shape[1] // 2)[..., None]
        return jnp.where(chosen, x, 0.0), jnp.where(chosen, 0.0, x)


class Halves(AbstractViews):
    """The first half of the patches and the second, for data models that shuffle patches: equal in
    law to random halves. The zero patches of a view form a second array."""

    def __call__(self, key: Key[Array, ""], x: PyTree[Float[Array, "n patch width"]]) -> Pair:
        (group,) = x
        if isinstance(group, FreshPatches):
            one, other = group.halves()
            n, count = one.values.shape[:2]
        elif isinstance(group, Columns):
            _, n, patches = group.values.shape
            count = patches // 2
            one, other = (Columns(group.values[..., :count]), Columns(group.values[..., count:]))
        else:
            n, count = group.shape[0], group.shape[1] // 2
            one, other = group[:, :count], group[:, count:]
        nothing = jnp.zeros((n, count, 1))
        return (one, nothing), (other, nothing)


def random_places(key: Key[Array, ""], n: int, patches: int) -> Int[Array, "n patch"]:
    """A uniformly random order of the patches of each example. It comes from comparisons of uniform
    draws, since XLA sorts slowly on CPUs."""
    draw = random.uniform(key, (n, patches))
    one, other = draw[:, :, None], draw[:, None, :]
    later = jnp.arange(patches)[:, None] > jnp.arange(patches)[None, :]
    return ((one > other) | ((one == other) & later[None])).sum(-1)
