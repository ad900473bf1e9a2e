r"""Features that emerge from the structure of inputs (Shi, Wei, Liang 2022).

Data is `Patterns`, the network a symmetric `TwoLayer` with the truncated ReLU, the rule `TwoStep`
on the hinge loss. Their Theorem 1: for $k \ge \log^2(D/(\delta\gamma))$, $p_o \ge k^2/D$ and
$m \ge \max(k^{12}/\epsilon^{3/2}, D)$, up to constants, the error falls below $\epsilon$; linear
models on fixed features stay at a hinge loss near $p_o$ unless exponentially many (Theorem 2), and
without structure in the inputs nothing that asks statistical queries learns (Theorem 4).

The first two steps are known exactly, for infinitely many examples: `population_gradient` and
`two_steps`. Symbols are in the docstrings of each module.
"""

from learnscope.theory.input_structure.bounds import (
    QueryBound,
    fixed_feature_bound,
    fixed_feature_conditions,
    majority_score,
    query_bound,
    threshold_score,
)
from learnscope.theory.input_structure.conditions import SCOPE, applies, conditions
from learnscope.theory.input_structure.expectations import Expectations, expectations
from learnscope.theory.input_structure.explicit_network import explicit_network
from learnscope.theory.input_structure.law import ExactLaw, exact_law
from learnscope.theory.input_structure.lemma_6 import Lemma6, lemma_6
from learnscope.theory.input_structure.population import (
    components_of,
    output_bound,
    population_gradient,
    two_steps,
)
from learnscope.theory.input_structure.predictions import boundary, predict
from learnscope.theory.input_structure.settings import FORMS, Settings, settings

__all__ = [
    "FORMS",
    "SCOPE",
    "ExactLaw",
    "Expectations",
    "Lemma6",
    "QueryBound",
    "Settings",
    "applies",
    "boundary",
    "components_of",
    "conditions",
    "exact_law",
    "expectations",
    "explicit_network",
    "fixed_feature_bound",
    "fixed_feature_conditions",
    "lemma_6",
    "majority_score",
    "output_bound",
    "population_gradient",
    "predict",
    "query_bound",
    "settings",
    "threshold_score",
    "two_steps",
]
