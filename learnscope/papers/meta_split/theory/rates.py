"""Growth of feature and noise while everything is small: what the split changes."""

import dataclasses
from typing import Any

from learnscope.rules import Pooled


@dataclasses.dataclass(frozen=True)
class Rates:
    """Factors of the inner loop, and growth per unit of outer step, at initialisation.

    `advantage` above 1: the shared feature outgrows the noise that the outer loop sees.
    """

    feature_factor: float
    noise_factor: float
    held_factor: float
    feature: float
    noise: float

    @property
    def advantage(self) -> float:
        return float("inf") if self.noise == 0 else self.feature / self.noise


def noise_norm_squared(data: Any) -> float:
    """E ||xi||^2."""
    return float(data.noise) ** 2 * (float(data.dim) - data.dictionary - 1)


def rates(experiment: Any, split: str | None = None, inner_steps: int | None = None) -> Rates:
    """The rates of an experiment, possibly with another split or number of inner steps."""
    data, net, rule = experiment.data, experiment.net, experiment.rule
    split = rule.split if split is None else split
    pooled = isinstance(rule, Pooled)
    steps = (0 if pooled else rule.inner_steps) if inner_steps is None else inner_steps
    gamma = 0.0 if pooled else float(rule.inner_rate)
    scale = net.second_layer_scale / (4 * float(net.threshold))
    shared, own = float(data.signal) ** 2, float(data.task_signal) ** 2
    noise = noise_norm_squared(data)
    first, second = data.halves
    inside, outside = (data.samples,) * 2 if split == "train-train" else (first, second)
    feature_factor = (1 + gamma * scale * (shared + own)) ** steps
    adapted = (1 + gamma * 2 * scale * noise / inside) ** steps
    held = adapted if split == "train-train" else 1.0
    return Rates(
        feature_factor, adapted, held, scale * shared * feature_factor,
        2 * scale * noise / (data.tasks * outside) * held,
    )  # fmt: skip
