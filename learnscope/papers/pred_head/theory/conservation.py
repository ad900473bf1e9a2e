r"""Conserved quantities of the flow, and their consequences.

**With a head** (trained off-diagonal or all of it; batch normalisation; with or without
stop-gradient) every neuron keeps

$$\|w_j\|^2 + \frac{3\eta}{\eta_E} \sum_r (E_{jr}^2 - E_{rj}^2):$$

scaling a filter by $s$ scales its output by $s^3$ and so acts like scaling column j of $E$, while
scaling row j of $E$ changes nothing. It does not hold without normalisation. For two neurons
$E_{21}^2 - E_{12}^2 = \frac{\eta_E}{3\eta} (\|w_2(0)\|^2 - \|w_2\|^2)$, hence `head_bound`.

**Without a head** each neuron moves by itself, and since $C_0/C_1$ is the same for all features
$\dot B_{jl} = \kappa_j(t)\, C_{0l} \alpha_l^6 B_{jl}^5$, with the same $\kappa_j$ for all features.
So for any two features, with or without normalisation and stop-gradient,

$$\frac{B_{jk}^{-4}}{p_k \alpha_k^6} - \frac{B_{jl}^{-4}}{p_l \alpha_l^6}$$

is constant ($p_l$: the chance of a feature). With batch normalisation $\kappa_j > 0$: the feature
with the smallest $B_{jl}(0)^{-4} / (p_l \alpha_l^6)$ is learned. For two features
$P(\text{first}) = \frac{2}{\pi} \arctan((p_1 \alpha_1^6 / p_2 \alpha_2^6)^{1/4})$, which is
$(\alpha_1/\alpha_2)^{3/2}$ inside if both are as frequent.
"""

import math

import numpy as np
from jaxtyping import Float

from learnscope.data import StrongWeak


def head_bound(length: float, ratio: float) -> float:
    r"""$\|w_2(0)\| \sqrt{\eta_E / 3\eta}$: the most that $|E_{21}|$ comes to as long as $E_{12}$ is
    negligible; always $E_{21}^2 - E_{12}^2$ is at most its square."""
    return length * math.sqrt(ratio / 3)


def learning_probabilities(model: StrongWeak) -> Float[np.ndarray, " feature"]:
    r"""The chance that a random neuron without a head learns each feature, any scale of weights.

    The feature with the largest $s_l |Z_l|$ wins, $s_l = (p_l \alpha_l^6)^{1/4}$, $Z$ normal:
    $P(l) = \sqrt{2/\pi} \int_0^\infty e^{-z^2/2} \prod_{k \ne l}
    \text{erf}(s_l z / \sqrt 2 s_k)\, dz$, or for two features $\frac{2}{\pi}
    \arctan(s_l/s_k)$.

    >>> import learnscope as ls
    >>> model = ls.data.StrongWeak(100, patches=16, feature_patches=4, strengths=(4, 2), noise=1,
    ...                            batch=2)
    >>> learning_probabilities(model).round(4)
    array([0.7837, 0.2163])
    """
    strengths = np.array([float(s) for s in model.strengths])
    scales = (np.asarray(model.shares, float) * strengths**6) ** 0.25
    if len(scales) == 2:
        first = 2 / math.pi * math.atan(scales[0] / scales[1])
        return np.array([first, 1 - first])
    nodes, weights = np.polynomial.legendre.leggauss(400)
    points, weights = 6 * (nodes + 1), 6 * weights * math.sqrt(2 / math.pi)
    chances = []
    for one in range(len(scales)):
        ratios = scales[one] / np.delete(scales, one)
        below = [[math.erf(ratio * z / math.sqrt(2)) for z in points] for ratio in ratios]
        chances.append(np.sum(weights * np.exp(-(points**2) / 2) * np.prod(below, axis=0)))
    return np.array(chances) / np.sum(chances)
