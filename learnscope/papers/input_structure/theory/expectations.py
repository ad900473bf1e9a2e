r"""Exact expectations of a neuron's output and of its derivatives under the law of patterns.

$\tilde\sigma(z) = E \min(1, \max(z + \xi, 0))$, $\xi \sim N(0, s^2)$, has the derivative
$\tilde\sigma'(z) = \Phi(z/s) - \Phi((z - 1)/s)$. Where no z comes near 1, truncation may as well be
at a smaller $c$. By Fourier inversion, with $\psi(t) = E[v e^{it(z - c/2)}]$ for any real $v$,

$$E[v \tilde\sigma'(z)] = \frac{1}{\pi} \int_0^\infty \kappa(t) \,\mathrm{Re}\,\psi(t)\,dt, \quad
E[v \tilde\sigma(z)] = \frac{c E[v]}{2} + \frac1\pi \int_0^\infty \frac{\kappa(t)}{t}
\,\mathrm{Im}\,\psi(t)\,dt, \quad \kappa(t) = e^{-s^2 t^2/2} \frac{\sin(ct/2)}{t/2}.$$

For $z = \sum_l \theta_l \tilde\phi_l$ and $c_l = e^{it\theta_l} = 1 + u_l$, background patterns are
independent given the group, and give $\psi$ the factor $\prod_{l \notin A} (1 + p_l u_l)$. Given
the count $r$ of relevant patterns, all subsets of $A$ of that size are equally likely: the other
factor is the mean $E_r$ of $\prod_{l \in S} c_l$ over them. No factor is ever divided by, since
$1 + p_l u_l$ may vanish.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from learnscope.papers.input_structure.theory.law import Components, ExactLaw, PerNeuron, Values

_TAIL = 8.5  # standard deviations that are integrated over: the rest is below rounding
_HOEFFDING = np.log(2e17)


class Expectations(NamedTuple):
    r"""$E[v \tilde\sigma(z)]$, $E[v \tilde\sigma'(z)]$ and $E[v \phi_j \tilde\sigma'(z)]$ of every
    neuron, $z = \langle \phi, q \rangle + b$, where $v$ is a function of the count."""

    value: PerNeuron
    slope: PerNeuron
    patterns: Components


def expectations(
    law: ExactLaw, components: Components, bias: PerNeuron, noise: float, values: Values,
    refine: int = 1,
) -> Expectations:  # fmt: skip
    r"""By the midpoint rule; `refine` times as many nodes are for checking it.

    | symbol | argument |
    |---|---|
    | $q$ | `components` along the patterns, relevant ones first |
    | $b$ | `bias` |
    | $\sigma_\xi$ | `noise` in the neurons |
    | $v$ | `values`, one per count |
    """
    turns = components / law.scale
    centres = bias - turns @ law.mean
    found = Expectations(np.zeros(len(bias)), np.zeros(len(bias)), np.zeros(turns.shape))
    if not len(bias):
        return found
    at, weight, cut = _nodes(*_range(law, turns, centres), noise, refine)
    for i, (turn, centre) in enumerate(zip(turns, centres, strict=True)):
        whole, patterns = _transforms(law, turn, centre - cut / 2, values, at)
        found.value[i] = cut / 2 * (law.counts @ values) + np.imag(whole) @ (weight / at)
        found.slope[i] = np.real(whole) @ weight
        found.patterns[i] = np.real(patterns) @ weight / law.scale
    return found


def _nodes(
    low: float, high: float, noise: float, refine: int
) -> tuple[Float[np.ndarray, " node"], Float[np.ndarray, " node"], float]:
    r"""Nodes, their weights and the cut-off c, for all z from `low` to `high`.

    By Poisson summation, the nodes $(n + 1/2) h$ add images of the function, no more than
    $\sum_{m \ne 0} (-1)^m f(z + 2 \pi m / h)$. With
    $2\pi/h = \max |z - c/2| + c/2 + \tau s$ the error is of the order of $\Phi(-\tau)$, and what
    nodes beyond $t = \tau / s$ would add is below $e^{-\tau^2/2}$: $2 \cdot 10^{-16}$.
    """
    cut = min(1.0, max(high + _TAIL * noise, noise))
    reach = max(cut / 2 - low, high - cut / 2)
    step = 2 * np.pi / (reach + cut / 2 + _TAIL * noise) / refine
    at = (np.arange(int(np.ceil(_TAIL / (noise * step)))) + 0.5) * step
    decay = np.exp(-0.5 * (noise * at) ** 2)
    return at, step * cut / np.pi * decay * np.sinc(cut * at / (2 * np.pi)), cut


def _range(law: ExactLaw, turn: Components, centre: PerNeuron) -> tuple[float, float]:
    r"""What no z passes, but with probability $10^{-17}$.

    Relevant patterns are taken at their worst, background ones as far as they can go or as
    Hoeffding's inequality lets them, which decides for large D:
    $\Pr[|S - ES| \ge x] \le 2 \exp(-2 x^2 / \sum_l \theta_l^2)$.
    """
    k = law.relevant
    likely, x = turn[:, k:] @ law.background.T, np.sqrt(_HOEFFDING / 2 * (turn[:, k:] ** 2).sum(1))
    low = np.maximum(np.minimum(turn[:, k:], 0).sum(1), likely.min(1) - x)
    high = np.minimum(np.maximum(turn[:, k:], 0).sum(1), likely.max(1) + x)
    low, high = low + np.minimum(turn[:, :k], 0).sum(1), high + np.maximum(turn[:, :k], 0).sum(1)
    return float((centre + low).min(initial=0.0)), float((centre + high).max(initial=0.0))


def _transforms(
    law: ExactLaw, turn: Float[np.ndarray, " pattern"], centre: float, values: Values,
    at: Float[np.ndarray, " node"],
) -> tuple[Complex[np.ndarray, " node"], Complex[np.ndarray, "pattern node"]]:  # fmt: skip
    r"""$E[v e^{itz}]$ of a neuron, and $E[v (\tilde\phi_j - E \tilde\phi_j) e^{itz}]$."""
    k, mean, weighted = law.relevant, law.mean[:, None], law.chances * values
    half = turn[:, None] * at / 2
    u = 2j * np.sin(half) * np.exp(1j * half)  # e^{2ih} - 1, to full relative accuracy
    phase, means = np.exp(1j * centre * at), _subset_means(u[:k])
    relevant = weighted.sum(1)[:, None] + np.tensordot(weighted, means[k], 1)
    others = np.empty_like(relevant)
    patterns = np.zeros_like(u)
    for group, chances in enumerate(law.background):
        chance, first = chances[:, None], np.ones((1, len(at)), complex)
        factor = 1 + chance * u[k:]
        left = np.cumprod(np.concatenate([first, factor]), 0)
        right = np.cumprod(np.concatenate([first, factor[::-1]]), 0)[::-1]
        own = chance - mean[k:] + chance * (1 - mean[k:]) * u[k:]
        patterns[k:] += own * left[:-1] * right[1:] * (phase * relevant[group])
        others[group] = left[-1] * phase
    whole = (relevant * others).sum(0)
    present = _subset_slopes(u[:k], means, np.tensordot(weighted.T, others, 1))
    patterns[:k] = present - mean[:k] * whole
    return whole, patterns


def _subset_means(u: Complex[np.ndarray, "k node"]) -> Complex[np.ndarray, "k+1 k+1 node"]:
    r"""$E_r - 1$ of the first n patterns, at [n, r]; 0 for $r > n$.

    The n-th pattern is in a random subset of size r of the first n with probability r/n:
    $E_r^{(n)} = \frac{n-r}{n} E_r^{(n-1)} + \frac rn (1 + u_n) E_{r-1}^{(n-1)}$. All terms are at
    most 1, so that nothing is lost by rounding for any k; and 1 is taken away, so that nothing is
    lost either where all $u$ are as small as after a first step, $10^{-9}$.
    """
    k = len(u)
    means = np.zeros((k + 1, k + 1, *u.shape[1:]), complex)
    for n in range(1, k + 1):
        share, below = np.arange(1, n + 1)[:, None] / n, means[n - 1, :n]
        means[n, 1 : n + 1] = share * (below + u[n - 1] * (1 + below))
        means[n, 1 : n + 1] += (1 - share) * means[n - 1, 1 : n + 1]
    return means


def _subset_slopes(
    u: Complex[np.ndarray, "k node"], means: Complex[np.ndarray, "k+1 k+1 node"],
    weights: Complex[np.ndarray, "k+1 node"],
) -> Complex[np.ndarray, "k node"]:  # fmt: skip
    r"""$c_j \,\partial / \partial c_j \sum_r w_r E_r$ for every relevant j: the part of the sum in
    which j is in the subset.

    The recursion of `_subset_means` run backwards, with $\lambda^{(k)} = w$:
    $\lambda_r^{(n-1)} = \frac{n-r}{n} \lambda_r^{(n)} + \frac{r+1}{n} c_n \lambda_{r+1}^{(n)}$,
    whose sum of moduli does not grow. All k derivatives cost as much as the sum itself.
    """
    slopes, back = np.zeros_like(u), weights
    for n in range(len(u), 0, -1):
        share, turn = np.arange(1, n + 1)[:, None] / n, 1 + u[n - 1]
        slopes[n - 1] = turn * (share * (1 + means[n - 1, :n]) * back[1:]).sum(0)
        back = (1 - share + 1 / n) * back[:-1] + share * turn * back[1:]
    return slopes
