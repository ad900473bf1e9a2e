"""What a sweep is called: an identity from its canonical form.

`FAMILY-VALUES`: the first half names the experiment without the values of its axes, its
coordinates and precision, and the code and versions that compute it; the second half names the axis
values and the seeds. A sweep with the same identity is the same array; sweeps of one family share
runs. A changed number, rule or line of code is another family: no stale result is ever returned.
"""

import contextlib
import dataclasses
import functools
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from learnscope.errors import BadInput
from learnscope.lab.plan import Plan, versions
from learnscope.lab.sweep import Axis, field_kind
from learnscope.part import AbstractPart

_PACKAGE = Path(__file__).parents[1]
# What decides numbers, and how boxes lie; not the ledger, the views or the command line.
_SOURCES = ("part.py", "data", "nets", "rules", "probes", "lab/engine.py", "lab/coordinates.py",
            "lab/plan.py", "lab/sweep.py", "lab/experiment.py")  # fmt: skip


def identity(plan: Plan) -> str:
    """The name under which a sweep is stored."""
    return f"{family(plan)}-{_hash([axis_values(plan), list(plan.seeds)])}"


def family(plan: Plan) -> str:
    """The half of the name that sweeps share if they differ only in axis values and seeds."""
    paths = [path for axis in plan.axes for path in axis.fields]
    table = canonical(plan.experiment)
    for path in paths:
        _blank(table, path.split("."))
    fields = [[axis.dim, list(axis.fields)] for axis in plan.axes]
    return _hash([table, fields, plan.coordinates, plan.precision, software()])


def software() -> dict[str, str]:
    """Versions, and a digest of the code that decides numbers."""
    return {**versions(), "code": _code()}


def axis_values(plan: Plan) -> dict[str, list[str]]:
    """The values of every axis as canonical text, which is how sweeps compare them."""
    return {axis.dim: _axis_values(plan, axis) for axis in plan.axes}


def _axis_values(plan: Plan, axis: Axis) -> list[str]:
    columns = []
    for path, values in axis.fields.items():
        try:
            number = field_kind(plan.experiment, path) in ("number", "shape", "entry")
        except BadInput:  # a field of a part that is swept itself
            number = True
        columns.append(
            [
                float(v) if number and isinstance(v, int | float) else canonical(v, where=path)
                for v in values
            ]
        )
    return [_text(list(setting)) for setting in zip(*columns, strict=True)]


def canonical(value: Any, where: str = "experiment") -> Any:
    """Plain data that is the same for the same value; code stands for itself by its source."""
    if isinstance(value, AbstractPart):
        fields = {
            f.name: canonical(getattr(value, f.name), f"{type(value).__name__}.{f.name}")
            for f in dataclasses.fields(value)
        }
        code = _class_source(type(value), where)
        return {"kind": type(value).__name__, "code": code, "fields": fields}
    if isinstance(value, Mapping):
        return {str(k): canonical(v, f"{where}.{k}") for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [canonical(inner, where) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray | jax.Array):
        value = np.asarray(value)
        return {"array": hashlib.sha256(value.tobytes()).hexdigest(), "shape": list(value.shape)}
    if isinstance(value, functools.partial):
        return [canonical(value.func, where), canonical(value.args, where),
                canonical(value.keywords, where)]  # fmt: skip
    if isinstance(value, Callable):
        return [_source(value, where), canonical(_held(value), where)]
    raise BadInput(f"{where} = {value!r} cannot be stored: it is neither a value nor a function.")


def _held(function: Callable[..., Any]) -> list[Any]:
    """What a function holds beside its source: its object, closure and defaults."""
    held = [function.__self__] if inspect.ismethod(function) else []
    code = getattr(function, "__wrapped__", function)
    if inspect.isfunction(code):
        closed = inspect.getclosurevars(code).nonlocals
        held += [dict(closed), code.__defaults__, code.__kwdefaults__]
    return held


def _class_source(kind: type, where: str) -> list[str]:
    """The source of a part's class and bases, as far as they are not learnscope's own."""
    own = [
        base
        for base in kind.__mro__
        if issubclass(base, AbstractPart) and base.__module__.partition(".")[0] != "learnscope"
    ]
    return [_source(base, where) for base in own]


def _source(code: Any, where: str) -> str:
    try:
        text = inspect.getsource(code)
    except (OSError, TypeError):
        raise BadInput(
            f"{where} = {code!r} cannot be stored: its source cannot be read, so that a changed "
            "one could not be told from it; define it in a file."
        ) from None
    module = inspect.getmodule(code)
    if module is not None:
        with contextlib.suppress(OSError, TypeError):
            text += inspect.getsource(module)  # what it calls
    name = getattr(code, "__qualname__", repr(code))
    return f"{name}:{hashlib.sha256(text.encode()).hexdigest()}"


def _blank(table: Any, names: list[str]) -> None:
    """Forget the value at a path, if the path is there."""
    for name in names[:-1]:
        table = _fields(table).get(name)
    if names[-1] in _fields(table):
        _fields(table)[names[-1]] = "swept"


def _fields(table: Any) -> dict[str, Any]:
    if not isinstance(table, dict):
        return {}
    return table["fields"] if table.keys() == {"kind", "code", "fields"} else table


@functools.cache
def _code() -> str:
    files = [
        file for source in _SOURCES for file in sorted((_PACKAGE / source).rglob("*.py") or [])
    ] + [_PACKAGE / source for source in _SOURCES if source.endswith(".py")]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(_PACKAGE).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _hash(value: Any) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()[:8]
