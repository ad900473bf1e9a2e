"""What a page shows, as an address tells it, and back: a link shows the same thing again."""

import dataclasses
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode

from learnscope.errors import BadInput, unknown
from learnscope.lab import Experiment
from learnscope.lab.files import parse_value
from learnscope.part import AbstractPart, allowed_kind
from learnscope.views.explorer.live.catalogue import (
    DEFAULT,
    SLOTS,
    exemplars,
    preset,
    presets,
    watched,
)

SEEDS, MOST_SEEDS = 10, 100
_LONGEST = 4000  # characters of an address
_SETTABLE = ("number", "shape", "count", "choice", "flag")


@dataclasses.dataclass(frozen=True)
class State:
    """An experiment, where it started from, how many seeds it is run with, and the step that is
    looked at (none: the last).

    >>> state = State.parse("preset=pegr&data.noise=0.7&seeds=5")
    >>> state.experiment.data.noise, state.seeds
    (0.7, 5)
    >>> state.query()
    'preset=pegr&data.noise=0.7&seeds=5'
    """

    start: str
    experiment: Experiment
    seeds: int = SEEDS
    step: int | None = None

    @staticmethod
    def of(start: str = DEFAULT) -> "State":
        """A preset as it is."""
        return State(start, watched(preset(start).experiment))

    @staticmethod
    def parse(text: str) -> "State":
        """The state that an address tells: a preset, and what differs from it."""
        given = fields(text)
        start = given.pop("preset", DEFAULT)
        base = preset(start).experiment
        seeds = whole("seeds", given.pop("seeds", str(SEEDS)), 1, MOST_SEEDS)
        step = given.pop("step", None)
        parts = {slot: getattr(base, slot) for slot in SLOTS}
        for slot in SLOTS:
            if slot in given:
                parts[slot] = _of_kind(start, slot, given.pop(slot))
        table = Experiment(**parts, steps=base.steps).to_dict()
        for path, words in given.items():
            slot, dot, name = path.partition(".")
            if path == "steps":
                table["steps"] = parse_value(words)
            elif not dot or slot not in SLOTS:
                known = ["preset", "seeds", "steps", "step", *SLOTS]
                raise unknown("field of an address", path, known)
            elif allowed_kind(parts[slot], name) not in _SETTABLE:
                raise BadInput(f"{path} cannot be set from a page; use Python or a TOML file.")
            elif words == "none":
                table[slot].pop(name, None)  # what is not there is none
            else:
                table[slot][name] = _value(words)
        experiment = watched(Experiment.from_dict(table))
        shown = None if step is None else whole("step", step, 0, experiment.steps)
        return State(start, experiment, seeds, shown)

    def query(self) -> str:
        """The address of this state: what differs from its preset."""
        base = preset(self.start).experiment
        told: dict[str, Any] = {"preset": self.start}
        for slot in SLOTS:
            part, other = getattr(self.experiment, slot), getattr(base, slot)
            if type(part) is not type(other):
                other = _of_kind(self.start, slot, type(part).__name__)
                told[slot] = type(part).__name__
            told |= {f"{slot}.{name}": words(value) for name, value in settable(part)
                     if value != getattr(other, name)}  # fmt: skip
        if self.experiment.steps != base.steps:
            told["steps"] = self.experiment.steps
        if self.seeds != SEEDS:
            told["seeds"] = self.seeds
        if self.step is not None:
            told["step"] = self.step
        return urlencode(told, safe=",")


def nearest(experiment: Experiment) -> State | None:
    """The state that shows an experiment, if it can be run from a page."""
    for start in presets():
        kinds = exemplars(start)
        parts = {slot: getattr(experiment, slot) for slot in SLOTS}
        if type(parts["data"]) is type(preset(start).experiment.data) and all(
            type(part).__name__ in kinds[slot] for slot, part in parts.items()
        ):
            state = State(start, watched(experiment))
            try:
                # Fields that no page can set, such as an optimiser's options, may differ.
                same = State.parse(state.query()).experiment == state.experiment
            except BadInput:
                same = False
            return state if same else None
    return None


def settable(part: AbstractPart) -> Iterator[tuple[str, Any]]:
    """The fields of a part that a page can set, with their values."""
    for field in dataclasses.fields(part):
        if allowed_kind(part, field.name) in _SETTABLE:
            yield field.name, getattr(part, field.name)


def words(value: Any) -> str:
    """A value as an address and a text field hold it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(words(each) for each in value)
    if isinstance(value, float):
        short = f"{value:.12g}"
        return short if float(short) == value else repr(value)
    return str(value)


def _value(text: str) -> Any:
    if "," in text:
        return [parse_value(part) for part in text.split(",")]
    return parse_value(text)


def fields(text: str) -> dict[str, str]:
    """The names and values of an address, each name once."""
    if len(text) > _LONGEST:
        raise BadInput(f"the address has {len(text)} characters; at most {_LONGEST} are allowed.")
    try:
        pairs = parse_qsl(text.lstrip("?"), keep_blank_values=True, strict_parsing=bool(text))
    except ValueError:
        raise BadInput("the address must have the form ?name=value&name=value.") from None
    repeated = [name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1]
    if repeated:
        raise BadInput(f"the address names {repeated[0]} more than once.")
    return dict(pairs)


def whole(name: str, text: str, low: int, high: int) -> int:
    """A whole number of an address, within its range."""
    value = parse_value(text)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadInput(
            f"{name} = {text[:40]} is not allowed: it must be a whole number from {low} to {high}."
        )
    return value


def _of_kind(start: str, slot: str, kind: str) -> AbstractPart:
    """The exemplar of a kind."""
    known = exemplars(start)[slot]
    if kind not in known:
        raise unknown(f"{slot} of the explorer", kind, known)
    return known[kind]
