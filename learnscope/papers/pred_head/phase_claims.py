"""The paper's claims on the phases of training: times, and orders of growth in d.

Orders of growth are exponents of d over the largest dimensions, where the lemmas' corrections have
died out.
"""

import numpy as np
import xarray as xr

from learnscope import evidence as ev
from learnscope.evidence import Null, Quantity, Verb, at_least, at_most, most_seeds, scaled, within
from learnscope.papers.pred_head import quantities as q
from learnscope.papers.pred_head.settings import claim

SMALL = 1e-3  # 1/poly(d)
FAR = slice(1e6, None)
FARTHEST = slice(1e10, None)


def power(quantity: Quantity, value: float, by: float = 0.05) -> Verb:
    """An exponent of d, over the largest dimensions."""
    return ev.exponent(quantity.sel(dim=FAR).named(quantity.text), "dim", value, by)


def slope(quantity: Quantity) -> Quantity:
    found = quantity.sel(dim=FAR).slope("dim", log="xy")
    return found.named(f"exponent of {quantity.text}")


def _never(data: xr.Dataset) -> xr.Dataset:
    return data.assign(elapsed=data.elapsed.where(data.step != 2, np.inf))


_NEVER = (Null("T2 never", _never),)
_SHARE = q.elapsed(2) / q.elapsed(1)
_REST = (q.overlap(2, 1, 5) ** 2 + q.noise(2, 5)) ** 0.5 / q.overlap(2, 2, 5)
_REST = _REST.named("‖w₂ - β₂ v₂‖ / |β₂| at T4")
_FASTER = (q.overlap(2, 2, 4) / q.overlap(2, 2, 2)) / (q.overlap(2, 1, 4) / q.overlap(2, 1, 2))
PHASE_CLAIMS = (
    claim("lemma5.1", "Lemma 5.1", "The strong feature is learnt first, in T1 = d^(2 + o(1)) / η; "
          "all else is small then", "T1 ∝ d²; ‖E - I‖ ≤ d^-Ω(1)", "phases",
          power(q.elapsed(1), 2.0) & power(q.others(), -0.5) & power(q.head_norm(1), -0.5)),
    claim("lemma5.1_growth", "Appendix G", "T1 by the tensor power method", "as predicted",
          "phases", within(q.growth().sel(dim=slice(1e8, None)), 1.0, by=0.05),
          nulls=(scaled(1.3, "elapsed"),)),
    claim("lemma5.2", "Lemma 5.2", "Then, in much shorter time, E21 grows until it substitutes "
          "for the strong feature", "T2 - T1 ≪ T1", "phases", power(_SHARE, -0.5)
          & at_most(_SHARE.sel(dim=FARTHEST), 0.1)
          & at_least(q.substitute().sel(dim=FAR).log(), 2.3)),
    claim("appendixC", "Appendix C", "T2 - T1 is o(T1/d)", "o(T1/d)", "phases",
          at_most(slope(_SHARE), -1.0),
          "T2 - T1 is of order d^1.5, as Lemma C.8's proof says, against d²: o(T1)",
          scope="as stated"),
    claim("lemmaC.8", "Lemma C.8", "At T2, |E21| is of order √(η_E/η) and R1 at most d^-3/4",
          "Θ(√(η_E/η)), Õ(d^-3/4)", "phases",
          power(q.entry(2, 2), 0.0) & at_most(slope(q.noise(1, 2)), -0.7)),
    claim("lemma5.3", "Lemma 5.3", "The slower neuron learns the weak feature and nothing else",
          "‖w₂ - β₂ v₂‖ = o(1)", "phases",
          at_most(slope(_REST), -0.1) & at_most(_REST.sel(dim=FARTHEST), 0.1)),
    claim("lemma5.3_faster", "Lemma 5.3", "Learning v₂ is much faster than v₁ in the slower "
          "neuron", "much faster", "phases",
          at_least(_FASTER.named("growth of B22 over that of B21"), 10.0),
          nulls=(ev.alike("step"),)),
    claim("t3", "(D.1), T3", "T1 < T2 < T3,1 ≤ T3 all come, and T4 after them", "they exist",
          "phases", most_seeds(q.in_order()), scope="reading: working triggers", nulls=_NEVER),
    claim("lemmaD.8", "Lemma D.8", "At T3 both features are learnt, other overlaps are as at T2, "
          "|E21| is still Θ(√(η_E/η)), noise and E12 are small", "Θ(1); R1 = Õ(d^-3/4), R2 from "
          "Õ(d^-1/2) to Õ(d^-1/4); E12 = Õ(1/d)", "phases", power(q.overlap(1, 1, 4), 0.0, 0.02)
          & power(q.overlap(2, 2, 4), 0.0, 0.02) & power(q.overlap(2, 1, 4), -0.5, 0.02)
          & power(q.overlap(1, 2, 4), -0.5, 0.02) & power(q.entry(2, 4), 0.0, 0.02)
          & at_most(slope(q.noise(1, 4)), -0.75) & within(slope(q.noise(2, 4)), -0.375, by=0.145)
          & at_most(slope(q.entry(1, 4)), -1.0)),
    claim("lemmaD.9", "Lemma D.9", "B22 takes d^1.625 to outgrow the noise, which is d^-1/4 then",
          "T3,1 - T2 ≤ Õ(d^1.625), R2 ≤ Õ(d^-1/4)", "phases",
          power(q.elapsed(3), 1.625) & power(q.noise(2, 3), -0.25)),
    claim("lemmaD.9_overlap", "Lemma D.9, B22", "B22 is of order d^-1/4 then", "Θ̃(d^-1/4)",
          "phases", power(q.overlap(2, 2, 3), -0.25),
          "(D.2) has C₁α₂⁶B22⁶ = C₂R2³, so that B22 is √R2 ~ d^-1/8", scope="as stated"),
    claim("theoremE.2", "Theorem E.2", "From T4 = T3 + d^(2 + o(1)) / η on, B12 and B21 are "
          "Õ(1/√d) and the noise falls", "≤ d²; Õ(1/√d)", "phases",
          at_most(slope(q.elapsed(5)), 2.0) & power(q.overlap(2, 1, 6), -0.5)
          & power(q.overlap(1, 2, 6), -0.5) & at_most(slope(q.noise(2, 6)), -0.5)),
    claim("proposition5.4", "Proposition 5.4", "The head returns to the identity",
          "‖E - I‖ ≤ 1/poly(d)", "phases",
          at_most(slope(q.head_norm(6)), -0.5) & at_most(q.head_norm(6), SMALL)),
    claim("head_bound", "a law of conservation (not in the paper)", "|E21| stays below ‖w₂(0)‖ "
          "√(η_E/3η)", "≤ bound", "phases", ev.bounded_by(q.head_share(), 1.0), scope="beyond",
          nulls=(scaled(1.3, "head"),), survives=("untrained: a bound holds at the start, too",)),
    claim("triggers", "(C.1), T2", "Phase II ends when R2 < |E21|/log d, before B22 outgrows the "
          "noise: the more often, the larger d (d^1.5 log² d against d^1.625)", "T1 < T2 < T3",
          "printed", ev.rises(q.in_order(), "dim", by=0.3)
          & most_seeds(q.in_order().sel(dim=slice(1e12, None)), 2 / 3),
          flags=("added after looking: the criterion",), nulls=(*_NEVER, ev.alike("dim"))),
)  # fmt: skip
