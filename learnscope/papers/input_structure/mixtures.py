"""The sweeps of section E.5: the effect of inputs, by students of a teacher."""

from typing import Any

from learnscope.evidence import Sweep
from learnscope.images import Images, TeacherMixture
from learnscope.lab import Experiment, Record, zipped
from learnscope.nets import AbstractNet, FullyConnected, ResNet
from learnscope.papers.input_structure.real_sizes import FOUND, GAUSSIAN, SHARES, SIZES, images
from learnscope.probes import PartAccuracy, TestAccuracy, TestLoss, TrainAccuracy
from learnscope.rules import GradientDescent


def student(
    data: Images, scale: str, teacher: AbstractNet, net: AbstractNet, other: Images | None = None,
    share: float = 0.5, steps: int | None = None,
) -> Experiment:  # fmt: skip
    """A student on a mixture that a teacher has labelled."""
    size = SIZES[scale]
    steps = size.steps if steps is None else steps
    given: dict[str, Any] = {
        "images": data, "teacher": teacher, "other": other, "share": share,
        "teacher_steps": size.teacher_steps, "teacher_batch": data.batch or 100,
    }  # fmt: skip
    return Experiment(
        data=TeacherMixture(**given),
        net=net,
        rule=GradientDescent(rate=0.001, optimiser="adam"),
        steps=steps,
        probes=(PartAccuracy(), TrainAccuracy(examples=2000)),
        record=Record(every=max(1, steps // 20)),
    )


def mixtures(scale: str) -> dict[str, Sweep]:
    """Figures 4 and 22 to 25."""
    size = SIZES[scale]
    batch = 50 if scale == "smoke" else 100
    fc = FullyConnected(width=FOUND)
    mnist = images("mnist", scale, size.images, batch=batch)
    base = student(mnist, scale, fc, fc)
    wide = base.replace("net", FullyConnected(width=50))
    injected = {name: images(name, scale, None) for name in ("omniglot", "cifar10")}
    others: dict[str, Images | None] = {GAUSSIAN: None, **injected}

    def each(experiment: Experiment, axes: tuple[Any, ...] = ()) -> Sweep:
        """An arm for every kind of other inputs."""
        arms = {name: experiment.replace("data.other", other) for name, other in others.items()}
        return Sweep.of(arms, size.seeds, axes, dim="other")

    labels_alone = base.replace("steps", 1).replace("record", Record())
    by_share = (zipped({"data.share": list(SHARES)}),)
    sweeps = {
        "mixture": Sweep.of({GAUSSIAN: base}, size.seeds, by_share, dim="other"),
        "mixture_wide": Sweep.of({GAUSSIAN: wide}, size.seeds, dim="other"),
        "mixture_images": each(base),
        "balance": each(labels_alone, (zipped({"data.weight": [0.0, 0.5]}),)),
    }
    nets = {"cifar10": (5, 9, "svhn"), "svhn": (2, 8, "cifar10")}  # as the paper found
    for name, (small, large, image) in nets.items():
        teacher, learner = (
            (ResNet(filters=small), ResNet(filters=large)) if scale == "paper" else (fc, fc)
        )
        data = images(name, scale, size.colour, batch=batch)
        steps = size.steps // (1 if scale != "laptop" else 2)
        one = student(data, scale, teacher, learner, steps=steps)
        image = "tiny-imagenet" if scale == "paper" else image
        other = one.replace("data.other", images(image, scale, None))
        arms = {GAUSSIAN: one, image: other, "none": one.replace("data.share", 0.0)}
        sweeps[f"mixture_{name}"] = Sweep.of(arms, size.seeds, dim="other")
    return sweeps


def curves(scale: str) -> dict[str, Sweep]:
    """Figure 26: loss against width, of teachers and of students on a teacher's labels."""
    size = SIZES[scale]
    batch = 50 if scale == "smoke" else 100
    few = images("mnist", scale, size.few, batch=batch)
    probes = (TestLoss(), TestAccuracy(), TrainAccuracy(examples=2000))
    rule = GradientDescent(rate=0.001, optimiser="adam")

    def onimages(data: Images, steps: int) -> Experiment:
        net, record = FullyConnected(width=FOUND), Record(every=max(1, steps // 4), start=False)
        return Experiment(data=data, net=net, rule=rule, steps=steps, probes=probes, record=record)

    many = images("mnist", scale, size.images, batch=batch)
    steps = size.steps // 2
    by_width = (zipped({"net.width": list(size.capacities)}),)
    arms = {"images": onimages(many, steps)}
    for width in size.teachers:
        teacher = FullyConnected(width=width)
        taught = student(many, scale, teacher, FullyConnected(width=FOUND), None, 1.0, steps)
        arms[f"teacher FC({width})"] = (
            taught.replace("rule", rule)
            .replace("probes", (PartAccuracy(), *probes))
            .replace("record", Record(every=max(1, steps // 4), start=False))
        )
    widths = (zipped({"net.width": list(size.widths)}),)
    taught_few = {"images": onimages(few, size.few_steps)}
    return {
        "double_descent": Sweep.of(taught_few, size.seeds, widths, dim="labels"),
        "capacity": Sweep.of(arms, size.seeds, by_width, dim="labels"),
    }
