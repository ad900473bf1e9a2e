"""Positive pairs for any data model."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, Key, PyTree

from learnscope.data.problem import AbstractData, Problem
from learnscope.data.views import AbstractViews, Pair
from learnscope.data.wrapper import AbstractWrapper
from learnscope.part import AbstractPart, Number, number, slot
from learnscope.space import random
from learnscope.space.frame import Frame


class NoisyViews(AbstractViews, AbstractPart):
    r"""Two views $x + \epsilon$ and $x + \epsilon'$ with independent normal noise: an augmentation
    for any inputs, used in theory on signal and noise (Huang et al. 2024, *On the Comparison
    between Multi-modal and Single-modal Contrastive Learning*).

    | symbol | argument |
    |---|---|
    | standard deviation of a coordinate of $\epsilon$ | `noise` |

    >>> import jax, jax.numpy as jnp
    >>> one, other = NoisyViews(0.1)(jax.random.key(0), jnp.zeros((5, 2, 3)))
    >>> one.shape, bool((one != other).all())
    ((5, 2, 3), True)
    """

    noise: Number = number(above=0)

    def __call__(self, key: Key[Array, ""], x: PyTree[Float[Array, "n ..."]]) -> Pair:
        leaves, structure = jax.tree.flatten(x)

        def view(key: Key[Array, ""]) -> PyTree:
            keys = jax.random.split(key, len(leaves))
            pairs = zip(keys, leaves, strict=True)
            moved = [leaf + self.noise * random.normal(own, leaf.shape) for own, leaf in pairs]
            return jax.tree.unflatten(structure, moved)

        one, other = jax.random.split(key)
        return view(one), view(other)


class Viewed(AbstractWrapper):
    """The data model `data` with positive pairs made by `views`, so that self-supervised rules can
    learn from it. Every step draws new noise, so runs are in ambient coordinates.

    >>> import jax
    >>> from learnscope.data import SignalNoise
    >>> data = Viewed(SignalNoise(dim=9, train=4, test=3, signal=1, noise=1), NoisyViews(0.1))
    >>> one, other = data.sample(jax.random.key(0)).pair(jax.random.key(1))
    >>> one.shape
    (4, 2, 9)
    """

    data: AbstractData = slot(AbstractData)
    views: AbstractViews = slot(AbstractViews)

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        whole = self.data.sample(key, frame)
        return eqx.tree_at(lambda p: p.views, whole, self.views, is_leaf=lambda x: x is None)
