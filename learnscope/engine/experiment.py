"""Experiments: data x net x rule x steps x probes x record, as one value; and what these parts say
of compressed coordinates: how many they need, and why there can be none."""

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from learnscope.data import AbstractData
from learnscope.errors import BadInput
from learnscope.nets import AbstractInnerProductNet, AbstractNet
from learnscope.part import AbstractDocument, AbstractPart, count, flag, shape_path, slot, slot_list
from learnscope.probes import DEFAULT, AbstractProbe
from learnscope.rules import AbstractRule
from learnscope.rules.losses import MARGINS

# Compression pays up to this ratio of coordinates to dimensions: a training vector needs only the
# coordinates before its own.
_MOST = 1.5


class Record(AbstractPart):
    """When probes are read: before the first step (unless `start` is false), then after every
    `every` steps, and after the last. `final` also keeps the parameters after the last step."""

    every: int = count(1, high=2**31 - 2)
    start: bool = flag(True)
    final: bool = flag(False)


class Experiment(AbstractDocument):
    """Everything that defines a run, except its seed.

    >>> import learnscope as ls
    >>> experiment = ls.Experiment(
    ...     data=ls.data.SignalNoise(dim=400, train=20, test=1000, signal=1.0, noise=0.5),
    ...     net=ls.nets.PatchCNN(width=10, activation="relu2", scale=0.01),
    ...     rule=ls.rules.GradientDescent(rate=0.02),
    ...     steps=1500,
    ... )
    >>> ls.Experiment.from_toml(experiment.to_toml()) == experiment
    True
    """

    slots: ClassVar[dict[str, type]] = {
        "data": AbstractData,
        "net": AbstractNet,
        "rule": AbstractRule,
        "probes": AbstractProbe,
        "record": Record,
    }

    data: AbstractData = slot(AbstractData)
    net: AbstractNet = slot(AbstractNet)
    rule: AbstractRule = slot(AbstractRule)
    steps: int = count(high=2**31 - 2)
    probes: tuple[AbstractProbe, ...] = slot_list(AbstractProbe, DEFAULT)
    record: Record = slot(Record, Record())

    def __check_init__(self):
        super().__check_init__()  # Equinox checks the derived class first
        names = [output for probe in self.probes for output in probe.outputs]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise BadInput(f"Experiment.probes record {', '.join(repeated)} more than once.")
        if self.data.numeric and self.rule.loss in MARGINS:
            raise BadInput(
                f"{type(self.data).__name__} has numbers as labels, and the loss {self.rule.loss} "
                "needs classes: give integers or names, or use loss='squared'."
            )


@dataclasses.dataclass(frozen=True)
class Keyed:
    """An experiment in a cache, found again by what the cached answer depends on."""

    key: Any
    experiment: Experiment = dataclasses.field(compare=False)


class Room(NamedTuple):
    """The coordinates of a compressed run: all of them, those in which fresh examples must be
    known, and those of directions and training vectors."""

    rank: int
    seen: int | None
    span: int


def room(experiment: Experiment, coordinates: str) -> Room | None:
    """The coordinates for directions, training vectors and filters; None unless compressed."""
    if coordinates != "compressed":
        return None
    data, net, in_use = experiment.data, experiment.net, experiment.rule.pair_filters
    assert isinstance(net, AbstractInnerProductNet)
    if in_use is None and data.sets > 1:
        in_use = 2  # the trained filters and the initial ones
    first, now = data.span + net.rows, net.moving
    seen = None if in_use is None else first + (in_use - 1) * now
    fresh, again = data.space.fresh, data.space.repeated or experiment.rule.reuses_batch
    added = fresh if again else min(fresh, now)
    return Room(first + (data.sets - 1) * now + added, seen, data.span)


def obstacle(experiment: Experiment, dims: Iterable[float]) -> str | None:
    """Why an experiment cannot be compressed, or None if it can."""
    data, net, rule = experiment.data, experiment.net, experiment.rule
    if data.compression == "none":
        return f"{type(data).__name__} draws vectors that leave any fixed span"
    if not isinstance(net, AbstractInnerProductNet):
        return f"{type(net).__name__} sees more of its inputs than inner products"
    if rule.basis_dependence is not None:
        return rule.basis_dependence
    if data.sets > 1 and rule.fresh_obstacle is not None:
        return rule.fresh_obstacle
    if data.space.pairs and rule.pair_filters is None:
        return f"{type(rule).__name__} learns from labels, not from pairs of fresh views"
    dims, path = list(dims), shape_path(data)
    spans = {data.replace(path, int(dim)).span for dim in dims if path and len(dims) > 1}
    if len(spans | {data.span}) > 1:
        return "the dimensions of the sweep need different numbers of coordinates"
    if data.span > _MOST * min(dims):
        return (
            f"directions and training vectors take {data.span} coordinates and the dimension is "
            f"only {min(dims):.0f}"
        )
    return None


def in_law(experiment: Experiment) -> bool:
    """Whether data and initial weights can be drawn in compressed coordinates directly."""
    net = experiment.net
    gaussian = isinstance(net, AbstractInnerProductNet) and net.isotropic
    return gaussian and experiment.data.compression == "gaussian_rows"
