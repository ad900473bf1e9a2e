"""Bounds and predictions of Shi, Wei and Liang (2022), and simple rules to compare."""

import math
from typing import Any

import numpy as np

from learnscope.papers.input_structure.theory.law import ExactLaw, exact_law
from learnscope.theory import Prediction


def fixed_feature_bound(background: float, relevant: Any, features: Any, norm: Any) -> Any:
    r"""Theorem 2: the hinge loss that linear models on N `features` in [-1, 1] with
    $\lVert w \rVert \le B$ (`norm`) cannot pass below, $p_o (1 - \sqrt{2N} B / 2^k)$, for one of
    the sets $A$ at least, where $3 < k \le D/16$ is odd; below 0 it says nothing.

    >>> float(fixed_feature_bound(background=0.5, relevant=5, features=128, norm=1.0))
    0.25
    """
    return background * (1 - np.sqrt(2 * features) * norm / 2.0**relevant)


def query_bound(patterns: int, relevant: int) -> float:
    r"""Theorem 4: without input structure, an error below $1/2 - \binom Dk^{-3}$ takes
    $\frac12 \binom Dk^{1/3}$ statistical queries, or a tolerance below the inverse.

    >>> round(query_bound(patterns=100, relevant=5))
    211
    """
    return 0.5 * float(math.comb(patterns, relevant)) ** (1 / 3)


def majority_score(model: Any) -> float:
    """The accuracy of the rule that more than half of the relevant patterns mean y = +1.

    >>> from learnscope.data import Patterns
    >>> majority_score(Patterns(dim=500, patterns=100, relevant=5, train=1, test=1))
    0.84375
    """
    scores = _threshold_scores(exact_law(model))
    return float(scores[(len(scores) - 1) // 2 + 1])


def _threshold_scores(law: ExactLaw) -> np.ndarray:
    """The accuracies of the rules that r or more relevant patterns mean y = +1, r = 0, ..., k."""
    above = np.tri(law.relevant + 1, dtype=bool).T
    return np.where(above == (law.signs > 0), law.counts, 0.0).sum(1)


def predict(experiment: Any) -> Prediction:
    """Orders of the error, the signal of the first step, and the accuracy of simpler rules."""
    data, law = experiment.data, exact_law(experiment.data)
    k, m, steps = law.relevant, experiment.net.width, experiment.steps
    scores = _threshold_scores(law)
    rows = {
        "correlation": (law.correlation, "gamma of (A1)"),
        "scale": (law.scale, "sigma~, the inputs' standard deviation before they are normalised"),
        "signal": (law.correlation / law.scale,
                   "gamma / sigma~: T_j / beta of relevant patterns in the first step (Lemma 6)"),
        "error": (k**8 / m ** (2 / 3) + k**3 * steps / m**2 + k**2 * m ** (2 / 3) / steps,
                  "bound of Theorem 26, k^8 / m^(2/3) + k^3 T / m^2 + k^2 m^(2/3) / T"),
        "threshold": (float(max(scores.max(), 1 - scores.min())),
                      "accuracy of the best threshold of the relevant count"),
        "majority": (majority_score(data), "accuracy of the majority of relevant patterns"),
        "queries": (query_bound(law.patterns, k) if data.structure == "none" else None,
                    "least statistical queries for more than chance (Theorem 4)"),
    }  # fmt: skip
    return Prediction({name: value for name, (value, _) in rows.items()},
                      {name: words for name, (_, words) in rows.items()})  # fmt: skip


def boundary(experiment: Any, field: str) -> None:
    """None: the paper has no phase boundary."""
    return None
