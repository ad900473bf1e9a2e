"""Population dynamics of non-contrastive learning, in plain NumPy float64.

Written from the definitions of Wen and Li, "The Mechanism of Prediction Head in Non-contrastive
Self-supervised Learning": an independent yardstick for the JAX code. Filters are vectors of R^d
whose first coordinates are the features, everything is summed neuron by neuron, and nothing uses
automatic differentiation or the matrices of the package.

| symbol            | argument                                                          |
| ----------------- | ----------------------------------------------------------------- |
| w_j               | filters (m, d): the first L coordinates are along the features    |
| E                 | head (m, m)                                                       |
| alpha, p          | strengths, shares (L,): of the features, chance of each           |
| P, P_0, sigma     | patches, feature_patches, noise                                   |
"""

import dataclasses
from math import comb

import numpy as np


@dataclasses.dataclass(frozen=True)
class Setting:
    """The data model, for features that do not occur together."""

    strengths: tuple[float, ...]
    shares: tuple[float, ...]
    patches: int
    feature_patches: int
    noise: float

    @property
    def counts(self):
        """E|S cap P||S minus P|, E|S cap P|^2 (S: places of the feature, P: a random half) by
        summing over the hypergeometric law, and the noise patches in a half."""
        total, special, half = self.patches, self.feature_patches, self.patches // 2
        chances = np.array(
            [comb(special, k) * comb(total - special, half - k) for k in range(special + 1)], float
        )
        chances /= chances.sum()
        k = np.arange(special + 1)
        mixed, squared = np.sum(chances * k * (special - k)), np.sum(chances * k**2)
        return mixed, squared, (total - special) / 2


def moment(one, other):
    """E[<one, xi>^3 <other, xi>^3] for xi ~ N(0, I): 9abc + 6c^3 (Isserlis)."""
    a, b, c = one @ one, other @ other, one @ other
    return 9 * a * b * c + 6 * c**3


def moment_slope(one, other):
    """Its derivative by `one`."""
    a, b, c = one @ one, other @ other, one @ other
    return 18 * b * c * one + (9 * a * b + 18 * c**2) * other


def parts(filters, setting):
    """Overlaps (m, L) and noise parts (m, d - L)."""
    features = len(setting.strengths)
    return filters[:, :features], filters[:, features:]


def within(filters, setting):
    """The covariance of outputs for one view."""
    overlaps, rest = parts(filters, setting)
    _, squared, quiet = setting.counts
    size = len(filters)
    found = np.zeros((size, size))
    for j in range(size):
        for r in range(size):
            for k, (strength, share) in enumerate(
                zip(setting.strengths, setting.shares, strict=True)
            ):
                found[j, r] += (
                    share * squared * strength**6 * (overlaps[j, k] * overlaps[r, k]) ** 3
                )
            found[j, r] += quiet * setting.noise**6 * moment(rest[j], rest[r])
    return found


def across(filters, setting):
    """The covariance of outputs for two views."""
    overlaps, _ = parts(filters, setting)
    mixed = setting.counts[0]
    weights = np.array(setting.shares) * mixed * np.array(setting.strengths) ** 6
    return np.einsum("jk,rk,k->jr", overlaps**3, overlaps**3, weights)


def loss(filters, head, setting):
    """sum_j 1 - corr(F_j, G_j): half of E|F - G|^2 with batch normalisation."""
    total = 0.0
    inside, between = within(filters, setting), across(filters, setting)
    for j in range(len(filters)):
        together = sum(head[j, r] * between[r, j] for r in range(len(filters)))
        online = head[j] @ inside @ head[j]
        total += 1 - together / np.sqrt(online * inside[j, j])
    return total


def gradients(filters, head, setting):
    """By filters and head, the target held fixed."""
    overlaps, rest = parts(filters, setting)
    features, size = len(setting.strengths), len(filters)
    mixed, squared, quiet = setting.counts
    power = np.array(setting.shares) * np.array(setting.strengths) ** 6
    inside, between = within(filters, setting), across(filters, setting)
    by_filters, by_head = np.zeros_like(filters), np.zeros_like(head)
    for j in range(size):
        together = head[j] @ between[:, j]
        online = head[j] @ inside @ head[j]
        scale = 1 / np.sqrt(online * inside[j, j])
        back = together * scale / (2 * online)
        for r in range(size):
            by_head[j, r] -= scale * between[r, j] - back * 2 * (head[j] @ inside[:, r])
            for k in range(features):
                slope = 3 * overlaps[r, k] ** 2 * power[k]
                gain = head[j, r] * mixed * overlaps[j, k] ** 3
                cost = 2 * head[j, r] * squared * (head[j] @ overlaps[:, k] ** 3)
                by_filters[r, k] -= slope * (scale * gain - back * cost)
            for s in range(size):
                # Both factors of a pair move when r = s, and either of (r, s), (s, r) otherwise.
                pull = 2 * head[j, r] * head[j, s] * moment_slope(rest[r], rest[s])
                by_filters[r, features:] += back * quiet * setting.noise**6 * pull
    return by_filters, by_head


def descend(filters, head, setting, rate, head_rate, steps):
    """Filters and head after so many steps; of the head only the off-diagonal moves."""
    filters, head = np.array(filters, float), np.array(head, float)
    for _ in range(steps):
        by_filters, by_head = gradients(filters, head, setting)
        np.fill_diagonal(by_head, 0)
        filters, head = filters - rate * by_filters, head - head_rate * by_head
    return filters, head
