"""Predictions of Wen and Li's theorems, and of the flow's laws, for an experiment."""

import math
from typing import Any

import numpy as np

from learnscope.papers.pred_head.parts.population_law import Law
from learnscope.papers.pred_head.theory.conditions import has_head
from learnscope.papers.pred_head.theory.conservation import head_bound, learning_probabilities
from learnscope.papers.pred_head.theory.growth import growth_rates, growth_time, optimum
from learnscope.theory import Prediction


def predict(experiment: Any, draws: int = 10_000) -> Prediction:
    """The least loss, the features learnt and when (T1: median over `draws` random starts)."""
    data, net, rule = experiment.data, experiment.net, experiment.rule
    dim, width = float(data.dim), net.width
    scale = dim**-0.5 if net.scale is None else float(net.scale)
    law = Law.of(data)
    chances = learning_probabilities(data)
    length = scale * math.sqrt(dim)
    rates = growth_rates(law, np.array([scale**2 * (dim - data.features)]))[0]
    # The largest of c^(1/4) |B| over neurons and features, from fixed random numbers.
    normals = np.random.default_rng(0).standard_normal((draws, width, data.features))
    largest = float(np.median((rates**0.25 * scale * np.abs(normals)).max((1, 2))))
    time = growth_time(largest, float(rates.max() ** 0.25) * length / 2, 1.0) / float(rule.rate)
    ratio = float(rule.head_rate) / float(rule.rate)
    head = has_head(experiment) and rule.stop_gradient and rule.normalise == "batch"
    return Prediction(
        {
            "outcome": "all features" if head else "collapse",
            "optimum": optimum(data, width),
            "strong_alone": float(chances[0]),
            "all_strong": float(chances[0] ** width),
            "all_same": float((chances**width).sum()),
            "first_time": time,
            "head_bound": head_bound(length, ratio) if has_head(experiment) else 0.0,
        },
        {
            "outcome": "of Theorem 4.1 (trained head, batch normalisation, stop-gradient) or 4.3",
            "optimum": "OPT = m (1 - C0/C1), whether collapsed or not",
            "strong_alone": "chance that a neuron learns the first feature, without a head",
            "all_strong": "chance that all neurons learn the first feature, without a head",
            "all_same": "chance that all neurons learn the same feature, without a head",
            "first_time": "T1 in steps: some overlap is half its filter's norm (median over draws)",
            "head_bound": "most that |E_21| comes to: |w_2(0)| sqrt(eta_E / 3 eta)",
        },
    )


def boundary(experiment: Any, field: str) -> float | None:
    """None: no theorem of this paper says at which value of a field the outcome changes."""
    return None
