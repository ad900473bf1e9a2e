"""Dotted paths into a part: what stands at a path, what it accepts, and names for its values."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from learnscope.errors import BadInput, unknown
from learnscope.part.part import AbstractPart, allowed_kind, is_whole, require_field


def value_at(tree: Any, path: str) -> Any:
    """The value at a path through parts, tables and lists."""
    for name in path.split("."):
        if isinstance(tree, tuple):
            tree = tree[int(name)]
        else:
            tree = tree[name] if isinstance(tree, Mapping) else getattr(tree, name)
    return tree


def field_kind(part: AbstractPart, path: str) -> str:
    """The kind of the field at a path: number, shape, count, choice, flag, entry (a number in a
    list or a table of options) or other."""
    owner, name = _owner(part, path)
    if isinstance(owner, AbstractPart):
        return allowed_kind(owner, name)
    if isinstance(owner, tuple):
        owner = {str(i): value for i, value in enumerate(owner)}
        if name not in owner:
            raise unknown(f"entry of {path.rpartition('.')[0]}", name, owner)
    return "entry" if isinstance(owner.get(name), float) else "other"


def field_is_whole(part: AbstractPart, path: str) -> bool:
    """Whether the field at a path takes whole numbers only."""
    owner, name = _owner(part, path)
    return isinstance(owner, AbstractPart) and is_whole(owner, name)


def _owner(part: Any, path: str) -> tuple[Any, str]:
    """The part, list or table of options that the last name of a path belongs to, and that name."""
    name, _, rest = path.partition(".")
    while rest:
        require_field(part, name)
        part = getattr(part, name)
        if isinstance(part, Mapping | tuple):
            return part, rest
        if not isinstance(part, AbstractPart):
            raise BadInput(f"'{path}' is not a field: {name} = {part!r} has no fields.")
        name, _, rest = rest.partition(".")
    return part, name


def labels(values: Sequence[Any]) -> list[Any]:
    """Names for values: numbers and strings as they are, parts by kind and by what differs."""
    if not any(isinstance(value, AbstractPart) for value in values):
        return [str(v) if v is None or isinstance(v, list | tuple | dict) else v for v in values]
    kinds = [type(value).__name__ for value in values]
    if len(set(kinds)) == len(kinds):
        return kinds
    names = [_signature(value, [v for v in values if type(v) is type(value)]) for value in values]
    if len(set(names)) < len(set(zip(names, map(repr, values), strict=True))):
        raise BadInput(
            f"two values have the same name, {names[0]}: give them labels, "
            "{'first': ..., 'second': ...}."
        )
    return names


def _shown(value: Any) -> str:
    """A value's text; a function by its name, since its text differs from process to process."""
    return getattr(value, "__name__", None) or repr(value)


def _signature(value: Any, peers: Sequence[Any]) -> str:
    """A part's kind with the fields in which it differs from other parts of this kind."""
    differing = [
        f"{field.name}={_shown(getattr(value, field.name))}"
        for field in dataclasses.fields(value)
        if len({repr(getattr(peer, field.name)) for peer in peers}) > 1
    ]
    return type(value).__name__ + (f"({', '.join(differing)})" if differing else "")
