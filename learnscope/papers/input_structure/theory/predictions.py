"""Predictions of Shi, Wei and Liang (2022) for an experiment."""

from typing import Any

from learnscope.papers.input_structure.theory.bounds import (
    majority_score,
    query_bound,
    threshold_score,
)
from learnscope.papers.input_structure.theory.law import exact_law
from learnscope.theory import Prediction


def predict(experiment: Any) -> Prediction:
    """Orders of the error, the signal of the first step, and the accuracy of simpler rules."""
    data, law = experiment.data, exact_law(experiment.data)
    k, m, steps = law.relevant, experiment.net.width, experiment.steps
    queries = query_bound(law.patterns, k).queries if data.structure == "none" else None
    return Prediction(
        {
            "correlation": law.correlation,
            "scale": law.scale,
            "signal": law.correlation / law.scale,
            "error": k**8 / m ** (2 / 3) + k**3 * steps / m**2 + k**2 * m ** (2 / 3) / steps,
            "threshold": threshold_score(data),
            "majority": majority_score(data),
            "queries": queries,
        },
        {
            "correlation": "gamma of (A1)",
            "scale": "sigma~, the inputs' standard deviation before they are normalised",
            "signal": "gamma / sigma~: T_j / beta of relevant patterns in the first step (Lemma 6)",
            "error": "bound of Theorem 26, k^8 / m^(2/3) + k^3 T / m^2 + k^2 m^(2/3) / T",
            "threshold": "accuracy of the best threshold of the relevant count",
            "majority": "accuracy of the majority of relevant patterns",
            "queries": "least statistical queries for more than chance (Theorem 4)",
        },
    )


def boundary(experiment: Any, field: str) -> None:
    """None: the paper has no phase boundary."""
    return None
