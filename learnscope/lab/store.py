"""Stored sweeps: one Zarr group each, under a results folder or any fsspec URL.

A sweep has a fixed shape and is never changed, only filled: a box at a time, its variables first
and its `seconds` (what a run took) last. A box whose seconds are there is wholly there; anything
else is computed again and written over with the same bytes. So a process may be killed at any
moment, and two may work on one sweep. Arrays are not compressed but carry a checksum: the size of
every file is known, and a truncated one is found without reading it.
"""

import contextlib
import dataclasses
import json
import math
import os
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import xarray as xr
import zarr
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from zarr.storage import FsspecStore, LocalStore

from learnscope.errors import BadInput

DEFAULT = "learnscope-results"
FORMAT = 1
MARK = "seconds"
_CHECKSUM = 4  # bytes


class Folder:
    """A results folder: where sweeps are stored, by their identities."""

    def __init__(self, url: str | os.PathLike[str] = DEFAULT):
        if not isinstance(url, str | os.PathLike) or not os.fspath(url):
            raise BadInput(f"store = {url!r} is not allowed: it must be a folder or a URL.")
        self.url = os.fspath(url).rstrip("/") or "/"
        try:
            self._files, self._root = url_to_fs(self.url)
        except (ValueError, ImportError, OSError) as error:
            raise BadInput(f"the store {self.url} cannot be opened: {_reason(error)}.") from None
        self.is_local = isinstance(self._files, LocalFileSystem)

    def path(self, *names: str) -> str:
        return "/".join([str(self._root), *names])

    def ids(self) -> list[str]:
        """The identities of all sweeps that are there."""
        with told(f"the store {self.url} cannot be read"):
            if not self._files.isdir(self._root):
                return []
            names = [
                str(p).rstrip("/").rpartition("/")[2] for p in self._files.ls(self._root, False)
            ]
        found = sorted(name for name in names if _looks_like_id(name))
        return [name for name in found if self._files.exists(self.path(name, "zarr.json"))]

    def find(self, text: str) -> str:
        """The one identity that starts with a text."""
        found = [name for name in self.ids() if name.startswith(text)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise BadInput(
                f"there is no sweep '{text}' in {self.url}; `learnscope runs` lists those there."
            )
        raise BadInput(f"'{text}' is the start of several sweeps: {', '.join(found)}.")

    def family(self, text: str) -> list[str]:
        """All identities of a family, if a text is its name (the part before the dash)."""
        return [name for name in self.ids() if name.partition("-")[0] == text]

    def stored(self, name: str) -> "Stored":
        """A sweep that is there."""
        return Stored(self, name, self.attributes(name) or self._foreign(name))

    def all(self) -> Iterator["Stored | BadInput"]:
        """Every sweep, or what is wrong with it."""
        for name in self.ids():
            try:
                yield self.stored(name)
            except BadInput as error:
                yield error

    def remove(self, name: str) -> None:
        """Delete a sweep."""
        self.stored(name)  # nothing that is not a sweep is ever deleted
        with told(f"{name} in {self.url} cannot be removed"):
            self._files.rm(self.path(name), recursive=True)
            if self._files.exists(self.path(".checkpoints", name)):
                self._files.rm(self.path(".checkpoints", name), recursive=True)

    def zarr(self, name: str, read_only: bool = False) -> Any:
        """The Zarr store of a sweep."""
        if self.is_local:
            return LocalStore(self.path(name), read_only=read_only)
        return FsspecStore.from_url(f"{self.url}/{name}", read_only=read_only)

    def check_writable(self) -> None:
        """Say so, before anything is computed, if nothing can be written here."""
        with told(f"the store {self.url} cannot be written"):
            self._files.makedirs(self._root, exist_ok=True)
            probe = self.path(f".probe-{uuid.uuid4().hex}")  # threads may look at once
            self._files.pipe_file(probe, b"")
            self._files.rm_file(probe)

    def attributes(self, name: str) -> dict[str, Any] | None:
        """A sweep's attributes, None if there are none (yet), and an error if they are not ours."""
        path = self.path(name, "zarr.json")
        try:
            text = self._files.cat_file(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {_reason(error)}.") from None
        try:
            attributes = dict(json.loads(text).get("attributes") or {})
            attributes.pop("coordinates", None)  # xarray's own list of coordinates
            found = attributes.get("manifest")
        except (ValueError, TypeError, AttributeError):
            raise BadInput(
                f"{path} is damaged: it is not the JSON text that it should be; "
                "it was left as it is."
            ) from None
        if found is None:
            if attributes:
                self._foreign(name)
            return None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            written = found.get("format") if isinstance(found, dict) else None
            raise BadInput(
                f"the sweep {name} in {self.url} has store format {written!r}, and this version "
                f"of learnscope reads format {FORMAT}; it was left as it is."
            )
        return attributes

    def _foreign(self, name: str) -> NoReturn:
        raise BadInput(
            f"{self.path(name)} is not a sweep that learnscope stored; it was left as it is."
        )


@dataclasses.dataclass(frozen=True)
class Stored:
    """A stored sweep, finished or not, opened for reading."""

    folder: Folder
    name: str
    attributes: dict[str, Any]

    @property
    def manifest(self) -> dict[str, Any]:
        return self.attributes["manifest"]

    def array(self, name: str) -> zarr.Array:
        with self.readable():
            return zarr.open_array(self.folder.zarr(self.name, True), path=name, mode="r")

    def finished(self) -> np.ndarray:
        """Which runs are there."""
        with self.readable():
            return ~np.isnan(np.asarray(self.array(MARK)[...]))

    def size(self) -> int:
        """Bytes of results that are there."""
        runs = int(self.finished().sum())
        names = self.manifest["variables"]
        total = sum(self.array(n).nbytes for n in names)
        return round(total * runs / max(1, math.prod(self.manifest["shape"])))

    def dataset(self) -> xr.Dataset:
        """The labelled arrays; a value is read when it is asked for. Runs not there are NaN."""
        finished = self.finished()
        self.check_whole(finished)
        return self.opened(finished)

    def opened(self, finished: np.ndarray) -> xr.Dataset:
        """`dataset` without a look at every file, for who looks again and again."""
        with self.readable():
            data = xr.open_zarr(self.folder.zarr(self.name, True), chunks=None, consolidated=False)
        attributes = {key: v for key, v in self.attributes.items() if key != "manifest"}
        if not finished.all():
            attributes["missing_runs"] = int((~finished).sum())
        data = data[self.manifest["variables"]]
        data.attrs = attributes
        return data

    def check_whole(self, finished: np.ndarray) -> None:
        """Say so if a file of a finished box is missing or has lost bytes (local stores only)."""
        if not self.folder.is_local:
            return
        for name in self.manifest["labels"]:
            array = self.array(name)
            for corner in np.ndindex(array.cdata_shape):
                path = self.folder.path(self.name, name, chunk_key(array, corner))
                if not os.path.isfile(path):
                    raise self._damaged(f"{path} is missing")
        sides = self.manifest["box"]
        ends = tuple(slice(0, None, side) for side in sides)
        corners = np.argwhere(finished[ends])
        for name in self.manifest["variables"]:
            array = self.array(name)
            expected = math.prod(array.chunks) * array.dtype.itemsize + _CHECKSUM
            for corner in corners.tolist():
                path = self.folder.path(self.name, name, chunk_key(array, corner))
                try:
                    found = os.path.getsize(path)
                except OSError:
                    found = None
                if found != expected:
                    told = "is missing" if found is None else f"has {found} bytes of {expected}"
                    raise self._damaged(f"{path} {told}")

    def _damaged(self, how: str) -> BadInput:
        return BadInput(
            f"the sweep {self.name} is damaged: {how}; it was left as it is "
            f"(`learnscope runs remove {self.name}` deletes it, to run it anew)."
        )

    @contextlib.contextmanager
    def readable(self) -> Iterator[None]:
        """Whatever Zarr says of damaged files, as one sentence."""
        try:
            yield
        except BadInput:
            raise
        except Exception as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else _reason(error)
            raise BadInput(
                f"the sweep {self.name} in {self.folder.url} cannot be read: {reason}; "
                "it was left as it is."
            ) from None


def load(id_or_path: str | os.PathLike[str], store: str | os.PathLike[str] = DEFAULT) -> xr.Dataset:
    """A stored sweep as a dataset that reads a value when it is asked for.

    By its identity (or the start of it) in a results folder, by the path or URL of its Zarr group,
    or a NetCDF file that was exported. Runs that are not there yet are NaN, and the attribute
    `missing_runs` counts them.
    """
    text = os.fspath(id_or_path).rstrip("/")
    if text.endswith(".nc"):
        with told(f"{text} cannot be read"):
            return xr.open_dataset(text, engine="h5netcdf")
    head, _, name = text.replace(os.sep, "/").rpartition("/")
    if head or (_looks_like_id(text) and os.path.isdir(text)):
        return Folder(head or ".").stored(name).dataset()
    folder = Folder(store)
    return folder.stored(folder.find(text)).dataset()


def chunk_key(array: zarr.Array, corner: Sequence[int]) -> str:
    """The file of an array's chunk, from the box's place in the grid of boxes."""
    key = (*corner, *(0 for _ in range(array.ndim - len(corner))))
    return array.metadata.encode_chunk_key(key)


def _looks_like_id(name: str) -> bool:
    family, _, values = name.partition("-")
    return len(family) == len(values) == 8 and set(family + values) <= set("0123456789abcdef")


def _reason(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text.splitlines()[0].rstrip(".")


@contextlib.contextmanager
def told(what: str, after: str = "") -> Iterator[None]:
    """A refusal of the file system as one sentence."""
    try:
        yield
    except BadInput:
        raise
    except (OSError, ValueError) as error:
        raise BadInput(f"{what}: {_reason(error)}{after}.") from None
