"""Formulas of Wen and Li as they are printed, for the errata check only.

"The Mechanism of Prediction Head in Non-contrastive Self-supervised Learning", Appendix A and D.
Each function stands beside the corrected one of `named_terms`, `closed_forms` or `phases`, and is
wrong by what `docs/errata.md` says. Nothing but the errata check and its tests may import this
module.
"""

import functools

from jaxtyping import Array, Float

from learnscope.data import StrongWeak
from learnscope.papers.pred_head.parts.population_law import Law
from tests.errata.pred_head_terms import paper_terms


def law(model: StrongWeak) -> Law:
    """C_2 = P - |S|: the noise patches of an example, where a view has half of them."""
    given = Law.of(model)
    return given._replace(noise=2 * given.noise)


# (A.2): Lambda, Gamma and Upsilon without 3, Sigma without 1/2.
terms_without_factors = functools.partial(paper_terms, factor=1.0, half=1.0)
# Phi_j = Q_j / U_j for Q_j / U_j^(3/2), all else corrected.
terms_with_phi = functools.partial(paper_terms, power=1.0)


def fading(law: Law, overlaps: Float[Array, "2 2"], phi: Float[Array, "2"]) -> Float[Array, "2"]:
    """Fact D.2's Xi: B11^6 B22^6 + B21^6 B12^6, for the square of a determinant of cubes."""
    squares = overlaps**6
    both = squares[0, 0] * squares[1, 1] + squares[1, 0] * squares[0, 1]
    return law.across[0] * law.within[1] * phi * both
