"""Parts as Python: the call that makes them."""

import dataclasses
import importlib
import math
from typing import Any

from learnscope.errors import BadInput
from learnscope.part.part import AbstractPart

_WIDTH = 88


def source(value: Any, indent: int = 0, where: str = "experiment") -> str:
    """The expression that makes a part, with `learnscope` imported as `ls`; fields that have their
    default are left out.

    >>> import learnscope as ls
    >>> source(ls.rules.PerExamplePenalty(rate=0.1, weight=0.5))
    'ls.rules.PerExamplePenalty(rate=0.1, weight=0.5)'
    """
    if isinstance(value, AbstractPart):
        given = [
            (f.name, getattr(value, f.name))
            for f in dataclasses.fields(value)
            if not _is(getattr(value, f.name), f)
        ]
        name = _name(type(value))
        return _wrapped(f"{name}(", [(f"{n}=", v) for n, v in given], ")", indent, where)
    if hasattr(value, "tolist"):  # an array, or what stands for one
        value = value.tolist()
    if isinstance(value, dict):
        return _wrapped("{", [(f"{key!r}: ", v) for key, v in value.items()], "}", indent, where)
    if isinstance(value, list | tuple):
        return _wrapped("[", [("", v) for v in value], "]", indent, where)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    raise BadInput(f"{where} = {value!r} cannot be written as Python: it is code, not a value.")


def _wrapped(start: str, items: list[tuple[str, Any]], end: str, indent: int, where: str) -> str:
    """On one line if it fits; otherwise one line per item."""
    flat = start + ", ".join(head + source(v, indent, where) for head, v in items) + end
    if "\n" not in flat and indent + len(flat) <= _WIDTH:
        return flat
    inner = indent + 4
    lines = [" " * inner + head + source(v, inner, where) + "," for head, v in items]
    return "\n".join([start, *lines, " " * indent + end])


def _is(value: Any, field: dataclasses.Field) -> bool:
    """Whether a field has its default."""
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    return type(value) is type(default) and bool(value == default)


def _name(kind: type) -> str:
    """The public name of a part: `ls.data.SignalNoise`, `ls.Record`."""
    room = kind.__module__.split(".")[:2]
    if room[0] != "learnscope":
        raise BadInput(f"{kind.__name__} cannot be written as Python: it is not of learnscope.")
    if room[1] == "papers":  # a paper's own part, which its base's room exports too
        homes = [base.__module__.split(".")[1] for base in kind.__mro__ if base is not kind
                 and base.__module__.startswith("learnscope.")]  # fmt: skip
        room[1] = next(home for home in homes if home != "papers")
        if not hasattr(importlib.import_module(".".join(room)), kind.__name__):
            raise BadInput(f"{kind.__name__} cannot be written as Python: it is only in "
                           f"{kind.__module__}.")  # fmt: skip
    return f"ls.{kind.__name__}" if room[1] == "lab" else f"ls.{room[1]}.{kind.__name__}"
