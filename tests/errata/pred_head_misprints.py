"""Formulas of Wen and Li as they are printed, for the errata check only.

"The Mechanism of Prediction Head in Non-contrastive Self-supervised Learning", Appendix A and D.
Each function stands beside the corrected one of `named_terms`, `closed_forms` or `phases`, and is
wrong by what `docs/errata.md` says. Nothing but the errata check and its tests may import this
module.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import StrongWeak
from learnscope.papers.pred_head.parts.population_law import Law, within_covariance
from learnscope.papers.pred_head.theory.closed_forms import loss
from tests.errata.pred_head_terms import PaperTerms, _terms, paper_terms


def law(model: StrongWeak) -> Law:
    """C_2 = P - |S|: the noise patches of an example, where a view has half of them."""
    given = Law.of(model)
    return given._replace(noise=2 * given.noise)


def terms_without_factors(
    law: Law, overlaps: Float[Array, "2 2"], gram: Float[Array, "2 2"], head: Float[Array, "2 2"]
) -> PaperTerms:
    """(A.2): Lambda, Gamma and Upsilon without 3, Sigma without 1/2."""
    phi = paper_terms(law, overlaps, gram, head).phi
    return _terms(law, overlaps, gram, head, phi, factor=1.0, half=1.0)


def terms_with_phi(
    law: Law, overlaps: Float[Array, "2 2"], gram: Float[Array, "2 2"], head: Float[Array, "2 2"]
) -> PaperTerms:
    """Phi_j = Q_j / U_j for Q_j / U_j^(3/2), all else corrected."""
    within = within_covariance(law, overlaps, gram)
    phi = jnp.diag(within) ** -0.5 / jnp.diag(head @ within @ head.T)
    return _terms(law, overlaps, gram, head, phi, factor=3.0, half=0.5)


def fading(law: Law, overlaps: Float[Array, "2 2"], phi: Float[Array, "2"]) -> Float[Array, "2"]:
    """Fact D.2's Xi: B11^6 B22^6 + B21^6 B12^6, for the square of a determinant of cubes."""
    squares = overlaps**6
    both = squares[0, 0] * squares[1, 1] + squares[1, 0] * squares[0, 1]
    return law.across[0] * law.within[1] * phi * both


def squared_distance(law: Law, overlaps: Array, gram: Array, head: Array) -> Float[Array, ""]:
    """(3.3): the mean of |F - G|^2 as m - sum corr, half of what it is."""
    return loss(law, overlaps, gram, head)


def second_phase(
    head: Float[Array, "time 2 2"], noise: Float[Array, "time 2"], dim: float
) -> Float[Array, " time"]:
    """(C.1): when R_2 < |E_12| / log d, where the proof speaks of E_21."""
    return noise[:, 1] < jnp.abs(head[:, 0, 1]) / jnp.log(dim)
