"""Unpack .tar.gz and .zip archives safely: plain files only, into one folder, of limited size."""

import contextlib
import shutil
import tarfile
import zipfile
from collections.abc import Generator
from pathlib import Path, PurePosixPath
from typing import IO

from learnscope.errors import BadInput
from learnscope.images.formats.safe import LARGEST, reading

_MOST_FILES = 500_000


def unpack(archive: Path, folder: Path, largest: int = LARGEST) -> None:
    """Unpack all plain files of an archive into a folder, at most `largest` bytes."""
    total = 0
    with reading(archive, "archive"), contextlib.closing(_files(archive)) as files:
        for count, (name, size, file) in enumerate(files):
            with file:
                total += size
                if total > largest or count >= _MOST_FILES:
                    most = f"{largest:,} bytes or {_MOST_FILES:,} files"
                    raise BadInput(f"{archive.name} would unpack to more than {most}, the limit.")
                path = PurePosixPath(name)
                if path.is_absolute() or ".." in path.parts or "\\" in name:
                    leads = f"its file {name[:80]!r} leads elsewhere"
                    raise BadInput(f"{archive.name} is refused: {leads}.")
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                with open(place, "xb") as target:
                    shutil.copyfileobj(file, target, 2**20)


def _files(archive: Path) -> Generator[tuple[str, int, IO[bytes]], None, None]:
    """Names, sizes and contents; neither format yields more bytes than the stated size."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    yield info.filename, info.file_size, packed.open(info)
        return
    with tarfile.open(archive, "r|*") as packed:
        for member in packed:
            file = packed.extractfile(member) if member.isreg() else None
            if file is not None:
                yield member.name, member.size, file
