"""The sweeps on images: sections E.4 (features that emerge) and E.5 (the effect of inputs).

The paper leaves some settings open. E.4: rates and the size of initial weights, which decides
whether learnt directions outweigh initial ones; here PyTorch's (for ResNet, He's) and smaller ones.
E.5: the optimiser (here Adam, rate 0.001), the weight of the regulariser (0.5, and lambda = 0.5),
the moments of Gaussian inputs (those of the images' pixels), the size of a mixture (that of the set
of images, of which a share is replaced). `laptop` uses small subsets and, on CIFAR-10 and SVHN,
FC(m) in place of ResNet(m) in E.5; other sets replace Tiny ImageNet, which `paper` mixes in.
"""

from typing import Any

from learnscope import probes
from learnscope.evidence import Scale, Sweep, arms
from learnscope.images import Images, TeacherMixture
from learnscope.lab import Axis, Experiment, Record
from learnscope.nets import AbstractNet, FullyConnected, ResNet, TwoLayer
from learnscope.rules import GradientDescent

GAUSSIAN, ALONE = "Gaussian", "none"
# Figures 17 to 19: digits in their place in smoke runs, pixels, images at hand (None: enough).
SETS = {"mnist": ((0, 1), 784, None), "cifar10": ((2, 3), 3072, None), "svhn": ((4, 5), 3072, 1000)}
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
MOMENTUM, ADAM = 0.95, GradientDescent(rate=0.001, optimiser="adam")
SIZES = Scale(
    seeds=(2, 5, 5), test=(40, 1000, None), pair=(150, 3000, None), pair_steps=(20, 400, 4000),
    filters=((4,), (8,), (128, 256)), deep=(60, 1000, None), deep_test=(40, 500, None),
    deep_batch=(30, 50, 50), epoch=(2, 20, 200), epochs=(2, 6, 20), images=(200, 20_000, None),
    colour=(200, 5000, None), steps=(40, 8000, 60_000), colour_steps=(40, 4000, 60_000),
    teacher_steps=(20, 2000, 30_000), few=(100, 2000, None), few_steps=(20, 2000, 60_000),
    batch=(50, 100, 100),
    widths=((1, 4), (1, 2, 4, 9, 20, 60, 200),
            (1, 2, 3, 5, 7, 9, 12, 20, 50, 100, 200, 500, 1000, 2000)),
    capacities=((2, 4), (4, 9, 20, 50, 100), (3, 5, 7, 9, 12, 20, 50, 100, 200, 500, 1000)),
    teachers=((3,), (9, 50), (9, 50, 500)), tiny=(False, False, True),
)  # fmt: skip


def images(name: str, scale: str, train: int | None, **more: Any) -> Images:
    """A set of images, standardised; the bundled digits in smoke runs."""
    given: dict[str, Any] = {"train": train, "test": SIZES[scale].test, "pixels": "standard"}
    return Images(name="digits" if scale == "smoke" else name, **given | more)


