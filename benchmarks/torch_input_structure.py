"""The yardstick: the network of Shi, Wei and Liang's Table 1 as a PyTorch script.

Inputs are tensors in R^d, as a script has them; two full-batch steps in slices of 2000 (a whole
batch of activations would not fit a cache), then SGD on batches of 1000 by autograd. One thread.
"""

import time

import torch
from torch import Tensor


def draw(size: int, dictionary: Tensor, relevant: int, generator: torch.Generator):
    """E.1.1 with p_o = 1/2: inputs and labels."""
    patterns = dictionary.shape[0]
    there = torch.rand(size, patterns, generator=generator) < 0.5
    together = torch.rand(size, 1, generator=generator) < 0.5
    both = (torch.rand(size, 1, generator=generator) < 0.5).expand(-1, relevant)
    there[:, :relevant] = torch.where(together, both, there[:, :relevant])
    labels = (there[:, :relevant].sum(1) % 2).float() * 2 - 1
    return ((there.float() - 0.5) / (patterns / 4) ** 0.5) @ dictionary, labels


def output(weights: Tensor, bias: Tensor, second: Tensor, x: Tensor) -> Tensor:
    return torch.clamp(x @ weights.T + bias, 0, 1) @ second


def ramp(z: Tensor, noise: float) -> Tensor:
    u = z / noise
    density = torch.exp(-u * u / 2) / (2 * torch.pi) ** 0.5
    return z * torch.special.ndtr(u) + noise * density


def smoothed(weights: Tensor, bias: Tensor, second: Tensor, x: Tensor, noise: float) -> Tensor:
    z = x @ weights.T + bias
    return (ramp(z, noise) - ramp(z - 1, noise)) @ second


def accuracy(params: list[Tensor], x: Tensor, y: Tensor) -> float:
    with torch.no_grad():
        return (torch.sign(output(*params, x)) == y).float().mean().item()


def run(
    dim: int,
    seed: int,
    steps: int = 600,
    width: int = 300,
    patterns: int = 100,
    relevant: int = 5,
    train: int = 50_000,
    test: int = 5_000,
    batch: int = 1_000,
    every: int = 30,
    rates: tuple[float, float, float] = (2.3e-9, 30.0, 1.0),
) -> dict[str, float]:
    """One training: its CPU seconds and its test accuracy."""
    torch.set_num_threads(1)
    before = time.process_time()
    generator = torch.Generator().manual_seed(seed)
    dictionary = torch.linalg.qr(torch.randn(dim, patterns, generator=generator))[0].T.contiguous()
    x, y = draw(train, dictionary, relevant, generator)
    test_x, test_y = draw(test, dictionary, relevant, generator)
    weights = torch.randn(width, dim, generator=generator) / relevant
    bias = torch.randn(width, generator=generator) / relevant**2
    second = 4 * torch.randn(width, generator=generator)
    params = [weights.repeat(2, 1), bias.repeat(2), torch.cat([second, -second])]
    for p in params:
        p.requires_grad_()
    noise = 1 / relevant**2
    for t in range(steps):
        for p in params:
            p.grad = None
        if t < 2:
            for xs, ys in zip(x.split(2000), y.split(2000), strict=True):
                margin = 1 - ys * smoothed(*params, xs, noise)
                (torch.relu(margin).sum() / train).backward()
        else:
            chosen = torch.randperm(train, generator=generator)[:batch]
            torch.relu(1 - y[chosen] * output(*params, x[chosen])).mean().backward()
        with torch.no_grad():
            rate = rates[min(t, 2)]
            for position, p in enumerate(params):
                assert p.grad is not None
                replaced = (t < 2 and position == 0) or (t == 1 and position == 2)
                p.copy_(-rate * p.grad if replaced else p - rate * p.grad)
        if (t + 1) % every == 0:
            accuracy(params, x[:test], y[:test])
            last = accuracy(params, test_x, test_y)
    return {"seconds": time.process_time() - before, "accuracy": last}  # pyright: ignore
