"""The experiment that a panel shows, so that theory speaks of that one and no other."""

import json
import math
from typing import Any

import xarray as xr

from learnscope.errors import BadInput
from learnscope.lab import Experiment
from learnscope.lab.origin import Origin, origins
from learnscope.part import plain, value_at

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def setting(data: xr.Dataset, x: str, y: str) -> Experiment | None:
    """The experiment that all runs in `data` share, apart from the fields on the axes x and y.

    None if there are several (an axis that is neither selected nor shown), or if it is unknown.
    Results of older versions name whole parts by their labels only: a rule on an axis is then known
    if its label (the kind, and fields in brackets) fits the experiment's own.
    """
    try:
        found = _of_arm(data)
        experiment = found.experiment
        # Whole parts come first: a field may belong to a part that is swept itself.
        for path in sorted(found.over, key=lambda path: path.count(".")):
            own = [c for c in data.coords.values() if c.attrs.get("field") == path]
            if path in ("probes", "record") or any(c.dims in ((x,), (y,)) for c in own):
                continue
            values = [c.item() for c in own if c.ndim == 0] or found.over[path]
            if len(values) != 1:
                return None
            parts = json.loads(data.attrs.get("parts", "{}")).get(path, {})
            experiment = _with(experiment, path, values[0], parts)
    except (BadInput, KeyError, TypeError, ValueError):
        return None
    return experiment


def same_parts(one: Experiment, other: Experiment, fields: list[str]) -> bool:
    """Whether two experiments have the same data, net and rule, but for some fields."""
    try:
        for path in fields:
            one = one.replace(path, value_at(other, path))
    except (AttributeError, LookupError, BadInput):
        return False
    return (one.data, one.net, one.rule) == (other.data, other.net, other.rule)


def _of_arm(data: xr.Dataset) -> Origin:
    """The origin of a dataset; of the arm that is selected, if it has several experiments."""
    arms = origins(data.attrs)
    single = [c.item() for c in data.coords.values() if c.ndim == 0 and "field" not in c.attrs]
    (arm,) = arms if len(arms) == 1 else [name for name in single if name in arms]
    return arms[arm]


def _with(experiment: Experiment, path: str, value: Any, parts: dict[str, Any]) -> Experiment:
    """The experiment with a field at the value of that label; `parts` are tables by label."""
    if path not in Experiment.slots:
        return experiment.replace(path, value)
    if value in parts:
        return experiment.replace(path, plain.part(Experiment.slots[path], parts[value], path))
    part = getattr(experiment, path)
    kind, _, fields = str(value).partition("(")
    pairs = [pair.partition("=")[::2] for pair in fields.removesuffix(")").split(", ") if pair]
    if kind != type(part).__name__ or any(repr(getattr(part, n, None)) != v for n, v in pairs):
        raise BadInput(f"the {path} of {value} is not known.")
    return experiment


def ran(data: xr.Dataset, path: str, form: str = "") -> str:
    """The value that a field had in a sweep's runs, as a heading says it; "a to b" of several.

    `form` is that of one value. Runs of any scale then have their own numbers in their titles.
    """
    arms = origins(data.attrs).values()
    found = dict.fromkeys(value for arm in arms for value in _values(arm, path))
    shown = list(found) if any(isinstance(v, str) for v in found) else sorted(found)
    words = [form.format(value) if form else number(value) for value in shown]
    return words[0] if len(words) == 1 else f"{words[0]} to {words[-1]}"


def _values(arm: Origin, path: str) -> list[Any]:
    """An axis's values, or the field's own; none if the experiment has no such field."""
    value: Any = arm.experiment
    for name in path.split("."):
        value = getattr(value, name, None)
    return arm.over.get(path, [] if value is None else [value])


def number(value: Any) -> str:
    """A number of a heading.

    >>> number(10**7), number(1e-4), number(2000), number(0.25), number("digits")
    ('10⁷', '10⁻⁴', '2,000', '0.25', 'digits')
    """
    if isinstance(value, str) or not math.isfinite(value):
        return str(value)
    power = round(math.log10(abs(value))) if value else 0
    if not -3 <= power < 4 and math.isclose(value, 10.0**power):
        return "10" + str(power).translate(_RAISED)
    return f"{value:,.0f}" if value == round(value) else f"{value:.3g}"
