"""Bundles: finished sweeps of a store as one file, to be put into another store.

A bundle is a ZIP archive of the sweeps' own files, which are sealed, and of a list with the digest
of each and with who computed what (commit, command). Sweeps keep their identities: what was
computed by other code, or from other data, is imported but never reused in the place of this.
"""

import hashlib
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from learnscope.errors import BadInput, refusing
from learnscope.lab.store.checked import MARK
from learnscope.lab.store.folder import Folder, Stored, chunk_key

_LIST, _FORMAT = "bundle.json", 1


def export_bundle(folder: Folder, names: list[str], file: Path) -> int:
    """Write finished sweeps into one file; returns its size in bytes."""
    content, listed = io.BytesIO(), {}
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in names:
            stored = folder.stored(name)
            files = _files(stored)
            digests = {key: _sum(text) for key, text in files.items()}
            listed[name] = {"made": _made(stored), "files": digests}
            for key, text in files.items():
                archive.writestr(zipfile.ZipInfo(f"{name}/{key}"), text, zipfile.ZIP_DEFLATED)
        table = {"format": _FORMAT, "sweeps": listed}
        table["digest"] = _digest(table)
        archive.writestr(_LIST, json.dumps(table, indent=1))
    with refusing(f"{file} cannot be written", kinds=(OSError,)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.getvalue())
    return len(content.getvalue())


def import_bundle(folder: Folder, file: Path) -> list[str]:
    """Put the sweeps of a bundle into a store; returns a sentence for each."""
    damaged = BadInput(f"{file} is not a whole bundle of sweeps: it is damaged, or another file.")
    with refusing(f"{file} cannot be read", kinds=(OSError,)):
        content = file.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            table = json.loads(archive.read(_LIST))
            if table["format"] != _FORMAT or table["digest"] != _digest(table):
                raise damaged
            sweeps = {name: {key: archive.read(f"{name}/{key}") for key in listed["files"]}
                      for name, listed in table["sweeps"].items()}  # fmt: skip
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, zlib.error, EOFError,
            NotImplementedError, RuntimeError):  # fmt: skip
        raise damaged from None
    said = []
    for name, files in sweeps.items():
        listed = table["sweeps"][name]
        wrong = [k for k, text in files.items() if _sum(text) != listed["files"][k]]
        if wrong or not _is_safe([name, *files]):
            raise damaged
    for name, files in sweeps.items():
        there = folder.document(name)
        if there is not None and folder.stored(name).finished().all():
            said.append(f"{name} is there already")
            continue
        # A sweep exists once its own zarr.json does; a block once its mark does.
        last = lambda key: (key == "zarr.json", key.startswith(f"{MARK}/c"))  # noqa: E731
        with refusing(f"the store {folder.url} cannot be written"):
            for key in sorted(files, key=last):
                folder.write(name, key, files[key])
        stored = folder.stored(name)
        stored.check_whole(stored.finished())
        said.append(f"{name}: {table['sweeps'][name]['made']}")
    return said


def _files(stored: Stored) -> dict[str, bytes]:
    """All files of a finished sweep, checked."""
    finished = stored.finished()
    if not finished.all():
        missing = f"{int((~finished).sum())} of {finished.size} runs are missing"
        raise BadInput(f"the sweep {stored.name} cannot be exported: {missing}.")
    stored.check_whole(finished)
    with stored.readable():
        stored.dataset().load()  # every byte against its checksum
    arrays = {name: stored.array(name) for name in (*stored.manifest["variables"], MARK)}
    keys = [f"{name}/{chunk_key(array, corner)}" for name, array in arrays.items()
            for corner in np.ndindex(arrays[MARK].cdata_shape)]  # fmt: skip
    chunks = {key: stored.folder.read(stored.name, key) or b"" for key in keys}
    return {**stored.files, **chunks}


def _made(stored: Stored) -> str:
    """When, at which commit and by which command the runs were computed."""
    sessions = [each for each in stored.manifest["sessions"] if each["computed"]]
    words = [f"{each['computed']} runs on {each['begun'][:10]} at {each.get('at', '?')}"
             + f" by `{each['command']}`" * bool(each.get("command"))
             for each in sessions]  # fmt: skip
    return "; ".join(words) or "computed elsewhere"


def _is_safe(keys: list[str]) -> bool:
    return not any(key.startswith("/") or "\\" in key or ".." in key.split("/") for key in keys)


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest(table: dict[str, Any]) -> str:
    bare = {name: value for name, value in table.items() if name != "digest"}
    return _sum(json.dumps(bare, sort_keys=True).encode())
