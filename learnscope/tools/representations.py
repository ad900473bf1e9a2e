"""Representations from a user's file: one array of a .npy or .npz file."""

import math
import zipfile
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput, unknown
from learnscope.images.formats import npz
from learnscope.images.formats.safe import reading

NAMES = ("representations", "embeddings", "features", "activations", "z", "h", "x")


def read_representations(path: str | Path, array: str | None = None) -> np.ndarray:
    """An array of a file. Nothing is unpickled, nor unpacked beyond 4 GB.

    - `.npy`: its array, memory-mapped.
    - `.npz`: the array `array`; by default the only one, or the first existing one of
      `representations`, `embeddings`, `features`, `activations`, `z`, `h` and `x` (in small or
      capital letters).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "layers.npz"), first=np.ones((2, 3)), z=np.zeros((4, 5)))
    ...     read_representations(Path(folder, "layers.npz")).shape
    ...     read_representations(Path(folder, "layers.npz"), "first").shape
    (4, 5)
    (2, 3)
    """
    place = Path(path)
    ending = place.suffix.lower()
    if ending not in (".npy", ".npz"):
        raise BadInput(f"{path} is not allowed: it must be a .npy or .npz file.")
    with reading(path, f"{ending} file"):
        if ending == ".npz":
            return _npz(place, array)
        if array is not None:
            raise BadInput(f"--array is for .npz files: {path} has one array, without a name.")
        return _npy(place)


def _npz(path: Path, name: str | None) -> np.ndarray:
    """The array `name`; without a name the only array, or the first of `NAMES` that exists."""
    with zipfile.ZipFile(path) as archive:
        members = npz.members(archive)
        if name is None:
            lower = {each.lower(): each for each in reversed(members)}
            usual = [lower[each] for each in NAMES if each in lower]
            if not usual and len(members) != 1:
                there = f"arrays there: {npz.listed(members)}"
                raise BadInput(f"{path} has {len(members)} arrays: --array names one; {there}.")
            name = next(iter(members)) if len(members) == 1 else usual[0]
        if name not in members:
            raise unknown(f"array of {path}", name, members)
        return npz.read_member(archive, members[name], path)


def _npy(path: Path) -> np.ndarray:
    with open(path, "rb") as file:
        shape, dtype, start = npz.read_header(file, str(path))
    size = math.prod(shape) * dtype.itemsize
    if start + size != path.stat().st_size:
        raise BadInput(f"{path} is damaged: its size is not what its header says.")
    # An empty file cannot be mapped.
    return np.load(path, mmap_mode="r" if size else None, allow_pickle=False)
