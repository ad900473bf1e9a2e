r"""Features that emerge from the structure of inputs (Shi, Wei, Liang 2022).

Data is `Patterns`, the network a symmetric `TwoLayer` with the truncated ReLU, the rule `TwoStep`
on the hinge loss. Their Theorem 1: for $k \ge \log^2(D/(\delta\gamma))$, $p_o \ge k^2/D$ and
$m \ge \max(k^{12}/\epsilon^{3/2}, D)$, up to constants, the error falls below $\epsilon$; linear
models on fixed features stay at a hinge loss near $p_o$ unless exponentially many (Theorem 2), and
without structure in the inputs nothing that asks statistical queries learns (Theorem 4).

The first two steps are known exactly, for infinitely many examples: `population_gradient` and
`two_steps`. Symbols are in the docstrings of each module.
"""

from learnscope.papers.input_structure.theory.bounds import (
    QueryBound,
    fixed_feature_bound,
    fixed_feature_conditions,
    majority_score,
    query_bound,
    threshold_score,
)
from learnscope.papers.input_structure.theory.conditions import SCOPE, applies, conditions
from learnscope.papers.input_structure.theory.expectations import Expectations, expectations
from learnscope.papers.input_structure.theory.explicit_network import explicit_network
from learnscope.papers.input_structure.theory.law import ExactLaw, exact_law
from learnscope.papers.input_structure.theory.lemma_6 import Lemma6, lemma_6
from learnscope.papers.input_structure.theory.population import (
    components_of,
    output_bound,
    population_gradient,
    two_steps,
)
from learnscope.papers.input_structure.theory.predictions import boundary, predict
from learnscope.papers.input_structure.theory.settings import FORMS, Settings, settings

__all__ = [
    "FORMS", "SCOPE", "ExactLaw", "Expectations", "Lemma6", "QueryBound", "Settings", "applies",
    "boundary", "components_of", "conditions", "exact_law", "expectations", "explicit_network",
    "fixed_feature_bound", "fixed_feature_conditions", "lemma_6", "majority_score",
    "output_bound", "population_gradient", "predict", "query_bound", "settings",
    "threshold_score", "two_steps",
]  # fmt: skip
