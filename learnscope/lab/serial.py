"""Parts as plain data and back: what TOML, JSON, a store and a cluster worker read."""

import dataclasses
import math
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from learnscope.errors import BadInput, unknown
from learnscope.part import AbstractPart, kinds


def plain(value: Any, top: bool = False, where: str = "experiment") -> Any:
    """Numbers, strings, lists and tables only; a part is a table with its `kind`."""
    if isinstance(value, AbstractPart):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        table = {} if top or not _has_choice(value) else {"kind": type(value).__name__}
        return table | {
            name: plain(inner, where=f"{type(value).__name__}.{name}")
            for name, inner in fields.items()
            if inner is not None
        }
    if isinstance(value, Mapping):
        return {name: plain(inner, where=f"{where}.{name}") for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, where=where) for inner in value]
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise BadInput(f"{where} = {value!r} cannot be stored: it is code, not a value.")


def _has_choice(value: AbstractPart) -> bool:
    """Whether a slot could hold another kind of part, so that the kind must be named."""
    return any(base.__name__.startswith("Abstract") for base in type(value).__mro__[1:-1]) and (
        type(value).__mro__[1] is not AbstractPart
    )


def part(base: type, table: Any, where: str) -> Any:
    """The part that a table describes."""
    if isinstance(table, base):
        return table
    if not isinstance(table, Mapping):
        raise BadInput(f"{where} = {table!r} is not allowed: it must be a table with a kind.")
    fields = dict(table)
    if base.__name__.startswith("Abstract"):
        known = kinds(base)
        kind = fields.pop("kind", None)
        if kind is None:
            raise BadInput(f"{where} has no kind; it must be one of {', '.join(sorted(known))}.")
        if not isinstance(kind, str) or kind not in known:
            raise unknown(f"{where} kind", kind, known)
        base = known[kind]
    names = {f.name: f for f in dataclasses.fields(base)}
    required = {
        name
        for name, f in names.items()
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    }
    check_names(base.__name__, fields, set(names), required)
    for name, value in fields.items():
        inside = names[name].metadata.get("slot")
        if inside is not None:
            fields[name] = part(inside, value, f"{where}.{name}")
    return base(**fields)


def check_names(what: str, given: Mapping[str, Any], known: Set[str], required: Set[str]) -> None:
    """Say so if a field is unknown (with the nearest that is known) or missing."""
    for name in given:
        if name not in known:
            raise unknown(f"field of {what}", name, known)
    missing = sorted(required - set(given))
    if missing:
        raise BadInput(f"{what} lacks {', '.join(missing)}.")


def finite(value: Any) -> Any:
    """The same data with infinity spelt out, which strict JSON has no number for."""
    if isinstance(value, Mapping):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [finite(inner) for inner in value]
    return "inf" if isinstance(value, float) and math.isinf(value) else value
