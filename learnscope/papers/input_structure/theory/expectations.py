"""Exact expectations of a neuron's output and of its derivatives under the law of patterns."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from learnscope.papers.input_structure.theory.characteristic import (
    prefix_products,
    rotations,
    subset_means,
    subset_slopes,
)
from learnscope.papers.input_structure.theory.law import Components, ExactLaw, PerNeuron, Values
from learnscope.papers.input_structure.theory.points import Points, points
from learnscope.papers.input_structure.theory.quadrature import nodes

_HOEFFDING = np.log(2e17)


class Expectations(NamedTuple):
    r"""$E[v \tilde\sigma(z)]$, $E[v \tilde\sigma'(z)]$ and $E[v \phi_j \tilde\sigma'(z)]$ of every
    neuron, $z = \langle \phi, q \rangle + b$, where $v$ is a function of the count."""

    value: PerNeuron
    slope: PerNeuron
    patterns: Components


def expectations(
    law: ExactLaw, components: Components,
    bias: PerNeuron, noise: float, values: Values, refine: int = 1,
) -> Expectations:  # fmt: skip
    r"""By the quadrature of `quadrature`; `refine` times as many nodes are for checking it.

    | symbol | argument |
    |---|---|
    | $q$ | `components` along the patterns, relevant ones first |
    | $b$ | `bias` |
    | $\sigma_\xi$ | `noise` in the neurons |
    | $v$ | `values`, one per count |
    """
    turn = components / law.scale
    centre = bias - turn @ law.mean
    rule = nodes(*_range(law, turn, centre), noise, refine)
    totals = Expectations(
        np.full(len(bias), rule.cut / 2 * (law.counts @ values)),
        np.zeros(len(bias)),
        np.zeros(turn.shape),
    )
    for some in points(law, turn, rule):
        part = _sums(law, turn, centre - rule.cut / 2, values, some)
        for total, more in zip(totals, part, strict=True):
            total[some.neuron[some.first]] += more
    return totals


def _range(law: ExactLaw, turn: Components, centre: PerNeuron) -> tuple[float, float]:
    r"""What no z passes, but with probability $10^{-17}$.

    Relevant patterns are taken at their worst, background ones as far as they can go or as
    Hoeffding's inequality lets them, which decides for large D:
    $\Pr[|S - ES| \ge x] \le 2 \exp(-2 x^2 / \sum_l \theta_l^2)$.
    """
    k, likely = law.relevant, turn[:, law.relevant :] @ law.background.T
    x = np.sqrt(_HOEFFDING / 2 * (turn[:, k:] ** 2).sum(1))
    low = np.maximum(np.minimum(turn[:, k:], 0).sum(1), likely.min(1) - x)
    high = np.minimum(np.maximum(turn[:, k:], 0).sum(1), likely.max(1) + x)
    low, high = low + np.minimum(turn[:, :k], 0).sum(1), high + np.maximum(turn[:, :k], 0).sum(1)
    return float((centre + low).min(initial=0.0)), float((centre + high).max(initial=0.0))


def _sums(
    law: ExactLaw, turn: Components, centre: PerNeuron, values: Values, some: Points
) -> Expectations:
    """The contribution of some points to the expectations of their neurons."""
    k, mean, weighted = law.relevant, law.mean, law.chances * values
    u = rotations(turn[some.neuron].T * some.at)
    phase = np.exp(1j * centre[some.neuron] * some.at)
    means = subset_means(u[:k])
    prefixes = [prefix_products(u[k:], chance) for chance in law.background]
    # By group: the factors of E[v e^{itz}] from relevant patterns and from all others.
    relevant = weighted.sum(1)[:, None] + np.tensordot(weighted, means[k], 1)
    others = np.stack([products[-1] for products in prefixes]) * phase
    whole = (relevant * others).sum(0)
    present = subset_slopes(u[:k], means, np.tensordot(weighted.T, others, 1))
    patterns = np.zeros((len(some.first), law.patterns))
    patterns[:, :k] = some.add_up(np.real(present - mean[:k, None] * whole) * some.slope).T
    for chance, products, part in zip(law.background, prefixes, relevant, strict=True):
        patterns[:, k:] += _background(u[k:], chance, mean[k:], products, phase * part, some)
    return Expectations(
        some.add_up(np.imag(whole) * some.value),
        some.add_up(np.real(whole) * some.slope),
        patterns / law.scale,
    )


def _background(
    u: Complex[np.ndarray, "rest point"], chance: Float[np.ndarray, " rest"],
    mean: Float[np.ndarray, " rest"], prefix: Complex[np.ndarray, "rest+1 point"],
    rest: Complex[np.ndarray, " point"], some: Points,
) -> Float[np.ndarray, "some rest"]:  # fmt: skip
    r"""A group's part of $E[v (\tilde\phi_j - E \tilde\phi_j) \tilde\sigma'(z)]$, $j \notin A$.

    Pattern j's own factor is $E[(\tilde\phi_j - \mu_j) c_j^{\tilde\phi_j}] = (p_j - \mu_j) +
    p_j (1 - \mu_j) u_j$; the others' come from the left and from the right.
    """
    sums, right = np.empty((len(some.first), len(chance))), rest * some.slope
    for j in range(len(chance) - 1, -1, -1):
        own = (chance[j] - mean[j]) + chance[j] * (1 - mean[j]) * u[j]
        sums[:, j] = some.add_up(np.real(own * prefix[j] * right))
        right = right * (1 + chance[j] * u[j])
    return sums
