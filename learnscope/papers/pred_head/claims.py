"""The paper's claims; `checks.py` has the checks."""

from functools import partial

from learnscope.evidence import Claim
from learnscope.papers.pred_head import checks
from learnscope.papers.pred_head import phase_checks as phases
from learnscope.papers.pred_head import theorem_checks as theorems
from learnscope.papers.pred_head.experiments import BARE, CONTRASTIVE, HEAD
from learnscope.papers.pred_head.outcomes import ALL, ALL_STRONG
from learnscope.papers.pred_head.real_claims import REAL_CLAIMS

_TOY = (
    "d = 20, P = 16, P₀ = 4, α = (3, 2), N = 1024, η = η_E = 0.05, 4000 steps, from "
    "|⟨w_j, v_l⟩| √d = (2, 1; 1, 1.3) with random signs"
)
_FLOW = "population flow, random start, α = (4, 2), η_E/η = 0.05"
_TILTED = "population flow from the proof's start, α = (4, 2), η_E/η = 0.05, d to 10⁶"


def _trained(id: str, statement: str, where: str, name: str, expected: str, setting: str = _TOY):
    sweep = "figure7" if name in (HEAD, BARE) else "ablations"
    return Claim(id, statement, where, expected, setting, (sweep,),
                 partial(checks.trained, name=name, expected=expected))  # fmt: skip


