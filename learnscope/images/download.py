"""Download data sets from their publishers: `downloads.toml` has addresses and checksums."""

import dataclasses
import os
import tempfile
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from learnscope.errors import BadInput, unknown
from learnscope.images.formats.archives import unpack
from learnscope.images.registry import SETS, VARIABLE, data_folder, find, missing

_TIMEOUT = 60  # seconds


@dataclasses.dataclass(frozen=True)
class Remote:
    """A file, its checksum, and its target folder inside the data folder."""

    url: str
    md5: str
    into: str = "."

    @property
    def name(self) -> str:
        return self.url.rsplit("/", 1)[-1]

    @property
    def packed(self) -> bool:
        """Whether the file is an archive."""
        return self.name.endswith((".zip", ".tar.gz"))


def _remotes() -> dict[str, tuple[Remote, ...]]:
    table = tomllib.loads(
        (files("learnscope.images") / "downloads.toml").read_text(encoding="utf-8")
    )
    return {
        name: tuple(Remote(f"{of['from']}/{file}", md5, of["into"])
                    for file, md5 in of["md5"].items())
        for name, of in table.items()
    }  # fmt: skip


REMOTES = _remotes()


def download(name: str, root: str | Path | None = None, progress: Any = None) -> tuple[Path, bool]:
    """The folder of a data set, and whether it was downloaded now. A file gets its name only when
    it is complete and its checksum is right. `progress` has `total`, `update(bytes)`, `reset()` and
    `close()`, as pooch requires."""
    if name not in SETS:
        raise unknown("data set to download", name, REMOTES)
    base = data_folder(root)
    if base is None:
        raise BadInput(f"there is no data folder: --data DIR or {VARIABLE} must name one.")
    location = find(name, base)
    if location is not None and location[0].is_whole(location[1]):
        return location[1], False
    if name not in REMOTES:
        raise missing(name, base)
    try:
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=base) as folder:
            for remote in REMOTES[name]:
                _fetch(remote, base, Path(folder), progress)
    except BadInput:
        raise
    # A full disk, or a wrong checksum (pooch's ValueError).
    except (OSError, ValueError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        raise BadInput(f"{name} could not be downloaded: {said}.") from None
    location = find(name, base)
    if location is None:
        raise missing(name, base)
    return location[1], True


def _fetch(remote: Remote, base: Path, folder: Path, progress: Any) -> None:
    import pooch  # slow to import
    import requests

    target = base / remote.into
    if (target / remote.name).is_file() and not remote.packed:
        if pooch.file_hash(str(target / remote.name), "md5") != remote.md5:
            there = f"{target / remote.name} is not the original (its checksum differs)"
            raise BadInput(f"{there}: move it away to download the original.")
        return
    pooch.get_logger().setLevel("WARNING")
    # Any: pooch's types for downloaders contradict each other.
    loader: Any = pooch.HTTPDownloader(progressbar=progress or False, timeout=_TIMEOUT)
    try:
        known = f"md5:{remote.md5}"
        path = Path(pooch.retrieve(remote.url, known, remote.name, folder, downloader=loader))
    except requests.RequestException as error:
        answer = error.response
        if answer is not None:
            answer.close()
        said = f"it answers {answer.status_code}" if answer is not None else "it cannot be reached"
        raise BadInput(f"{remote.url} could not be downloaded: {said}.") from None
    target.mkdir(parents=True, exist_ok=True)
    if not remote.packed:
        os.replace(path, target / remote.name)
        return
    unpacked = folder / f"{remote.name}-files"
    unpack(path, unpacked)
    path.unlink()
    # File by file: other files in these folders are the user's, and stay.
    for each in (path for path in unpacked.rglob("*") if path.is_file()):
        place = target / each.relative_to(unpacked)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(each, place)
