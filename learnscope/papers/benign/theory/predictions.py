"""Predictions of Theorem 1 of Xu and Chen (2025) for an experiment."""

import math
from typing import Any

import numpy as np

from learnscope.data import ClassNoise
from learnscope.papers.benign.theory.regimes import REGIMES, exponents, regime
from learnscope.papers.benign.theory.spectra import for_mean, spectra
from learnscope.theory import Prediction


def predict(experiment: Any, high: float = 10.0, low: float = 1.0, loss: float = 0.1) -> Prediction:
    """The regime of every class and of the worst class, the exponents, and the boundaries."""
    data, net, terms = experiment.data, experiment.net, exponents(experiment)
    rate, scale = for_mean(experiment)
    snr, ratio = terms.worst_snr.values, terms.worst_ratio.values
    regimes = [regime(*each, high, low) for each in zip(snr, ratio, strict=True)]
    signal, correlation = (boundary(experiment, f"data.{x}") for x in ("signal", "correlation"))
    spread = sum(data.sizes) * spectra(data).trace.max()
    far = max(spread, math.sqrt(net.width * data.dim) * scale, math.sqrt(net.width * data.classes))
    rows = {
        "regime": (min(regimes, key=REGIMES.index),
                   f"of the worst class, by Theorem 1 with C1 = C2 = {high:g}, C3 = {low:g}"),
        "regimes": ("; ".join(
            f"{name}: {', '.join(str(k) for k, each in enumerate(regimes) if each == name)}"
            for name in REGIMES if name in regimes), "the classes in every regime"),
        "snr": (float(snr.min()), "least |S_k|^2 |u_k|^4 / (|S_j| |A_k^T A_j|_F^2)"),
        "ratio": (float(ratio.min()),
                  "least Gamma_kj = |S_k| |A_k^T A_k|_F^2 / (|S_j| |A_k^T A_j|_F^2)"),
        "bound": (float(np.exp(-terms.snr).sum("other").max()),
                  "on the worst class's test error: sum_j exp(-c1 snr), c1 = 1; if benign (2a)"),
        "bound_long_tailed": (float(np.exp(-terms.ratio).sum("other").max()),
                              "sum_j exp(-c2 L^2 Gamma_kj), c2 = L = 1; if benign (2b)"),
        "boundary_signal": (high**0.25 * signal if signal is not None else None,
                            f"|u| of all classes at which the least snr is {high:g}"),
        "boundary_correlation": (high * correlation if correlation is not None else None,
                                 f"data.correlation at which the least Gamma_kj is {high:g}"),
        "steps": (float(far / (rate * loss)),
                  f"T of Theorem 1 for a training loss of {loss:g}, up to logarithms"),
    }  # fmt: skip
    return Prediction({name: value for name, (value, _) in rows.items()},
                      {name: words for name, (_, words) in rows.items()})  # fmt: skip


def boundary(experiment: Any, field: str) -> float | None:
    r"""The field's value at which the worst exponent is 1, everything else as it is.

    For `data.correlation` the exponent is $\Gamma_{k,j}$, and the value the largest
    $|S_j| / |S_k|$; for `data.signal` (of all classes), `data.train_per_class` (the same for all),
    `data.dim` and `data.bulk` it is the signal-to-noise ratio. None where there is no such value.
    """
    data, sizes = experiment.data, np.asarray(experiment.data.sizes, float)
    if field == "data.signal":
        against = sizes[None, :] * data.squares() / sizes[:, None] ** 2
        return float(against[~np.eye(data.classes, dtype=bool)].max() ** 0.25)
    if field == "data.correlation" and isinstance(data, ClassNoise):
        return float(sizes.max() / sizes.min())
    snr = float(exponents(experiment).worst_snr.min())
    if not 0 < snr < math.inf:
        return None
    if field == "data.train_per_class" and len(set(data.sizes)) == 1:
        return float(sizes[0] / snr)
    if field == "data.bulk" and isinstance(data, ClassNoise):
        return float(data.bulk) * snr**0.25
    if field != "data.dim" or not isinstance(data, ClassNoise):
        return None
    extra = data.block * (float(data.correlation) - 1)
    rest = float(data.dim) - data.classes
    root = math.sqrt(snr) * (math.sqrt(extra + rest) + math.sqrt(extra)) - math.sqrt(extra)
    dim = root * abs(root) - extra + data.classes
    return dim if dim > data.axes else None
