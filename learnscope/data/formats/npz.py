"""Arrays in NumPy's .npz, read without unpickling and within a stated size."""

import math
import tokenize
import warnings
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from learnscope.data.formats.safe import reading
from learnscope.errors import BadInput

LARGEST = 4 * 2**30  # bytes that an array may unpack to
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_arrays(path: Path, names: tuple[str, ...], largest: int) -> dict[str, np.ndarray]:
    """The arrays of these names, all of which must be there, none of more bytes than stated."""
    with reading(path, ".npz file"), zipfile.ZipFile(path) as archive:
        found = members(archive)
        missing = [name for name in names if name not in found]
        if missing:
            raise BadInput(f"{path} has no array '{missing[0]}'; arrays there: {listed(found)}.")
        return {name: read_member(archive, found[name], path, largest) for name in names}


def members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The arrays of an archive by their names."""
    return {
        info.filename.removesuffix(".npy"): info
        for info in archive.infolist()
        if info.filename.endswith(".npy")
    }


def listed(names: dict) -> str:
    """Some of the names, in words."""
    return (", ".join(sorted(names)[:10]) + (", ..." if len(names) > 10 else "")) or "none"


def read_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, largest: int | None = None
) -> np.ndarray:
    """An array, once what it says of its size agrees with the archive and is not too much."""
    name = f"'{info.filename.removesuffix('.npy')}' of {path}"
    with archive.open(info) as file:
        shape, dtype, length = read_header(file, name)
    size = math.prod(shape) * dtype.itemsize
    largest = LARGEST if largest is None else largest
    if size > largest:
        raise BadInput(
            f"{name} would take {size / 2**30:.3g} GB: at most {largest / 2**30:.3g} GB are read."
        )
    if length + size != info.file_size:
        raise BadInput(f"{name} is damaged: its size is not what its header says.")
    with archive.open(info) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.lib.format.read_array(file, allow_pickle=False)


def read_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype, int]:
    """The shape and type of an array in NumPy's format, and where its numbers begin."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise BadInput(f"{name} is a structured array: it must be one of plain numbers.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers of Python 2, and damaged ones taken for such
            shape, _, dtype = _HEADERS[version](file)
    # NumPy reads a header as Python's source and lets through what that raises.
    except (SyntaxError, tokenize.TokenError, TypeError, KeyError, RecursionError):
        raise ValueError("the header of an array is damaged") from None
    if dtype.hasobject:
        raise BadInput(
            f"{name} holds Python objects, which are never unpickled: save it as numbers or text."
        )
    return shape, dtype, file.tell()
