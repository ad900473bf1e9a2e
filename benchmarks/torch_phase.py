"""The yardstick of phase_diagram.py: a cell of the diagram in PyTorch, as one would write it well.

The data of all seeds of a cell comes from one call each, the network is one matrix product per
step, gradients are autograd's, and one thread is used: more are slower at this size.
"""

import torch
from torch.nn.functional import softplus

TRAIN, TEST, WIDTH, FLIP, NOISE = 20, 1000, 10, 0.1, 1.0


def run_cell(
    signal: float, dim: int, seeds: int, steps: int, rate: float, scale: float, start_at: int = 0
) -> list[float]:
    """The test errors of a cell, one per seed."""
    torch.set_num_threads(1)
    source = torch.Generator().manual_seed(start_at)
    count = TRAIN + TEST
    sign = torch.randint(0, 2, (seeds, count), generator=source) * 2.0 - 1.0
    label = torch.where(torch.rand(seeds, count, generator=source) < FLIP, -sign, sign)
    noise = NOISE * torch.randn(seeds, count, dim, generator=source)
    noise[:, :, 0] = 0.0  # the signal's direction
    start = scale * torch.randn(seeds, 2 * WIDTH, dim, generator=source)
    outer = torch.cat([torch.full((WIDTH,), 1 / WIDTH), torch.full((WIDTH,), -1 / WIDTH)])

    def output(weights, noise, carried):
        seen = torch.relu(noise @ weights.T) + torch.relu(torch.outer(carried, weights[:, 0]))
        return seen @ outer

    errors = []
    for seed in range(seeds):
        weights = start[seed].requires_grad_()
        x, y, carried = noise[seed, :TRAIN], label[seed, :TRAIN], signal * sign[seed, :TRAIN]
        for _ in range(steps):
            loss = softplus(-y * output(weights, x, carried)).mean()
            (gradient,) = torch.autograd.grad(loss, weights)
            with torch.no_grad():
                weights = (weights - rate * gradient).requires_grad_()
        with torch.no_grad():
            found = output(weights, noise[seed, TRAIN:], signal * sign[seed, TRAIN:])
            errors.append((found * label[seed, TRAIN:] <= 0).float().mean().item())
    return errors
