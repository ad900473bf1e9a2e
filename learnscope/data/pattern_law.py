"""`PatternLaw`: the distribution of which patterns are present."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from learnscope.part import Number
from learnscope.space import random


def heads(k: int) -> Float[np.ndarray, " count"]:
    """The probabilities of 0, 1, ..., k heads among k fair coins."""
    return np.array([math.comb(k, c) / 2**k for c in range(k + 1)])  # integers: of any size


class PatternLaw(eqx.Module):
    r"""The law of $\tilde\phi \in \{0, 1\}^D$, relevant patterns first. An input has a group and a
    count of relevant patterns, with joint probabilities `chances`. Given both, the relevant
    patterns are a uniformly random subset of that size, and each background pattern is present
    independently with its probability in the group, `background`. The label depends on the count
    alone: `signs`."""

    chances: Float[Array, "group count"]
    background: Float[Array, "group rest"]
    signs: tuple[float, ...] = eqx.field(static=True)

    @staticmethod
    def independent(
        chance: Number, background: Float[Array, " rest"], signs: Float[np.ndarray, " count"]
    ) -> "PatternLaw":
        """Every relevant pattern is present with probability `chance`, independently."""
        k = len(signs) - 1
        # In logarithms: binomial coefficients overflow single precision for k > 130.
        subsets = np.array([math.log(math.comb(k, c)) for c in range(k + 1)])
        likely = jax.nn.softmax(subsets + np.arange(k + 1) * jnp.log(chance / (1 - chance)))
        return PatternLaw(likely[None], jnp.asarray(background)[None], _static(signs))

    @staticmethod
    def fair(rest: int, signs: Float[np.ndarray, " count"]) -> "PatternLaw":
        """Every pattern is an independent fair coin."""
        chances, background = jnp.asarray(heads(len(signs) - 1)), jnp.full((1, rest), 0.5)
        return PatternLaw(chances[None], background, _static(signs))

    @staticmethod
    def mixture(fraction: Number, rest: int, signs: Float[np.ndarray, " count"]) -> "PatternLaw":
        r"""$p_o D^{(0)} + (1 - p_o) D^{(1)}$ (Shi, Wei, Liang 2022, appendix C). In the first,
        all patterns are independent fair coins. In the second, the relevant ones are all present or
        all absent, and each other one is present with probability $p_o / (2 - 2 p_o)$."""
        k = len(signs) - 1
        ends = np.zeros(k + 1)
        ends[[0, k]] += 0.5
        chances = jnp.stack([fraction * jnp.asarray(heads(k)), (1 - fraction) * jnp.asarray(ends)])
        low = fraction / (2 - 2 * fraction)
        background = jnp.stack([jnp.full(rest, 0.5), jnp.broadcast_to(jnp.asarray(low), (rest,))])
        return PatternLaw(chances, background, _static(signs))

    def with_negative(self, fraction: Number) -> "PatternLaw":
        """The same law given the label, with probability `fraction` of the label -1."""
        negative = jnp.asarray(np.asarray(self.signs) < 0)
        below = jnp.sum(self.chances * negative[None])
        factor = jnp.where(negative, fraction / below, (1 - fraction) / (1 - below))
        return PatternLaw(self.chances * factor[None], self.background, self.signs)

    @property
    def relevant(self) -> int:
        """k."""
        return len(self.signs) - 1

    @property
    def positive(self) -> Array:
        """Pr[y = +1]."""
        return jnp.sum(self.chances * (np.asarray(self.signs) > 0)[None])

    def mean(self) -> Float[Array, " pattern"]:
        r"""$E[\tilde\phi]$."""
        k = self.relevant
        present = jnp.sum(self.chances * (np.arange(k + 1) / k)[None])
        return jnp.concatenate([jnp.full(k, present), self.chances.sum(1) @ self.background])

    def covariance(self) -> Float[Array, "pattern pattern"]:
        r"""$\mathrm{Cov}(\tilde\phi)$."""
        k, count = self.relevant, np.arange(self.relevant + 1)
        group = self.chances.sum(1)
        one = jnp.sum(self.chances * (count / k)[None])
        pair = count * (count - 1) / max(1, k * (k - 1))
        two = jnp.sum(self.chances * pair[None])
        among = jnp.full((k, k), two) + jnp.eye(k) * (one - two)
        joint = self.chances @ (count / k)  # of a group and one relevant pattern
        across = jnp.broadcast_to(joint @ self.background, (k, self.background.shape[1]))
        beyond = (self.background * group[:, None]).T @ self.background
        beyond = jnp.fill_diagonal(beyond, group @ self.background, inplace=False)
        both = jnp.block([[among, across], [across.T, beyond]])
        mean = self.mean()
        return both - mean[:, None] * mean[None]

    def correlation(self) -> Array:
        r"""$\gamma = E[y \tilde\phi_j] - E[y] E[\tilde\phi_j]$ for a relevant pattern (A1)."""
        k, signs = self.relevant, np.asarray(self.signs)
        count = np.arange(k + 1) / k
        joint = jnp.sum(self.chances * (count * signs)[None])
        return joint - jnp.sum(self.chances * signs[None]) * jnp.sum(self.chances * count[None])

    def draw(
        self, key: Key[Array, ""], size: int
    ) -> tuple[Bool[Array, "n pattern"], Float[Array, " n"]]:
        """Samples: present patterns, relevant ones first, and labels."""
        k, rest = self.relevant, self.background.shape[1]
        uniform = random.uniform(key, (1 + k + rest, size))
        group, count = self._place(uniform[0])

        def pick(left, drawn):
            chance, remaining = drawn
            present = chance * remaining < left
            return left - present, present

        remaining = jnp.arange(k, 0, -1, dtype=uniform.dtype)
        _, present = jax.lax.scan(pick, count, (uniform[1 : k + 1], remaining))
        below = self.background.T[:, 0:1]
        for g in range(1, self.background.shape[0]):
            below = jnp.where((group == g)[None], self.background[g][:, None], below)
        beyond = uniform[k + 1 :] < below
        labels = jnp.asarray(np.asarray(self.signs), uniform.dtype)[count]
        return jnp.concatenate([present, beyond]).T, labels

    def _place(self, uniform: Float[Array, " n"]) -> tuple[Int[Array, " n"], Int[Array, " n"]]:
        """The group and the count for every uniform number."""
        edges = jnp.cumsum(self.chances.ravel())[:-1].astype(uniform.dtype)
        cell = jnp.sum(uniform[None] >= edges[:, None], axis=0)
        return cell // (self.relevant + 1), cell % (self.relevant + 1)


def _static(signs: Float[np.ndarray, " count"]) -> tuple[float, ...]:  # hashable
    return tuple(float(sign) for sign in signs)
