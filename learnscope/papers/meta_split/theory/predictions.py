"""Predictions of the theorems and of the linearised rates."""

import math
from typing import Any

from learnscope.papers.meta_split.theory.rates import noise_norm_squared, rates
from learnscope.theory import Prediction

_METHODS = {"train-train": ("train-train", None), "train-validation": ("train-validation", None),
            "vanilla": ("train-train", 0)}  # fmt: skip


def predict(experiment: Any) -> Prediction:
    """Inner amplification, outer growth, the methods by advantage, and the theorems' statement.

    Vanilla training fails by the linearised rates only where $\\|\\xi\\|^2 / (K n)$ exceeds
    $\\|\\nu\\|^2 / 2$, whatever Theorem 4.4's remark says of J = 0.
    """
    of = {name: rates(experiment, split, steps) for name, (split, steps) in _METHODS.items()}
    learns = {name: each.advantage > 1 for name, each in of.items()}
    own = rates(experiment)
    start = float(experiment.net.scale) * float(experiment.data.signal)
    growth = float(experiment.rule.rate) * own.feature
    time = (
        math.inf if growth <= 0 or start <= 0 else max(0.0, -math.log(start)) / math.log1p(growth)
    )
    order = sorted(of, key=lambda name: -of[name].advantage)
    meanings = {
        "feature_factor": "inner loop's factor on <w, nu_k>, linearised (Lemma 6.2)",
        "noise_factor": "inner loop's factor on noise that is adapted to (Lemma 6.1)",
        "held_factor": "inner loop's factor on noise that the outer loop sees",
        "feature_time": "outer steps until the shared feature is of order 1 (T^(2), linearised)",
        "ordering": "by the growth of feature over noise, largest first",
        "theorem": "test loss by Theorems 4.4 and 4.5, and the remark on J = 0",
    }
    values: dict[str, Any] = {
        "feature_factor": own.feature_factor, "noise_factor": own.noise_factor,
        "held_factor": own.held_factor, "feature_time": time, "ordering": " > ".join(order),
        "theorem": "train-validation small; train-train and vanilla constant",
    }  # fmt: skip
    for name, each in of.items():
        values[f"advantage {name}"] = each.advantage
        values[f"learns {name}"] = learns[name]
        meanings[f"advantage {name}"] = "growth of feature / growth of outer noise; 1 is the edge"
        meanings[f"learns {name}"] = "whether the feature outgrows the noise"
    return Prediction(values, meanings)


def boundary(experiment: Any, field: str) -> float | None:
    """The noise or number of tasks at which feature and noise grow alike under this rule."""
    data = experiment.data
    if field == "data.tasks":
        return data.tasks / rates(experiment).advantage
    if field != "data.noise" or noise_norm_squared(data) == 0:
        return None
    low, high = 1e-12, 1e12  # growth of noise increases with the noise
    for _ in range(200):
        middle = math.sqrt(low * high)
        wins = rates(experiment.replace("data.noise", middle)).advantage > 1
        low, high = (middle, high) if wins else (low, middle)
    return middle
