"""Pickles of arrays, numbers and text (CIFAR's Python batches), read without running code.

A pickle is a program. Here only the instructions that build dictionaries, lists, text and numbers
are allowed, and only the three names that an array needs. These names stand for classes of this
file: not even NumPy is called before everything is checked.
"""

import io
import math
import pickle
import pickletools
from pathlib import Path
from typing import Any

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats.safe import read_whole

LARGEST = 2**28  # bytes of a pickle: CIFAR-100's has 155 MB
_ALLOWED = """
    PROTO FRAME MARK STOP EMPTY_DICT EMPTY_LIST EMPTY_TUPLE DICT LIST TUPLE TUPLE1 TUPLE2 TUPLE3
    SETITEM SETITEMS APPEND APPENDS PUT BINPUT LONG_BINPUT GET BINGET LONG_BINGET MEMOIZE
    INT BININT BININT1 BININT2 LONG LONG1 NONE NEWTRUE NEWFALSE
    STRING BINSTRING SHORT_BINSTRING UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8
    BINBYTES SHORT_BINBYTES BINBYTES8 GLOBAL STACK_GLOBAL REDUCE BUILD
"""
_TYPES = {"b1", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"}


class _Array:
    """A placeholder for an array until everything is checked."""

    def __init__(self, *_):
        self.state: Any = ()

    def __setstate__(self, state):
        self.state = state


class _Type:
    """A placeholder for a type of numbers."""

    def __init__(self, *args):
        self.args, self.order = args, "|"

    def __setstate__(self, state):
        self.order = state[1]


class _ArraysOnly(pickle.Unpickler):
    """An unpickler that imports nothing and refuses all names but those of NumPy's arrays."""

    def find_class(self, module: str, name: str) -> Any:
        match module.replace("numpy._core", "numpy.core"), name:
            case ("numpy.core.multiarray", "_reconstruct") | ("numpy", "ndarray"):
                return _Array
            case "numpy", "dtype":
                return _Type
        raise BadInput(f"it names {f'{module}.{name}'[:80]!a}")


def read_pickle(path: Path) -> dict[str, Any]:
    """A dictionary of arrays, flat lists, numbers and text; text of Python 2 becomes bytes."""
    data = read_whole(path, "pickle", LARGEST)
    try:
        _check(data)
        return _plain(_ArraysOnly(io.BytesIO(data), encoding="bytes").load())
    except BadInput as error:
        raise BadInput(f"{path} is refused: {error}; only arrays are unpickled.") from None
    # A malformed pickle may raise anything, says the documentation of pickle.
    except Exception as error:
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise BadInput(f"{path} is not a whole pickle: {said}.") from None


def _check(data: bytes) -> None:
    """Refuse instructions that no array needs, and memory slots with absurd numbers."""
    allowed = frozenset(_ALLOWED.split())
    for code, argument, _ in pickletools.genops(data):
        if code.name not in allowed:
            raise BadInput(f"it has the instruction {code.name}")
        if code.name in ("PUT", "LONG_BINPUT") and int(argument) > len(data):  # type: ignore[arg-type]
            raise BadInput("it asks for more memory than its size explains")


def _plain(content: Any) -> dict[str, Any]:
    """The dictionary with arrays in place of their placeholders. Lists must be flat: with
    references, a few bytes make an enormous list of lists."""
    if not isinstance(content, dict):
        raise BadInput("it holds no dictionary")
    plain = {}
    for key, value in content.items():
        if isinstance(value, _Array):
            value = _array(*value.state)
        elif isinstance(value, list):
            if not {type(item) for item in value} <= {int, bytes, str}:
                raise BadInput("it holds a list of more than numbers and text")
        elif value is not None and not isinstance(value, int | bytes | str):
            raise BadInput(f"it holds a {type(value).__name__.strip('_').lower()}")
        plain[key.decode("latin-1") if isinstance(key, bytes) else str(key)] = value
    return plain


def _array(_version: Any, shape: Any, kind: Any, fortran: Any, data: Any) -> np.ndarray:
    name = kind.args[0] if isinstance(kind, _Type) and kind.args else None
    name = name.decode("latin-1") if isinstance(name, bytes) else name
    order = kind.order.decode("latin-1") if isinstance(kind.order, bytes) else kind.order
    if name not in _TYPES or order not in ("|", "<", ">", "=") or not isinstance(data, bytes):
        raise BadInput("it holds an array of objects")
    dtype = np.dtype(name).newbyteorder(order)
    if math.prod(shape) * dtype.itemsize != len(data):
        raise BadInput("it holds an array whose size is not what its shape says")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
