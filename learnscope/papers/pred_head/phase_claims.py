"""The paper's claims on the phases of training: times, and orders of growth in d.

Orders of growth are exponents of d over the largest dimensions, where the lemmas' corrections have
died out.
"""

from typing import Any

import numpy as np
import xarray as xr

from learnscope.evidence import (
    Claim,
    Null,
    Quantity,
    Verb,
    alike,
    at_least,
    at_most,
    bounded_by,
    exponent,
    most_seeds,
    scaled,
    shuffled,
    within,
)
from learnscope.papers.pred_head import quantities as q

SMALL = 1e-3  # 1/poly(d)
FAR = slice(1e6, None)
_STARTS = "population flow, random starts as in Lemma B.1, α = (4, 2), η_E/η = 0.05, d to 10¹²"
_PHASED = (alike("dim"), shuffled("dim"))


def power(quantity: Quantity, value: float, by: float = 0.05) -> Verb:
    """An exponent of d, over the largest dimensions."""
    return exponent(quantity.sel(dim=FAR).named(quantity.text), "dim", value, by)


def slope(quantity: Quantity) -> Quantity:
    found = quantity.sel(dim=FAR).slope("dim", log="xy")
    return found.named(f"exponent of {quantity.text}")


def _rest() -> Quantity:
    """||w_2 - B22 v_2|| over |B22| at T4."""
    rest = (q.overlap(2, 1, 5) ** 2 + q.noise(2, 5)) ** 0.5
    return (rest / q.overlap(2, 2, 5)).named("‖w₂ - β₂ v₂‖ / |β₂| at T4")


def _never(data: xr.Dataset) -> xr.Dataset:
    return data.assign(elapsed=data.elapsed.where(data.step != 2, np.inf))


def _phase(id: str, where: str, statement: str, reported: str, check: Verb, needs: str = "phases",
           **more) -> Claim:  # fmt: skip
    settings: dict[str, Any] = {"scope": "asymptotic", "nulls": _PHASED} | more
    return Claim(id, statement, where, reported, _STARTS, needs, check, **settings)


