r"""When sharpness-aware minimisation learns the signal (Chen, Zhang, Kou, Chen, Hsieh, Gu 2023).

Data is `SignalNoise` in mini-batches, the network `PatchCNN` with ReLU and the second layer 1/m.
The theorem itself was not found; Huang et al. (2025) quote its requirement as
$\|\mu\|_2 \ge \tilde\Omega(1)$, with noise of size 1. The rest is derived here, from the gradient
at the start: with every loss derivative 1/2 and half of the filters active,
$\|g\| = \sigma_p \sqrt d / (2 \sqrt{Bm})$, so that the perturbation $\tau g / \|g\|$ lowers
$\langle w_{y_i, r}, \xi_i \rangle$ by

$$ \frac{\tau}{\|g\|} \cdot \frac{\|\xi_i\|^2}{2Bm} = \frac{\tau \sigma_p \sqrt d}{\sqrt{Bm}}. $$

Where this exceeds the initial $\sigma_0 \sigma_p \sqrt d$, and what one step on another example
adds, $\eta \sigma_p^2 \sqrt d / (2Bm)$, the filter is silent on its example at the perturbed point:
noise is not learnt. The signal stands in other examples with the opposite sign, on which the filter
is then active: it is learnt nevertheless.

| symbol | argument |
|---|---|
| $d, \|\mu\|, \sigma_p$ | `data.dim`, `signal`, `noise` |
| $B$ | `data.batch` (or `train`) |
| $m, \sigma_0$ | `net.width`, `scale` |
| $\eta, \tau$ | `rule.rate`, `radius` |
"""

import math
from typing import Any

from learnscope.data import SignalNoise
from learnscope.nets import PatchCNN
from learnscope.rules import SharpnessAware
from learnscope.theory import Conditions, Prediction, is_a, plain

SCOPE = "SignalNoise with a two-class PatchCNN(activation='relu'), no bias, under SharpnessAware"


def applies(experiment: Any) -> bool:
    """Whether the paper is about such an experiment."""
    return (
        isinstance(experiment.data, SignalNoise)
        and is_a(experiment.net, PatchCNN, activation="relu", classes=2, second_layer="mean")
        and is_a(experiment.rule, SharpnessAware)
        and plain(experiment)
    )


def shift(experiment: Any) -> float:
    """How far the perturbation lowers <w, ξ_i> in an active filter of the example's label."""
    data, spread = experiment.data, math.sqrt(_batch(experiment) * experiment.net.width)
    root = float(data.noise) * math.sqrt(float(data.dim))
    return float(experiment.rule.radius) * root / spread


def conditions(experiment: Any, constant: float = 1.0) -> Conditions:
    """What SAM needs: the quoted condition, then the derived ones."""
    data, net, rule = experiment.data, experiment.net, experiment.rule
    signal, noise = float(data.signal), float(data.noise)
    spread = math.sqrt(_batch(experiment) * net.width)
    start = float(net.scale) * spread
    time = math.inf if signal == 0 else 2 * net.width / (float(rule.rate) * signal**2)
    c = f"{constant:g}"
    rows = [
        ("signal", f"|mu| >= {c} sigma_p", signal, ">=", constant * noise),
        ("radius (derived)", f"tau >= {c} sigma_0 sqrt(B m)", float(rule.radius), ">=",
         constant * start),
        ("learning rate (derived)", f"{c} eta sigma_p <= 2 tau sqrt(B m)",
         float(rule.rate) * constant * noise, "<=", 2 * float(rule.radius) * spread),
        ("steps (derived)", "T >= 2 m / (eta |mu|^2)", experiment.steps, ">=", time),
    ]  # fmt: skip
    return Conditions.of(rows, lambda name: "" if "derived" in name else "quoted condition")


def predict(experiment: Any) -> Prediction:
    """The side of the boundary, with constant 1, and what happens to noise at the start."""
    data, net = experiment.data, experiment.net
    start = float(net.scale) * float(data.noise) * math.sqrt(float(data.dim))
    ratio = math.inf if start == 0 else shift(experiment) / start
    side = "benign" if float(data.signal) >= float(data.noise) else "not covered"
    rows: dict[str, tuple[Any, str]] = {
        "side": (side, "of the quoted condition, with constant 1"),
        "boundary_signal": (float(data.noise), "|mu| that suffices in any dimension, constant 1"),
        "shift": (shift(experiment), "by which the perturbation lowers <w, xi> (derived)"),
        "silenced": (ratio, "that shift in units of the initial <w, xi>; above 1, noise is silent"),
        "least_error": (float(data.flip), "of any classifier: the flips of test labels"),
    }
    return Prediction.of(rows)


def boundary(experiment: Any, field: str) -> float | None:
    """The field's value at which |mu| = sigma_p; it does not depend on the dimension."""
    data = experiment.data
    return {"data.signal": float(data.noise), "data.noise": float(data.signal)}.get(field)


def _batch(experiment: Any) -> int:
    return experiment.data.batch or experiment.data.train
