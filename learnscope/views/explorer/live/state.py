"""The state of the live page and its address: a link shows the same thing again."""

import dataclasses
import functools
import itertools
from typing import Any
from urllib.parse import parse_qsl, urlencode

from learnscope.errors import BadInput, unknown
from learnscope.lab import Experiment, Record
from learnscope.part import AbstractPart, require_field
from learnscope.part.plain import parse_value
from learnscope.views.explorer.live.catalogue import (
    SLOTS,
    offered,
    preset,
    presets,
    settable,
    usual_probes,
    with_probes,
)

SEEDS, MOST_SEEDS = 10, 100
_MOST_COUNT = 10**6  # of any array size, to keep tracing fast
_MOST_RECORDS = 60
_LONGEST = 4000  # characters of an address


@dataclasses.dataclass(frozen=True)
class State:
    """An experiment, the preset it started from, the number of seeds, the step that is looked at
    (None: the last), the kinds of probe that were chosen (None: those of the presets that fit), and
    the address of a run that is pinned beside it.

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
    probes: tuple[str, ...] | None = None
    pin: str | None = None

    @staticmethod
    def parse(text: str) -> "State":
        """The state of an address, which names a preset (default: the first) and what differs."""
        given = fields(text)
        start = given.pop("preset", next(iter(presets())))
        base = preset(start).experiment
        seeds = whole("seeds", given.pop("seeds", str(SEEDS)), 1, MOST_SEEDS)
        step, probes, pin = (given.pop(name, None) for name in ("step", "probes", "pin"))
        if pin is not None and State.parse(pin).pin is not None:
            raise BadInput("pin = ... is not allowed here: a pinned run has no pinned run itself.")
        parts = {slot: getattr(base, slot) for slot in SLOTS}
        for slot in SLOTS:
            if slot in given:
                parts[slot] = _of_kind(start, slot, given.pop(slot))
        table = Experiment(**parts, steps=base.steps).to_dict()
        for path, text in given.items():
            slot, _, name = path.partition(".")
            if path == "steps":
                table["steps"] = parse_value(text)
            elif slot not in SLOTS or not name:
                known = ("preset", *SLOTS, "steps", "seeds", "step", "probes", "pin")
                raise unknown("field of an address", path, known)
            else:
                require_field(parts[slot], name)
                if name not in settable(type(parts[slot])):
                    raise BadInput(f"{path} cannot be set from a page; use Python or a TOML file.")
                table[slot].pop(name, None)  # a missing field is none
                several = f"[{text}]" if "," in text else text
                if text != "none":
                    table[slot][name] = parse_value(several)
                elif "none" in settable(type(parts[slot]))[name].names:
                    table[slot][name] = text
        experiment = Experiment.from_dict(table)
        shown = None if step is None else whole("step", step, 0, experiment.steps)
        chosen = None if probes is None else tuple(probes.split(","))
        return State(start, experiment, seeds, shown, chosen, pin)

    def query(self) -> str:
        """The address of this state: what differs from its preset."""
        base = preset(self.start).experiment
        shown: dict[str, Any] = {"preset": self.start}
        for slot in SLOTS:
            part, other = getattr(self.experiment, slot), getattr(base, slot)
            if type(part) is not type(other):
                other = _of_kind(self.start, slot, type(part).__name__)
                shown[slot] = type(part).__name__
            shown |= {f"{slot}.{name}": words(getattr(part, name)) for name in settable(type(part))
                      if getattr(part, name) != getattr(other, name)}  # fmt: skip
        probes = None if self.probes is None else ",".join(self.probes)
        now = (self.experiment.steps, self.seeds, probes, self.step, self.pin)
        usual = {"steps": base.steps, "seeds": SEEDS, "probes": None, "step": None, "pin": None}
        pairs = zip(usual.items(), now, strict=True)
        shown |= {name: value for (name, default), value in pairs if value != default}
        return urlencode(shown, safe=",")

    def settings(self) -> dict[str, str]:
        """Every setting in words, by its path: what a pinned run may differ in."""
        held = {}
        for slot in SLOTS:
            part = getattr(self.experiment, slot)
            held[slot] = type(part).__name__
            held |= {f"{slot}.{n}": words(getattr(part, n)) for n in settable(type(part))}
        return held | {"steps": str(self.experiment.steps), "seeds": str(self.seeds)}

    @functools.cached_property
    def watched(self) -> Experiment:
        """The experiment with its probes, read every 1, 2, 5, ... steps and at most sixty times."""
        check_counts(self.experiment)
        stops = (m * 10**e for e in itertools.count() for m in (1, 2, 5))
        every = next(stop for stop in stops if stop * _MOST_RECORDS >= self.experiment.steps)
        # Recorded as it will be, so that what is traced to find fitting probes is traced once.
        recorded = dataclasses.replace(self.experiment, record=Record(every=every))
        probes = (usual_probes(self.start, recorded) if self.probes is None else
                  [_of_kind(self.start, "probes", kind) for kind in self.probes])  # fmt: skip
        return with_probes(recorded, probes)


def check_counts(experiment: Experiment) -> None:
    """Refuse counts that are too large for a page, before anything is traced."""
    for slot in SLOTS:
        part = getattr(experiment, slot)
        for name in [name for name, spec in settable(type(part)).items() if spec.kind == "count"]:
            value = getattr(part, name) or 0
            largest = max(value) if isinstance(value, tuple) else value
            if largest > _MOST_COUNT:
                most = f"at most {_MOST_COUNT} (`learnscope sweep` has no such limit)"
                raise BadInput(f"{slot}.{name} = {largest} is too large for a page: {most}.")


def nearest(experiment: Experiment) -> State | None:
    """The state that shows an experiment, if a page can run it."""
    bare = Experiment(experiment.data, experiment.net, experiment.rule, experiment.steps)
    alike = [name for name, each in presets().items()
             if type(each.experiment.data) is type(experiment.data)]  # fmt: skip
    state = State([*alike, *presets()][0], bare)
    try:
        # Fields that no page can set, such as an optimiser's options, may differ.
        return state if State.parse(state.query()) == state else None
    except BadInput:
        return None


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
        must = f"it must be a whole number from {low} to {high}"
        raise BadInput(f"{name} = {text[:40]} is not allowed: {must}.")
    return value


def _of_kind(start: str, slot: str, kind: str) -> AbstractPart:
    """The part of a kind that a page starts from."""
    known = offered(start, slot)
    if kind not in known:
        raise unknown(f"{slot} of the explorer", kind, known)
    return known[kind]
