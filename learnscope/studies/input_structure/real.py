"""The sweeps on images: sections E.4 (features that emerge) and E.5 (the effect of inputs).

What the paper leaves open, and what is taken here. E.4: rates and the size of initial weights:
PyTorch's (for ResNet, He's) and smaller ones, since that decides whether learnt directions outweigh
initial ones. E.5: the optimiser (Adam, rate 0.001),
the weight of the regulariser (0.5, and lambda = 0.5), the moments of Gaussian inputs (those of the
images' pixels), the size of a mixture (that of the set of images, of which a share is replaced).
`laptop` takes small subsets and, on CIFAR-10 and SVHN, FC(m) in place of ResNet(m) in E.5; Tiny
ImageNet, which `paper` mixes in, is replaced by sets at hand.
"""

import dataclasses
from typing import Any

from learnscope.data import Images, TeacherMixture
from learnscope.lab import Experiment, Record, zipped
from learnscope.nets import AbstractNet, FullyConnected, ResNet, TwoLayer
from learnscope.probes import (
    FilterCosines,
    Filters,
    PartAccuracy,
    TestAccuracy,
    TestLoss,
    TrainAccuracy,
)
from learnscope.rules import GradientDescent
from learnscope.studies.study import Arm, Sweep

GAUSSIAN = "Gaussian"
# Sets with two classes each (Figures 17 to 19), and what stands for them in smoke runs.
PAIRS = {"mnist": (0, 1), "cifar10": (0, 1), "svhn": (0, 1)}
DIGITS = {"mnist": (0, 1), "cifar10": (2, 3), "svhn": (4, 5)}
STARTS = (1.0, 0.1, 0.01)  # first weights, in units of PyTorch's
NAMES = tuple(f"{start:g}" for start in STARTS)
BLOCKS = tuple(f"stage{k}_2.conv2" for k in (1, 2, 3, 4))
EARLY, DEEP_RATE, DEEP_MOMENTUM = 30, 0.1, 0.9  # steps of Table 7; rate of the ResNet
# Weights of standard deviation 0.01, not sqrt(2 / inputs): what follows a convolution is normalised
# so that the size of its weights decides only how fast they turn.
SMALL = ", small start"
SHARES = (0.0, 0.25, 0.5, 0.75)
FOUND = 9  # hidden neurons of the teacher that the paper finds for MNIST
MOMENTUM = 0.95


@dataclasses.dataclass(frozen=True)
class Size:
    """What a scale takes: images, steps, widths."""

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
        (1, 2, 3, 4, 6, 9, 14, 20, 35, 60, 100, 200), (3, 6, 9, 15, 30), (9, 50),
    ),
    "paper": Size(
        5, None, None, 4000, 128, None, 20, None, None, 60_000, 30_000, None, 60_000,
        (1, 2, 3, 5, 7, 9, 12, 20, 50, 100, 200, 500, 1000, 2000), (3, 5, 7, 9, 12, 20, 50, 100,
        200, 500, 1000), (9, 50, 500),
    ),
}  # fmt: skip


def _images(name: str, scale: str, train: int | None, **more: Any) -> Images:
    """A set of images, standardised; the bundled digits in smoke runs."""
    given: dict[str, Any] = {"train": train, "test": SIZES[scale].test, "pixels": "standard"}
    return Images("digits" if scale == "smoke" else name, **given | more)


