"""A control for every field of a part that a page can set, made from what the field allows."""

import dataclasses
import math
from typing import Any

from dash import dcc, html

from learnscope.part import AbstractPart, allowed
from learnscope.views.explorer.catalogue import SLOTS, exemplars, preset
from learnscope.views.explorer.state import MOST_SEEDS, SEEDS, State, settable, words

_HIGHEST_DIM = 1e9
_RARE = ("classes", "power", "threshold")  # fields that few will move
_DECADES = 2  # that a slider reaches on both sides of where it starts
_WORDS = {"data": "Data", "net": "Net", "rule": "Rule"}


@dataclasses.dataclass(frozen=True)
class Range:
    """A slider: its positions, and what they stand for. `scale` is linear, log, whole (a logarithm,
    the number rounded), or stops: 1, 2, 5, 10, ..., as every value of a count compiles anew."""

    scale: str
    low: float
    high: float
    step: float

    def position(self, value: float) -> float:
        at = math.log10(value) if self.scale != "linear" else value
        return min(max(at, self.low), self.high)


_SEEDS = Range("linear", 1, MOST_SEEDS, 1)


def slider(part: AbstractPart, name: str, value: Any, also: Any = None) -> Range | None:
    """The slider of a field that starts at a value, and reaches beyond another one; none for what
    is no single number."""
    spec = allowed(part, name)
    assert spec is not None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if spec.kind == "count":
        high = math.log10(max(value, 1)) + 1
        return Range("stops", math.log10(max(spec.low, 1)), min(high, 6), 0.01)
    if math.isfinite(spec.low) and math.isfinite(spec.high):
        return Range("linear", spec.low, spec.high, (spec.high - spec.low) / 100)
    if value > 0 and spec.low >= 0:
        ends = [value, also if isinstance(also, int | float) and also > 0 else value]
        low, high = math.log10(min(ends)) - _DECADES, math.log10(max(ends)) + _DECADES
        if spec.shape:
            low, high = 1.0, math.log10(_HIGHEST_DIM)
        low = max(low, math.log10(spec.low)) if spec.low > 0 else low
        return Range("whole" if spec.whole else "log", low, high, 0.01)
    reach = 2 * abs(value) or 1.0
    low = max(-reach, spec.low)
    return Range("linear", low, max(reach, value), (reach - low) / 100)


def controls(state: State) -> html.Div:
    """All controls of a state, a group a part."""
    kinds = exemplars(state.start)
    own = preset(state.start).experiment
    defaults: dict[str, str] = {"steps": words(own.steps), "seeds": words(SEEDS)}
    scales = _scales("", state.experiment, own) | {"seeds": dataclasses.asdict(_SEEDS)}
    groups = []
    for slot in SLOTS:
        part = getattr(state.experiment, slot)
        start = kinds[slot][type(part).__name__]
        defaults |= {f"{slot}.{name}": words(value) for name, value in settable(start)}
        picker = _choice({"type": "kind", "slot": slot}, list(kinds[slot]), type(part).__name__)
        fields = [_control(f"{slot}.{name}", part, name, start) for name, _ in settable(part)]
        scales |= _scales(slot, part, start)
        shown = [field for field, rare in fields if not rare]
        rare = [field for field, rare in fields if rare]
        more = [html.Details([html.Summary("more"), *rare])] if rare else []
        picked = html.Label([html.Span(_WORDS[slot]), picker], className="slot")
        groups.append(html.Section([picked, *shown, *more], className="part"))
    steps, _ = _control("steps", state.experiment, "steps", own)
    seeds = _row("seeds", _SEEDS, state.seeds)
    told = {
        "preset": state.start,
        "kinds": {slot: type(getattr(state.experiment, slot)).__name__ for slot in SLOTS},
        "own": {slot: type(getattr(own, slot)).__name__ for slot in SLOTS},
        "values": defaults,
        "scales": scales,
    }
    run = html.Section([steps, seeds], className="part")
    return html.Div([dcc.Store("defaults", data=told), *groups, run])


def _scales(slot: str, part: AbstractPart, start: Any) -> dict[str, Any]:
    """What the sliders of a part stand for, by the paths of their fields."""
    found = {name: slider(part, name, getattr(start, name), value)
             for name, value in settable(part)}  # fmt: skip
    return {f"{slot}.{name}".lstrip("."): dataclasses.asdict(at)
            for name, at in found.items() if at is not None}  # fmt: skip


def _choice(id: dict[str, str], options: list[str], chosen: str) -> dcc.Dropdown:
    return dcc.Dropdown(options, chosen, id=id, clearable=False, searchable=False)


def _control(path: str, part: Any, name: str, start: Any) -> tuple[Any, bool]:
    """A field's control, and whether it is one that few will move. Sliders are made for the value
    that the page started from: they stay as they are while they are moved."""
    spec, value, first = allowed(part, name), getattr(part, name), getattr(start, name)
    assert spec is not None
    if spec.kind in ("choice", "flag"):
        options = list(spec.names) if spec.kind == "choice" else ["true", "false"]
        picker = _choice({"type": "field", "path": path}, options, words(value))
        return html.Div(html.Label([name, picker]), className="field"), True
    at = slider(part, name, first, value)
    return _row(path, at, value), at is None or name in _RARE or (first == 0 and value == 0)


def _row(path: str, at: Range | None, value: Any) -> html.Div:
    """A name, a slider where there is one, and a box that holds the very value. As few components
    as will do: Dash goes over all of them at every change."""
    name = path.rpartition(".")[2]
    box = dcc.Input(words(value), id={"type": "field", "path": path}, debounce=True, type="text")
    if at is None:
        return html.Div(html.Label([name, box]), className="field")
    number = isinstance(value, int | float) and (at.scale == "linear" or value > 0)
    bar = dcc.Input(
        id={"type": "slider", "path": path}, type="range", min=at.low, max=at.high,
        value=at.position(float(value)) if number else at.low,
        step=at.step if at.scale == "linear" else 0.01,
    )  # fmt: skip
    exact = html.Label([f"{name}, value", box], className="exact")
    return html.Div([html.Label([name, bar]), exact], className="field")
