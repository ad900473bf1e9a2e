"""Sizes of the sweeps on images at each scale."""

import dataclasses
from typing import Any

from learnscope.images import Images

GAUSSIAN = "Gaussian"
# Two classes of each set (Figures 17 to 19), and their substitutes in smoke runs.
PAIRS = {"mnist": (0, 1), "cifar10": (0, 1), "svhn": (0, 1)}
DIGITS = {"mnist": (0, 1), "cifar10": (2, 3), "svhn": (4, 5)}
STARTS = (1.0, 0.1, 0.01)  # initial weights, in units of PyTorch's
NAMES = tuple(f"{start:g}" for start in STARTS)
BLOCKS = tuple(f"stage{k}_2.conv2" for k in (1, 2, 3, 4))
EARLY, DEEP_RATE, DEEP_MOMENTUM = 30, 0.1, 0.9  # steps of Table 7; rate of the ResNet
# Weights of standard deviation 0.01, not sqrt(2 / inputs). Convolutions are normalised, so that
# the size of their weights decides only how fast they turn.
SMALL = ", small start"
SLOW, SLOW_RATE = ", slow", 0.003  # for the first steps: filters hardly turn at this rate
SHARES = (0.0, 0.25, 0.5, 0.75)
FOUND = 9  # hidden neurons of the paper's teacher for MNIST
MOMENTUM = 0.95


@dataclasses.dataclass(frozen=True)
class Size:
    """The size of a scale: images, steps, widths."""

    seeds: int
    test: int | None
    pair: int | None  # images of two classes
    pair_steps: int
    filters: int
    deep: int | None  # images for the ResNet of E.4.1, of two classes
    epochs: int
    images: int | None  # MNIST of E.5
    colour: int | None  # CIFAR-10 and SVHN of E.5
    steps: int
    teacher_steps: int
    few: int | None  # images of the curve with a second descent
    few_steps: int
    widths: tuple[int, ...]
    capacities: tuple[int, ...]
    teachers: tuple[int, ...]


SIZES = {
    "smoke": Size(2, 40, 150, 20, 4, 60, 2, 200, 200, 40, 20, 100, 20, (1, 4), (2, 4), (3,)),
    "laptop": Size(
        3, 1000, 3000, 400, 8, 1000, 6, 20_000, 5000, 8000, 2000, 2000, 2000,
        (1, 2, 4, 9, 20, 60, 200), (4, 9, 20), (9, 50),
    ),
    "paper": Size(
        5, None, None, 4000, 128, None, 20, None, None, 60_000, 30_000, None, 60_000,
        (1, 2, 3, 5, 7, 9, 12, 20, 50, 100, 200, 500, 1000, 2000), (3, 5, 7, 9, 12, 20, 50, 100,
        200, 500, 1000), (9, 50, 500),
    ),
}  # fmt: skip


def images(name: str, scale: str, train: int | None, **more: Any) -> Images:
    """A set of images, standardised; the bundled digits in smoke runs."""
    given: dict[str, Any] = {"train": train, "test": SIZES[scale].test, "pixels": "standard"}
    return Images(name="digits" if scale == "smoke" else name, **given | more)
