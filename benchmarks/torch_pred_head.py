"""The yardstick: Algorithm 1 of Wen and Li as a PyTorch script.

Patches are tensors in R^d, as a script has them; masks from sorted random numbers, autograd, plain
gradient steps. One thread.
"""

import time

import torch
from torch import Tensor


def views(
    size: int, dim: int, patches: int, carried: int, strengths: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """A batch and its two halves (equation 3.2)."""
    x = torch.randn(size, patches, dim, generator=generator)
    x[..., :2] = 0
    which = torch.randint(2, (size,), generator=generator)
    signs = 2.0 * torch.randint(2, (size,), generator=generator) - 1
    feature = torch.zeros(size, dim)
    feature[torch.arange(size), which] = signs * strengths[which]
    x[:, :carried] = feature[:, None]
    order = torch.rand(size, patches, generator=generator).argsort(1)
    first = (order < patches // 2).float()[..., None]
    return x * first, x * (1 - first)


def normalised(z: Tensor) -> Tensor:
    z = z - z.mean(0)
    return z / (z**2).mean(0).sqrt()


def run(
    dim: int,
    seed: int,
    steps: int,
    batch: int = 1024,
    patches: int = 16,
    carried: int = 4,
    rate: float = 0.05,
) -> dict[str, float]:
    """Steps of a training with an identity-initialised head: CPU seconds a step."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    strengths = torch.tensor([3.0, 2.0])
    weights = (torch.randn(2, dim, generator=generator) / dim**0.5).requires_grad_()
    head = torch.eye(2, requires_grad=True)
    before = time.process_time()
    for _ in range(steps):
        one, other = views(batch, dim, patches, carried, strengths, generator)
        online = normalised(((one @ weights.T) ** 3).sum(1) @ head.T)
        with torch.no_grad():
            target = normalised(((other @ weights.T) ** 3).sum(1))
        loss = 0.5 * ((online - target) ** 2).sum(1).mean()
        slope, head_slope = torch.autograd.grad(loss, (weights, head))
        with torch.no_grad():
            weights -= rate * slope
            head -= rate * head_slope * (1 - torch.eye(2))
    return {"seconds": (time.process_time() - before) / steps}
