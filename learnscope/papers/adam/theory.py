r"""When Adam memorises noise where gradient descent learns the feature (Zou, Cao, Li, Gu 2021).

Data is `SparseNoise`, the network `PatchCNN` with $\sigma(z) = \max(z, 0)^q$, the rule
`WeightDecay` with Adam or plain descent. The theorem's conditions on d, s and n were not found;
Tang et al. (2025, Theorem 4.1) bound the decay by $\lambda = o(\sigma_0^{q-2} \sigma_p / n)$. The
others are derived here.
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
from learnscope.theory import Condition, Conditions, Prediction

SCOPE = "SparseNoise with a two-class PatchCNN(activation='relu_power') under WeightDecay"


def applies(experiment: Any) -> bool:
    """Whether the paper is about such an experiment."""
    net = experiment.net
    return (
        isinstance(experiment.data, SparseNoise)
        and isinstance(net, PatchCNN)
        and (net.activation, net.classes, net.bias) == ("relu_power", 2, False)
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
        ("signs prefer noise (derived)", f"0.8 s sigma_p >= {c}", 0.8 * s * noise, ">=", constant),
        ("gradients prefer the feature (derived)", f"{c} s sigma_p^2 <= n",
         constant * s * noise**2, "<=", n),
        ("supports (derived)", f"d >= {c} n s", d, ">=", constant * n * s),
        ("power", "q >= 3", float(net.power), ">=", 3.0),
    ]  # fmt: skip
    return Conditions(Condition(name, text, left, right, relation,
                                "" if "derived" in name else "quoted conditions")
                      for name, text, left, relation, right in rows)  # fmt: skip


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
    return Prediction(*({name: row[i] for name, row in rows.items()} for i in (0, 1)))


def boundary(experiment: Any, field: str) -> float | None:
    """The noise at which both are learnt equally fast."""
    data = experiment.data
    if field != "data.noise":
        return None
    if experiment.rule.optimiser == "adam":
        return math.sqrt(math.pi / 2) / data.sparsity
    return math.sqrt(data.train / data.sparsity)
