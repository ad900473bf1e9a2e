"""Which experiments the limit is about."""

from typing import Any

from learnscope.data import MultiIndex, SignOf, half_space
from learnscope.nets import TwoLayer
from learnscope.probes import sum_obstacle
from learnscope.rules import GradientDescent, SphericalDescent

SCOPE = (
    "fresh MultiIndex examples, used once, with a net that is a sum over filters (TwoLayer or "
    "PatchCNN, no biases, not symmetric) under SphericalDescent or plain gradient descent on the "
    "squared or correlation loss"
)


def obstacle(experiment: Any) -> str | None:
    """Why there is no limit of an experiment, or None."""
    data, net, rule = experiment.data, experiment.net, experiment.rule
    if not isinstance(data, MultiIndex) or data.train is not None or data.repeats > 1:
        return "data must be fresh MultiIndex examples, used once"
    if (why := sum_obstacle(net)) is not None:
        return f"it must have {why}"
    if isinstance(net, TwoLayer) and net.symmetric:
        return "filters that are twins have no limit here: symmetric must be false"
    if not isinstance(rule, SphericalDescent) and not (
        isinstance(rule, GradientDescent) and rule.fresh_obstacle is None
    ):
        return "the rule must be SphericalDescent or plain GradientDescent"
    if rule.loss not in ("squared", "correlation"):
        return "the loss must be squared or correlation"
    labels = data.labelling
    flat = half_space(labels, data.directions) or labels == SignOf("product")
    if isinstance(labels, SignOf) and not flat:
        return "signs must be those of a product or of a sum of projections (linear, erf)"
    return None
