"""What most theorems of two-layer networks are about."""

import math
from typing import Any


def plain(experiment: Any) -> bool:
    """Whether a `PatchCNN` starts from weights of the standard deviation `scale`, has no biases,
    and follows the gradient of a logistic loss at a fixed rate, without momentum."""
    net, rule = experiment.net, experiment.rule
    torch = (3 * float(experiment.data.dim)) ** -0.5  # whatever the scale
    drawn = net.initial == "gaussian" or math.isclose(float(net.scale), torch, rel_tol=1e-6)
    chosen = rule.optimiser, dict(rule.options), rule.loss
    return drawn and not net.bias and chosen == ("sgd", {}, "logistic")
