r"""Expectations of the smoothed activation from a characteristic function.

$\tilde\sigma(z) = E \min(1, \max(z + \xi, 0))$, $\xi \sim N(0, s^2)$, has the derivative
$\tilde\sigma'(z) = \Phi(z/s) - \Phi((z - 1)/s)$. Where no z comes near 1, truncation may as well be
at a smaller $c$. By Fourier inversion, with $\psi(t) = E[v e^{it(z - c/2)}]$ for any real $v$,

$$E[v \tilde\sigma'(z)] = \frac{1}{\pi} \int_0^\infty \kappa(t) \,\mathrm{Re}\,\psi(t)\,dt, \quad
E[v \tilde\sigma(z)] = \frac{c E[v]}{2} + \frac1\pi \int_0^\infty \frac{\kappa(t)}{t}
\,\mathrm{Im}\,\psi(t)\,dt, \quad \kappa(t) = e^{-s^2 t^2/2} \frac{\sin(ct/2)}{t/2}.$$

The midpoint rule with nodes $(n + 1/2) h$ adds, by Poisson summation, no more than images of the
function with alternating signs, $\sum_{m \ne 0} (-1)^m f(z + 2 \pi m / h)$. The derivative is below
$\Phi(-\tau)$ farther than $c/2 + \tau s$ from $c/2$, and $\tilde\sigma - c/2$ as near to $\pm c/2$,
of which the images at $m$ and $-m$ cancel. So with
$2\pi/h = \max |z - c/2| + c/2 + \tau s$ the error is of that order, and so is what nodes beyond
$t = \tau / s$ would add, below $e^{-\tau^2/2}$. With $\tau = 8.5$ these are $10^{-17}$ and
$2 \cdot 10^{-16}$: rounding is larger.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

_TAIL = 8.5  # tau


class Nodes(NamedTuple):
    """Nodes, weights for Re psi (`slope`) and Im psi (`value`), and the cut-off c."""

    at: Float[np.ndarray, " node"]
    slope: Float[np.ndarray, " node"]
    value: Float[np.ndarray, " node"]
    cut: float


def nodes(low: float, high: float, noise: float, refine: int = 1) -> Nodes:
    """For all z from `low` to `high`; `refine` divides the distance of nodes.

    >>> [len(nodes(-high, high, noise=0.04).at) for high in (2.0, 1e-9)]
    [113, 23]
    """
    cut = min(1.0, max(high + _TAIL * noise, noise))
    reach = max(cut / 2 - low, high - cut / 2)
    step = 2 * np.pi / (reach + cut / 2 + _TAIL * noise) / refine
    at = (np.arange(int(np.ceil(_TAIL / (noise * step)))) + 0.5) * step
    slope = step * cut / np.pi * np.exp(-0.5 * (noise * at) ** 2) * np.sinc(cut * at / (2 * np.pi))
    return Nodes(at, slope, slope / at, cut)
