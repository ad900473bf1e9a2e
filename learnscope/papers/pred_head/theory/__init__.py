r"""How a prediction head prevents collapse (Wen and Li 2022), in numbers and closed forms.

Data is `StrongWeak`, the network `PatchEncoder` with cubic neurons, the rule `NonContrastive` or a
population version of it. With infinitely many samples the dynamics close in the overlaps B of
neurons with features, the Gram matrix G of the neurons' noise parts, and the head E.

| symbol | argument |
|---|---|
| $d, P, P_0, \alpha, \sigma$ | `data.dim`, `patches`, `feature_patches`, `strengths`, `noise` |
| $m$ | `net.width` |
| $\eta, \eta_E$ | `rule.rate`, `head_rate` |
"""

from learnscope.papers.pred_head.parts.population_gradient import (
    Slopes,
    Terms,
    gradient_terms,
    loss,
    population_slopes,
)
from learnscope.papers.pred_head.parts.population_law import Law
from learnscope.papers.pred_head.theory.conditions import SCOPE, applies, conditions
from learnscope.papers.pred_head.theory.conservation import (
    collapse_probability,
    feature_invariants,
    head_bound,
    learning_probabilities,
    norm_invariants,
)
from learnscope.papers.pred_head.theory.growth import (
    Winner,
    first_learned,
    growth_rates,
    growth_time,
    learning_time,
    optimum,
)
from learnscope.papers.pred_head.theory.outcomes import learned, outcomes, variance_shares
from learnscope.papers.pred_head.theory.phases import EVENTS, phase_times, proof_starts
from learnscope.papers.pred_head.theory.predictions import boundary, predict

__all__ = [
    "EVENTS", "SCOPE", "Law", "Slopes", "Terms", "Winner", "applies", "boundary",
    "collapse_probability", "conditions", "feature_invariants", "first_learned",
    "gradient_terms", "growth_rates", "growth_time", "head_bound", "learned",
    "learning_probabilities", "learning_time", "loss", "norm_invariants", "optimum", "outcomes",
    "phase_times", "population_slopes", "predict", "proof_starts",
    "variance_shares",
]  # fmt: skip
