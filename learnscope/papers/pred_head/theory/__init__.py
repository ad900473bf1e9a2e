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

from learnscope.papers.pred_head.parts.population_gradient import gradient_terms
from learnscope.papers.pred_head.parts.population_law import Law
from learnscope.papers.pred_head.theory.conditions import SCOPE, applies, conditions
from learnscope.papers.pred_head.theory.conservation import head_bound, learning_probabilities
from learnscope.papers.pred_head.theory.growth import first_time, optimum
from learnscope.papers.pred_head.theory.phases import EVENTS, phase_times, proof_starts
from learnscope.papers.pred_head.theory.predictions import boundary, predict

__all__ = [
    "EVENTS", "SCOPE", "Law", "applies", "boundary", "conditions", "first_time", "gradient_terms",
    "head_bound", "learning_probabilities", "optimum", "phase_times", "predict", "proof_starts",
]  # fmt: skip
