"""`Layout`: where the files of a data set may be in the data folder, and their reader."""

import dataclasses
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from learnscope.images.formats.safe import plain_or_packed

Split = tuple[np.ndarray, ...]  # training images and labels, test images and labels


@dataclasses.dataclass(frozen=True)
class Layout:
    """One way in which a data set is stored. The first of `folders` that has all of `files` (a name
    may have .gz, or be a folder) is read by `read`. One of the files `one_of` is enough; the files
    `also` are read if they exist. `note` ends the description of the files."""

    folders: tuple[str, ...]
    files: tuple[str, ...]
    read: Callable[[Path], Any]
    one_of: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    note: str = ""

    def find(self, root: Path) -> Path | None:
        """The folder of the data set inside a data folder; None if there is none."""
        return next((root / name for name in self.folders if not self.absent(root / name)), None)

    def absent(self, folder: Path) -> list[str]:
        """The files that are missing in a folder."""
        missing = [name for name in self.files if _present(folder, name) is None]
        if self.one_of and all(_present(folder, name) is None for name in self.one_of):
            missing.append(self._some())
        return missing

    def is_whole(self, folder: Path) -> bool:
        """Whether a folder has all files, including all of `one_of`."""
        return all(_present(folder, name) is not None for name in (*self.files, *self.one_of))

    def stamp(self, folder: Path) -> str:
        """A digest of the names, sizes and times of the files: it changes with any of them."""
        paths = (_present(folder, name) for name in self.names)
        return stamp([path for path in paths if path is not None])

    def expected(self) -> str:
        """A description of the files."""
        some = (self._some(),) if self.one_of else ()
        return f"{self.folders[0]}/ with {', '.join((*some, *self.files))}{self.note}"

    @property
    def names(self) -> tuple[str, ...]:
        """All files that may be read."""
        return (*self.files, *self.one_of, *self.also)

    def _some(self) -> str:
        return f"{self.one_of[0]} to {self.one_of[-1]}"


def stamp(paths: list[Path]) -> str:
    """A digest of the names, sizes and times of files, and of all files in folders."""
    digest = hashlib.sha256()
    for path in paths:
        walk = os.walk(path) if path.is_dir() else [("", [], [path])]
        for folder, _, names in walk:
            for file in sorted(os.path.join(folder, name) for name in names):
                try:
                    stat = os.stat(file)
                except OSError:  # a broken link, which its reader reports
                    continue
                digest.update(f"{file!r} {stat.st_mtime_ns} {stat.st_size}\n".encode())
    return digest.hexdigest()


def _present(folder: Path, name: str) -> Path | None:
    path = folder / name
    return path if path.is_dir() else plain_or_packed(folder, name)
