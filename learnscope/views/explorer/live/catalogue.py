"""The offers of the live page: the studies' presets, and every kind of part that it can make.

Kinds are those of `learnscope.part.kinds`, a user's own included. A page can make a kind if it can
set every field without a default, and every field of a data model: others hold code or name files.
Whether parts fit together is tried: they are traced, and the error is the reason.
"""

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any

import jax

from learnscope.engine import trial
from learnscope.engine.experiment import Keyed
from learnscope.engine.size import check_fit, run_size
from learnscope.errors import BadInput, unknown, why_of
from learnscope.evidence import Preset, Study
from learnscope.lab import Experiment
from learnscope.lab.sweep import programs
from learnscope.papers import STUDIES
from learnscope.part import AbstractPart, Allowed, example_of, kinds
from learnscope.part.part import required

SLOTS = ("data", "net", "rule")


@functools.cache
def presets() -> Mapping[str, Preset]:
    """The presets of all studies, by name; those that run in any dimension come first."""
    known = [preset for study in STUDIES.values() for preset in study.presets()]
    return {preset.name: preset for preset in sorted(known, key=lambda each: not each.scaling)}


@functools.cache
def study_of(name: str) -> Study:
    """The study that a preset is of."""
    return next(s for s in STUDIES.values() if name in [each.name for each in s.presets()])


def preset(name: str) -> Preset:
    """The preset of a name."""
    if name not in presets():
        raise unknown("preset", name, presets())
    return presets()[name]


def settable(kind: type[AbstractPart]) -> dict[str, Allowed]:
    """The fields that a page can set: numbers, counts, choices and flags."""
    fields = dataclasses.fields(kind)
    return {f.name: f.metadata["allowed"] for f in fields if "allowed" in f.metadata}


def offered(start: str, slot: str) -> Mapping[str, Any]:
    """Parts by kind: the presets' (`start` first), then an example of every other kind."""
    return _offered(start, slot, tuple(sorted(kinds(Experiment.slots[slot]).items())))


@functools.lru_cache(maxsize=64)
def _offered(start: str, slot: str, known: tuple[tuple[str, type], ...]) -> Mapping[str, Any]:
    parts = _by_kind(part for each in (preset(start), *presets().values())
                     for part in _listed(each, slot))  # fmt: skip
    given = {name: value for part in reversed(parts.values()) for name, value in vars(part).items()}
    for name, kind in known:
        free = slot == "data" and len(settable(kind)) < len(dataclasses.fields(kind))
        example = None if free or name in parts else _example(kind, given)
        if example is not None:
            parts[name] = example
    return parts


def likely(start: str, slot: str, experiment: Experiment) -> list[str]:
    """Kinds to offer before all are tried: the one that is there, and the preset's own."""
    own = [type(part).__name__ for part in _listed(preset(start), slot)]
    return list(dict.fromkeys([type(getattr(experiment, slot)).__name__, *own]))


def choices(start: str, slot: str, experiment: Experiment) -> list[str]:
    """The kinds of a part that fit beside an experiment's other parts, and the one that is
    there. A user's own kinds are all offered: their author wants to read why one does not fit."""
    now = {each: type(getattr(experiment, each)).__name__ for each in SLOTS}
    return [
        name
        for name, part in offered(start, slot).items()
        if name == now[slot]
        or not type(part).__module__.startswith("learnscope.")
        or _fit(start, **(now | {slot: name}))
    ]


@functools.lru_cache(maxsize=4096)
def _fit(start: str, **chosen: str) -> bool:
    """Whether kinds of parts fit together, with the values that a page starts from."""
    parts: Any = {slot: offered(start, slot)[kind] for slot, kind in chosen.items()}
    try:
        check_fit(Experiment(**parts, steps=1, probes=()))
    except Exception:  # whatever a part raises
        return False
    return True


def _listed(each: Preset, slot: str) -> tuple[AbstractPart, ...]:
    if slot == "probes":
        return each.probes
    own = getattr(each.experiment, slot)
    return (own, *each.rules) if slot == "rule" else (own,)


def _by_kind(parts: Iterable[AbstractPart]) -> dict[str, AbstractPart]:
    """The first part of each kind."""
    first: dict[str, AbstractPart] = {}
    for part in parts:
        first.setdefault(type(part).__name__, part)
    return first


def _example(kind: type[AbstractPart], given: Mapping[str, Any]) -> AbstractPart | None:
    """An example with values of other parts or usual ones; None if a page cannot make it."""
    needed = required(kind)
    if not needed <= settable(kind).keys():
        return None
    try:
        return example_of(kind, {name: given[name] for name in needed & given.keys()})
    except BadInput:  # such as an abstract class
        return None


def scaling_of(start: str, experiment: Experiment) -> dict[str, float]:
    """The powers of the dimension with which numbers go, by path: those of the preset, or of
    another one with this kind of data."""
    kind = type(experiment.data)
    given = next((each.scaling for each in (preset(start), *presets().values())
                  if type(each.experiment.data) is kind and each.scaling), {})  # fmt: skip
    return {path: power for path, power in given.items() if _there(experiment, path)}


def _there(experiment: Experiment, path: str) -> bool:
    slot, _, name = path.partition(".")
    return name in settable(type(getattr(experiment, slot)))


def usual_probes(start: str, experiment: Experiment) -> tuple[Any, ...]:
    """The fitting probes of the presets with this kind of data, or of all presets if none has."""
    ordered = (preset(start), *presets().values())
    alike = [each for each in ordered if type(each.experiment.data) is type(experiment.data)]
    listed = _by_kind(probe for each in alike or ordered for probe in each.probes).values()
    return fitting(experiment, tuple(listed))


def fitting(experiment: Experiment, probes: tuple[Any, ...]) -> tuple[Any, ...]:
    """The probes that can be read in an experiment."""

    def fits(*some: Any) -> bool:
        return misfit(with_probes(experiment, some)) is None

    return probes if fits(*probes) else tuple(filter(fits, probes)) if fits() else ()


def with_probes(experiment: Experiment, probes: Iterable[Any], **others: Any) -> Experiment:
    """Other probes. Fields that the rule has as well take its values, such as how it adapts."""
    rule = experiment.rule
    shared = [{name: getattr(rule, name) for name in settable(type(probe)).keys()
               & settable(type(rule)).keys()} for probe in probes]  # fmt: skip
    made = [dataclasses.replace(p, **values) for p, values in zip(probes, shared, strict=True)]
    return dataclasses.replace(experiment, probes=tuple(made), **others)


def misfit(experiment: Experiment) -> str | None:
    """Why parts do not fit together, in a sentence; None if they do. They are traced, not run."""
    return _misfit(Keyed(jax.tree.structure(experiment), experiment))  # whatever its numbers


@functools.lru_cache(maxsize=512)
def _misfit(tried: Keyed) -> str | None:
    experiment = tried.experiment
    try:
        chosen, _ = trial.choose("auto", programs(experiment, []))
        run_size(experiment, chosen, "float32")
    except Exception as error:  # whatever a part raises
        return misfit_words(experiment, error)
    return None


def misfit_words(experiment: Experiment, error: Exception) -> str:
    """What a part raised, as a sentence."""
    if isinstance(error, BadInput):
        return str(error)
    kinds = " x ".join(type(getattr(experiment, slot)).__name__ for slot in SLOTS)
    return f"{kinds} cannot be run: {why_of(error)[:200]}."
