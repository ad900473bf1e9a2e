r"""Features that emerge from the structure of inputs (Shi, Wei, Liang 2022).

Data is `Patterns`, the network a symmetric `TwoLayer` with the truncated ReLU, the rule `TwoStep`
on the hinge loss. Their Theorem 1: for $k \ge \log^2(D/(\delta\gamma))$, $p_o \ge k^2/D$ and
$m \ge \max(k^{12}/\epsilon^{3/2}, D)$, up to constants, the error falls below $\epsilon$; linear
models on fixed features stay at a hinge loss near $p_o$ unless exponentially many (Theorem 2), and
without structure in the inputs nothing that asks statistical queries learns (Theorem 4).

The first two steps are known exactly, for infinitely many examples: `population_gradient` and
`two_steps`. Symbols are in the docstrings of each module.
"""

from learnscope.papers.input_structure.theory.conditions import SCOPE, applies, conditions
from learnscope.papers.input_structure.theory.expectations import expectations
from learnscope.papers.input_structure.theory.explicit_network import explicit_neurons
from learnscope.papers.input_structure.theory.law import ExactLaw, exact_law
from learnscope.papers.input_structure.theory.population import (
    lemma_6,
    population_gradient,
    two_steps,
)
from learnscope.papers.input_structure.theory.predictions import (
    boundary,
    fixed_feature_bound,
    majority_score,
    predict,
    query_bound,
)
from learnscope.papers.input_structure.theory.settings import FORMS, Settings, settings

__all__ = [
    "FORMS", "SCOPE", "ExactLaw", "Settings", "applies", "boundary", "conditions", "exact_law",
    "expectations", "explicit_neurons", "fixed_feature_bound", "lemma_6", "majority_score",
    "population_gradient", "predict", "query_bound", "settings", "two_steps",
]  # fmt: skip
