r"""The law of a view's outputs with infinitely many samples, and the loss that follows from it.

For `StrongWeak` with Gaussian noise and cubic neurons the loss depends on the weights only through
$B_{jl} = \langle w_j, v_l \rangle$ and the Gram matrix $G$ of their noise parts. With
$b = B^{\circ 3}$, $c_l = \alpha_l^6$, and $E[x^3 y^3] = 9 \text{var}(x) \text{var}(y)
\text{cov} + 6 \text{cov}^3$ for centred normal variables, a view's outputs have covariance

$$\Sigma = \sum_l C_{1,l} c_l b_l b_l^T + C_2 \sigma^6 (9\, \text{diag}(g) G\, \text{diag}(g) +
6 G^{\circ 3}),$$

and outputs of two views (of encoder and target) $A = \sum_l C_{0,l} c_l b_l b_l'^T$, since their
noise is independent. The counts $C$ are `StrongWeak.counts`. Then (Wen and Li 2022, equation A.1)

$$L = \sum_j 1 - (E A)_{jj} / \sqrt{(E \Sigma E^T)_{jj} \Sigma'_{jj}}.$$
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import FreshPairs, Problem, StrongWeak
from learnscope.errors import BadInput


class Law(NamedTuple):
    """What the population loss knows of the data model: counts times powers of strengths."""

    across: Float[Array, " feature"]  # c_0
    within: Float[Array, " feature"]  # c_1
    noise: Float[Array, ""]  # c_2

    @property
    def features(self) -> int:
        """L: how many features there are."""
        return self.within.shape[0]

    @classmethod
    def of(cls, model: StrongWeak) -> "Law":
        """Those of a data model."""
        sixth = jnp.stack([jnp.asarray(s, float) for s in model.strengths]) ** 6
        counts = model.counts
        noise = jnp.asarray(model.noise, float) ** 6
        return cls(counts.across * sixth, counts.within * sixth, counts.noise * noise)


def within_covariance(
    law: Law, overlaps: Float[Array, "neuron feature"], gram: Float[Array, "neuron neuron"]
) -> Float[Array, "neuron neuron"]:
    r"""$\Sigma$: of the neurons' outputs for one view."""
    cubes = overlaps**3
    return (cubes * law.within[None]) @ cubes.T + law.noise * noise_covariance(gram)


def noise_covariance(gram: Float[Array, "neuron neuron"]) -> Float[Array, "neuron neuron"]:
    r"""$9\, g g^T \circ G + 6 G^{\circ 3}$: of cubes of Gaussian variables with covariance G."""
    lengths = jnp.diag(gram)
    return 9 * lengths[:, None] * gram * lengths[None] + 6 * gram**3


def cross_covariance(
    law: Law, overlaps: Float[Array, "neuron feature"], target: Float[Array, "neuron feature"]
) -> Float[Array, "neuron neuron"]:
    """A: of the neurons' outputs for one view and the target's for the other."""
    return (overlaps**3 * law.across[None]) @ (target**3).T


def population_loss(
    across: Float[Array, "neuron neuron"],
    within: Float[Array, "neuron neuron"],
    target: Float[Array, "neuron neuron"],
    head: Float[Array, "neuron neuron"],
    normalise: str,
) -> Float[Array, ""]:
    """Half the mean squared distance of the two views, from covariances."""
    together = jnp.diag(head @ across)
    online, other = jnp.diag(head @ within @ head.T), jnp.diag(target)
    if normalise == "none":
        return (0.5 * (online + other) - together).sum()
    return (1 - together * inverse_root(online) * inverse_root(other)).sum()


def inverse_root(variance: Float[Array, " neuron"]) -> Float[Array, " neuron"]:
    """One over standard deviations; 0 where nothing varies, so that it correlates with nothing."""
    there = variance > 0
    return jnp.where(there, jax.lax.rsqrt(jnp.where(there, variance, 1.0)), 0.0)


def parts(filters: Float[Array, "neuron rank"], features: int) -> tuple[Array, Array]:
    """B and G of filters whose first coordinates are the features."""
    beyond = filters[:, features:]
    return filters[:, :features], beyond @ beyond.T


def model_of(problem: Problem) -> StrongWeak:
    """The data model behind a problem; refused if its population is not known."""
    batches = problem.batches
    if not isinstance(batches, FreshPairs) or batches.model.noise_law != "gaussian":
        raise BadInput("population dynamics need the data model StrongWeak with Gaussian noise.")
    if batches.model.steady:
        raise BadInput("population dynamics need features of random sign, not StrongWeak.steady.")
    return batches.model
