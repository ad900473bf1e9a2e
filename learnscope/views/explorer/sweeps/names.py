"""Names of stored sweeps: the study and arm that an experiment belongs to; and what differs."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from learnscope.evidence import Arm, FunctionSweep, Sweep
from learnscope.lab.store.folder import Stored
from learnscope.papers import SCALES, STUDIES
from learnscope.part.plain import flat

_MOST = 4  # settings in which a sweep is said to differ
_WATCHED = ("probes", "record.every")  # they change no run, and come last


@functools.cache
def study_names() -> Mapping[str, str]:
    """The study, sweep and arm of every experiment of the studies, by its text. Takes seconds."""
    names: dict[str, str] = {}
    for study in STUDIES.values():
        for scale in SCALES:
            for name, sweep in study.sweeps(scale).items():
                if isinstance(sweep, FunctionSweep):
                    continue
                arms = sweep.arms if isinstance(sweep, Sweep) else [Arm("", sweep.experiment)]
                for arm in arms:
                    text = ", ".join(filter(None, [f"{study.name}: {name}", arm.label]))
                    names.setdefault(arm.experiment.to_toml(), text)
    return names


def settings(text: str) -> dict[str, str]:
    """The settings of an experiment's text, by their paths.

    >>> settings('steps = 5\\n[data]\\nkind = "A"\\nnoise = 0.5')
    {'steps': '5', 'data.kind': 'A', 'data.noise': '0.5'}
    """
    try:
        return {path: _said(value) for path, value in flat(tomllib.loads(text)).items()}
    except tomllib.TOMLDecodeError:  # of another version
        return {}


def _said(value: Any) -> str:
    """A setting in words: parts by their kinds."""
    if isinstance(value, list):
        return " ".join(each["kind"] if isinstance(each, dict) else str(each) for each in value)
    return str(value)


def differences(sweeps: Sequence[Stored]) -> dict[str, str]:
    """For each sweep, the settings in which sweeps of the same kinds of parts differ."""
    held = {each.name: settings(str(each.attributes.get("experiment"))) for each in sweeps}
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, of in held.items():
        kinds = tuple(value for path, value in of.items() if path.endswith(".kind"))
        alike.setdefault(kinds, []).append(name)
    words = {}
    for names in alike.values():
        paths = dict.fromkeys(path for name in names for path in held[name])
        varied = [p for p in paths if len({held[name].get(p) for name in names}) > 1]
        varied.sort(key=lambda path: path in _WATCHED)
        for name in names:
            said = [f"{p.split('.')[-1]} {held[name].get(p, 'none')}" for p in varied]
            more = f", and {len(said) - _MOST} more" if len(said) > _MOST else ""
            words[name] = ", ".join(said[:_MOST]) + more
    return words
