"""Stored sweeps: one Zarr group each, under a results folder or any fsspec URL.

A sweep has a fixed shape and is only filled: a block at a time, its variables first and its
`seconds` (what a run took) last. A block whose seconds are there is wholly there; anything else is
computed again and written over with the same bytes. So a process may be killed at any moment, and
two may work on one sweep. Values are not compressed but carry a checksum: the size of every file is
known, and a truncated one is found without reading it. The group's `zarr.json` holds all metadata
and labels, under a digest; their own files are compared with it.
"""

import base64
import contextlib
import dataclasses
import functools
import itertools
import json
import math
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import xarray as xr
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from zarr import Array, open_array
from zarr.storage import FsspecStore, LocalStore

from learnscope.errors import BadInput, reason, refuse_value, refusing
from learnscope.lab.store.checked import (
    CHECKSUM,
    MARK,
    CheckedStore,
    Damaged,
    digest,
    sync,
    write_whole,
)
from learnscope.lab.store.seal import read_netcdf

DEFAULT = "learnscope-results"
FORMAT = 2
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{8}")
_REMOVED = ".removed"
_KEYS = {"block", "created", "id", "labels", "machine", "sessions", "shape", "software", "values",
         "variables"}  # fmt: skip


class Folder:
    """A results folder: where sweeps are stored, by their identities."""

    def __init__(self, url: str | os.PathLike[str] = DEFAULT):
        if not isinstance(url, str | os.PathLike) or not os.fspath(url):
            refuse_value("store", url, "it must be a folder or a URL")
        self.url = os.fspath(url).rstrip("/") or "/"
        kinds = (ValueError, ImportError, OSError)
        with refusing(f"the store {self.url} cannot be opened", kinds=kinds):
            self._files, self._root = url_to_fs(self.url)
        self.is_local = isinstance(self._files, LocalFileSystem)

    def path(self, *names: str) -> str:
        return "/".join([str(self._root), *names])

    def ids(self) -> list[str]:
        """The identities of all stored sweeps."""
        with refusing(f"the store {self.url} cannot be read"):
            if not self._files.isdir(self._root):
                return []
            paths = [str(path).rstrip("/") for path in self._files.ls(self._root, False)]
        names = sorted(filter(_ID.fullmatch, (path.rpartition("/")[2] for path in paths)))
        return [name for name in names if self._files.exists(self.path(name, "zarr.json"))]

    def find(self, text: str) -> str:
        """The one identity that starts with a text."""
        names = [name for name in self.ids() if text and name.startswith(text)]
        if not names:
            raise BadInput(
                f"there is no sweep '{text}' in {self.url}; `learnscope runs` lists those there."
            )
        if len(names) > 1:
            raise BadInput(f"'{text}' is the start of several sweeps: {', '.join(names)}.")
        return names[0]

    def family(self, text: str) -> list[str]:
        """The identities of a family, by its name (the part before the dash)."""
        return [name for name in self.ids() if name.partition("-")[0] == text]

    def stored(self, name: str) -> "Stored":
        """A stored sweep, opened for reading."""
        return Stored(self, name, self.document(name) or self._foreign(name))

    def all(self) -> Iterator["Stored | BadInput"]:
        """Every sweep, or the error that says what is wrong with it."""
        for name in self.ids():
            try:
                yield self.stored(name)
            except BadInput as error:
                yield error

    def remove(self, name: str) -> None:
        """Delete a sweep: it gets another name first, so that it is whole or gone."""
        try:  # nothing that is not a sweep is ever deleted
            self.stored(name)
        except Damaged:
            if self.read(name, f"{MARK}/zarr.json") is None:
                raise
        with refusing(f"{name} in {self.url} cannot be removed"):
            away = self.path(_REMOVED, f"{name}.{uuid.uuid4().hex}")
            if self.is_local:
                os.makedirs(self.path(_REMOVED), exist_ok=True)
                os.rename(self.path(name), away)
                for folder in (self.path(_REMOVED), self.path()):  # before anything is deleted
                    sync(Path(folder))
            else:  # object stores cannot rename: without its manifest a sweep does not exist
                self._files.rm_file(self.path(name, "zarr.json"))
                self._files.rm(self.path(name), recursive=True)
            self.tidy()
            if self._files.exists(self.path(".checkpoints", name)):
                self._files.rm(self.path(".checkpoints", name), recursive=True)

    def tidy(self) -> None:
        """Delete the rest of removed sweeps, whose deletion may have been cut."""
        if self.is_local:
            shutil.rmtree(self.path(_REMOVED), ignore_errors=True)

    def read(self, name: str, key: str) -> bytes | None:
        """A file of a sweep; None if there is none."""
        try:
            return self._files.cat_file(self.path(name, key))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise self.damaged(name, key, f"cannot be read ({reason(error)})") from None

    def write(self, name: str, key: str, content: bytes) -> None:
        """Write a file of a sweep, wholly or not at all."""
        path = self.path(name, key)
        if self.is_local:
            write_whole(Path(path), content, Path(self.path()).parent)
        else:
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(path, content)

    def delete(self, name: str, key: str) -> None:
        self._files.rm_file(self.path(name, key))

    def begun(self, name: str) -> bool:
        """Whether a block of a sweep was ever finished."""
        return bool(self._files.find(self.path(name, MARK, "c")))

    def document(self, name: str) -> dict[str, Any] | None:
        """A sweep's `zarr.json`; None if there is none, an error if it is not ours or damaged."""
        text = self.read(name, "zarr.json")
        if text is None:
            return None
        broken = self.damaged(name, "zarr.json", "is not what was written", "remove")
        try:
            document = json.loads(text)
            manifest = document.get("attributes", {}).get("manifest")
        except (ValueError, AttributeError, RecursionError):
            raise broken from None
        if manifest is None:
            self._foreign(name)
        written = manifest.get("format") if isinstance(manifest, dict) else None
        if written != FORMAT:
            raise BadInput(
                f"{self.path(name, 'zarr.json')} has store format {written!r}, and this version "
                f"of learnscope reads format {FORMAT}; it was left as it is."
            )
        if manifest.get("digest") != digest(document) or not manifest.keys() >= _KEYS:
            raise broken
        return document

    def damaged(self, name: str, key: str, how: str, cure: str = "repair") -> Damaged:
        """The error for a damaged file of a sweep, with the command that helps."""
        where = "" if self.url == DEFAULT else f" --store {self.url}"
        then = {"repair": "mends it", "remove": "deletes it, to run it anew"}[cure]
        return Damaged(
            f"the sweep {name} is damaged: {self.path(name, key)} {how}; it was left as it is "
            f"(`learnscope runs {cure} {name}{where}` {then})."
        )

    def _foreign(self, name: str) -> NoReturn:
        raise BadInput(
            f"{self.path(name)} is not a sweep that learnscope stored; it was left as it is."
        )


