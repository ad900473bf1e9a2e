"""Images and labels in NumPy's .npz, read without unpickling and within a stated size."""

import math
import zipfile
import zlib
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput, unknown

LARGEST = 4 * 2**30  # bytes that a file may unpack to
IMAGES = ("images", "x", "x_train", "train_images", "data")
LABELS = ("labels", "label", "y", "y_train", "train_labels", "targets", "target")
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, NotImplementedError)


def read_npz(path: Path, label: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {
                info.filename.removesuffix(".npy"): info
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
            images = _find(path, members, "images", IMAGES)
            labels = label or _find(path, members, "labels", LABELS)
            if labels not in members:
                raise unknown(f"array of {path}", labels, members)
            if labels == images:
                raise BadInput(f"'{images}' of {path} cannot be both images and labels.")
            return _array(archive, members[images], path), _array(archive, members[labels], path)
    except BadInput:
        raise
    except _BROKEN as error:
        raise BadInput(f"{path} is not a whole .npz file: {error}.") from None


def _find(path: Path, members: dict, what: str, names: tuple[str, ...]) -> str:
    lower = {name.lower(): name for name in reversed(members)}
    for name in names:
        if name in lower:
            return lower[name]
    there = ", ".join(sorted(members)[:10]) + (", ..." if len(members) > 10 else "")
    hint = "; --label names any other" if what == "labels" else ""
    raise BadInput(
        f"{path} has no array of {what}: it must be called {', '.join(names[:-1])} or {names[-1]}"
        f"{hint}; arrays there: {there or 'none'}."
    )


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> np.ndarray:
    """An array, once what it says of its size agrees with the archive and is not too much."""
    name = f"'{info.filename.removesuffix('.npy')}' of {path}"
    with archive.open(info) as file:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise BadInput(f"{name} is a structured array: it must be one of plain numbers.")
        shape, _, dtype = _HEADERS[version](file)
        length = file.tell()
    if dtype.hasobject:
        raise BadInput(
            f"{name} holds Python objects, which are never unpickled: save it as numbers or text."
        )
    size = math.prod(shape) * dtype.itemsize
    if size > LARGEST:
        raise BadInput(f"{name} would take {size / 2**30:.3g} GB: at most 4 GB are read.")
    if length + size != info.file_size:
        raise BadInput(f"{name} is damaged: its size is not what its header says.")
    with archive.open(info) as file:
        return np.lib.format.read_array(file, allow_pickle=False)