PHASE_CLAIMS = (
    _phase("lemma5.1", "Lemma 5.1", "The strong feature is learnt first, in T1 = d^(2 + o(1)) / η; "
           "all else is small then", "T1 ∝ d²; ‖E - I‖ ≤ d^-Ω(1)", power(q.elapsed(1), 2.0)
           & power(q.others(), -0.5) & power(q.head_norm(1), -0.5)),
    _phase("lemma5.1_growth", "Appendix G", "T1 by the tensor power method", "as predicted",
           within(q.growth().sel(dim=slice(1e8, None)), 1.0, by=0.05),
           nulls=(scaled(1.3, "elapsed"),)),
    _phase("lemma5.2", "Lemma 5.2", "Then, in much shorter time, E21 grows until it substitutes "
           "for the strong feature", "T2 - T1 ≪ T1", power(q.elapsed(2) / q.elapsed(1), -0.5)
           & at_most((q.elapsed(2) / q.elapsed(1)).sel(dim=slice(1e10, None)), 0.1)
           & at_least(q.substitute().sel(dim=FAR).log(), 2.3)),
    _phase("appendixC", "Appendix C", "T2 - T1 is o(T1/d)", "o(T1/d)",
           at_most(slope(q.elapsed(2) / q.elapsed(1)), -1.0).because(
               "T2 - T1 is of order d^1.5, as Lemma C.8's proof says, against d²: o(T1)"),
           scope="as stated"),
    _phase("lemmaC.8", "Lemma C.8", "At T2, |E21| is of order √(η_E/η) and R1 at most d^-3/4",
           "Θ(√(η_E/η)), Õ(d^-3/4)",
           power(q.entry(2, 2), 0.0) & at_most(slope(q.noise(1, 2)), -0.7)),
    _phase("lemma5.3", "Lemma 5.3", "The slower neuron learns the weak feature and nothing else",
           "‖w₂ - β₂ v₂‖ = o(1)", at_most(slope(_rest()), -0.1)
           & at_most(_rest().sel(dim=slice(1e10, None)), 0.1)),
    _phase("lemma5.3_faster", "Lemma 5.3", "Learning v₂ is much faster than v₁ in the slower "
           "neuron", "much faster", at_least(((q.overlap(2, 2, 4) / q.overlap(2, 2, 2)) / (
               q.overlap(2, 1, 4) / q.overlap(2, 1, 2))).named("growth of B22 over that of B21"),
               10.0), nulls=(alike("step"),)),
    _phase("t3", "(D.1), T3", "T1 < T2 < T3,1 ≤ T3 all come, and T4 after them", "they exist",
           most_seeds(q.in_order()), scope="reading: working triggers",
           nulls=(Null("T2 never", _never),)),
    _phase("lemmaD.8", "Lemma D.8", "At T3 both features are learnt, other overlaps are as at T2, "
           "|E21| is still Θ(√(η_E/η)), noise and E12 are small", "Θ(1); R1 = Õ(d^-3/4), R2 from "
           "Õ(d^-1/2) to Õ(d^-1/4); E12 = Õ(1/d)", power(q.overlap(1, 1, 4), 0.0, 0.02)
           & power(q.overlap(2, 2, 4), 0.0, 0.02) & power(q.overlap(2, 1, 4), -0.5, 0.02)
           & power(q.overlap(1, 2, 4), -0.5, 0.02) & power(q.entry(2, 4), 0.0, 0.02)
           & at_most(slope(q.noise(1, 4)), -0.75) & within(slope(q.noise(2, 4)), -0.375, by=0.145)
           & at_most(slope(q.entry(1, 4)), -1.0)),
    _phase("lemmaD.9", "Lemma D.9", "B22 takes d^1.625 to outgrow the noise, which is d^-1/4 then",
           "T3,1 - T2 ≤ Õ(d^1.625), R2 ≤ Õ(d^-1/4)", power(q.elapsed(3), 1.625)
           & power(q.noise(2, 3), -0.25)),
    _phase("lemmaD.9_overlap", "Lemma D.9, B22", "B22 is of order d^-1/4 then", "Θ̃(d^-1/4)",
           power(q.overlap(2, 2, 3), -0.25).because(
               "(D.2) has C₁α₂⁶B22⁶ = C₂R2³, so that B22 is √R2 ~ d^-1/8"), scope="as stated"),
    _phase("theoremE.2", "Theorem E.2", "From T4 = T3 + d^(2 + o(1)) / η on, B12 and B21 are "
           "Õ(1/√d) and the noise falls", "≤ d²; Õ(1/√d)", at_most(slope(q.elapsed(5)), 2.0)
           & power(q.overlap(2, 1, 6), -0.5) & power(q.overlap(1, 2, 6), -0.5)
           & at_most(slope(q.noise(2, 6)), -0.5)),
    _phase("proposition5.4", "Proposition 5.4", "The head returns to the identity",
           "‖E - I‖ ≤ 1/poly(d)", at_most(slope(q.head_norm(6)), -0.5)
           & at_most(q.head_norm(6), SMALL)),
    _phase("head_bound", "a law of conservation (not in the paper)", "|E21| stays below ‖w₂(0)‖ "
           "√(η_E/3η)", "≤ bound", bounded_by(q.head_share(), 1.0), scope="beyond",
           nulls=(scaled(1.3, "head"),)),
    _phase("triggers", "(C.1), T2", "Phase II ends when R2 < |E21|/log d", "T1 < T2 < T3",
           most_seeds(q.in_order().sel(dim=FAR)).because(
               "B22 outgrows the noise before R2 falls so far: d^1.625 against d^1.5 log² d"),
           "printed", scope="as stated", nulls=(Null("T2 never", _never),)),
)  # fmt: skip
