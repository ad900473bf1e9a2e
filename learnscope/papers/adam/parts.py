"""Parts of this paper's own: a feature patch beside sparse noise, and descent with weight decay."""

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from learnscope.data import AbstractData, Problem, Samples
from learnscope.errors import refuse
from learnscope.part import Number, choice, count, number
from learnscope.rules import LOSSES, AbstractGradientRule, AbstractState, Move, plus
from learnscope.space import Frame, Space, SparsePatches, random


class SparseNoise(AbstractData):
    r"""Two patches: $y v$ with $v = e_1$, and $\xi - \alpha y v$, where $\xi$ is normal with
    deviation $\sigma_p$ in $s$ of the other coordinates, drawn for every example, and 0 elsewhere
    (Zou et al. 2021).

    The noise patch holds a little of the feature with the wrong sign: who memorises noise unlearns
    the feature. Patches are stored by their non-zero coordinates from $d = 40 s$ on, where this is
    faster (`benchmarks/sparse.py`).

    | symbol | argument |
    |---|---|
    | $d, n$ | `dim`, `train` |
    | $s, \sigma_p$ | `sparsity`, `noise` |
    | $\alpha$ | `strength` |

    >>> import jax
    >>> model = SparseNoise(dim=50, train=4, test=3, sparsity=5, noise=0.2, strength=0.1)
    >>> problem = model.sample(jax.random.key(0))
    >>> problem.train.x.shape, int((problem.train.vectors["noise"][0] != 0).sum())
    ((4, 2, 50), 6)
    """

    sparse_from: ClassVar[float] = 40  # dimensions per non-zero coordinate

    dim: Number = number(low=3, high=1e6, whole=True, shape=True)
    train: int = count()
    test: int = count()
    sparsity: int = count()
    noise: Number = number(low=0)
    strength: Number = number(0.0, low=0, high=1)

    def __check_init__(self):
        super().__check_init__()
        if self.sparsity >= self.dim:
            refuse(self, "sparsity", f"it must be below dim = {self.dim}")

    @property
    def space(self) -> Space:
        return Space(1 + self.train, "rotate")

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        train_key, test_key = jax.random.split(key)
        frame = Frame.of_dimension(int(self.dim))
        feature = jnp.eye(1, int(self.dim), dtype=float)[0]
        train, test = self._draw(train_key, self.train), self._draw(test_key, self.test)
        if isinstance(test.x, tuple):
            test = dataclasses.replace(test, vectors={})  # as large as what is saved
        return Problem(train, test, {"signal": feature}, frame, widths=(1, None))

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        return self._draw(key, 1).take(jnp.asarray(0))

    def _draw(self, key: Key[Array, ""], size: int) -> Samples:
        label_key, place_key, noise_key = jax.random.split(key, 3)
        dim, y = int(self.dim), random.signs(label_key, (size,))
        one = lambda key: random.distinct(key, dim - 1, self.sparsity)  # noqa: E731
        places = 1 + jax.vmap(one)(jax.random.split(place_key, size))
        values = self.noise * random.normal(noise_key, (size, self.sparsity))
        first = jnp.zeros((size, 1), places.dtype)
        feature = SparsePatches(first, y[:, None], dim)
        places = jnp.concatenate([first, places], axis=1)
        noise = SparsePatches(
            places, jnp.concatenate([-self.strength * y[:, None], values], axis=1), dim
        )
        x = feature, noise
        if dim < self.sparse_from * self.sparsity:
            x = jnp.stack([patches.dense() for patches in x], axis=1)
        return Samples(x, y, {"noise": noise.dense()})


class WeightDecay(AbstractGradientRule):
    r"""Descent on $L(W) + \frac{\lambda}{2} \|W\|^2$: its gradient, $g + \lambda W$, is what the
    optimiser sees (as in Adam of 2015; AdamW, of 2019, decays apart).

    | symbol | argument |
    |---|---|
    | $\eta$ | `rate` |
    | $\lambda$ | `decay` |
    """

    rate: Number = number(above=0)
    decay: Number = number(0.0, low=0)
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str = choice("sgd", "adam", default="sgd")
    options: dict[str, Any] = eqx.field(default_factory=dict)

    def gradient(self, state: AbstractState, problem: Problem, key: Key[Array, ""]) -> Move:
        return plus(state.gradient(problem.batch(key)), self.decay, state.params)
