r"""Benign or harmful overfitting of two-layer ReLU CNNs (Kou, Chen, Chen, Gu 2023).

Data is `SignalNoise` with labels flipped with probability p, the network `PatchCNN` with ReLU and
the second layer 1/m, the rule plain gradient descent. Their Theorem 4.2: under Condition 4.1 the
training loss vanishes, and the test error is $p + \exp(-n\|\mu\|^4 / (C \sigma_p^4 d))$ if
$n\|\mu\|^4 \ge C_1 \sigma_p^4 d$, but at least $p + 0.1$ if $n\|\mu\|^4 \le C_3 \sigma_p^4 d$.

| symbol | argument |
|---|---|
| $d, n, \|\mu\|, \sigma_p, p$ | `data.dim`, `train`, `signal`, `noise`, `flip` |
| $m, \sigma_0$ | `net.width`, `scale` |
| $\eta, T^*$ | `rule.rate`, `steps` |
| $C, \delta$ | `constant`, `delta` |
"""

import math
from typing import Any

from learnscope.data import SignalNoise
from learnscope.nets import PatchCNN
from learnscope.rules import GradientDescent
from learnscope.theory import Conditions, Prediction, is_a, plain

SCOPE = "SignalNoise with a two-class PatchCNN(activation='relu'), no bias, under gradient descent"


def applies(experiment: Any) -> bool:
    """Whether the paper is about such an experiment."""
    return (
        isinstance(experiment.data, SignalNoise)
        and is_a(experiment.net, PatchCNN, activation="relu", classes=2)
        and is_a(experiment.rule, GradientDescent)
        and plain(experiment)
    )


def conditions(experiment: Any, constant: float = 1.0, delta: float = 0.1) -> Conditions:
    """Condition 4.1, with T* read as the experiment's steps.

    The last line is the theorem's T for a training loss of 0.1, up to logarithms: part of the
    statement rather than of the condition, and the first to fail in a short run.
    """
    data, net = experiment.data, experiment.net
    d, n, m = float(data.dim), data.train, net.width
    signal, noise, flip = float(data.signal), float(data.noise), float(data.flip)
    rate, scale = _for_mean(experiment)
    long = max(math.log(experiment.steps + 1), 1.0)
    few, many = math.log(n / delta), math.log(m / delta)
    over = math.inf if noise == 0 else n * signal**2 * long / noise**2
    slow = max(noise**2 * d**1.5 / (n**2 * m * math.sqrt(few)), noise**2 * d / n)
    start = max(noise * d / math.sqrt(n), math.sqrt(many) * signal)
    time = math.inf if noise == 0 else m * n / (rate * 0.1 * d * noise**2)
    c = f"{constant:g}"
    rows = [
        ("dimension, signal", f"d >= {c} n |mu|^2 log(T) / sigma_p^2", d, ">=", constant * over),
        ("dimension, samples", f"d >= {c} n^2 log(nm / delta) log(T)^2", d, ">=",
         constant * n**2 * math.log(n * m / delta) * long**2),
        ("width", f"m >= {c} log(n / delta)", m, ">=", constant * few),
        ("sample size", f"n >= {c} log(m / delta)", n, ">=", constant * many),
        ("signal", f"|mu|^2 >= {c} sigma_p^2 log(n / delta)", signal**2, ">=",
         constant * noise**2 * few),
        ("learning rate", f"eta {c} max(sigma_p^2 d^1.5 / (n^2 m sqrt(log(n / delta))), "
         "sigma_p^2 d / n) <= 1",
         rate * constant * slow, "<=", 1.0),
        ("initial weights", f"sigma_0 {c} max(sigma_p d / sqrt(n), sqrt(log(m / delta)) |mu|) <= 1",
         scale * constant * start, "<=", 1.0),
        ("flips", f"p <= 1 / (2 + {c})", flip, "<=", 1 / (2 + constant)),
        ("steps", "T >= m n / (0.1 eta d sigma_p^2)", experiment.steps, ">=", time),
    ]  # fmt: skip
    return Conditions.of(rows, lambda name: "" if name == "steps" else "Condition 4.1")


def predict(experiment: Any) -> Prediction:
    """The side of the boundary, with constants 1, and where the boundary lies."""
    data = experiment.data
    strength = float(data.train) * float(data.signal) ** 4
    against = float(data.dim) * float(data.noise) ** 4
    ratio = math.inf if against == 0 else strength / against
    signal, noise, dim = (boundary(experiment, f"data.{x}") for x in ("signal", "noise", "dim"))
    rows: dict[str, tuple[Any, str]] = {
        "side": ("benign" if ratio >= 1 else "harmful", "of Theorem 4.2, with constants 1"),
        "ratio": (ratio, "n |mu|^4 / (d sigma_p^4); 1 is the boundary"),
        "boundary_signal": (signal, "|mu| at which that ratio is 1"),
        "boundary_noise": (noise, "sigma_p at which that ratio is 1"),
        "boundary_dim": (dim, "d at which that ratio is 1"),
        "least_error": (float(data.flip), "of any classifier: the flips of test labels"),
    }
    return Prediction.of(rows)


def boundary(experiment: Any, field: str) -> float | None:
    """The field's value at which n |mu|^4 = d sigma_p^4, everything else as it is."""
    data = experiment.data
    d, n = float(data.dim), float(data.train)
    signal, noise = float(data.signal), float(data.noise)
    if field == "data.signal":
        return (d / n) ** 0.25 * noise
    if field == "data.noise":
        return (n / d) ** 0.25 * signal
    if noise == 0 or signal == 0:
        return None
    if field == "data.dim":
        return n * (signal / noise) ** 4
    return d * (noise / signal) ** 4 if field == "data.train" else None


def _for_mean(experiment: Any) -> tuple[float, float]:
    """Rate and scale for the paper's second layer 1/m: with a, f(w) is the paper's f(a m w)."""
    net = experiment.net
    factor = {"mean": 1.0, "sum": net.width, "patches": net.width / 2}[net.second_layer]
    return factor**2 * float(experiment.rule.rate), factor * float(net.scale)
