"""The sweeps of section E.4: features that emerge on images."""

from learnscope.evidence import Arm, Sweep
from learnscope.lab import Experiment, Record, zipped
from learnscope.nets import ResNet, TwoLayer
from learnscope.papers.input_structure import real_sizes as real
from learnscope.probes import FilterCosines, Filters, TestAccuracy
from learnscope.rules import GradientDescent


def weights(name: str, scale: str) -> Sweep:
    """Figures 17 to 19: 50 neurons on two classes, from three sizes of initial weights."""
    size = real.SIZES[scale]
    classes = real.DIGITS[name] if scale == "smoke" else real.PAIRS[name]
    data = real.images(name, scale, size.pair, classes=classes, batch=64)
    if name == "svhn" and scale == "laptop":
        data = data.replace("train", 1000).replace("test", 300)  # few 0s and 1s are at hand
    pixels = {"mnist": 784, "cifar10": 3072, "svhn": 3072}[name] if scale != "smoke" else 64
    usual = (3 * pixels) ** -0.5
    experiment = Experiment(
        data=data,
        net=TwoLayer(
            width=50, activation="relu", scale=usual, second_scale=150**-0.5, symmetric=False
        ),
        rule=GradientDescent(rate=0.01, options={"momentum": real.MOMENTUM}),
        steps=size.pair_steps,
        probes=(FilterCosines(), TestAccuracy()),
        record=Record(every=max(1, size.pair_steps // 20)),
    )
    axis = zipped({"net.scale": [usual * start for start in real.STARTS]}, name="start")
    arm = Arm(name, experiment, (axis,), {"start": real.NAMES})
    # With as many dimensions as images, compressed coordinates cost more than they save.
    return Sweep((arm,), size.seeds, dim="images", coordinates="ambient")


def resnet(scale: str, early: bool = False) -> Sweep:
    """E.4.1: filters of ResNet(m) on two classes of CIFAR-10; `early`: its first steps."""
    size = real.SIZES[scale]
    batch = 30 if scale == "smoke" else 50
    classes = real.PAIRS["cifar10"]
    data = real.images("cifar10", scale, size.deep, classes=classes, batch=batch)
    if scale == "laptop":
        data = data.replace("test", 500)
    epoch = (size.deep or 10_000) // batch
    net = ResNet(filters=size.filters, classes=2)
    probes = (Filters(real.BLOCKS[-1]),) if early else (FilterCosines(real.BLOCKS), TestAccuracy())
    experiment = Experiment(
        data=data, net=net,
        rule=GradientDescent(rate=real.DEEP_RATE, options={"momentum": real.DEEP_MOMENTUM}),
        steps=real.EARLY if early else size.epochs * epoch, probes=probes,
        record=Record(every=1 if early else epoch),
    )  # fmt: skip
    arms = {}
    for filters in (size.filters, 256) if scale == "paper" else (size.filters,):
        name, one = f"ResNet({filters})", experiment.replace("net.filters", filters)
        arms |= {name: one, name + real.SMALL: one.replace("net.scale", 0.01)}
        if early:
            arms[name + real.SLOW] = one.replace("rule.rate", real.SLOW_RATE)
    return Sweep.of(arms, size.seeds, dim="net")
