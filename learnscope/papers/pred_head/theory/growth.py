r"""Growth from small weights: the tensor power method (Wen and Li, Appendix G).

While noise is most of every neuron's output, each overlap grows by itself (section 5.1),

$$\dot B_{jl} = c_{jl} B_{jl}^5, \qquad c_{jl} = \frac{C_{0l} \alpha_l^6}{5\, C_2 \sigma^6 R_j^3},$$

with $R_j$ the squared norm of a neuron's noise part (time in units of $1/\eta$; from
$3 C_0 \alpha^6 \Phi_j e_j$, $\Phi_j e_j \approx 1/e_j$, $e_j = 15 C_2 \sigma^6 R_j^3$). From $x_0$
to $A$ that takes $(x_0^{-4} - A^{-4}) / 4c$: the largest $c_{jl}^{1/4} |B_{jl}(0)|$ wins, and as
$|B| \sim d^{-1/2}$ it takes a time of order $d^2$ (Lemma 5.1). Lemma G.1 bounds the discrete
sequence by the same up to factors $1 \pm O(\delta)$.
"""

import jax
import numpy as np
from jaxtyping import Float

from learnscope.data import StrongWeak
from learnscope.papers.pred_head.parts.population_law import Law


def growth_rates(law: Law, noise: Float[np.ndarray, " neuron"]) -> np.ndarray:
    """c: of every neuron (by the squared norm of its noise part) and feature."""
    against = 5 * float(law.noise) * np.asarray(noise, float) ** 3
    return np.asarray(law.across, float)[None] / against[:, None]


def growth_time(start: float, end: float, rate: float) -> float:
    """How long $\\dot x = c x^5$ takes from one value to another.

    >>> growth_time(0.1, float("inf"), 2.0)
    1250.0
    """
    with np.errstate(divide="ignore"):
        return float(max(0.0, (np.float64(start) ** -4 - np.float64(end) ** -4) / (4 * rate)))


def first_time(
    law: Law, overlaps: Float[np.ndarray, "neuron feature"], noise: Float[np.ndarray, " neuron"]
) -> float:
    """T1 by the tensor power method: the first overlap is half its filter's norm."""
    sizes = np.abs(np.asarray(overlaps, float))
    rates = growth_rates(law, noise)
    neuron, feature = np.unravel_index(np.argmax(rates**0.25 * sizes), sizes.shape)
    length = np.sqrt((sizes[neuron] ** 2).sum() + float(noise[neuron]))
    return growth_time(sizes[neuron, feature], length / 2, rates[neuron, feature])


def optimum(model: StrongWeak, width: int) -> float:
    r"""OPT: the least loss of `width` neurons, $\sum_j \min_l 1 - C_{0l}/C_{1l}$; the same for
    every feature, so that collapse reaches it too (Theorem 4.3). For half the squared distance.

    >>> import learnscope as ls
    >>> model = ls.data.StrongWeak(20, patches=16, feature_patches=4, strengths=(3, 2), noise=1,
    ...                            batch=2)
    >>> round(optimum(model, 2), 4)
    0.6667
    """
    with jax.enable_x64(True):
        counts = model.counts
        return float(width * np.min(1 - np.asarray(counts.across) / np.asarray(counts.within)))
