"""Parts as plain data and back: what TOML, JSON, a store and a cluster worker read."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Set
from typing import Any

import jax
import numpy as np

from learnscope.errors import BadInput, refuse_value, unknown
from learnscope.part.part import AbstractPart, kinds, required


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
    if hasattr(value, "tolist"):  # an array, or what stands for one
        return value.tolist()
    raise BadInput(f"{where} = {value!r} cannot be stored: it is code, not a value.")


def _has_choice(value: AbstractPart) -> bool:
    """Whether a slot could hold another kind of part, so that the kind must be named."""
    return any(base.__name__.startswith("Abstract") for base in type(value).__mro__[1:-1]) and (
        type(value).__mro__[1] is not AbstractPart
    )


def values_of(name: str, given: Any) -> list[Any]:
    """The values of a list or an array as plain values; `name` is what an error calls the list."""
    if isinstance(given, np.ndarray | jax.Array) and given.ndim > 0:
        given = np.asarray(given).tolist() if given.ndim == 1 else list(given)
    listed = isinstance(given, Iterable) and not isinstance(given, np.ndarray | jax.Array)
    if isinstance(given, str | bytes | Mapping) or not listed:
        refuse_value(name, given, "it must be a list of values")
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    if not values:
        raise BadInput(f"{name} has no values.")
    return values


def part(base: type, table: Any, where: str) -> Any:
    """The part that a table describes."""
    if isinstance(table, base):
        return table
    if not isinstance(table, Mapping):
        refuse_value(where, table, "it must be a table with a kind")
    fields = dict(table)
    if base.__name__.startswith("Abstract"):
        known = kinds(base)
        kind = fields.pop("kind", None)
        if kind is None:
            raise BadInput(f"{where} has no kind; it must be one of {', '.join(sorted(known))}.")
        if not isinstance(kind, str) or kind not in known:
            raise unknown(f"{where} kind", kind, known)
        base = known[kind]
    elif fields.get("kind") == base.__name__:  # not needed, but allowed
        del fields["kind"]
    names = {f.name: f for f in dataclasses.fields(base)}
    check_names(base.__name__, fields, set(names), required(base))
    for name, value in fields.items():
        inside, listed = (names[name].metadata.get(key) for key in ("slot", "slots"))
        inner = f"{where}.{name}".lstrip(".")
        if inside is not None:
            fields[name] = part(inside, value, inner)
        elif listed is not None:
            if not isinstance(value, list | tuple):
                raise BadInput(f"{inner} must be a list of tables, each with a kind.")
            fields[name] = [part(listed, each, inner) for each in value]
    return base(**fields)


def check_names(what: str, given: Mapping[str, Any], known: Set[str], needed: Set[str]) -> None:
    """Say so if a field is unknown (with the nearest that is known) or missing."""
    for name in given:
        if name not in known:
            raise unknown(f"field of {what}", name, known)
    missing = sorted(needed - set(given))
    if missing:
        raise BadInput(f"{what} lacks {', '.join(missing)}.")


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of tables in tables, by dotted path.

    >>> flat({"steps": 5, "data": {"kind": "A", "noise": 0.5}})
    {'steps': 5, 'data.kind': 'A', 'data.noise': 0.5}
    """
    found: dict[str, Any] = {}
    for name, value in table.items():
        inside = isinstance(value, Mapping)
        found |= flat(value, f"{prefix}{name}.") if inside else {f"{prefix}{name}": value}
    return found


def finite(value: Any) -> Any:
    """The same data with infinities and NaN spelt out, which strict JSON has no numbers for."""
    if isinstance(value, Mapping):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [finite(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def unspelt(value: Any) -> Any:
    """The data that `finite` was given.

    >>> unspelt(finite({"eps": math.inf, "low": [-math.inf, 1.0], "name": "adam"}))
    {'eps': inf, 'low': [-inf, 1.0], 'name': 'adam'}
    """
    if isinstance(value, Mapping):
        return {name: unspelt(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [unspelt(inner) for inner in value]
    return float(value) if isinstance(value, str) and value in ("inf", "-inf", "nan") else value


def parse_value(text: str) -> Any:
    """A word of the command line or an address as a number, true or false, a list, or itself."""
    words = {"true": True, "false": False}
    if text.startswith("[") and text.endswith("]"):
        return [parse_value(piece.strip()) for piece in text[1:-1].split(",")]
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
