"""The yardstick of benign_figure.py: a training of Figure 3's network in PyTorch, plainly written.

Noise is zeta @ A_k with one dense matrix per class, as the paper defines it; where d x d no longer
fits (d = 10^5), by the formula for a spike and a flat bulk. Both patches meet all filters,
gradients are autograd's, one thread.
"""

import math

import torch
from torch.nn.functional import cross_entropy

CLASSES, WIDTH, PER_CLASS, TEST, BULK = 5, 100, 100, 1000, 0.5
DENSE = 5000  # above this, no d x d matrices


def spike(ratio: float, dim: int) -> float:
    rest = dim - CLASSES
    return BULK * math.sqrt(ratio + math.sqrt((ratio - 1) * (ratio + rest - 1)))


def matrices(ratio: float, dim: int, frame: torch.Tensor) -> list[torch.Tensor]:
    """A_1, ..., A_K: the same for all seeds of a cell."""
    features, spikes = frame[:, :CLASSES], frame[:, CLASSES:]
    flat = torch.eye(dim) - features @ features.T
    strength = spike(ratio, dim)
    return [
        BULK * flat + (strength - BULK) * torch.outer(spikes[:, k], spikes[:, k])
        for k in range(CLASSES)
    ]


def frame_of(dim: int, source: torch.Generator) -> torch.Tensor:
    return torch.linalg.qr(torch.randn(dim, 2 * CLASSES, generator=source))[0]


def patches(labels, signal, ratio, dim, frame, dense, source):
    """Examples, n x 2 x d."""
    zeta = torch.randn(len(labels), dim, generator=source)
    features, spikes = frame[:, :CLASSES], frame[:, CLASSES:]
    if dense is not None:
        noise = torch.empty_like(zeta)
        for k in range(CLASSES):
            noise[labels == k] = zeta[labels == k] @ dense[k]
    else:
        own = spikes.T[labels]
        along = (zeta * own).sum(1, keepdim=True)
        flat = zeta - (zeta @ features) @ features.T
        noise = BULK * flat + (spike(ratio, dim) - BULK) * along * own
    return torch.stack([signal * features.T[labels], noise], dim=1)


def run(
    signal: float,
    ratio: float,
    dim: int,
    seed: int,
    steps: int,
    rate: float,
    dense=None,
    frame=None,
) -> float:
    """The test accuracy after so many steps."""
    torch.set_num_threads(1)
    source = torch.Generator().manual_seed(seed)
    frame = frame_of(dim, source) if frame is None else frame
    labels = torch.arange(CLASSES).repeat_interleave(PER_CLASS)
    x = patches(labels, signal, ratio, dim, frame, dense, source)
    bound = 1 / math.sqrt(dim)  # PyTorch's default
    weights = (torch.rand(CLASSES * WIDTH, dim, generator=source) * 2 - 1) * bound
    weights.requires_grad_()

    def outputs(x):
        seen = torch.relu(x @ weights.T).sum(1)
        return seen.view(len(x), CLASSES, WIDTH).mean(2)

    for _ in range(steps):
        loss = cross_entropy(outputs(x), labels)
        (gradient,) = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            weights -= rate * gradient
    with torch.no_grad():
        test_labels = torch.randint(0, CLASSES, (TEST,), generator=source)
        test = patches(test_labels, signal, ratio, dim, frame, dense, source)
        return (outputs(test).argmax(1) == test_labels).float().mean().item()
