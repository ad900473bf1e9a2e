"""The sweeps on images: sections E.4 (features that emerge) and E.5 (the effect of inputs).

The paper leaves some settings open. E.4: rates and the size of initial weights, which decides
whether learnt directions outweigh initial ones; here PyTorch's (for ResNet, He's) and smaller ones.
E.5: the optimiser (here Adam, rate 0.001), the weight of the regulariser (0.5, and lambda = 0.5),
the moments of Gaussian inputs (those of the images' pixels), the size of a mixture (that of the set
of images, of which a share is replaced). On CIFAR-10 and SVHN `laptop` has FC(m) in place
of ResNet(m) in E.5; other sets replace Tiny ImageNet, which `paper` mixes in. Sizes and widths of
`laptop` were chosen by time and by trial runs of the seed 1000, which no verdict uses; their
training and test losses, accuracies and cluster counts were seen before the criteria were written.
"""

import functools
import operator
from typing import Any

from learnscope import probes
from learnscope.evidence import Scale, Sweep, arms
from learnscope.images import Images, RandomLabels, TeacherMixture
from learnscope.lab import Axis, Experiment, Record
from learnscope.nets import AbstractNet, FullyConnected, ResNet, TwoLayer
from learnscope.rules import GradientDescent

GAUSSIAN, ALONE = "Gaussian", "none"
TRUE, SHUFFLED = "true", "random"  # labels
FEW = 20  # steps: "a few"
# Figures 17 to 19: digits in their place in smoke runs, pixels, images at hand (None: enough).
SETS = {"mnist": ((0, 1), 784, None), "cifar10": ((2, 3), 3072, None), "svhn": ((4, 5), 3072, 1500)}
STARTS = (1.0, 0.01)  # initial weights, in units of PyTorch's
NAMES = tuple(f"{start:g}" for start in STARTS)
BLOCKS = tuple(f"stage{k}_2.conv2" for k in (1, 2, 3, 4))
EARLY, DEEP_RATE, DEEP_MOMENTUM = 30, 0.05, 0.95  # steps of Table 7; rate of the ResNet
EPOCHS, GRADIENTS = 3, 8  # epochs between records; filters whose first weights are recorded
# Weights of standard deviation 0.01, not sqrt(2 / inputs). Convolutions are normalised, so that
# the size of their weights decides only how fast they turn.
SMALL = ", small start"
NOISE = ", random labels"
SLOW, SLOW_RATE = ", slow", 0.003  # for the first steps: filters hardly turn at this rate
SHARES = (0.25, 0.75)  # beside 0.5
FOUND = 9  # hidden neurons of the paper's teacher for MNIST
MOMENTUM, ADAM = 0.95, GradientDescent(rate=0.001, optimiser="adam")
SIZES = Scale(
    seeds=(2, 5, 5), test=(40, 2000, None), pair=(150, 3000, None), pair_steps=(24, 4000, 4000),
    filters=((4,), (8,), (128, 256)), deep=(60, 1000, None), deep_test=(40, 1000, None),
    deep_batch=(30, 50, 50), epoch=(2, 20, 200), epochs=(12, 21, 21), images=(200, None, None),
    steps=(40, 16_000, 60_000), cifar10=(200, 20_000, None), svhn=(200, 6000, None),
    colour_steps=(40, 8000, 60_000), teacher_steps=(20, 10_000, 30_000), few=(100, 2000, None),
    few_steps=(20, 4000, 60_000), many=(200, 20_000, None), many_steps=(20, 8000, 30_000),
    batch=(50, 100, 100), widths=((1, 4), (1, 2, 3, 4, 5, 7, 9, 20, 60, 200),
                                  (1, 2, 3, 5, 7, 9, 12, 20, 50, 100, 200, 500, 1000, 2000)),
    capacities=((2, 4), (3, 5, 7, 9, 12, 20, 50, 100, 200),
                (3, 5, 7, 9, 12, 20, 50, 100, 200, 500, 1000)),
    teachers=((3,), (9, 50), (9, 50, 500)), tiny=(False, False, True),
)  # fmt: skip


def images(name: str, scale: str, train: int | None, **more: Any) -> Images:
    """A set of images, standardised; the bundled digits in smoke runs."""
    given: dict[str, Any] = {"train": train, "test": SIZES[scale].test, "pixels": "standard"}
    return Images(name="digits" if scale == "smoke" else name, **given | more)


