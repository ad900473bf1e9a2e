"""What most theorems of two-layer networks are about."""

import math
from typing import Any


def plain(experiment: Any, torch: bool = False) -> bool:
    """Whether a `PatchCNN` starts from weights of the standard deviation `scale`, has no biases,
    and follows the gradient of a logistic loss at a fixed rate, without momentum. `torch`: a theory
    that reads PyTorch's start as what it is, whatever the `scale`."""
    net, rule = experiment.net, experiment.rule
    usual = (3 * float(experiment.data.dim)) ** -0.5
    drawn = net.initial == "gaussian" or math.isclose(float(net.scale), usual, rel_tol=1e-6)
    chosen = rule.optimiser, dict(rule.options), rule.loss
    return (drawn or torch) and not net.bias and chosen == ("sgd", {}, "logistic")