def _weights(name: str, scale: str) -> Sweep:
    """Figures 17 to 19: 50 neurons on two classes, from three sizes of initial weights."""
    size, (digits, pixels, most) = SIZES[scale], SETS[name]
    classes, pixels = (digits, 64) if scale == "smoke" else ((0, 1), pixels)
    data = images(name, scale, size.pair, classes=classes, batch=64)
    if most and scale == "laptop":
        data = data.replace("train", most).replace("test", 300)
    usual = (3 * pixels) ** -0.5
    base = Experiment(
        data=data,
        net=TwoLayer(width=50, activation="relu", scale=usual, second_scale=150**-0.5,
                     symmetric=False),
        rule=GradientDescent(rate=0.01, options={"momentum": MOMENTUM}), steps=size.pair_steps,
        probes=(probes.Loss(), probes.FilterCosines(), probes.TestAccuracy()),
        record=Record(every=size.pair_steps // 20),
    )  # fmt: skip
    starts = Axis("start", {"net.scale": [usual * start for start in STARTS]}, NAMES)
    # With as many dimensions as images, compressed coordinates cost more than they save.
    return arms(base, size.seeds, starts, coordinates="ambient")


def _resnets(scale: str) -> dict[str, Sweep]:
    """E.4.1: filters of ResNet(m) on two classes of CIFAR-10, and of its first steps."""
    size = SIZES[scale]
    data = images("cifar10", scale, size.deep, classes=(0, 1), batch=size.deep_batch)
    base = Experiment(
        data=data.replace("test", size.deep_test), net=ResNet(filters=size.filters[0], classes=2),
        rule=GradientDescent(rate=DEEP_RATE, options={"momentum": DEEP_MOMENTUM}),
        probes=(probes.Loss(), probes.FilterCosines(BLOCKS), probes.TestAccuracy()),
        steps=size.epochs * size.epoch, record=Record(every=size.epoch),
    )  # fmt: skip
    early = base.replace("steps", EARLY).replace("record", Record())
    nets: dict[str, dict[str, Any]] = {}
    for filters in size.filters:
        one = {"net.filters": filters}
        nets |= {f"ResNet({filters})": one, f"ResNet({filters}){SMALL}": one | {"net.scale": 0.01}}
    slow = {name + SLOW: net | {"rule.rate": SLOW_RATE} for name, net in nets.items()
            if not name.endswith(SMALL)}  # fmt: skip
    first = early.replace("probes", (probes.Filters(BLOCKS[-1]),))
    return {"resnet": arms(base, size.seeds, net=nets),
            "resnet_early": arms(first, size.seeds, net=nets | slow)}  # fmt: skip


def student(scale: str, data: Images, teacher: AbstractNet, net: AbstractNet, steps: int,
            share: float = 0.5) -> Experiment:  # fmt: skip
    """A student on a mixture that a teacher has labelled."""
    mixed = TeacherMixture(
        images=data, teacher=teacher, other=None, share=share,
        teacher_steps=SIZES[scale].teacher_steps, teacher_batch=data.batch or 100,
    )  # fmt: skip
    watched = (probes.Loss(), probes.PartAccuracy(), probes.TrainAccuracy(examples=2000))
    return Experiment(data=mixed, net=net, rule=ADAM, steps=steps, probes=watched,
                      record=Record(every=max(1, steps // 20)))  # fmt: skip


def _mixtures(scale: str) -> dict[str, Sweep]:
    """Figures 4 and 22 to 25."""
    size, fc = SIZES[scale], FullyConnected(width=FOUND)
    mnist = images("mnist", scale, size.images, batch=size.batch)
    base = student(scale, mnist, fc, fc, size.steps)
    others = {GAUSSIAN: {"data.other": None}} | {
        name: {"data.other": images(name, scale, None)} for name in ("omniglot", "cifar10")
    }
    labels_alone = base.replace("steps", 1).replace("record", Record())
    only = {GAUSSIAN: {"data.other": None}}
    sweeps = {
        "mixture": arms(base, size.seeds, {"data.share": list(SHARES)}, other=only),
        "mixture_wide": arms(base.replace("net", FullyConnected(width=50)), size.seeds, other=only),
        "mixture_images": arms(base, size.seeds, other=others),
        "balance": arms(labels_alone, size.seeds, {"data.weight": [0.0, 0.5]}, other=others),
    }
    nets = {"cifar10": (5, 9, "svhn"), "svhn": (2, 8, "cifar10")}  # as the paper found
    for name, (small, large, image) in nets.items():
        both = (ResNet(filters=small), ResNet(filters=large)) if size.tiny else (fc, fc)
        data = images(name, scale, size.colour, batch=size.batch)
        image = "tiny-imagenet" if size.tiny else image
        kinds = only | {image: {"data.other": images(image, scale, None)},
                        ALONE: {"data.share": 0.0}}  # fmt: skip
        one = student(scale, data, *both, size.colour_steps)
        sweeps[f"mixture_{name}"] = arms(one, size.seeds, other=kinds)
    return sweeps


def _curves(scale: str) -> dict[str, Sweep]:
    """Figure 26: loss against width, of teachers and of students on a teacher's labels."""
    size = SIZES[scale]
    watched = (probes.Loss(), probes.TestLoss(), probes.TestAccuracy(),
               probes.TrainAccuracy(examples=2000))  # fmt: skip

    def on_images(train: int | None, steps: int) -> Experiment:
        record = Record(every=max(1, steps // 4))
        return Experiment(data=images("mnist", scale, train, batch=size.batch),
                          net=FullyConnected(width=FOUND), rule=ADAM, steps=steps, probes=watched,
                          record=record)  # fmt: skip

    many = on_images(size.images, size.steps // 2)
    rows: dict[str, dict[str, Any]] = {"images": {}}
    for width in size.teachers:
        inputs = images("mnist", scale, size.images, batch=size.batch)
        taught = student(scale, inputs, FullyConnected(width=width), many.net, many.steps, 1.0)
        rows[f"teacher FC({width})"] = {
            "data": taught.data,
            "probes": (probes.PartAccuracy(), *watched),
        }
    few = on_images(size.few, size.few_steps)
    return {
        "double_descent": arms(few, size.seeds, {"net.width": list(size.widths)}),
        "capacity": arms(many, size.seeds, {"net.width": list(size.capacities)}, labels=rows),
    }


def real_sweeps(scale: str) -> dict[str, Sweep]:
    """All sweeps on images."""
    return {**{f"weights_{name}": _weights(name, scale) for name in SETS}, **_resnets(scale),
            **_mixtures(scale), **_curves(scale)}  # fmt: skip
