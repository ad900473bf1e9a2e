"""SVHN's `train_32x32.mat` and `test_32x32.mat`: `X` (32, 32, 3, n) and `y`, where 10 is a zero.

The reader knows the part of MATLAB's format (version 5) that these files use: numeric arrays,
compressed or not. It skips MATLAB's objects, functions and cells.
"""

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats.layout import Split
from learnscope.images.formats.safe import as_many, check_bytes, read_whole, reading, whole_labels

FILES = ("train_32x32.mat", "test_32x32.mat")
_MOST = 3072 * 100_000 + 1000  # bytes of an array
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8",
          13: "u8"}  # fmt: skip


def read_split(folder: Path) -> Split:
    """Training and test digits, with labels 0 to 9."""
    return (*_digits(folder / FILES[0]), *_digits(folder / FILES[1]))


def _digits(path: Path) -> tuple[np.ndarray, np.ndarray]:
    arrays = read_mat(path)
    if "X" not in arrays or "y" not in arrays:
        raise BadInput(f"{path} must hold the arrays X and y; it holds {sorted(arrays) or 'none'}.")
    x, y = arrays["X"], arrays["y"].reshape(-1)
    good = x.ndim in (3, 4) and x.shape[:3] == (32, 32, 3)
    check_bytes(f"X of {path}", x, good, "32, 32, 3, images")
    # MATLAB drops the last axis of a single image.
    images = np.ascontiguousarray(np.moveaxis(x.reshape(32, 32, 3, -1), -1, 0))
    as_many(images, y, path)
    if not ((y >= 1) & (y <= 10) & (y == np.floor(y))).all():
        raise BadInput(f"y of {path} must be whole numbers from 1 to 10, where 10 stands for 0.")
    return images, whole_labels(y.astype(np.int64) % 10, 10, path)


def read_mat(path: Path) -> dict[str, np.ndarray]:
    """The numeric arrays X and y of a MATLAB file of version 5."""
    with reading(path, "MATLAB 5 file"):
        data = memoryview(read_whole(path, "MATLAB 5 file", _MOST))
        ends = {b"IM": "<", b"MI": ">"}.get(bytes(data[126:128]))
        if ends is None or data[:10] != b"MATLAB 5.0":
            raise ValueError("its first line is another")
        arrays = {}
        for kind, content in _elements(data[128:], ends):
            if kind == _COMPRESSED:
                kind, content = next(_elements(_unpacked(content), ends), (0, content))
            if kind == _MATRIX:
                arrays.update(_matrix(content, ends))
        return arrays


def _elements(data: memoryview, ends: str) -> Iterator[tuple[int, memoryview]]:
    """The types and contents of all elements."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack(f"{ends}II", data[at : at + 8])
        if kind >> 16:  # up to four bytes are stored in the tag itself
            kind, size = kind & 0xFFFF, kind >> 16
            if size > 4:
                raise ValueError("a tag is damaged")
            yield kind, data[at + 4 : at + 4 + size]
            at += 8
            continue
        if at + 8 + size > len(data):
            raise ValueError("it ends too early")
        yield kind, data[at + 8 : at + 8 + size]
        at += 8 + (size if kind == _COMPRESSED else -(-size // 8) * 8)


def _unpacked(content: memoryview) -> memoryview:
    machine = zlib.decompressobj()
    data = machine.decompress(content, _MOST)
    if not machine.eof:
        raise ValueError(f"an array is cut off, or has more than {_MOST:,} bytes")
    return memoryview(data)


def _matrix(content: memoryview, ends: str) -> dict[str, np.ndarray]:
    """An array by its name; empty unless it is a numeric array X or y."""
    elements = _elements(content, ends)
    flags, dims, name, values = (next(elements, (0, memoryview(b""))) for _ in range(4))
    known = len(flags[1]) == 8 and dims[0] == 5 and values[0] in _TYPES
    matlab = struct.unpack(f"{ends}I", flags[1][:4])[0] & 0xFF if known else 0
    if not 6 <= matlab <= 15 or bytes(name[1]) not in (b"X", b"y"):
        return {}
    shape = tuple(int(size) for size in np.frombuffer(dims[1], f"{ends}i4"))
    numbers = np.frombuffer(values[1], f"{ends}{_TYPES[values[0]]}")
    if min(shape, default=0) < 0 or math.prod(shape) != len(numbers):
        raise ValueError(f"an array states the shape {shape} for {len(numbers):,} numbers")
    return {bytes(name[1]).decode("latin-1"): numbers.reshape(shape, order="F")}
