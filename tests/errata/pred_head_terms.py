r"""The named terms of Wen and Li's Appendix A, for two neurons and two features, corrected.

With $\bar j, \bar l$ the other neuron and feature, $f_{jl} = b_{jl} + E_{j\bar j} b_{\bar jl}$ and
$e_j = C_2 \mathcal{E}_{j,\bar j}$:

| name | term | as printed |
|---|---|---|
| $\Phi_j$ | $Q_j / U_j^{3/2}$ with $Q_j = E[G_j^2]^{-1/2}$ | $Q_j / U_j$ |
| $H_{jl}$ | $C_1 \alpha_l^6 f_{jl}^2 + e_j$ | the same |
| $K_{jl}$ | $C_1 \alpha_l^6 f_{jl} f_{j\bar l}$ | the same |
| $\Lambda_{jl}$ | $3 C_0 \alpha_l^6 \Phi_j B_{jl}^5 H_{j\bar l}$ | without 3 |
| $\Gamma_{jl}$ | $3 C_0 \alpha_l^6 B_{jl}^2 E_{\bar jj} h_{\bar j}$ | without 3 |
| $h_j$ | $\Phi_j b_{jl} H_{j\bar l}$ | the same |
| $\Upsilon_{jl}$ | $3 C_0 \alpha_{\bar l}^6 B_{jl}^2 (k_j + E_{\bar jj} k_{\bar j})$ | without 3 |
| $k_j$ | $\Phi_j b_{j\bar l} K_{jl}$ | the same |
| $\Sigma_{jl}$ | $\frac12 C_0 C_2 \Phi_j \alpha_l^6 b_{jl} f_{jl}$ | without 1/2 |
| $\Xi_j$ | $C_0 C_1 \alpha_1^6 \alpha_2^6 \Phi_j (b_{11} b_{22} - b_{21} b_{12})^2$ | no cross |
| $\Delta_{jl}$ | $C_0 \Phi_j \alpha_l^6 b_{jl} b_{\bar jl} e_j$ | the same |

Then $-\langle \nabla_{w_j} L, v_l \rangle = \Lambda + \Gamma - \Upsilon$, the noise part of
$-\nabla_{w_j} L$ is $-\sum_{j'l} \Sigma_{j'l} \nabla_{w_j} \mathcal{E}_{j',\bar j'}$, and
$-\partial L/\partial E_{j\bar j} = -\Xi_j E_{j\bar j} + \sum_l \Delta_{jl} - \sum_l \Sigma_{jl}\,
\partial \mathcal{E}_{j\bar j} / \partial E_{j\bar j}$ (Fact D.2). $C_2 = (P - P_0)/2$ is printed
as $P - P_0$. Counts are those of `StrongWeak.counts`, which may differ between features.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.papers.pred_head.parts import population_law
from learnscope.papers.pred_head.parts.population_law import Law, noise_covariance


class PaperTerms(NamedTuple):
    """Neuron by feature, or one a neuron."""

    phi: Float[Array, "2"]
    h: Float[Array, "2 2"]
    k: Float[Array, "2 2"]
    own: Float[Array, "2 2"]  # Lambda
    borrowed: Float[Array, "2 2"]  # Gamma
    competition: Float[Array, "2 2"]  # Upsilon
    noise: Float[Array, "2 2"]  # Sigma
    fading: Float[Array, "2"]  # Xi
    substitution: Float[Array, "2 2"]  # Delta


def paper_terms(
    law: Law, overlaps: Array, gram: Array, head: Array, power=1.5, factor=3.0, half=0.5
) -> PaperTerms:
    """All of them, at one time, for a head with unit diagonal. What the paper misprints is an
    argument: the power in Phi, and the factors that it leaves out."""
    covariance = population_law.within_covariance(law, overlaps, gram)
    phi = jnp.diag(covariance) ** -0.5 * jnp.diag(head @ covariance @ head.T) ** -power
    cubes, across, within = overlaps**3, law.across[None], law.within[None]
    seen = head @ cubes
    noise = law.noise * jnp.diag(head @ noise_covariance(gram) @ head.T)
    h = within * seen**2 + noise[:, None]
    k = within * seen * seen[:, ::-1]
    to_it = jnp.diag(head[::-1])[:, None]  # E_{3-j,j}
    weight, square = phi[:, None], overlaps**2
    competing = weight * cubes[:, ::-1] * k
    determinant = jnp.linalg.det(cubes)
    return PaperTerms(
        phi=phi,
        h=h,
        k=k,
        own=factor * across * weight * overlaps**5 * h[:, ::-1],
        borrowed=factor * across * to_it * (weight * cubes * h[:, ::-1])[::-1] * square,
        competition=factor * across[:, ::-1] * square * (competing + to_it * competing[::-1]),
        noise=half * law.noise * across * weight * cubes * seen,
        fading=law.across[0] * law.within[1] * phi * determinant**2,
        substitution=across * weight * cubes * cubes[::-1] * noise[:, None],
    )


def feature_gradient(terms: PaperTerms) -> Float[Array, "2 2"]:
    r"""$-\langle \nabla_{w_j} L, v_l \rangle$."""
    return terms.own + terms.borrowed - terms.competition


def noise_gradient(
    terms: PaperTerms, gram: Float[Array, "2 2"], head: Float[Array, "2 2"]
) -> Float[Array, "2 2"]:
    r"""$\partial L/\partial G$ from $\sum_l \Sigma_{jl}$: with
    $\mathcal{E}_j / \sigma^6 = (E N E^T)_{jj}$."""
    each = terms.noise.sum(1)
    mixed = (head * each[:, None]).T @ head
    lengths = jnp.diag(gram)
    product = lengths[:, None] * lengths[None]
    return mixed * (9 * product + 18 * gram**2) + 18 * jnp.diag((mixed * gram) @ lengths)


def head_gradient(
    terms: PaperTerms, gram: Float[Array, "2 2"], head: Float[Array, "2 2"]
) -> Float[Array, "2"]:
    r"""$-\partial L/\partial E_{j,3-j}$ by Fact D.2."""
    noise = noise_covariance(gram)
    off = jnp.diag(head[:, ::-1])
    slope = 2 * jnp.diag((head @ noise)[:, ::-1])
    return -terms.fading * off + terms.substitution.sum(1) - terms.noise.sum(1) * slope
