r"""Benign or harmful overfitting of ReLU CNNs on XOR data (Meng, Zou, Cao 2024).

Data is `XorClusters` with $u \perp v$, the network `PatchCNN` with ReLU and the second layer 1/m,
the rule plain gradient descent. Theorem 3.2: under Condition 3.1 the training loss vanishes, and
test error is near the flips p if $n\|\mu\|^4 = \Omega(\sigma_p^4 d)$, else a constant away.
For correlated centres (Theorem 3.4) $\|\mu\|^2$ has the factor $1 - \cos\theta$, where $\theta$ is
the angle between $u + v$ and $u - v$.

Where this was found: see `claims`. Of Condition 3.1 two lines were quoted: $d = \Omega(n^2)$, and
weights of $d^{-3/4}$ at $d = n^2$, $\sigma_p = 1$, read here as $\sqrt n / (\sigma_p d)$ (as in
Kou et al. 2023). The others are not listed.

| symbol | argument |
|---|---|
| $d, n$ | `data.dim`, `train` |
| $\|u\|, \|v\| / \|u\|$ | `data.signal`, `ratio`; $\|\mu\|^2 = \|u\|^2 + \|v\|^2$ |
| $\sigma_p, p$ | `data.noise`, `flip` |
| $m, \sigma_0$ | `net.width`, `scale` |
| $\eta, T$ | `rule.rate`, `steps` |
"""

import math
from typing import Any

from learnscope.data import XorClusters
from learnscope.nets import PatchCNN
from learnscope.rules import GradientDescent
from learnscope.theory import Conditions, Prediction, is_a, plain

SCOPE = "XorClusters(cosine=0) with a two-class PatchCNN(activation='relu') under gradient descent"


def applies(experiment: Any) -> bool:
    """Whether the paper is about such an experiment."""
    return (
        is_a(experiment.data, XorClusters, cosine=0, batch=None)
        and is_a(experiment.net, PatchCNN, activation="relu", classes=2, second_layer="mean")
        and is_a(experiment.rule, GradientDescent)
        and plain(experiment)
    )


def cosine(experiment: Any) -> float:
    """Of the angle between the centres u + v and u - v."""
    ratio = float(experiment.data.ratio)
    return (1 - ratio**2) / (1 + ratio**2)


def conditions(experiment: Any, constant: float = 1.0) -> Conditions:
    """What was quoted of Condition 3.1; and the time to a loss of 0.1, up to constants."""
    data, net = experiment.data, experiment.net
    d, n, noise = float(data.dim), data.train, float(data.noise)
    largest = math.inf if noise == 0 else math.sqrt(n) / (constant * noise * d)
    rate = float(experiment.rule.rate)
    time = math.inf if noise == 0 else net.width * n / (rate * 0.1 * d * noise**2)
    c = f"{constant:g}"
    rows = [
        ("dimension", f"d >= {c} n^2", d, ">=", constant * n**2),
        ("initial weights", f"sigma_0 <= sqrt(n) / ({c} sigma_p d)", float(net.scale), "<=",
         largest),
        ("steps", "T >= m n / (0.1 eta d sigma_p^2)", experiment.steps, ">=", time),
    ]  # fmt: skip
    return Conditions.of(rows, lambda name: "" if name == "steps" else "Condition 3.1")


def predict(experiment: Any) -> Prediction:
    """The side of the boundary, with constants 1, and where the boundary lies."""
    data = experiment.data
    against = float(data.dim) * float(data.noise) ** 4
    strength = data.train * _separation(experiment) ** 2
    ratio = math.inf if against == 0 else strength / against
    rows: dict[str, tuple[Any, str]] = {
        "side": ("benign" if ratio >= 1 else "harmful", "of Theorem 3.2, with constants 1"),
        "ratio": (ratio, "n |mu|^4 (1 - cos theta)^2 / (d sigma_p^4); 1 is the boundary"),
        "cosine": (cosine(experiment), "of the angle between the centres"),
        "boundary_signal": (boundary(experiment, "data.signal"), "|u| at which that ratio is 1"),
        "boundary_dim": (boundary(experiment, "data.dim"), "d at which that ratio is 1"),
        "least_error": (float(data.flip), "of any classifier: the flips of test labels"),
    }
    return Prediction.of(rows)


def boundary(experiment: Any, field: str) -> float | None:
    """The field's value at which n |mu|^4 (1 - |cos theta|)^2 = d sigma_p^4, the rest as it is."""
    data = experiment.data
    d, n, noise = float(data.dim), float(data.train), float(data.noise)
    unit = _separation(experiment.replace("data.signal", 1.0))
    if field == "data.signal":
        return None if unit == 0 else math.sqrt(math.sqrt(d / n) * noise**2 / unit)
    apart = _separation(experiment)
    if noise == 0 or apart == 0:
        return None
    if field == "data.dim":
        return n * apart**2 / noise**4
    return d * noise**4 / apart**2 if field == "data.train" else None


def _separation(experiment: Any) -> float:
    """|mu|^2 (1 - |cos theta|): both signs of each centre occur."""
    data = experiment.data
    squared = float(data.signal) ** 2 * (1 + float(data.ratio) ** 2)
    return squared * (1 - abs(cosine(experiment)))
