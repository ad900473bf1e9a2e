"""Where a data set's files may be below the data folder, and who reads them."""

import dataclasses
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from learnscope.data.formats.safe import plain_or_packed

Split = tuple[np.ndarray, ...]  # training images and labels, test images and labels


@dataclasses.dataclass(frozen=True)
class Layout:
    """One way in which a data set is stored.

    `folders` are looked at in turn; the first that has all of `files` (or the same names with .gz;
    a name may also be that of a folder) is read by `read`. `one_of` are files of
    which one is enough; `also` are more that are read where they are;
    `note` says the rest.
    """

    folders: tuple[str, ...]
    files: tuple[str, ...]
    read: Callable[[Path], Any]
    one_of: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    note: str = ""

    def find(self, root: Path) -> Path | None:
        """The folder that has it, below a data folder."""
        return next((root / name for name in self.folders if not self.absent(root / name)), None)

    def absent(self, folder: Path) -> list[str]:
        """The files that are not in a folder."""
        missing = [name for name in self.files if _present(folder, name) is None]
        if self.one_of and all(_present(folder, name) is None for name in self.one_of):
            missing.append(self._some())
        return missing

    def is_whole(self, folder: Path) -> bool:
        """Whether also all of those are there of which one is enough."""
        return all(_present(folder, name) is not None for name in (*self.files, *self.one_of))

    def stamp(self, folder: Path) -> str:
        """A digest of the names, sizes and times of the files: another once one is changed."""
        paths = (_present(folder, name) for name in self.names)
        return stamp([path for path in paths if path is not None])

    def expected(self) -> str:
        """The files, in words."""
        some = (self._some(),) if self.one_of else ()
        return f"{self.folders[0]}/ with {', '.join((*some, *self.files))}{self.note}"

    @property
    def names(self) -> tuple[str, ...]:
        """All that may be read."""
        return (*self.files, *self.one_of, *self.also)

    def _some(self) -> str:
        return f"{self.one_of[0]} to {self.one_of[-1]}"


def stamp(paths: list[Path]) -> str:
    """A digest of the names, sizes and times of files and of all that is in folders."""
    digest = hashlib.sha256()
    for path in paths:
        walk = os.walk(path) if path.is_dir() else [("", [], [path])]
        for folder, _, names in walk:
            for file in sorted(os.path.join(folder, name) for name in names):
                try:
                    stat = os.stat(file)
                except OSError:  # a link that leads nowhere; reading it will say so
                    continue
                digest.update(f"{file!r} {stat.st_mtime_ns} {stat.st_size}\n".encode())
    return digest.hexdigest()


def _present(folder: Path, name: str) -> Path | None:
    path = folder / name
    return path if path.is_dir() else plain_or_packed(folder, name)
