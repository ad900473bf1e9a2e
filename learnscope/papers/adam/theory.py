r"""When Adam memorises noise where gradient descent learns the feature (Zou, Cao, Li, Gu 2021).

Data is `SparseNoise`, the network `PatchCNN` with $\sigma(z) = \max(z, 0)^q$, the rule
`WeightDecay` with Adam or plain descent. The theorem's conditions are quoted from Tang et
al. (2025): $\lambda = o(\sigma_0^{q-2} \sigma_p / n)$ (Theorem 4.1), $s = \Theta(d^{1/2} / n^2)$,
$\sigma_p^2 = \Theta(1 / s)$ and $\alpha = \Theta(\sigma_p)$ up to logarithms (Condition A.1). Their
own experiments have $s = 100$ at $d^{1/2} / n^2 = 8 \cdot 10^{-4}$. The others are derived here.
A sign step of size $\eta$ moves $\langle w, v \rangle$ by $\eta$ and $\langle w, \xi_i \rangle$ by
$\eta \|\xi_i\|_1 \approx 0.8\, \eta s \sigma_p$; a gradient step moves them in the ratio
$1 : \|\xi_i\|^2 / n = s \sigma_p^2 / n$. Supports must rarely overlap.

| symbol | argument |
|---|---|
| $d, n, s$ | `data.dim`, `train`, `sparsity` |
| $\sigma_p, \alpha$ | `data.noise`, `strength` |
| $\sigma_0, q$ | `net.scale`, `power` |
| $\lambda$ | `rule.decay` |
"""

import math
from typing import Any

from learnscope.nets import PatchCNN
from learnscope.papers.adam.parts import SparseNoise, WeightDecay
from learnscope.theory import Conditions, Prediction, is_a

SCOPE = "SparseNoise with a two-class PatchCNN(activation='relu_power') under WeightDecay"


def applies(experiment: Any) -> bool:
    """Whether the paper is about such an experiment."""
    return (
        isinstance(experiment.data, SparseNoise)
        and is_a(experiment.net, PatchCNN, activation="relu_power", classes=2, bias=False)
        and isinstance(experiment.rule, WeightDecay)
    )


def conditions(experiment: Any, constant: float = 1.0) -> Conditions:
    """The quoted bound on the decay, then what the mechanism needs."""
    data, net, c = experiment.data, experiment.net, f"{constant:g}"
    d, n, s, noise = float(data.dim), data.train, data.sparsity, float(data.noise)
    largest = float(net.scale) ** (float(net.power) - 2) * noise / n
    rows = [
        ("weight decay", f"{c} lambda <= sigma_0^(q - 2) sigma_p / n",
         constant * float(experiment.rule.decay), "<=", largest),
        ("sparsity", f"{c} s <= d^(1/2) / n^2", constant * s, "<=", d**0.5 / n**2),
        ("noise", f"{c} s sigma_p^2 <= 1", constant * s * noise**2, "<=", 1.0),
        ("feature noise", f"alpha >= {c} sigma_p", float(data.strength), ">=", constant * noise),
        ("signs prefer noise (derived)", f"0.8 s sigma_p >= {c}", 0.8 * s * noise, ">=", constant),
        ("gradients prefer the feature (derived)", f"{c} s sigma_p^2 <= n",
         constant * s * noise**2, "<=", n),
        ("supports (derived)", f"d >= {c} n s", d, ">=", constant * n * s),
        ("power", "q >= 3", float(net.power), ">=", 3.0),
    ]  # fmt: skip
    return Conditions.of(
        rows, lambda name: "" if "derived" in name else "quoted list of conditions"
    )


def predict(experiment: Any) -> Prediction:
    """What is learnt first, by the ratio of both speeds at the start."""
    data = experiment.data
    s, noise = data.sparsity, float(data.noise)
    signs = math.sqrt(2 / math.pi) * s * noise
    speed = signs if experiment.rule.optimiser == "adam" else s * noise**2 / data.train
    rows: dict[str, tuple[Any, str]] = {
        "first": ("noise" if speed > 1 else "feature", "what is learnt faster"),
        "speed": (speed, "of noise, in units of the feature's"),
    }
    return Prediction.of(rows)


def boundary(experiment: Any, field: str) -> float | None:
    """The noise at which both are learnt equally fast."""
    data = experiment.data
    if field != "data.noise":
        return None
    if experiment.rule.optimiser == "adam":
        return math.sqrt(math.pi / 2) / data.sparsity
    return math.sqrt(data.train / data.sparsity)
