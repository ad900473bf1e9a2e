"""Arrays in .npz files, read without unpickling and up to a limited size."""

import math
import tokenize
import warnings
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats.safe import LARGEST, most_unpacked, reading

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_arrays(path: Path, names: tuple[str, ...], largest: int) -> dict[str, np.ndarray]:
    """The arrays `names`, which must all exist, of at most `largest` bytes each."""
    with reading(path, ".npz file"), zipfile.ZipFile(path) as archive:
        there = members(archive)
        missing = [name for name in names if name not in there]
        if missing:
            raise BadInput(f"{path} has no array '{missing[0]}'; arrays there: {listed(there)}.")
        return {name: read_member(archive, there[name], path, largest) for name in names}


def members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The arrays of an archive by their names."""
    arrays = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    return {info.filename.removesuffix(".npy"): info for info in arrays}


def listed(names: dict) -> str:
    """Up to ten names, as text."""
    return (", ".join(sorted(names)[:10]) + (", ..." if len(names) > 10 else "")) or "none"


def read_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, largest: int | None = None
) -> np.ndarray:
    """An array, after a check that its stated size is right and not too large."""
    name = f"'{info.filename.removesuffix('.npy')}' of {path}"
    with archive.open(info) as file:
        shape, dtype, length = read_header(file, name)
    size = math.prod(shape) * dtype.itemsize
    largest = LARGEST if largest is None else largest
    if size > largest:
        most = f"at most {largest / 2**30:.3g} GB are read"
        raise BadInput(f"{name} would take {size / 2**30:.3g} GB: {most}.")
    if length + size != info.file_size:
        raise BadInput(f"{name} is damaged: its size is not what its header says.")
    if size > most_unpacked(info.compress_size):
        raise BadInput(f"{name} would unpack to {size / info.compress_size:.0f} times its size.")
    with archive.open(info) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.lib.format.read_array(file, allow_pickle=False)


def read_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype, int]:
    """The shape and type of an array in NumPy's format, and the position of its data."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise BadInput(f"{name} is a structured array: it must be one of plain numbers.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers of Python 2, or damaged ones
            shape, _, dtype = _HEADERS[version](file)
    # NumPy parses a header as Python source, and does not catch the errors.
    except (SyntaxError, tokenize.TokenError, TypeError, KeyError, RecursionError):
        raise ValueError("the header of an array is damaged") from None
    if dtype.hasobject:
        never = "holds Python objects, which are never unpickled"
        raise BadInput(f"{name} {never}: save it as numbers or text.")
    return shape, dtype, file.tell()
