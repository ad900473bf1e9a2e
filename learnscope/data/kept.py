"""Decoded images in the user's cache folder: thousands of small files are slow to read again."""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

_SMALLEST = 2**25  # bytes: less is read again as fast


def cache_folder() -> Path | None:
    """$LEARNSCOPE_CACHE, or the user's cache folder; None if it is `off`."""
    given = os.environ.get("LEARNSCOPE_CACHE")
    if given == "off":
        return None
    if given:
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "learnscope"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "learnscope"


def kept(key: str, build: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """What `build` returns; large arrays are kept under `key`, and memory-mapped from then on."""
    base = cache_folder()
    if base is None:
        return build()
    place = (
        base / "images" / hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:24]
    )
    try:
        return _read(place)
    except (OSError, ValueError):  # not there, or damaged
        built = build()
    if sum(array.nbytes for array in built.values()) >= _SMALLEST:
        try:
            _write(place, built)
            return _read(place)
        except (OSError, ValueError):  # a disk that is full or cannot be written to
            pass
    return built


def _read(place: Path) -> dict[str, np.ndarray]:
    names = (place / "names.txt").read_text(encoding="utf-8").split()
    return {
        name: np.load(place / f"{name}.npy", mmap_mode="r", allow_pickle=False).view(np.ndarray)
        for name in names
    }


def _write(place: Path, arrays: dict[str, np.ndarray]) -> None:
    """Into a folder of another name first, so that what has the right name is whole."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=place.parent, ignore_cleanup_errors=True) as folder:
        for name, array in arrays.items():
            np.save(Path(folder, f"{name}.npy"), array, allow_pickle=False)
        Path(folder, "names.txt").write_text("\n".join(arrays), encoding="utf-8")
        os.rename(folder, place)
