"""Sizes of the matrices A_k and of their products, and the paper's rate and initial scale."""

import math
from typing import Any, NamedTuple

import numpy as np

from learnscope.data import ClassNoise


class Spectra(NamedTuple):
    """Sizes of the matrices A_k, and squared Frobenius and operator norms of A_k^T A_j."""

    trace: np.ndarray
    rank: np.ndarray
    largest: np.ndarray
    smallest: np.ndarray
    squares: np.ndarray
    operator: np.ndarray


def spectra(data: Any) -> Spectra:
    """In closed form for `ClassNoise`, else by singular values."""
    k = data.classes
    if isinstance(data, ClassNoise):
        rest, b, s = float(data.dim) - k, float(data.bulk), float(data.spike)
        return Spectra(
            trace=np.full(k, b**2 * (rest - data.block) + data.block * s**2), rank=np.full(k, rest),
            largest=np.full(k, s), smallest=np.full(k, b), squares=data.squares(),
            operator=np.where(np.eye(k, dtype=bool), s**2, s * b),
        )  # fmt: skip
    factors = np.asarray(data.factors, np.float64)
    values = np.linalg.svd(factors, compute_uv=False)
    there = values > values[:, :1] * data.dim * np.finfo(float).eps
    operator = np.zeros((k, k))
    for i, j in zip(*np.triu_indices(k), strict=True):
        operator[i, j] = operator[j, i] = np.linalg.norm(factors[i].T @ factors[j], 2)
    return Spectra(
        trace=(values**2).sum(1), rank=there.sum(1), largest=values[:, 0],
        smallest=np.where(there, values, math.inf).min(1), squares=data.squares(),
        operator=operator,
    )  # fmt: skip


def for_mean(experiment: Any) -> tuple[float, float]:
    """Rate and scale for the paper's second layer 1/m: with 1, F(w) is the paper's F(m w)."""
    net = experiment.net
    torch = net.initial == "torch"
    scale = 1 / math.sqrt(3 * experiment.data.dim) if torch else float(net.scale)
    m = net.width if net.second_layer == "sum" else 1
    return m**2 * float(experiment.rule.rate), m * scale