def _weights(name: str, scale: str) -> dict[str, Sweep]:
    """Figures 17 to 19: 50 neurons on two classes, from two sizes of initial weights, and on
    random labels as a control; and the first steps of all."""
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
        probes=(probes.Loss(), probes.FilterCosines(), probes.InputDirections(50),
                probes.TestAccuracy()),
        record=Record(every=size.pair_steps // 8),
    )  # fmt: skip
    starts = Axis("start", {"net.scale": [usual * start for start in STARTS]}, NAMES)
    few = base.replace("steps", FEW).replace("record", Record(every=FEW // 4))
    labels = {TRUE: data, SHUFFLED: RandomLabels(data)}
    # With as many dimensions as images, compressed coordinates cost more than they save.
    return {
        f"weights_{name}": arms(base, size.seeds, starts, coordinates="ambient", labels=labels),
        f"early_{name}": arms(few, size.seeds, starts, coordinates="ambient", labels=labels),
    }


def _resnets(scale: str) -> dict[str, Sweep]:
    """E.4.1: filters of ResNet(m) on two classes of CIFAR-10, and of its first steps."""
    size = SIZES[scale]
    data = images("cifar10", scale, size.deep, classes=(0, 1), batch=size.deep_batch)
    base = Experiment(
        data=data.replace("test", size.deep_test), net=ResNet(filters=size.filters[0], classes=2),
        rule=GradientDescent(rate=DEEP_RATE, options={"momentum": DEEP_MOMENTUM}),
        probes=(probes.Loss(), probes.FilterCosines(BLOCKS), probes.TestAccuracy()),
        steps=size.epochs * size.epoch, record=Record(every=EPOCHS * size.epoch),
    )  # fmt: skip
    early = base.replace("steps", EARLY).replace("record", Record())
    nets: dict[str, dict[str, Any]] = {}
    for filters in size.filters:
        one = {"net.filters": filters}
        nets |= {f"ResNet({filters})": one, f"ResNet({filters}){SMALL}": one | {"net.scale": 0.01}}
    for name, net in list(nets.items()):  # the control: nothing to learn but the images
        nets[name + NOISE] = net | {"data": RandomLabels(base.data)}
    slow = {name + SLOW: net | {"rule.rate": SLOW_RATE} for name, net in nets.items()
            if SMALL not in name}  # fmt: skip
    first = early.replace("probes", (probes.Filters(BLOCKS[-1], GRADIENTS),))
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
                      record=Record(every=max(1, steps // 40)))  # fmt: skip


def _mixtures(scale: str) -> dict[str, Sweep]:
    """Figures 4 and 22 to 25."""
    size, fc = SIZES[scale], FullyConnected(width=FOUND)
    only, both = {GAUSSIAN: {"data.other": None}}, {GAUSSIAN: {}, ALONE: {"data.share": 0.0}}
    base = student(scale, images("mnist", scale, size.images, batch=size.batch), fc, fc, size.steps)
    fewer = base.replace("data.images", images("mnist", scale, size.many, batch=size.batch))
    others = only | {
        name: {"data.other": images(name, scale, None)} for name in ("omniglot", "cifar10")
    }
    labels_alone = fewer.replace("steps", 1).replace("record", Record())
    sweeps = {
        "mixture": arms(base, size.seeds, other=both),
        "mixture_wide": arms(base.replace("net", FullyConnected(width=50)), size.seeds, other=only),
        "mixture_images": arms(fewer, size.seeds, other=others),
        "balance": arms(labels_alone, size.seeds, {"data.weight": [0.0, 0.5]}, other=others),
    }
    nets = {"cifar10": (5, 9, "svhn"), "svhn": (2, 8, "cifar10")}  # as the paper found
    for name, (small, large, image) in nets.items():
        pair = (ResNet(filters=small), ResNet(filters=large)) if size.tiny else (fc, fc)
        of = lambda train, name=name: images(name, scale, train, batch=size.batch)  # noqa: E731
        one = student(scale, of(vars(size)[name]), *pair, size.colour_steps)
        sweeps[f"mixture_{name}"] = arms(one, size.seeds, other=both)
        if name == "cifar10":
            sweeps["mixture_shares"] = arms(one, size.seeds, {"data.share": list(SHARES)},
                                            other=only)  # fmt: skip
        image = "tiny-imagenet" if size.tiny else image
        kinds = only | {image: {"data.other": images(image, scale, None)}}
        sweeps[f"mixture_{name}_images"] = arms(one.replace("data.images", of(size.svhn)),
                                                size.seeds, other=kinds)  # fmt: skip
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

    many = on_images(size.many, size.many_steps)
    rows: dict[str, dict[str, Any]] = {"images": {}}
    for width in size.teachers:
        inputs = images("mnist", scale, size.many, batch=size.batch)
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
    weights = [_weights(name, scale) for name in SETS]
    return functools.reduce(operator.or_, [*weights, _resnets(scale), _mixtures(scale),
                                           _curves(scale)])  # fmt: skip
