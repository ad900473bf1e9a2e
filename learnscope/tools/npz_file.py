"""Arrays in NumPy's .npz, read without unpickling and within a stated size."""

import math
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from learnscope.errors import BadInput, unknown

LARGEST = 4 * 2**30  # bytes that a file may unpack to
IMAGES = ("images", "x", "x_train", "train_images", "data")
LABELS = ("labels", "label", "y", "y_train", "train_labels", "targets", "target")
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, NotImplementedError)


def read_npz(path: Path, label: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(archive)
            images = _find(path, members, "images", IMAGES)
            labels = label or _find(path, members, "labels", LABELS)
            if labels not in members:
                raise unknown(f"array of {path}", labels, members)
            if labels == images:
                raise BadInput(f"'{images}' of {path} cannot be both images and labels.")
            return _array(archive, members[images], path), _array(archive, members[labels], path)
    except BadInput:
        raise
    except BROKEN as error:
        raise BadInput(f"{path} is not a whole .npz file: {error}.") from None


def read_one(path: Path, name: str | None, names: tuple[str, ...]) -> np.ndarray:
    """The array of that name, or the only one, or the first there is of some names."""
    with zipfile.ZipFile(path) as archive:
        members = _members(archive)
        if name is None:
            lower = {each.lower(): each for each in reversed(members)}
            found = [lower[each] for each in names if each in lower]
            if not found and len(members) != 1:
                raise BadInput(
                    f"{path} has {len(members)} arrays: --array names one; "
                    f"arrays there: {_listed(members)}."
                )
            name = next(iter(members)) if len(members) == 1 else found[0]
        if name not in members:
            raise unknown(f"array of {path}", name, members)
        return _array(archive, members[name], path)


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    return {
        info.filename.removesuffix(".npy"): info
        for info in archive.infolist()
        if info.filename.endswith(".npy")
    }


def _listed(members: dict) -> str:
    return (", ".join(sorted(members)[:10]) + (", ..." if len(members) > 10 else "")) or "none"


def _find(path: Path, members: dict, what: str, names: tuple[str, ...]) -> str:
    lower = {name.lower(): name for name in reversed(members)}
    for name in names:
        if name in lower:
            return lower[name]
    hint = "; --label names any other" if what == "labels" else ""
    raise BadInput(
        f"{path} has no array of {what}: it must be called {', '.join(names[:-1])} or {names[-1]}"
        f"{hint}; arrays there: {_listed(members)}."
    )


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> np.ndarray:
    """An array, once what it says of its size agrees with the archive and is not too much."""
    name = f"'{info.filename.removesuffix('.npy')}' of {path}"
    with archive.open(info) as file:
        shape, dtype, length = read_header(file, name)
    size = math.prod(shape) * dtype.itemsize
    if size > LARGEST:
        raise BadInput(f"{name} would take {size / 2**30:.3g} GB: at most 4 GB are read.")
    if length + size != info.file_size:
        raise BadInput(f"{name} is damaged: its size is not what its header says.")
    with archive.open(info) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def read_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype, int]:
    """The shape and type of an array in NumPy's format, and where its numbers begin."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise BadInput(f"{name} is a structured array: it must be one of plain numbers.")
    shape, _, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise BadInput(
            f"{name} holds Python objects, which are never unpickled: save it as numbers or text."
        )
    return shape, dtype, file.tell()
