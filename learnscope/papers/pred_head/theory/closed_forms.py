r"""The population loss of Wen and Li, its gradient by hand and split into its effects.

Notation is that of `pred_head.parts.population_gradient`, which has the gradient itself:
$c_0 = C_0 \alpha^6$, $c_1 = C_1 \alpha^6$, $c_2 = C_2 \sigma^6$ (`Law`), $b = B^{\circ 3}$,
$f = E b$, $U_j$, $Q_j$ the variances of online and target outputs, and with $N$ the covariance of
the cubes of noise, $e_j = c_2 (E N E^T)_{jj}$ the noise's part of $U_j$. For batch normalisation
with stop-gradient let $\Phi_j = Q_j^{-1/2} U_j^{-3/2}$. Then for any number of neurons and features

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
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.papers.pred_head.parts.population_gradient import Slopes, population_slopes
from learnscope.papers.pred_head.parts.population_law import (
    Law,
    noise_covariance,
    population_loss,
    within_covariance,
)

Overlaps = Float[Array, "neuron feature"]
Matrix = Float[Array, "neuron neuron"]


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
    law: Law, overlaps: Overlaps, gram: Matrix, head: Matrix, normalise: str = "batch"
) -> Float[Array, ""]:
    r"""$\sum_j 1 - n_j / \sqrt{U_j Q_j}$: half the mean squared distance of the views."""
    cubes = overlaps**3
    across = (cubes * law.across[None]) @ cubes.T
    within = within_covariance(law, overlaps, gram)
    return population_loss(across, within, within, head, normalise)


def gradient_terms(law: Law, overlaps: Overlaps, gram: Matrix, head: Matrix) -> Terms:
    """The terms above, at one time. For a trajectory: `jax.vmap`, or `terms_along`."""
    cubes = overlaps**3
    seen = head @ cubes
    noise = noise_covariance(gram)
    own = law.noise * jnp.sum(head @ noise * head, axis=1)
    squares = law.within[None] * seen**2
    together = law.across[None] * cubes * seen
    online = squares.sum(1) + own
    other = jnp.diag(within_covariance(law, overlaps, gram))
    phi = jax.lax.rsqrt(other) * online**-1.5
    others = squares.sum(1, keepdims=True) - squares
    diagonal = jnp.diag(jnp.diag(head))
    rest = head - diagonal

    def pulled(matrix: Array, bracket: Array) -> Array:
        return 3 * overlaps**2 * ((matrix * phi[:, None]).T @ bracket)

    pull = law.across[None] * cubes
    cross = law.within[None] * seen * (together.sum(1, keepdims=True) - together)
    across = (cubes * law.across[None]) @ cubes.T
    aligned = together.sum(1)
    middle = across * squares.sum(1)[:, None] - aligned[:, None] * (
        (law.within[None] * seen) @ cubes.T
    )
    return Terms(
        growth=pulled(diagonal, pull * own[:, None]),
        acceleration=pulled(diagonal, pull * others),
        borrowed=pulled(rest, pull * (own[:, None] + others)),
        competition=-pulled(head, cross),
        substitution=phi[:, None] * across * own[:, None],
        fading=phi[:, None] * middle,
        noise=-phi[:, None] * aligned[:, None] * law.noise * (head @ noise),
    )


def terms_along(
    law: Law,
    overlaps: Float[Array, "time neuron feature"],
    gram: Float[Array, "time neuron neuron"],
    head: Float[Array, "time neuron neuron"],
) -> Terms:
    """The terms at every recorded time."""
    each = jax.vmap(gradient_terms, in_axes=(None, 0, 0, 0))
    return each(law, *(jnp.asarray(x) for x in (overlaps, gram, head)))


def descent_step(
    law: Law, overlaps: Overlaps, gram: Matrix, head: Matrix, rate: float, head_rate: float,
    normalise: str = "batch", stop_gradient: bool = True,
) -> tuple[Array, Array, Array]:  # fmt: skip
    r"""$B$, $G$ and $E$ after one step of gradient descent in $R^d$, exactly.

    Filters' noise parts go to $A W$ with $A = I - \eta (S + S^T)$, so that $G \leftarrow A G A^T$.
    Of the head only the off-diagonal moves.
    """
    slopes: Slopes = population_slopes(law, overlaps, gram, head, normalise, stop_gradient)
    turn = jnp.eye(len(gram)) - rate * (slopes.gram + slopes.gram.T)
    off = slopes.head - jnp.diag(jnp.diag(slopes.head))
    return overlaps - rate * slopes.overlaps, turn @ gram @ turn.T, head - head_rate * off
