"""A cache of decoded images on disk: thousands of small files are slow to read again."""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import google_crc32c
import numpy as np

_SMALLEST = 2**25  # bytes: smaller sets are as fast to read again


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


def cached(key: str, build: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays that `build` returns. Large ones are cached under `key`, then memory-mapped."""
    base = cache_folder()
    if base is None:
        return build()
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
    cache = base / "images" / digest[:24]
    try:
        return _read(cache)
    except (OSError, ValueError):  # missing or damaged
        built = build()
    if sum(array.nbytes for array in built.values()) >= _SMALLEST:
        try:
            _write(cache, built)
            return _read(cache)
        except (OSError, ValueError):  # a full or read-only disk
            pass
    return built


def _read(cache: Path) -> dict[str, np.ndarray]:
    held = {}
    for line in (cache / "names.txt").read_text(encoding="utf-8").split("\n"):
        name, checksum = line.split(" ")
        file = cache / f"{name}.npy"
        if _checksum(file) != checksum:
            raise ValueError(f"{file} is damaged")
        held[name] = np.load(file, mmap_mode="r", allow_pickle=False).view(np.ndarray)
    return held


def _checksum(file: Path) -> str:
    """Of a file's bytes; a gigabyte takes a fraction of a second."""
    found = google_crc32c.Checksum()
    with file.open("rb") as content:
        while piece := content.read(2**20):
            found.update(piece)
    return found.hexdigest().decode()


def _write(cache: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write to a folder of another name, then rename it: a cache of the right name is complete."""
    cache.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(cache, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=cache.parent, ignore_cleanup_errors=True) as folder:
        lines = []
        for name, array in arrays.items():
            np.save(Path(folder, f"{name}.npy"), array, allow_pickle=False)
            lines.append(f"{name} {_checksum(Path(folder, f'{name}.npy'))}")
        Path(folder, "names.txt").write_text("\n".join(lines), encoding="utf-8")
        os.rename(folder, cache)
