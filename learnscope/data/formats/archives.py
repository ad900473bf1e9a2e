"""Unpacking .tar.gz and .zip: plain files only, below one folder, within a stated size."""

import contextlib
import shutil
import tarfile
import zipfile
from collections.abc import Generator
from pathlib import Path, PurePosixPath
from typing import IO

from learnscope.data.formats.safe import LARGEST, reading
from learnscope.errors import BadInput

_MOST_FILES = 500_000


def unpack(archive: Path, folder: Path, largest: int = LARGEST) -> None:
    """All plain files of an archive into a folder; stops before it would write more than stated."""
    total = 0
    with reading(archive, "archive"), contextlib.closing(_files(archive)) as files:
        for count, (name, size, file) in enumerate(files):
            with file:
                total += size
                if total > largest or count >= _MOST_FILES:
                    raise BadInput(
                        f"{archive.name} would unpack to more than {largest:,} bytes or "
                        f"{_MOST_FILES:,} files, the most that is written."
                    )
                path = PurePosixPath(name)
                if path.is_absolute() or ".." in path.parts or "\\" in name:
                    raise BadInput(
                        f"{archive.name} is refused: its file {name[:80]!r} leads elsewhere."
                    )
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                with open(place, "xb") as target:
                    shutil.copyfileobj(file, target, 2**20)


def _files(archive: Path) -> Generator[tuple[str, int, IO[bytes]], None, None]:
    """Names, sizes and contents; both formats give no more bytes than the size they state."""
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
