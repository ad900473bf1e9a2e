"""The sweeps on images: figures 1, 5, 6 (computed in seconds) and 7 (trained).

Figure 7 trains LeNet on MNIST and ResNet-18 on CIFAR-10 after removing images of high or low
influence scores. The paper does not say with what optimiser, for how long, over how many seeds, or
whether images are ranked within their class or all together. Here every class loses the same share
(scores of different classes do not compare), and on MNIST one more sweep ranks all together;
all arms train for as many steps, whatever they have left, with Adam from He et al.'s weights.
"""

import dataclasses
from typing import Any

from learnscope.evidence import Arm, FunctionSweep, Scale, Sweep
from learnscope.images import Images, Pruned
from learnscope.lab import Experiment, Record, zipped
from learnscope.nets import AbstractNet, LeNet5, ResNet
from learnscope.papers.benign import real_images as images
from learnscope.probes import Loss, TestAccuracy
from learnscope.rules import GradientDescent

WHOLE, RANDOM = "all images", "random"
ORDERS = ("high", "low", RANDOM)


@dataclasses.dataclass(frozen=True)
class Size:
    """The sizes of figure 7: images before any are removed, the net, and the shares removed."""

    name: str
    train: int | None
    test: int | None
    net: AbstractNet
    steps: int
    shares: tuple[float, ...]
    rate: float = 0.001
    seeds: int = 5
    batch: int = 64


_SMOKE = Size("digits", 200, 50, LeNet5(), 4, (0.5,), seeds=2, batch=16)
SIZES = Scale(
    mnist=(_SMOKE, Size("mnist", None, None, LeNet5(), 1500, (0.5,)),
           Size("mnist", None, None, LeNet5(), 20_000, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6))),
    cifar=(_SMOKE, Size("cifar10", 20_000, None, ResNet(filters=8), 3200, (0.5,), rate=0.003),
           Size("cifar10", None, None, ResNet(filters=64), 80_000, (0.1, 0.2, 0.3, 0.4, 0.5),
                batch=128)),
    grey=("digits", "mnist", "mnist"), colour=("digits", "cifar10", "cifar10"), seeds=(2, 10, 10),
    mapped=(150, 600, 2000), steps=(60, 400, 1000), scored=(300, 2000, 10_000),
    classes=(600, 10_000, None),
)  # fmt: skip


def experiment(size: Size, by: str, apart: bool = True) -> Experiment:
    """Training on the images that remain."""
    data = Images(name=size.name, train=size.train, test=size.test, batch=size.batch)
    return Experiment(
        data=Pruned(data=data, by=by, apart=apart), net=size.net,
        rule=GradientDescent(rate=size.rate, optimiser="adam"), steps=size.steps,
        probes=(Loss(), TestAccuracy()), record=Record(every=size.steps // 4),
    )  # fmt: skip


def _pruned(size: Size, apart: bool = True) -> Sweep:
    """One arm per order, and one that removes nothing."""
    shares = zipped({"data.removed": list(size.shares)})
    arms = [Arm(WHOLE, experiment(size, RANDOM), (zipped({"data.removed": [0.0]}),))]
    arms += [
        Arm(by, experiment(size, by, apart), (shares,)) for by in ORDERS if apart or by != RANDOM
    ]
    return Sweep(tuple(arms), size.seeds, dim="by")


def real_sweeps(scale: str) -> dict[str, Sweep | FunctionSweep]:
    """The sweeps for the figures on images; smoke uses the bundled digits for both sets."""
    size = SIZES[scale]

    def of(function: Any, name: str, train: int | None, **more: int) -> FunctionSweep:
        return FunctionSweep(function, {"name": name, "train": train, "seeds": size.seeds} | more)

    return {
        "map": of(images.tsne_map, size.grey, size.mapped, steps=size.steps),
        "scores_mnist": of(images.scored, size.grey, size.scored),
        "scores_cifar": of(images.scored, size.colour, size.scored),
        "classes": of(images.class_noise, size.grey, size.classes),
        "pruned_mnist": _pruned(size.mnist),
        "pruned_together": _pruned(size.mnist, apart=False),
        "pruned_cifar": _pruned(size.cifar),
    }
