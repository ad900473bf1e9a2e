"""Kou et al.'s published losses are those of outputs summed over patches, not of their code's mean.

Plain NumPy: PyTorch's initial weights and biases, cross-entropy of two classes, 100 steps.
"""

import numpy as np
import pytest

from learnscope.papers.kou.experiments import published

N, WIDTH, STEPS, RATE = 20, 10, 100, 0.1


def final_loss(signal, dim, share, rng):
    """The training loss of one network; a patch counts as much as `share`."""
    y = rng.choice([-1, 1], N)
    patches = rng.normal(size=(2, N, dim))
    patches[0] = 0
    patches[0, :, 0] = signal * y
    flipped = y * rng.choice([-1, 1], N, p=[0.1, 0.9])
    signs = np.repeat([1, -1], WIDTH)
    weights, bias = (rng.uniform(-1, 1, size) / dim**0.5 for size in ((2 * WIDTH, dim), 2 * WIDTH))
    for step in range(STEPS + 1):
        seen = patches @ weights.T + bias
        margins = flipped * share * (signs * np.maximum(seen, 0)).sum((0, 2))
        if step < STEPS:
            slopes = -flipped / (1 + np.exp(margins)) / N
            pulls = share * signs * slopes[:, None] * (seen > 0)
            weights -= RATE * np.einsum("pnf,pnd->fd", pulls, patches)
            bias -= RATE * pulls.sum((0, 1))
    return np.logaddexp(0, -margins).mean()


@pytest.mark.parametrize("dim", [100, 430])
def test_published_losses_are_those_of_summed_outputs(dim):
    """Means over four signals; both spreads are below a tenth of the mean (160 and 40 draws)."""
    rng, signals = np.random.default_rng(0), [0.5, 1.0, 1.5, 2.0]
    theirs = float(published("losses").sel(dim=dim, signal=signals).mean())
    summed, averaged = (
        np.mean([final_loss(signal, dim, share, rng) for signal in signals for _ in range(40)])
        for share in (1.0, 0.5)
    )
    assert abs(summed / theirs - 1) < 0.25
    assert averaged / theirs > 3