@dataclasses.dataclass(frozen=True)
class Stored:
    """A stored sweep, finished or not. `document` is its sealed metadata."""

    folder: Folder
    name: str
    document: dict[str, Any]

    @property
    def attributes(self) -> dict[str, Any]:
        return self.document["attributes"]

    @property
    def manifest(self) -> dict[str, Any]:
        return self.attributes["manifest"]

    @functools.cached_property
    def files(self) -> dict[str, bytes]:
        """The files of labels and metadata, as they were written; `zarr.json` is the last."""
        arrays = self.document["consolidated_metadata"]["metadata"]
        labels = {key: base64.b64decode(text) for key, text in self.manifest["labels"].items()}
        tables = {f"{name}/zarr.json": table for name, table in arrays.items()}
        tables["zarr.json"] = self.document
        return labels | {key: json.dumps(v, indent=2).encode() for key, v in tables.items()}

    def checked(self, finished: np.ndarray | None = None, read_only: bool = True) -> CheckedStore:
        """The sweep's Zarr store: marks, and the values of runs that are finished."""
        there = np.zeros(self.manifest["shape"], bool) if finished is None else finished
        if self.folder.is_local:
            store = LocalStore(self.folder.path(self.name), read_only=read_only)
        else:
            store = FsspecStore.from_url(f"{self.folder.url}/{self.name}", read_only=read_only)
        return CheckedStore(store, self, self.corners(there))

    def array(self, name: str, read_only: bool = True) -> Array:
        """Labels, marks, or (to be written) values."""
        with self.readable():
            store = self.checked(read_only=read_only)
            return open_array(store, path=name, mode="r" if read_only else "r+")

    def finished(self) -> np.ndarray:
        """Which runs are stored."""
        with self.readable():
            return ~np.isnan(np.asarray(self.array(MARK)[...]))

    def corners(self, runs: np.ndarray) -> np.ndarray:
        """One run of every block."""
        return runs[tuple(slice(0, None, side) for side in self.manifest["block"])]

    def size(self) -> int:
        """Bytes of stored results."""
        total = sum(self.array(name).nbytes for name in self.manifest["variables"])
        return round(total * float(self.finished().mean()))

    def dataset(self) -> xr.Dataset:
        """The labelled arrays; a value is read when it is asked for. Missing runs are NaN."""
        finished = self.finished()
        self.check_whole(finished)
        return self.opened(finished)

    def opened(self, finished: np.ndarray) -> xr.Dataset:
        """Like `dataset`, but without checking every file; for polling."""
        with self.readable():
            data = xr.open_zarr(self.checked(finished), chunks=None, consolidated=True)
        data = data[self.manifest["variables"]]
        own = ("manifest", "coordinates")  # the latter is xarray's list of them
        data.attrs = {name: v for name, v in self.attributes.items() if name not in own}
        if not finished.all():
            data.attrs["missing_runs"] = int((~finished).sum())
        return data

    def check_whole(self, finished: np.ndarray) -> None:
        """Refuse labels or metadata that are not what was written, and (in local stores) files of
        finished blocks that are missing or truncated."""
        for key, content in self.files.items():
            there = content if key == "zarr.json" else self.folder.read(self.name, key)
            if there != content:
                how = "is missing" if there is None else "is not what was written"
                raise self.damaged(key, how)
        blocks = np.argwhere(self.corners(finished)).tolist() if self.folder.is_local else []
        for key, array in itertools.chain(*(files.items() for files in self.block_files(blocks))):
            expected = math.prod(array.chunks) * array.dtype.itemsize + CHECKSUM
            try:
                size = os.path.getsize(self.folder.path(self.name, key))
            except OSError:
                raise self.damaged(key, "is missing") from None
            if size != expected:
                raise self.damaged(key, f"has {size} bytes of {expected}")

    def block_files(self, blocks: Iterable[Any] | None = None) -> Iterator[dict[str, Array]]:
        """The files of some blocks (by default all) and their arrays; the mark is the last."""
        arrays = [self.array(name) for name in (*self.manifest["variables"], MARK)]
        for corner in np.ndindex(arrays[-1].cdata_shape) if blocks is None else blocks:
            places = [(*corner, *(0,) * (array.ndim - len(corner))) for array in arrays]
            yield {f"{array.path}/{array.metadata.encode_chunk_key(place)}": array
                   for array, place in zip(arrays, places, strict=True)}  # fmt: skip

    def damaged(self, key: str, how: str) -> Damaged:
        return self.folder.damaged(self.name, key, how)

    def readable(self) -> contextlib.AbstractContextManager[None]:
        """Turn Zarr's errors into one sentence."""
        what = f"the sweep {self.name} in {self.folder.url} cannot be read"
        return refusing(what, "; it was left as it is", (Exception,))


def load(id_or_path: str | os.PathLike[str], store: str | os.PathLike[str] = DEFAULT) -> xr.Dataset:
    """A stored sweep as a dataset that reads values when they are needed.

    Give its identity (or the start of it) in a results folder, the path or URL of its Zarr group,
    or an exported NetCDF file. Missing runs are NaN; the attribute `missing_runs` counts them.
    """
    text = os.fspath(id_or_path).rstrip("/")
    if text.endswith(".nc"):
        return read_netcdf(text)
    head, _, name = text.replace(os.sep, "/").rpartition("/")
    if head or (_ID.fullmatch(text) and os.path.isdir(text)):
        return Folder(head or ".").stored(name).dataset()
    folder = Folder(store)
    return folder.stored(folder.find(text)).dataset()
