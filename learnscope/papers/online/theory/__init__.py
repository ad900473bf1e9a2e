r"""Online learning of a teacher in high dimensions.

Saad and Solla (1995), Goldt et al. (2019): the overlaps of a soft committee machine follow
differential equations in $\alpha$ = examples / d (`limit`). Ben Arous, Gheissari and Jagannath
(2021): from a random start, the number of examples until a filter is aligned with the teacher
depends on the information exponent $k$, the order of the first Hermite polynomial in the link:
$d$ for $k = 1$, $d \log d$ for $k = 2$, $d^{k-1}$ for $k \ge 3$.

Texts that were found: the abstracts of Saad and Solla (scilit.com), Goldt et al. (nips.cc) and Ben
Arous et al. (arxiv.org/html/2003.10409v4); the thresholds in the abstracts of Damian et al. (2023,
arXiv:2305.10633: $d^{k-1}$) and Arnaboldi et al. (2023, arXiv:2305.18502: $d \log d$).

A search needs so many examples that drawing them limits $d$. Beyond, the filter's overlap is a
diffusion (`exits`).

| symbol | argument |
|---|---|
| $d, M, b$ | `data.dim`, `directions`, `batch` |
| $K$ | `net.width` |
| $\eta / d$ per example | `rule.rate` / `data.batch` |
"""

import itertools
import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from learnscope.data import SHAPES, SignOf, link_of
from learnscope.errors import BadInput
from learnscope.nets import normal_grid
from learnscope.papers.online.theory.exits import exits, worse_as_power
from learnscope.papers.online.theory.limit import Steps, deviation, exit_time, limit
from learnscope.papers.online.theory.moments import (
    Moments,
    Overlap,
    Task,
    closed_moments,
    paired_moments,
    rectified_moments,
    sampled_moments,
)
from learnscope.papers.online.theory.scope import SCOPE, obstacle
from learnscope.papers.online.theory.starts import Place
from learnscope.theory import Condition, Conditions, Prediction

__all__ = [
    "SCOPE", "Moments", "Overlap", "Place", "Steps", "Task", "applies", "boundary",
    "closed_moments", "conditions", "deviation", "exit_time", "exits", "information_exponent",
    "limit", "obstacle", "paired_moments", "predict", "rectified_moments", "sampled_moments",
    "worse_as_power",
]  # fmt: skip


def applies(experiment: Any) -> bool:
    """Whether the theory is about such an experiment."""
    return obstacle(experiment) is None


def information_exponent(link: Any, directions: int = 1) -> int:
    """The lowest order of the Hermite polynomials in a link, beside the mean.

    >>> [information_exponent(link) for link in ("erf", "he2", "he3", "he4")]
    [1, 2, 3, 4]
    >>> information_exponent("product", 3), information_exponent("staircase", 3)
    (3, 1)
    """
    if link == "staircase" or link in (SignOf("linear"), SignOf("erf")):
        return 1
    if link == "product" or link == SignOf("product"):
        return directions  # every sign has a linear part
    count = 1 if link in SHAPES else directions
    nodes, weights = normal_grid(count)
    y = weights * np.asarray(link_of(link)(jnp.asarray(nodes)), float)
    hermite = [np.polynomial.hermite_e.hermeval(nodes, [0] * k + [1]) for k in range(9)]
    for order in range(1, 9):
        for orders in itertools.product(range(order + 1), repeat=count):
            each = np.prod([hermite[k][:, i] for i, k in enumerate(orders)], axis=0)
            if sum(orders) == order and abs(float(y @ each)) > 1e-3:
                return order
    raise BadInput("the link has no Hermite polynomial up to the order 8 beside its mean.")


def conditions(experiment: Any) -> Conditions:
    """What the limit assumes: many dimensions, and steps that are small in the time alpha."""
    data, net = experiment.data, experiment.net
    dim, batch = float(data.dim), data.space.fresh
    k = information_exponent(data.labelling, data.directions)
    strength = float(experiment.rule.rate) * dim / batch
    return Conditions([
        Condition("dimension", "d >= 100 (K + M)", dim, 100 * (net.rows + data.directions), ">=",
                  "Goldt et al.: the limit of large inputs"),
        Condition("steps", "b / d <= 0.01", batch / dim, 0.01, "<="),
        Condition("rate", "eta <= d^(-(k - 2) / 2), so that drift wins over noise", strength,
                  min(1.0, dim ** (-(k - 2) / 2)), "<="),
    ])  # fmt: skip


def predict(experiment: Any) -> Prediction:
    """The information exponent, and the number of examples and steps of the search, without
    constants."""
    data = experiment.data
    dim, batch = float(data.dim), data.space.fresh
    k = information_exponent(data.labelling, data.directions)
    samples = dim * math.log(dim) if k == 2 else dim ** max(k - 1, 1)
    rows: dict[str, tuple[Any, str]] = {
        "information_exponent": (k, "lowest order of a Hermite polynomial in the link"),
        "search_samples": (samples, "examples until alignment: d, d log d or d^(k-1)"),
        "search_steps": (samples / batch, "the same in steps"),
        "rate": (float(experiment.rule.rate) * dim / batch, "eta: rate per example, times d"),
        "time": (experiment.steps * batch / dim, "alpha: examples of the whole run, over d"),
    }
    return Prediction.of(rows)


def boundary(experiment: Any, field: str) -> float | None:
    """No phase boundary is predicted."""
    return None