def weights(name: str, scale: str) -> Sweep:
    """Figures 17 to 19: 50 neurons on two classes, from three sizes of initial weights."""
    size = SIZES[scale]
    classes = DIGITS[name] if scale == "smoke" else PAIRS[name]
    data = _images(name, scale, size.pair, classes=classes, batch=64)
    if name == "svhn" and scale == "laptop":
        data = data.replace("train", 1000).replace("test", 300)  # there are few 0s and 1s at hand
    pixels = {"mnist": 784, "cifar10": 3072, "svhn": 3072}[name] if scale != "smoke" else 64
    usual = (3 * pixels) ** -0.5
    experiment = Experiment(
        data=data,
        net=TwoLayer(
            width=50, activation="relu", scale=usual, second_scale=150**-0.5, symmetric=False
        ),
        rule=GradientDescent(rate=0.01, options={"momentum": MOMENTUM}),
        steps=size.pair_steps,
        probes=(FilterCosines(), TestAccuracy()),
        record=Record(every=max(1, size.pair_steps // 20)),
    )
    axis = zipped({"net.scale": [usual * start for start in STARTS]}, name="start")
    arm = Arm(name, experiment, (axis,), {"start": NAMES})
    # In as many dimensions as images, coordinates of their span would cost more than they save.
    return Sweep((arm,), size.seeds, dim="images", coordinates="ambient")


def resnet(scale: str, early: bool = False) -> Sweep:
    """E.4.1: the filters of ResNet(m) on two classes of CIFAR-10; or its first steps alone."""
    size = SIZES[scale]
    batch = 30 if scale == "smoke" else 50
    classes = PAIRS["cifar10"]
    data = _images("cifar10", scale, size.deep, classes=classes, batch=batch)
    if scale == "laptop":
        data = data.replace("test", 500)
    images = size.deep or 10_000
    epoch = images // batch
    net = ResNet(filters=size.filters, classes=2)
    probes = (Filters(BLOCKS[-1]),) if early else (FilterCosines(BLOCKS), TestAccuracy())
    experiment = Experiment(
        data=data,
        net=net,
        rule=GradientDescent(rate=DEEP_RATE, options={"momentum": DEEP_MOMENTUM}),
        steps=EARLY if early else size.epochs * epoch,
        probes=probes,
        record=Record(every=1 if early else epoch),
    )
    arms = []
    for filters in (size.filters, 256) if scale == "paper" else (size.filters,):
        one = experiment.replace("net.filters", filters)
        arms.append(Arm(f"ResNet({filters})", one))
        arms.append(Arm(f"ResNet({filters}){SMALL}", one.replace("net.scale", 0.01)))
    return Sweep(tuple(arms), size.seeds, dim="net")


def student(
    data: Images, scale: str, teacher: AbstractNet, net: AbstractNet, other: Images | None = None,
    share: float = 0.5, steps: int | None = None,
) -> Experiment:  # fmt: skip
    """A student on a mixture that a teacher has labelled."""
    size = SIZES[scale]
    steps = size.steps if steps is None else steps
    return Experiment(
        data=TeacherMixture(
            data, teacher, other, share=share, teacher_steps=size.teacher_steps,
            teacher_batch=data.batch or 100,
        ),
        net=net,
        rule=GradientDescent(rate=0.001, optimiser="adam"),
        steps=steps,
        probes=(PartAccuracy(), TrainAccuracy(examples=2000)),
        record=Record(every=max(1, steps // 20)),
    )  # fmt: skip


def _shares(shares: tuple[float, ...]) -> tuple[Any, ...]:
    return (zipped({"data.share": list(shares)}),)


def _mixtures(scale: str) -> dict[str, Sweep]:
    """Figures 4 and 22 to 25."""
    size = SIZES[scale]
    batch = 50 if scale == "smoke" else 100
    fc = FullyConnected(width=FOUND)
    mnist = _images("mnist", scale, size.images, batch=batch)
    base = student(mnist, scale, fc, fc)
    wide = base.replace("net", FullyConnected(width=50))
    inputs = [
        Arm(name, base.replace("data.other", _images(name, scale, None)))
        for name in ("omniglot", "cifar10")
    ]
    found = {
        "mixture": Sweep((Arm(GAUSSIAN, base, _shares(SHARES)),), size.seeds, dim="other"),
        "mixture_wide": Sweep((Arm(GAUSSIAN, wide),), size.seeds, dim="other"),
        "mixture_images": Sweep((Arm(GAUSSIAN, base), *inputs), size.seeds, dim="other"),
    }
    bare = base.replace("steps", 1).replace("record", Record())
    weights = (zipped({"data.weight": [0.0, 0.5]}),)
    drawn = [Arm(arm.label, bare.replace("data.other", arm.experiment.data.other), weights)  # type: ignore[attr-defined]
             for arm in inputs]  # fmt: skip
    found["balance"] = Sweep((Arm(GAUSSIAN, bare, weights), *drawn), size.seeds, dim="other")
    nets = {"cifar10": (5, 9, "svhn"), "svhn": (2, 8, "cifar10")}  # as the paper found
    for name, (small, large, image) in nets.items():
        teacher, learner = (
            (ResNet(filters=small), ResNet(filters=large)) if scale == "paper" else (fc, fc)
        )
        data = _images(name, scale, size.colour, batch=batch)
        steps = size.steps // (1 if scale != "laptop" else 2)
        one = student(data, scale, teacher, learner, steps=steps)
        injected = "tiny-imagenet" if scale == "paper" else image
        other = one.replace("data.other", _images(injected, scale, None))
        alone = one.replace("data.share", 0.0)
        arms = (Arm(GAUSSIAN, one), Arm(injected, other), Arm("none", alone))
        found[f"mixture_{name}"] = Sweep(arms, size.seeds, dim="other")
    return found


def _curves(scale: str) -> dict[str, Sweep]:
    """Figure 26: loss against width, of teachers and of students on a teacher's labels."""
    size = SIZES[scale]
    batch = 50 if scale == "smoke" else 100
    few = _images("mnist", scale, size.few, batch=batch)
    probes = (TestLoss(), TestAccuracy(), TrainAccuracy(examples=2000))
    rule = GradientDescent(rate=0.001, optimiser="adam")

    def on_images(data: Images, steps: int) -> Experiment:
        net, record = FullyConnected(width=FOUND), Record(every=max(1, steps // 4), start=False)
        return Experiment(data=data, net=net, rule=rule, steps=steps, probes=probes, record=record)

    many = _images("mnist", scale, size.images, batch=batch)
    steps = size.steps // 2
    by_width = (zipped({"net.width": list(size.capacities)}),)
    arms = [Arm("images", on_images(many, steps), by_width)]
    for width in size.teachers:
        teacher = FullyConnected(width=width)
        taught = student(many, scale, teacher, FullyConnected(width=FOUND), None, 1.0, steps)
        taught = taught.replace("probes", (PartAccuracy(), *probes)).replace(
            "record", Record(every=max(1, steps // 4), start=False)
        )
        arms.append(Arm(f"teacher FC({width})", taught, by_width))
    return {
        "double_descent": Sweep(
            (Arm("images", on_images(few, size.few_steps),
                 (zipped({"net.width": list(size.widths)}),)),),
            size.seeds, dim="labels",
        ),
        "capacity": Sweep(tuple(arms), size.seeds, dim="labels"),
    }  # fmt: skip


def real_sweeps(scale: str) -> dict[str, Sweep]:
    """All sweeps on images."""
    return {
        **{f"weights_{name}": weights(name, scale) for name in PAIRS},
        "resnet": resnet(scale),
        "resnet_early": resnet(scale, early=True),
        **_mixtures(scale),
        **_curves(scale),
    }
