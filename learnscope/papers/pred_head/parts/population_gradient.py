r"""The gradient of the population loss by hand, in the few numbers that it depends on.

With $B$ the overlaps of neurons with features, $G$ the Gram matrix of their noise parts and $E$ the
head, write $b = B^{\circ 3}$, $g = \text{diag}(G)$, and with the counts of `StrongWeak`
$c_0 = C_0 \alpha^6$, $c_1 = C_1 \alpha^6$ (one per feature), $c_2 = C_2 \sigma^6$:

$$\Sigma = b\, c_1 b^T + c_2 (9\, g g^T \circ G + 6 G^{\circ 3}),\quad A = b\, c_0 b^T,\quad
n_j = (E A)_{jj},\quad U_j = (E \Sigma E^T)_{jj},\quad Q_j = \Sigma_{jj}.$$

The loss is $\sum_j 1 - n_j / \sqrt{U_j Q_j}$, so that $-dL = \sum_j p_j dn_j - q_j dU_j - s_j dQ_j$
with $p = 1/\sqrt{UQ}$, $q = np/2U$, $s = np/2Q$ (without normalisation $p = 1$, $q = s = 1/2$).
With $M = E^T \text{diag}(q) E$ and the target held fixed (stop-gradient),

$$-\partial L/\partial b = (E^T \text{diag}(p)\, b)\, c_0 - 2 M b\, c_1, \qquad
-\partial L/\partial E = \text{diag}(p) A - 2\, \text{diag}(q) E \Sigma,$$
$$S = \partial L/\partial G = c_2 (M \circ (9 g g^T + 18 G^{\circ 2}) +
18\, \text{diag}((M \circ G) g)).$$

Without stop-gradient $b$ also gets $\text{diag}(p) E b\, c_0 - 2\, \text{diag}(s)\, b\, c_1$, and
$S$ takes $M + \text{diag}(s)$ for $M$. Filters' noise parts $W$ have the gradient $2 S W$.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.papers.pred_head.parts.population_law import (
    Law,
    cross_covariance,
    inverse_root,
    within_covariance,
)


class Slopes(NamedTuple):
    """Derivatives of the population loss."""

    overlaps: Float[Array, "neuron feature"]  # by B
    gram: Float[Array, "neuron neuron"]  # by G: S
    head: Float[Array, "neuron neuron"]  # by E


def population_slopes(
    law: Law,
    overlaps: Float[Array, "neuron feature"],
    gram: Float[Array, "neuron neuron"],
    head: Float[Array, "neuron neuron"],
    normalise: str = "batch",
    stop_gradient: bool = True,
) -> Slopes:
    """dL/dB, dL/dG and dL/dE (all of its entries, whichever are trained)."""
    cubes = overlaps**3
    lengths = jnp.diag(gram)
    product = lengths[:, None] * lengths[None]
    within = within_covariance(law, overlaps, gram)
    across = cross_covariance(law, overlaps, overlaps)
    seen = head @ within
    aligned, online = (head * across).sum(1), (seen * head).sum(1)
    other = jnp.diag(within)
    if normalise == "none":
        p, q, s = (jnp.full_like(online, value) for value in (1.0, 0.5, 0.5))
    else:
        p = inverse_root(online) * inverse_root(other)
        q, s = aligned * p / (2 * online), aligned * p / (2 * other)
    mixed = (head * q[:, None]).T @ head
    pull = ((head * p[:, None]).T @ cubes) * law.across[None]
    pull = pull - 2 * (mixed @ cubes) * law.within[None]
    if not stop_gradient:
        pull = pull + p[:, None] * (head @ cubes) * law.across[None]
        pull = pull - 2 * s[:, None] * cubes * law.within[None]
        mixed = mixed + jnp.diag(s)
    own = jnp.diag((mixed * gram) @ lengths)
    by_gram = law.noise * (mixed * (9 * product + 18 * gram**2) + 18 * own)
    by_head = 2 * q[:, None] * seen - p[:, None] * across
    return Slopes(-3 * overlaps**2 * pull, by_gram, by_head)
