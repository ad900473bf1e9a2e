"""The identity of a sweep, from its canonical form.

`FAMILY-VALUES`: the first half names the experiment without the values of its axes, its
coordinates and precision, and the code, versions and data files that decide its numbers; the second
half names the axis values and the seeds. A sweep with the same identity is the same array; sweeps
of one family share runs. No stale result is ever returned.
"""

import base64
import functools
import hashlib
import json
import math
from typing import Any

import numpy as np

from learnscope.errors import BadInput
from learnscope.lab.blocks import Plan
from learnscope.part import field_kind
from learnscope.part.canonical import canonical
from learnscope.part.code import code_digest, versions

# What draws and trains, and cuts runs into batches, whose width decides rounding.
_LAB = ("learnscope.engine.draw", "learnscope.engine.train", "learnscope.engine.size")
_MANY = 100_000
Values = list[str] | str  # of an axis: a text each, or one text for many numbers


def identity(plan: Plan, values: dict[str, Values] | None = None) -> str:
    """The name under which a sweep is stored; `values` are its `axis_values`, if they are known."""
    values = axis_values(plan) if values is None else values
    table = canonical(plan.experiment)
    for axis in plan.axes:
        for path in axis.fields:
            _blank(table, path.split("."))
    fields = [[axis.dim, list(axis.fields)] for axis in plan.axes]
    family = _hash([table, fields, plan.coordinates, plan.precision, software()])
    return f"{family}-{_hash([values, list(plan.seeds)])}"


def software() -> dict[str, str]:
    """Versions, and a digest of the laboratory's own code; parts bring theirs (`canonical`)."""
    return {**versions(), "code": _laboratory()}


@functools.cache
def _laboratory() -> str:
    """Of the code that this process has loaded; it takes a while to find."""
    return code_digest(_LAB)


def axis_values(plan: Plan) -> dict[str, Values]:
    """The values of every axis as canonical text, which is how sweeps compare them. Many numbers
    are packed into one text: as texts of their own they would take minutes."""
    found: dict[str, Values] = {}
    for axis in plan.axes:
        first, *more = [_plain(plan, *field) for field in axis.fields.items()]
        if not more and len(first) > _MANY and set(map(type, first)) == {float}:
            found[axis.dim] = base64.b64encode(np.array(first, "<f8").tobytes()).decode()
        else:
            found[axis.dim] = [*map(_row, zip(first, *more, strict=True))]
    return found


def unpacked(values: Values) -> list[str]:
    """Values of an axis, a text each."""
    if isinstance(values, list):
        return values
    return [_row((value,)) for value in np.frombuffer(base64.b64decode(values), "<f8").tolist()]


def _plain(plan: Plan, path: str, values: list[Any]) -> list[Any]:
    try:
        number = field_kind(plan.experiment, path) in ("number", "shape", "entry")
    except BadInput:  # a field of a part that is swept itself
        number = True
    return [float(value) if number and isinstance(value, int | float) else canonical(value, path)
            for value in values]  # fmt: skip


def _row(row: tuple[Any, ...]) -> str:
    """Values as JSON; numbers, of which there may be millions, without a call of `json`."""
    number = len(row) == 1 and type(row[0]) is float and math.isfinite(row[0])
    return f"[{row[0]!r}]" if number else _text(row)


def _blank(table: Any, names: list[str]) -> None:
    """Blank the value at a path, if the path is there."""
    if isinstance(table, dict):
        table = table["fields"] if {"kind", "code", "fields"} <= table.keys() else table
        if len(names) > 1:
            _blank(table.get(names[0]), names[1:])
        elif names[0] in table:
            table[names[0]] = "swept"


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _hash(value: Any) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()[:8]
