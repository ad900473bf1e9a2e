"""The canonical form of a part: plain data that is the same for the same numbers.

Code stands for itself by a digest, and so do arrays and the contents of data files.
"""

import dataclasses
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np

from learnscope.errors import BadInput
from learnscope.part.code import code_digest
from learnscope.part.part import AbstractPart


def canonical(value: Any, where: str = "experiment") -> Any:
    """Plain data that is the same for the same value; code stands for itself by its source."""
    if isinstance(value, AbstractPart):
        fields = {
            f.name: canonical(getattr(value, f.name), f"{type(value).__name__}.{f.name}")
            for f in dataclasses.fields(value)
        }
        plain = {"kind": type(value).__name__, "code": _code_of(type(value), where)}
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
        return {"module": _code_of(type(value), where), "held": held}
    if isinstance(value, functools.partial):
        return [canonical(value.func, where), canonical(value.args, where),
                canonical(value.keywords, where)]  # fmt: skip
    if isinstance(value, Callable):
        return [_code_of(value, where), canonical(_held(value), where)]
    raise BadInput(f"{where} = {value!r} cannot be stored: it is neither a value nor a function.")


def _held(function: Callable[..., Any]) -> list[Any]:
    """What a function holds beside its source: its object, closure and defaults."""
    held = [function.__self__] if inspect.ismethod(function) else []
    code = getattr(function, "__wrapped__", function)
    if inspect.isfunction(code):
        closed = inspect.getclosurevars(code).nonlocals
        held += [dict(closed), code.__defaults__, code.__kwdefaults__]
    return held


@functools.cache
def _code_of(code: Any, where: str) -> str:
    """A digest of the code of a class or function: its module with all that this reaches, and its
    own source, without which one function of a module could not be told from another."""
    module = sys.modules.get(code.__module__)
    filed = getattr(module, "__file__", None) is not None
    try:
        text = "" if filed and isinstance(code, type) else inspect.getsource(code)
    except (OSError, TypeError):
        raise BadInput(
            f"{where} = {code!r} cannot be stored: its source cannot be read, so that a changed "
            "one could not be told from it; define it in a file."
        ) from None
    if filed:
        text += code_digest([code.__module__])
    return f"{getattr(code, '__qualname__', '')}:{hashlib.sha256(text.encode()).hexdigest()}"
