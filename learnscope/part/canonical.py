"""The canonical form of a part: plain data that is the same for the same numbers.

Code stands for itself by a digest, and so do arrays and the contents of data files.
"""

import contextlib
import dataclasses
import functools
import hashlib
import inspect
import json
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import equinox as eqx
import jax
import numpy as np

from learnscope.errors import BadInput
from learnscope.part.code import code_digest
from learnscope.part.part import AbstractPart
from learnscope.part.shipped import Definitions, is_own, names


def canonical(value: Any, where: str = "experiment") -> Any:
    """Plain data that is the same for the same value; code stands for itself by its source."""
    if isinstance(value, AbstractPart):
        fields = {
            f.name: canonical(getattr(value, f.name), f"{type(value).__name__}.{f.name}")
            for f in dataclasses.fields(value)
        }
        plain = {"kind": type(value).__name__, "code": code_of(type(value), where)}
        contents = [canonical(array) for array in value.contents()]
        return plain | {"fields": fields} | ({"contents": contents} if contents else {})
    if isinstance(value, Mapping):
        return {str(k): canonical(v, f"{where}.{k}") for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [canonical(inner, where) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray | jax.Array):
        value = np.ascontiguousarray(value)
        digest = hashlib.sha256(value).hexdigest()
        return {"array": digest, "shape": list(value.shape), "dtype": str(value.dtype)}
    if isinstance(value, eqx.Module):
        held = {f.name: canonical(getattr(value, f.name), where) for f in dataclasses.fields(value)}
        return {"module": code_of(type(value), where), "held": held}
    if isinstance(value, functools.partial):
        return [canonical(value.func, where), canonical(value.args, where),
                canonical(value.keywords, where)]  # fmt: skip
    if isinstance(value, Callable):
        return [code_of(value, where), canonical(_held(value), where)]
    raise BadInput(f"{where} = {value!r} cannot be stored: it is neither a value nor a function.")


def hashable(part: Any) -> tuple[Any, ...]:
    """A part as a key within this process: its structure, and the bytes of its numbers."""
    leaves, structure = jax.tree.flatten(part)
    return structure, tuple(np.asarray(leaf).tobytes() for leaf in leaves)


def _held(function: Callable[..., Any]) -> list[Any]:
    """What a function holds beside its source: its object, closure and defaults."""
    held = [function.__self__] if inspect.ismethod(function) else []
    code = getattr(function, "__wrapped__", function)
    if inspect.isfunction(code):
        closed = inspect.getclosurevars(code).nonlocals
        held += [dict(closed), code.__defaults__, code.__kwdefaults__]
    return held


def code_of(code: Any, where: str) -> str:
    """A digest of the code of a class or function: of its module, of all that the module reaches,
    and of its own source, which distinguishes the functions of one module; of a user's own code,
    also of the globals that it reads, which a script may change between two runs. Without a
    module's file, as in a notebook, it is a digest of the definitions that the code uses."""
    module = sys.modules.get(code.__module__)
    if getattr(module, "__file__", None) is None and module is sys.modules["__main__"]:
        return _digest(code, _used_by(code, where))
    if code.__module__.startswith("learnscope."):
        return _code_of(code, where)
    source, read = _code_of.__wrapped__(code, where), _globals(code, where)
    return _digest(code, source + json.dumps(read)) if read else source


def own_code(value: Any) -> Iterator[tuple[Any, str]]:
    """The classes and functions of a user's own in a part, each with a digest of its code."""
    if isinstance(value, AbstractPart | eqx.Module):
        yield from own_code(type(value))
        for field in dataclasses.fields(value):
            yield from own_code(getattr(value, field.name))
    elif isinstance(value, functools.partial):
        yield from own_code(value.func)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from own_code(inner)
    elif isinstance(value, type | types.FunctionType) and is_own(value.__module__):
        with contextlib.suppress(BadInput):  # it is said where it matters
            yield value, code_of(value, "experiment")


def _globals(code: Any, where: str) -> dict[str, Any]:
    """The values of globals that a class or function reads, and of those that this uses in turn."""
    found, todo, seen = dict[str, Any](), [code], set[Any]()
    while todo:
        thing: Any = inspect.unwrap(todo.pop())
        if thing in seen or not is_own(thing.__module__ or ""):
            continue
        seen.add(thing)
        if isinstance(thing, type):
            held = [getattr(each, "fget", None) or each for each in vars(thing).values()]
            todo += [each for each in (*thing.__bases__, *held) if _is_code(each)]
            continue
        for name in names(thing.__code__):
            value = thing.__globals__.get(name)
            if _is_code(value):
                todo.append(value)
            elif value is not None and not callable(value):
                with contextlib.suppress(BadInput):  # a module, say, which is no value
                    found[f"{thing.__module__}.{name}"] = canonical(value, where)
    return dict(sorted(found.items()))


def _is_code(thing: Any) -> bool:
    return callable(thing) and isinstance(inspect.unwrap(thing), type | types.FunctionType)


def _used_by(code: Any, where: str) -> str:
    used = Definitions()
    try:
        used.define(code)
    except BadInput:
        _unreadable(code, where)
    values = canonical(used.values | used.late, where)
    return f"{used.text}{json.dumps(values)}{code_digest(used.modules)}"


@functools.cache
def _code_of(code: Any, where: str) -> str:
    module = sys.modules.get(code.__module__)
    filed = getattr(module, "__file__", None) is not None
    text = ""
    try:
        text = "" if filed and isinstance(code, type) else inspect.getsource(code)
    except (OSError, TypeError):
        _unreadable(code, where)
    return _digest(code, text + (code_digest([code.__module__]) if filed else ""))


def _digest(code: Any, text: str) -> str:
    return f"{getattr(code, '__qualname__', '')}:{hashlib.sha256(text.encode()).hexdigest()}"


def _unreadable(code: Any, where: str) -> NoReturn:
    raise BadInput(
        f"{where} = {code!r} cannot be stored: its source cannot be read, so that a changed "
        "version would go unnoticed; define it in a file."
    ) from None
