"""The files of stored sweeps: sealed by a digest, checked when read, synced when written."""

import asyncio
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
from zarr.storage import WrapperStore

from learnscope.errors import BadInput
from learnscope.lab.store.lease import partial

MARK = "seconds"
CHECKSUM = 4  # bytes


class Damaged(BadInput):
    """A stored sweep that is not what was written."""


def digest(document: dict[str, Any]) -> str:
    """A digest of a Zarr group's `zarr.json`, without the digest that its manifest holds."""
    manifest = document["attributes"]["manifest"] | {"digest": None}
    covered = document | {"attributes": document["attributes"] | {"manifest": manifest}}
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode()).hexdigest()


def is_intact(chunk: Any) -> bool:
    """Whether a Zarr chunk ends with its checksum."""
    content = np.frombuffer(chunk, np.uint8)
    expected = int.from_bytes(content[-CHECKSUM:].tobytes(), "little")
    return len(content) > CHECKSUM and google_crc32c.value(content[:-CHECKSUM]) == expected


def write_whole(path: Path, content: bytes, top: Path) -> None:
    """Write a file that is whole or absent after a power cut: sync it, then give it its name, then
    sync its folders up to `top`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = partial(path)
    try:
        part.write_bytes(content)
        sync(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    for folder in path.parents[: path.parents.index(top) + 1]:
        sync(folder)


def sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class CheckedStore(WrapperStore):
    """The Zarr store of a sweep, which returns only what was checked.

    Metadata and labels come from the sweep's sealed manifest. Chunks of the blocks in `there` must
    match their checksums; values of other blocks count as missing, whatever their files hold.
    """

    def __init__(self, store: Any, sweep: Any, there: np.ndarray):
        super().__init__(store)
        self._sweep, self._there = sweep, there

    def _with_store(self, store: Any) -> "CheckedStore":
        return CheckedStore(store, self._sweep, self._there)

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        if key in self._sweep.files:
            return prototype.buffer.from_bytes(self._sweep.files[key])
        name, _, place = key.partition("/c/")
        corner = tuple(map(int, place.split("/")))[: self._there.ndim] if place else None
        if corner is None or (name != MARK and not self._there[corner]):
            return None
        try:
            chunk = await self._store.get(key, prototype)
        except OSError as error:
            raise self._sweep.damaged(key, f"cannot be read ({error.strerror})") from None
        if chunk is None and name != MARK:
            raise self._sweep.damaged(key, "is missing")
        if chunk is not None and not is_intact(chunk.as_numpy_array()):
            raise self._sweep.damaged(key, "does not match its checksum")
        return chunk

    async def set(self, key: str, value: Any) -> None:
        self._check_writable()
        write = self._sweep.folder.write
        await asyncio.to_thread(write, self._sweep.name, key, value.to_bytes())
