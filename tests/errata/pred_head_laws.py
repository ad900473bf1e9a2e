"""Laws of Wen and Li's flow that only tests use: what it conserves, and times as integrals."""

import numpy as np
from jaxtyping import Float

from learnscope.papers.pred_head.parts.population_law import Law


def norm_invariants(
    overlaps: Float[np.ndarray, "*time neuron feature"],
    noise: Float[np.ndarray, "*time neuron"],
    head: Float[np.ndarray, "*time neuron neuron"],
    ratio: float,
) -> Float[np.ndarray, "*time neuron"]:
    r"""$\|w_j\|^2 + (3/r) \sum_r (E_{jr}^2 - E_{rj}^2)$ for $r = \eta_E / \eta$ (`ratio`).

    `noise` are the squared norms of the neurons' noise parts. With ratio 0 the head does not move,
    and the squared norms themselves are constant.
    """
    overlaps, noise, head = (np.asarray(x, float) for x in (overlaps, noise, head))
    lengths = (overlaps**2).sum(-1) + noise
    if ratio == 0:
        return lengths
    squares = head**2
    return lengths + 3 / ratio * (squares.sum(-1) - squares.sum(-2))


def feature_invariants(
    law: Law, overlaps: Float[np.ndarray, "*time neuron feature"]
) -> Float[np.ndarray, "*time neuron feature"]:
    r"""$B_{jl}^{-4} / c_{0l}$ minus the same of the first feature, without a head."""
    scaled = np.asarray(overlaps, float) ** -4 / np.asarray(law.across, float)
    return scaled - scaled[..., :1]


def learning_time(
    law: Law, overlaps: Float[np.ndarray, " feature"], noise: float, end: float | None = None
) -> float:
    r"""When a neuron's largest overlap is half its norm (or `end`) without a head, exactly.

    With batch normalisation $\dot B_l = 3 c_{0l} B_l^5\, e / \Sigma^2$, where $e = 15 c_2 R^3$ and
    $\Sigma = \sum_k c_{1k} B_k^6 + e$; the norm and $B_k^{-4}/c_{0k} - B_l^{-4}/c_{0l}$ are
    constant, so that everything is a function of $B_l$, and time is an integral over it.
    """
    start = np.abs(np.asarray(overlaps, float))
    across, within = np.asarray(law.across, float), np.asarray(law.within, float)
    length = (start**2).sum() + float(noise)
    leader = int(np.argmax(across**0.25 * start))
    goal = np.sqrt(length) / 2 if end is None else end
    if goal <= start[leader]:
        return 0.0
    # In y = B^-4, over which the early part is nearly constant: dB = -B^5 dy / 4.
    nodes, weights = np.polynomial.legendre.leggauss(400)
    ends = np.log(goal**-4), np.log(start[leader] ** -4)
    logs = ends[0] + (ends[1] - ends[0]) * (nodes + 1) / 2
    y = np.exp(logs)
    powers = (
        start[None] ** -4 + (across[None] / across[leader]) * (y - start[leader] ** -4)[:, None]
    )
    squares = powers**-0.5
    left = length - squares.sum(1)
    quiet = 15 * float(law.noise) * left**3
    total = (within[None] * squares**3).sum(1) + quiet
    each = y * total**2 / (12 * across[leader] * quiet)
    return float((weights * each).sum() * (ends[1] - ends[0]) / 2)