CLAIMS = (
    Claim("figure1_toy", "Without a head neurons become extremely correlated", "Figure 1",
          "correlations near ±1", _TOY, ("figure7",), checks.correlated),
    Claim("figure1_many", "Without a head neurons become extremely correlated", "Figure 1",
          "correlations near ±1", "16 neurons, 4 features, population, random start", ("many",),
          checks.many_correlated),
    Claim("figure2_toy", "An identity-initialised head is as good as linear and MLP heads, with or "
          "without EMA", "Figure 2", "comparable", _TOY, ("figure7", "ablations"),
          checks.comparable),
    Claim("figure3a", "The head's off-diagonal rises and falls", "Figure 3a", "rise and fall",
          "the toy, three kinds of imbalance (Remark 3.2)", ("trajectories",),
          checks.rise_and_fall),
    Claim("figure3b", "The head is not symmetric while features are learnt", "Figure 3b",
          "asymmetry above 0", "the toy, three kinds of imbalance", ("trajectories",),
          checks.asymmetric),
    Claim("figure4", "The trajectory is consistent over runs", "Figure 4", "rise and fall",
          "the toy, 10 runs", ("trajectories",), checks.consistent),
    _trained("figure7a", "With a head, the weak feature is learnt by the slower neuron",
             "Figure 7a", HEAD, ALL),
    _trained("figure7b", "Without a head both neurons learn the strong feature", "Figure 7b", BARE,
             ALL_STRONG),
    Claim("theorem4.1", "With a head both features are learnt", "Theorem 4.1",
          "probability 1 - o(1)", _FLOW, ("dimensions",), theorems.theorem_success),
    Claim("theorem4.1_weights", "w_j = β_j v + ε_j with |β_j| = Θ(1), ‖ε_j‖ = Õ(1/√d)",
          "Theorem 4.1", "Õ(1/√d)", _FLOW, ("dimensions",),
          partial(theorems.theorem_weights, kind=HEAD, word=ALL)),
    Claim("theorem4.1_loss", "The objective converges to OPT", "Theorem 4.1", "OPT + 1/poly(d)",
          _FLOW, ("dimensions",), partial(theorems.theorem_loss, kind=HEAD)),
    Claim("corollary4.2", "With a head neurons do not correlate", "Corollary 4.2",
          "|Corr| ≤ O(1/√d)", _FLOW, ("dimensions",), theorems.corollary_apart),
    Claim("theorem4.3", "Without a head all neurons learn the strong feature", "Theorem 4.3",
          "probability 1 - o(1)", _FLOW, ("dimensions",), theorems.theorem_collapse),
    Claim("theorem4.3_formula", "How likely that is at finite strengths", "a law of conservation "
          "(not in the paper)", "((2/π) arctan((α₁/α₂)^1.5))²",
          "population flow, d = 1000, 2500 starts", ("no_head",), theorems.arctan),
    Claim("theorem4.3_width", "More neurons do not change that", "Theorem 4.3", "any m",
          "16 neurons, 2 features, population descent, d = 50", ("many",), theorems.bare_width),
    Claim("theorem4.3_weights", "w_j = β_j v_1 + ε_j with ‖ε_j‖ = Õ(1/√d)", "Theorem 4.3",
          "Õ(1/√d)", _FLOW, ("dimensions",),
          partial(theorems.theorem_weights, kind=BARE, word=ALL_STRONG)),
    Claim("theorem4.3_loss", "The collapsed solution reaches the global minimum as well",
          "Theorem 4.3", "OPT + 1/poly(d)", _FLOW, ("dimensions",),
          partial(theorems.theorem_loss, kind=BARE)),
    Claim("corollary4.4", "Without a head neurons are copies", "Corollary 4.4",
          "|Corr| ≥ 1 - O(1/√d)", _FLOW, ("dimensions",), theorems.corollary_together),
    Claim("l2_no_head", "With l2 instead of batch normalisation, too, a network without a head "
          "collapses", "section 7 (open; Remark 4.5 is about a feature of low variance, which this "
          "data has not)", "collapse", f"{_TOY}, l2, no head", ("ablations",),
          partial(checks.trained, name="l2, no head", expected=ALL_STRONG)),
    Claim("lemma5.1", "The strong feature is learnt first, in T1 = d^(2 + o(1)) / η; all else is "
          "small then", "Lemma 5.1", "T1 ∝ d²", _TILTED, ("phases",), phases.phase_one),
    Claim("lemma5.1_growth", "T1 by the tensor power method", "Appendix G", "as predicted", _TILTED,
          ("phases",), phases.growth),
    Claim("lemma5.2", "Then, in much shorter time, E21 grows until it substitutes for the strong "
          "feature", "Lemma 5.2", "T2 - T1 ≪ T1", _TILTED, ("phases",), phases.phase_two),
    Claim("lemma5.3", "The slower neuron learns the weak feature and nothing else", "Lemma 5.3",
          "‖w₂ - β₂ v₂‖ = o(1)", _TILTED, ("phases",), phases.phase_three),
    Claim("lemma5.3_effect", "It is the head that does it", "section 5.3", "with a head only",
          _TILTED, ("phases",), phases.acceleration),
    Claim("proposition5.4", "The head returns to the identity", "Proposition 5.4",
          "‖E - I‖ ≤ 1/poly(d)", _TILTED, ("phases",), phases.head_returns),
    Claim("head_bound", "|E21| stays below ‖w₂(0)‖ √(η_E/3η)", "a law of conservation (not in the "
          "paper)", "≤ bound", _TILTED, ("phases",), phases.head_bounded),
    Claim("triggers", "Phases end at T1: B11 ≥ 0.01, T2: R2 ≤ |E21|/log d, T3", "Appendices B to D",
          "T1 < T2 < T3", _TILTED, ("phases",), phases.printed_triggers),
    Claim("rates", "The head is to be trained more slowly than the encoder", "Theorem 4.1",
          "η_E ≤ η/polylog(d)", "population flow, d = 1000, 200 starts", ("rates",),
          theorems.head_rates),
    Claim("diagram", "Success over the features' imbalance and the rates", "Theorem 4.1",
          "success for η_E/η in [α₁^-O(1), 1/polylog(d)]", "20 × 20 × 50 flows, d = 1000",
          ("diagram",), theorems.success_region),
    _trained("stop_gradient", "Without stop-gradient all neurons learn the strongest feature",
             "section 5.3", "no stop-gradient", ALL_STRONG),
    Claim("stop_gradient_random", "Stop-gradient is necessary", "section 5.3", "no acceleration",
          "population flow, d = 1000, 200 starts", ("rates",), theorems.stop_gradient),
    Claim("normalisation", "Without normalisation all neurons learn the strongest feature",
          "section 5.3", ALL_STRONG, f"{_TOY} (rates 10⁻³)", ("ablations",), checks.unnormalised),
    _trained("l2", "l2 instead of batch normalisation shares the mechanism", "section 7", "l2",
             ALL),
    _trained("ema", "EMA is inessential: it does not prevent collapse by itself", "section 2",
             "EMA, no head", ALL_STRONG),
    _trained("symmetric", "A symmetric head is likely to collapse to the strongest feature",
             "section 1.1 (there linear, without normalisation, with a huge gap)",
             "symmetric head", ALL_STRONG, f"{_TOY}; without normalisation it diverges"),
    _trained("contrastive", "Negative pairs make the network learn all features", "section 2",
             CONTRASTIVE, ALL, "the toy, N = 256, temperature 0.5"),
    Claim("many", "With a head more features are learnt, for more neurons and features",
          "beyond the paper", "more with a head", "population descent, d = 50", ("many",),
          theorems.more_features),
    *REAL_CLAIMS,
)  # fmt: skip
