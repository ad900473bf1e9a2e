"""Condition 1 of Xu and Chen (2025), and the experiments it covers."""

import math
from typing import Any

import numpy as np

from learnscope.data import ClassNoise, MatrixNoise
from learnscope.nets import PatchCNN
from learnscope.papers.benign.theory.spectra import for_mean, spectra
from learnscope.rules import GradientDescent
from learnscope.theory import Conditions, is_a, plain

SCOPE = (
    "ClassNoise or MatrixNoise with a PatchCNN(activation='relu') of as many classes, 3 or more, "
    "under full-batch gradient descent"
)
# P[zeta > 1/4] by noise: Condition 1 asks for a threshold that is passed with probability 0.4.
_THRESHOLD = 0.25
_PASSED = {
    "gaussian": math.erfc(_THRESHOLD / math.sqrt(2)) / 2,
    "uniform": (1 - _THRESHOLD / math.sqrt(3)) / 2,
    "rademacher": 0.5,
    "triangular": (1 - _THRESHOLD / math.sqrt(6)) ** 2 / 2,
}


def applies(experiment: Any) -> bool:
    """Whether the paper is about such an experiment.

    Two classes are left out: there `PatchCNN` has one output, for labels +1 and -1.
    """
    data, net = experiment.data, experiment.net
    return (
        is_a(data, ClassNoise | MatrixNoise, batch=None)
        and data.classes >= 3
        and is_a(net, PatchCNN, activation="relu", classes=data.classes)
        and is_a(experiment.rule, GradientDescent)
        and plain(experiment, torch=True)
    )


def conditions(
    experiment: Any, constant: float = 1.0, delta: float = 0.1, omega: float = 1.0
) -> Conditions:
    r"""Condition 1, each inequality for the worst class or pair, with T the experiment's steps.

    `omega` is the constant in $m \ge \Omega(\dots)$ of (b). In (c) the paper prints the bound on
    $\sigma_0$ with a product $\sqrt{\log} \|u_k\| \log \|A_k\|_F$, where Lemma 21 bounds the two
    factors apart: both are listed, the second reading as "initial weights, either".

    With `constant` 1, "alike noise" holds only if all classes share one covariance; in general it
    says $\Gamma \le C^2$ for classes of equal size, against statement 2b.

    >>> import learnscope as ls
    >>> data = ls.data.ClassNoise(dim=1000, classes=5, train_per_class=100, test=10, signal=1)
    >>> net = ls.nets.PatchCNN(width=100, classes=5, activation="relu", initial="torch")
    >>> descent = ls.rules.GradientDescent(rate=0.05)
    >>> checked = conditions(ls.Experiment(data=data, net=net, rule=descent, steps=20))
    >>> {each.name: round(each.margin, 4) for each in checked if not each.holds}["noise trace"]
    0.0043
    """
    data, net = experiment.data, experiment.net
    noise, (rate, scale) = spectra(data), for_mean(experiment)
    signal = np.broadcast_to(np.asarray(data.signal, float), data.classes)
    n, m, k, d = sum(data.sizes), net.width, data.classes, float(data.dim)
    long = math.log(max(experiment.steps, 3))
    few, start = math.log(n / delta), math.log(k * m / delta)
    norm, c = np.sqrt(noise.squares), constant
    trace, trace_bound = _worst(noise.trace[:, None], c * n * norm * math.log(n**2 / delta))
    alike = _worst(norm, np.stack([np.delete(norm, j, 1).max(1) for j in range(k)], 1) / c)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (norm / noise.operator).min()
    uneven = ((noise.largest / noise.smallest) ** 2).max()
    step = (signal + np.sqrt(1.5 * noise.trace)).max() ** 2
    weak = min(norm.min(), signal.min() ** 2)  # phi
    both = (start**1.5 * signal * np.sqrt(noise.trace)).max()
    either = max(math.sqrt(start) * signal.max(), start * math.sqrt(noise.trace.max()))
    active = math.inf if scale == 0 else omega * few * long**2 / (n * scale**2)
    left_over = max(0.0, min(m, d, noise.rank.min()) - 0.9 * m)
    f, g = "|A_i^T A_j|_F", f"{c:g}"
    rows = [
        ("noise trace", f"Tr(A_i^T A_i) >= {g} n {f} log(n^2 / delta)", trace, ">=", trace_bound),
        ("noise spread", f"{f} / |A_i^T A_j|_op >= {g} sqrt(log(K / delta))", spread, ">=",
         c * math.sqrt(math.log(k / delta))),
        ("alike noise", f"{f} >= max_(k != j) |A_i^T A_k|_F / {g}", alike[0], ">=", alike[1]),
        ("noise entries", f"P[zeta > {_THRESHOLD}] >= 0.4", _PASSED[data.noise], ">=", 0.4),
        ("width", f"m >= {g} log(n / delta) (lambda_max(A_i) / lambda_min(A_i))^2", m, ">=",
         c * few * uneven),
        ("sample size", f"n >= {g} log(m / delta)", n, ">=", c * math.log(m / delta)),
        ("width, initial weights", f"m >= {omega:g} log(n / delta) log(T)^2 / (n sigma_0^2)",
         m, ">=", active),
        ("rank", f"min(m, d, rank(A_j)) - 0.9 m >= {g} n", left_over, ">=", c * n),
        ("dimension", f"d >= {g} log(m n / delta)", d, ">=", c * math.log(m * n / delta)),
        ("learning rate", f"eta {g} max(|u_k| + sqrt(1.5 Tr(A_k^T A_k)))^2 <= 1",
         rate * c * step, "<=", 1.0),
        ("learning rate, trace", "eta Tr(A_j^T A_j) <= m n log(T)", rate * noise.trace.max(), "<=",
         m * n * long),
        ("initial weights", f"sigma_0 <= phi / ({g} n max(log(K m / delta)^1.5 |u_k| |A_k|_F))",
         scale, "<=", weak / (c * n * both) if weak else 0.0),
        ("initial weights, either",
         f"sigma_0 <= phi / ({g} n max(sqrt(log(K m / delta)) |u_k|, log(K m / delta) |A_k|_F))",
         scale, "<=", weak / (c * n * either) if weak else 0.0),
    ]  # fmt: skip
    return Conditions.of(rows, lambda name: "" if name.endswith("either") else "Condition 1")


def _worst(left: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """The sides of the tightest of many `left >= right`; equal if they differ by rounding only."""
    left, right = np.broadcast_arrays(left, right)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.unravel_index(np.argmin(left / right), left.shape)
    return float(left[at]), float(
        left[at] if np.isclose(left[at], right[at], 1e-12, 0) else right[at]
    )
