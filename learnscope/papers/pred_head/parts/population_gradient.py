r"""The gradient of the population loss by hand, split into its effects.

With $B$ the overlaps of neurons with features, $G$ the Gram matrix of their noise parts and $E$ the
head, write $b = B^{\circ 3}$, $f = E b$, and with the counts of `StrongWeak` $c_0 = C_0 \alpha^6$,
$c_1 = C_1 \alpha^6$ (one per feature), $c_2 = C_2 \sigma^6$ (`Law`); $\Sigma$ and $A$ are as in
`population_law`, $n_j = (E A)_{jj}$, $U_j = (E \Sigma E^T)_{jj}$, $Q_j = \Sigma_{jj}$, and with $N$
the covariance of the cubes of noise, $e_j = c_2 (E N E^T)_{jj}$ is the noise's part of $U_j$. For
batch normalisation with stop-gradient let $\Phi_j = Q_j^{-1/2} U_j^{-3/2}$. Then for any number of
neurons and features

$$-\frac{\partial L}{\partial B_{rl}} = 3 B_{rl}^2 \sum_j \Phi_j E_{jr} \Big[ c_{0l} b_{jl}
\Big(e_j + \sum_{k \ne l} c_{1k} f_{jk}^2\Big) - c_{1l} f_{jl} \sum_{k \ne l} c_{0k} b_{jk} f_{jk}
\Big]$$
$$-\frac{\partial L}{\partial E_{jr}} = \Phi_j \Big[ A_{jr} e_j + \sum_k c_{1k} f_{jk}
(A_{jr} f_{jk} - n_j b_{rk}) - n_j c_2 (E N)_{jr} \Big].$$

| term | of | where it comes from |
|---|---|---|
| `growth` | $B$ | $j = r$, times $e_j$: a neuron's own feature against noise |
| `acceleration` | $B$ | $j = r$, times $\sum_{k \ne l} c_{1k} f_{jk}^2$: by its other predictions |
| `borrowed` | $B$ | $j \ne r$: a feature grows since another neuron predicts by it ($\Gamma$) |
| `competition` | $B$ | the last sum: features against each other ($-\Upsilon$) |
| `substitution` | $E$ | $A_{jr} e_j$: neuron r's feature in place of neuron j's own |
| `fading` | $E$ | the middle sum: for two neurons $-\Xi_j E_{jr}$ |
| `noise` | $E$ | the last: what neuron r's noise costs |

`substitution` of $E_{21}$ is the paper's substitution effect (Lemma 5.2), `acceleration` of
$B_{22}$ its acceleration effect (Lemma 5.3).

With $M = E^T \text{diag}(n_j \Phi_j / 2) E$ and $g = \text{diag}(G)$, $S = \partial L/\partial G =
c_2 (M \circ (9 g g^T + 18 G^{\circ 2}) + 18\, \text{diag}((M \circ G) g))$, and filters' noise
parts $W$ have the gradient $2 S W$.

Nothing here is a difference of large numbers: late in training all terms of $B$ vanish with the
noise, and differentiating the loss would leave rounding errors in their place.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.papers.pred_head.parts.population_law import (
    Law,
    cross_covariance,
    inverse_root,
    noise_covariance,
    population_loss,
    within_covariance,
)

Overlaps = Float[Array, "neuron feature"]
Matrix = Float[Array, "neuron neuron"]


class Slopes(NamedTuple):
    """Derivatives of the population loss."""

    overlaps: Overlaps  # by B
    gram: Matrix  # by G: S
    head: Matrix  # by E, whichever entries are trained


class Terms(NamedTuple):
    """Parts of the descent direction: the first four of -dL/dB, the others of -dL/dE."""

    growth: Overlaps
    acceleration: Overlaps
    borrowed: Overlaps
    competition: Overlaps
    substitution: Matrix
    fading: Matrix
    noise: Matrix

    @property
    def overlaps(self) -> Overlaps:
        """-dL/dB."""
        return self.growth + self.acceleration + self.borrowed + self.competition

    @property
    def head(self) -> Matrix:
        """-dL/dE, of all its entries."""
        return self.substitution + self.fading + self.noise


def loss(
    law: Law, overlaps: Overlaps, gram: Matrix, head: Matrix, normalise: str = "batch",
    stop_gradient: bool = False,
) -> Float[Array, ""]:  # fmt: skip
    r"""$\sum_j 1 - n_j / \sqrt{U_j Q_j}$: half the mean squared distance of the views. With
    `stop_gradient`, derivatives hold the target fixed."""
    within = within_covariance(law, overlaps, gram)
    target = jax.lax.stop_gradient((overlaps, within)) if stop_gradient else (overlaps, within)
    across = cross_covariance(law, overlaps, target[0])
    return population_loss(across, within, target[1], head, normalise)


def gradient_terms(law: Law, overlaps: Overlaps, gram: Matrix, head: Matrix) -> Terms:
    """The terms above, at one time; along a trajectory, `jax.vmap` of it."""
    cubes, noise = overlaps**3, noise_covariance(gram)
    seen = head @ cubes
    pull = law.across[None] * cubes
    online = law.within[None] * seen
    own = law.noise * jnp.sum(head @ noise * head, axis=1)
    phi = _phi(law, overlaps, gram, head)
    rest = 1.0 - jnp.eye(overlaps.shape[1], dtype=seen.dtype)  # sums over the other features
    others = (online * seen) @ rest
    diagonal = jnp.diag(jnp.diag(head))

    def pulled(matrix: Array, bracket: Array) -> Array:
        return 3 * overlaps**2 * ((matrix * phi[:, None]).T @ bracket)

    # sum over l != k of c0_l b_jl c1_k f_jk (b_rl f_jk - f_jl b_rk)
    turned = jnp.einsum("rl,jk->jrlk", cubes, seen) - jnp.einsum("jl,rk->jrlk", seen, cubes)
    middle = jnp.einsum("jl,jk,lk,jrlk->jr", pull, online, rest, turned)
    return Terms(
        growth=pulled(diagonal, pull * own[:, None]),
        acceleration=pulled(diagonal, pull * others),
        borrowed=pulled(head - diagonal, pull * (own[:, None] + others)),
        competition=-pulled(head, online * ((pull * seen) @ rest)),
        substitution=phi[:, None] * (pull @ cubes.T) * own[:, None],
        fading=phi[:, None] * middle,
        noise=-(phi * (pull * seen).sum(1))[:, None] * law.noise * (head @ noise),
    )


def _phi(law: Law, overlaps: Overlaps, gram: Matrix, head: Matrix) -> Float[Array, " neuron"]:
    within = within_covariance(law, overlaps, gram)
    return inverse_root(jnp.diag(within)) * inverse_root(jnp.diag(head @ within @ head.T)) ** 3


def population_slopes(
    law: Law, overlaps: Overlaps, gram: Matrix, head: Matrix, normalise: str = "batch",
    stop_gradient: bool = True,
) -> Slopes:  # fmt: skip
    """dL/dB, dL/dG and dL/dE: by the terms, or for other losses by automatic differentiation."""
    if normalise != "batch" or not stop_gradient:
        by = jax.grad(loss, argnums=(1, 2, 3))
        return Slopes(*by(law, overlaps, gram, head, normalise, stop_gradient))
    terms, lengths = gradient_terms(law, overlaps, gram, head), jnp.diag(gram)
    cubes, phi = overlaps**3, _phi(law, overlaps, gram, head)
    aligned = (law.across[None] * cubes * (head @ cubes)).sum(1)
    mixed = (head * (aligned * phi / 2)[:, None]).T @ head
    product = 9 * lengths[:, None] * lengths[None] + 18 * gram**2
    by_gram = law.noise * (mixed * product + 18 * jnp.diag((mixed * gram) @ lengths))
    return Slopes(-terms.overlaps, by_gram, -terms.head)
