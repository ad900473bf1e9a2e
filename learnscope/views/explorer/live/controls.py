"""The controls of the live page, one for each field that can be set, as plain data that
`assets/live.js` builds."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from learnscope.part import AbstractPart, allowed
from learnscope.views.explorer.live.catalogue import (
    SLOTS,
    likely,
    offered,
    preset,
    presets,
    scaling_of,
    settable,
    study_of,
)
from learnscope.views.explorer.live.state import MOST_SEEDS, SEEDS, State, words
from learnscope.views.explorer.live.words import first_sentence, help_of, words_of

_HIGHEST_DIM = 1e9
_NARROW = 100  # highest limit of a linear slider: shares, powers
_DECADES = 2  # reach of a logarithmic slider on either side of its start
_SEEDS = "Independent runs: a seed fixes the data and the initial weights."


@dataclasses.dataclass(frozen=True)
class Range:
    """The range of a slider. `scale`: linear, log, whole (log, rounded) or stops (1, 2, 5, 10, ...:
    counts are compiled)."""

    scale: str
    low: float
    high: float
    step: float = 0.01


def slider(
    part: AbstractPart, name: str, value: Any, also: Any = None, locked: bool = False
) -> Range | None:
    """The slider of a field around a value, wide enough for a second one; None if the value is not
    a single number. With a lock, a dimension goes to a billion.

    >>> from learnscope.data import SignalNoise
    >>> data = SignalNoise(dim=400, train=20, test=9, signal=1.0, noise=0.1)
    >>> slider(data, "noise", 0.1)
    Range(scale='log', low=-3.0, high=1.0, step=0.01)
    >>> slider(data, "dim", 400, locked=True)
    Range(scale='whole', low=1.0, high=9.0, step=0.01)
    >>> slider(data, "dim", 1000)
    Range(scale='whole', low=1.0, high=5.0, step=0.01)
    """
    spec = allowed(part, name)
    assert spec is not None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    ends = [value, also if isinstance(also, int | float) and math.isfinite(also) else value]
    if spec.kind == "count":
        low = math.log10(max(spec.low, 1))
        return Range("stops", low, min(math.log10(max(*ends, 1)) + 1, 6))
    if math.isfinite(spec.low) and spec.high <= _NARROW:
        return Range("linear", spec.low, spec.high, (spec.high - spec.low) / 100)
    if min(ends) > 0 and spec.low >= 0:
        low, high = math.log10(min(ends)) - _DECADES, math.log10(max(ends)) + _DECADES
        if spec.shape and locked:
            low, high = 1.0, math.log10(_HIGHEST_DIM)
        high = min(high, math.log10(spec.high))
        low = max(low, math.log10(spec.low)) if spec.low > 0 else low
        return Range("whole" if spec.whole else "log", low, high)
    reach = 2 * max(map(abs, ends)) or 1.0
    low = max(-reach, spec.low)
    return Range("linear", low, reach, (reach - low) / 100)


def controls(state: State) -> dict[str, Any]:
    """All controls of a state: a group for each part, the run's own, and the probes."""
    own = preset(state.start).experiment
    groups, scaling = [], scaling_of(state.start, state.experiment)
    for slot in SLOTS:
        part, known = getattr(state.experiment, slot), offered(state.start, slot)
        kind = type(part).__name__
        groups.append({
            "slot": slot, "title": slot.capitalize(), "kind": kind,
            "kinds": likely(state.start, slot, state.experiment),
            "own": type(getattr(own, slot)).__name__,
            "tip": first_sentence(type(part)),
            "fields": [_field(f"{slot}.{name}", part, name, known[kind], scaling)
                       for name in settable(type(part))],
        })  # fmt: skip
    seeds = {"path": "seeds", "name": "seeds", "tip": _SEEDS, "value": words(state.seeds),
             "first": words(SEEDS), "range": dataclasses.asdict(Range("linear", 1, MOST_SEEDS, 1)),
             "symbol": "", "shape": False, "power": None}  # fmt: skip
    return {
        "preset": state.start,
        "presets": [_card(name) for name in presets()],
        "groups": groups,
        "run": [_field("steps", state.experiment, "steps", own, {}), seeds],
        "probes": sorted(offered(state.start, "probes")),
        "chosen": ",".join(state.probes or ()),
        "step": state.step,
        "pin": state.pin,
    }


def _card(name: str) -> dict[str, Any]:
    """A preset as the page introduces it, with links to its paper and its claims."""
    shown, study = preset(name), study_of(name)
    links = [{"text": "The paper", "href": study.link}] if study.link else []
    links.append({"text": "Its claims and verdicts", "href": f"/ledger/{study.name}"})
    tour = [(words, "&".join(filter(None, [f"preset={name}", query])))
            for words, query in shown.tour]  # fmt: skip
    return {"name": name, "title": shown.title, "about": shown.about, "sketch": shown.sketch,
            "links": links, "tour": tour}  # fmt: skip


def _field(
    path: str, part: Any, name: str, start: Any, scaling: Mapping[str, float]
) -> dict[str, Any]:
    """The control of a field: its value, and the page's first value, which fixes the range. Choices
    and defaults are rare: the page folds them away."""
    spec, value, first = allowed(part, name), getattr(part, name), getattr(start, name)
    assert spec is not None
    control: dict[str, Any] = {
        "path": path, "name": name, "value": words(value), "first": words(first),
        "symbol": words_of(type(part))[name].symbol, "tip": help_of(type(part), name, spec),
        "shape": spec.shape, "power": scaling.get(path),
    }  # fmt: skip
    if spec.kind in ("choice", "flag"):
        options = list(spec.names) if spec.kind == "choice" else ["true", "false"]
        return control | {"options": options, "rare": True}
    at = slider(part, name, first, value, locked=bool(scaling))
    default = type(part).__dataclass_fields__[name].default
    rare = at is None or first == value == default
    return control | {"range": None if at is None else dataclasses.asdict(at), "rare": rare}
