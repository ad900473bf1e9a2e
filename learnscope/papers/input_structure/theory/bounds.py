"""Limits of methods without feature learning or input structure, and simple rules to compare."""

import math
from typing import Any, NamedTuple

import numpy as np

from learnscope.papers.input_structure.theory.law import exact_law
from learnscope.theory import Condition, Conditions


def fixed_feature_bound(background: float, relevant: int, features: float, norm: float) -> float:
    r"""Theorem 2: the hinge loss that linear models on fixed features cannot pass below,
    $p_o (1 - \sqrt{2N} B / 2^k)$, for one of the sets $A$ at least; below 0 it says nothing.

    | symbol | argument |
    |---|---|
    | $p_o$, $k$ | `background`, `relevant` |
    | $N$ features in [-1, 1] | `features` |
    | $B \ge \lVert w \rVert_2$ | `norm` |

    >>> fixed_feature_bound(background=0.5, relevant=5, features=128, norm=1.0)
    0.25
    """
    return background * (1 - math.sqrt(2 * features) * norm / 2.0**relevant)


def fixed_feature_conditions(relevant: int, patterns: int) -> Conditions:
    """When Theorem 2 holds: 3 < k <= D / 16 and k odd.

    >>> fixed_feature_conditions(relevant=5, patterns=100).holds
    True
    """
    return Conditions(
        [
            Condition("relevant patterns, at least", "k >= 4", relevant, 4, ">="),
            Condition("relevant patterns, at most", "k <= D / 16", relevant, patterns / 16, "<="),
            Condition("odd", "k mod 2 >= 1", relevant % 2, 1, ">="),
        ]
    )


class QueryBound(NamedTuple):
    """The error, and the queries (or inverse tolerance) needed to go below it."""

    error: float
    queries: float


def query_bound(patterns: int, relevant: int) -> QueryBound:
    r"""Theorem 4: without input structure, an error below $1/2 - \binom Dk^{-3}$ takes
    $\frac12 \binom Dk^{1/3}$ statistical queries, or a tolerance below the inverse.

    >>> round(query_bound(patterns=100, relevant=5).queries)
    211
    """
    concepts = float(math.comb(patterns, relevant))
    return QueryBound(0.5 - concepts**-3, 0.5 * concepts ** (1 / 3))


def threshold_score(model: Any) -> float:
    """The accuracy of the best rule that is a threshold of the count of relevant patterns, over all
    thresholds and both signs: what knows the relevant patterns, but only their sum's sign.

    >>> from learnscope.data import Patterns
    >>> threshold_score(Patterns(dim=500, patterns=100, relevant=5, train=1, test=1))
    0.84375
    """
    law = exact_law(model)
    k = law.relevant
    return max(_score(law, np.arange(k + 1) >= at, sign) for at in range(k + 1) for sign in (1, -1))


def majority_score(model: Any) -> float:
    """The accuracy of the rule that more than half of the relevant patterns mean y = +1.

    >>> from learnscope.data import Patterns
    >>> majority_score(Patterns(dim=500, patterns=100, relevant=5, train=1, test=1))
    0.84375
    """
    law = exact_law(model)
    return _score(law, np.arange(law.relevant + 1) > law.relevant / 2, 1)


def _score(law: Any, above: np.ndarray, sign: int) -> float:
    return float(law.counts[np.where(above, sign, -sign) == law.signs].sum())
