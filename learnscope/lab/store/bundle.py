"""Bundles: finished sweeps of a store as one file, to be put into another store.

A bundle is a ZIP archive of the sweeps' own files, which are sealed and say who computed what
(commit, command). Sweeps keep their identities: what was computed by other code, or from other
data, is imported but never reused in the place of this.
"""

import io
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import xarray as xr

from learnscope.errors import BadInput, refusing
from learnscope.lab.store.folder import Folder, Stored

T = TypeVar("T")


def export_bundle(folder: Folder, names: list[str], file: Path) -> int:
    """Write finished sweeps into one file; returns its size in bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            for key, text in _files(folder.stored(name)).items():
                archive.writestr(zipfile.ZipInfo(f"{name}/{key}"), text, zipfile.ZIP_DEFLATED, 9)
    with refusing(f"{file} cannot be written", kinds=(OSError,)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.getvalue())
    return len(content.getvalue())


def import_bundle(folder: Folder, file: Path) -> list[str]:
    """Put the sweeps of a bundle into a store; returns a sentence for each."""
    said = []
    for name, (files, made) in read_bundle(file, lambda each: (_files(each), _made(each))).items():
        if folder.document(name) is not None and folder.stored(name).finished().all():
            said.append(f"{name} is there already")
            continue
        with refusing(f"the store {folder.url} cannot be written"):
            for key, text in files.items():
                folder.write(name, key, text)
        said.append(f"{name}: {made}")
    return said


def read_bundle(file: Path, read: Callable[[Stored], T]) -> dict[str, T]:
    """What a function reads of every sweep of a bundle."""
    with refusing(f"{file} cannot be read", kinds=(OSError,)):
        content = file.read_bytes()
    with tempfile.TemporaryDirectory() as place:
        bundle = Folder(place)
        try:
            zipfile.ZipFile(io.BytesIO(content)).extractall(place)
            found = {name: read(bundle.stored(name)) for name in bundle.ids()}
        except Exception:  # whatever a damaged archive makes Python raise
            found = {}
    if not found:
        raise BadInput(f"{file} is not a whole bundle of sweeps: it is damaged, or another file.")
    return found


def whole(stored: Stored) -> xr.Dataset:
    """A finished sweep in memory, every byte checked against its checksum."""
    finished = stored.finished()
    if not finished.all():
        missing = f"{int((~finished).sum())} of {finished.size} runs are missing"
        raise BadInput(f"the sweep {stored.name} cannot be exported: {missing}.")
    with stored.readable():
        return stored.dataset().load()


def _files(stored: Stored) -> dict[str, bytes]:
    """All files of a finished sweep, checked, in the order in which to write them: a block exists
    once its mark does, and a sweep once its own `zarr.json` does."""
    whole(stored)
    keys = [key for files in stored.block_files() for key in files]
    chunks = {key: stored.folder.read(stored.name, key) or b"" for key in keys}
    return {**chunks, **stored.files}


def _made(stored: Stored) -> str:
    """When, at which commit and by which command the runs were computed."""
    sessions = [each for each in stored.manifest["sessions"] if each["computed"]]
    words = [f"{each['computed']} runs on {each['begun'][:10]} at {each.get('at', '?')}"
             + f" by `{each['command']}`" * bool(each.get("command"))
             for each in sessions]  # fmt: skip
    return "; ".join(words) or "computed elsewhere"
