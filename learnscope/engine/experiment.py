"""Experiments: data x net x rule x steps x probes x record, as one value."""

from typing import ClassVar

from learnscope.data import AbstractData
from learnscope.errors import BadInput
from learnscope.nets import AbstractNet
from learnscope.part import AbstractDocument, AbstractPart, count, flag, slot, slot_list
from learnscope.probes import DEFAULT, AbstractProbe
from learnscope.rules import AbstractRule


class Record(AbstractPart):
    """When probes are read: before the first step (unless `start` is false), then after every
    `every` steps and the last. `final` keeps the parameters after the last step, too."""

    every: int = count(1, high=2**31 - 2)
    start: bool = flag(True)
    final: bool = flag(False)


class Experiment(AbstractDocument):
    """Everything that defines a run, but its seed.

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
