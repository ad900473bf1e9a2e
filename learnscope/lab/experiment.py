"""Experiments: data x net x rule x steps x probes x record, as one value."""

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import tomli_w

from learnscope.data import AbstractData
from learnscope.errors import BadInput
from learnscope.lab import serial
from learnscope.lab.source import source
from learnscope.markup import html_details, html_table
from learnscope.nets import AbstractNet
from learnscope.papers import PAPERS
from learnscope.part import AbstractPart, count, flag
from learnscope.probes import AbstractProbe, Loss
from learnscope.rules import AbstractRule


class Record(AbstractPart):
    """When probes are read: before the first step (unless `start` is false), then after every
    `every` steps and the last."""

    every: int = count(1)
    start: bool = flag(True)


def _as_tuple(given: Any) -> Any:
    return tuple(given) if isinstance(given, list | tuple) else given


class Experiment(AbstractPart):
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

    data: AbstractData
    net: AbstractNet
    rule: AbstractRule
    steps: int = count(high=2**31 - 2)
    probes: tuple[AbstractProbe, ...] = eqx.field(converter=_as_tuple, default=(Loss(),))
    record: Record = Record()

    def __check_init__(self):
        for name, base in self.slots.items():
            value = getattr(self, name)
            for part in value if isinstance(value, tuple) else [value]:
                if not isinstance(part, base):
                    raise BadInput(
                        f"Experiment.{name} = {part!r} is not allowed: "
                        f"it must be of the kind {base.__name__}."
                    )
        if not isinstance(self.probes, tuple):
            raise BadInput(
                f"Experiment.probes = {self.probes!r} is not allowed: it must be a list."
            )
        names = [output for probe in self.probes for output in probe.outputs]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise BadInput(f"Experiment.probes record {', '.join(repeated)} more than once.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data: every field of every part, named."""
        return serial.plain(self, top=True)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Experiment":
        """The experiment that `to_dict` described."""
        if not isinstance(plain, Mapping):
            raise BadInput(f"an experiment must be a table of its parts, not {plain!r}.")
        values: dict[str, Any] = {}
        known = {field.name for field in dataclasses.fields(cls)}
        serial.check_names("an experiment", plain, known, {"data", "net", "rule", "steps"})
        for name, value in plain.items():
            base = cls.slots.get(name)
            if base is None:
                values[name] = value
            elif name == "probes":
                if not isinstance(value, list):
                    raise BadInput("probes must be a list of tables, each with a kind.")
                values[name] = [serial.part(base, each, "probes") for each in value]
            else:
                values[name] = serial.part(base, value, name)
        return cls(**values)

    def to_toml(self) -> str:
        return tomli_w.dumps(self.to_dict())

    @classmethod
    def from_toml(cls, text: str) -> "Experiment":
        try:
            return cls.from_dict(tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"not a valid TOML text: {error}.") from None

    def to_json(self) -> str:
        return json.dumps(serial.finite(self.to_dict()), indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Experiment":
        try:
            return cls.from_dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise BadInput(f"not a valid JSON text: {error}.") from None

    def to_python(self) -> str:
        """The expression that makes it, with `learnscope` imported as `ls`."""
        return source(self)

    def _repr_html_(self) -> str:
        parts = [("data", self.data), ("net", self.net), ("rule", self.rule)]
        parts += [("probe", probe) for probe in self.probes]
        rows = [(slot, type(part).__name__, _told(part)) for slot, part in parts]
        rows.append(("steps", str(self.steps), f"recorded every {self.record.every}"))
        try:
            definition = html_details("TOML", self.to_toml())
        except BadInput:  # it holds code
            definition = ""
        return html_table(("", "kind", "fields"), rows) + definition

    def citation(self) -> str:
        """BibTeX entries of the papers behind the parts in use."""
        parts = [self.data, self.net, self.rule, *self.probes]
        keys = sorted({key for part in parts for key in part.papers})
        return "\n\n".join(PAPERS[key] for key in keys)


def _told(part: AbstractPart) -> str:
    """The fields of a part, in words."""
    fields = {f.name: getattr(part, f.name) for f in dataclasses.fields(part)}
    return ", ".join(f"{name} = {value}" for name, value in fields.items() if value is not None)
