"""Reading files of others: never more bytes than stated, and one sentence for what is broken."""

import contextlib
import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from learnscope.errors import BadInput

LARGEST = 4 * 2**30  # bytes that any one file or set may unpack to
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError,
    RuntimeError, NotImplementedError,
)  # fmt: skip
_PIECE = 2**20


@contextlib.contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Whatever goes wrong while `path` is read as `what` becomes a sentence."""
    try:
        yield
    except BadInput:
        raise
    except BROKEN as error:
        said = " ".join(str(error).split()).rstrip(".")
        raise BadInput(f"{path} is not a whole {what}: {said}.") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from None
    except MemoryError:
        raise BadInput(f"{path} does not fit into the memory of this machine.") from None


def plain_or_packed(folder: Path, name: str) -> Path | None:
    """The file of that name, or the same with .gz; None if there is neither."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    return None


def opened(path: Path) -> IO[bytes]:
    """A file's bytes, unpacked if its name ends with .gz."""
    return gzip.open(path) if path.suffix == ".gz" else open(path, "rb")  # type: ignore[return-value]


def read_up_to(file: IO[bytes], limit: int) -> bytearray:
    """All bytes there are, or the first `limit + 1`; memory is taken only for what arrives."""
    found = bytearray()
    while len(found) <= limit:
        piece = file.read(min(_PIECE, limit + 1 - len(found)))
        if not piece:
            break
        found += piece
    return found


def records(path: Path, size: int, what: str, start: int = 0, most: int = LARGEST) -> np.ndarray:
    """Bytes of a file after `start`, as rows of `size`: memory-mapped, or unpacked if packed."""
    with reading(path, what):
        if path.suffix == ".gz":
            with opened(path) as file:
                file.read(start)
                found = np.frombuffer(read_up_to(file, most), np.uint8)
        else:
            length = path.stat().st_size - start
            empty = np.zeros(0, np.uint8)  # which cannot be mapped
            found = np.memmap(path, np.uint8, "r", start) if length > 0 else empty
            found = found.view(np.ndarray)
    if len(found) > most:
        raise BadInput(f"{path} is too large for {what}: at most {most:,} bytes are read.")
    if not len(found) or len(found) % size:
        raise BadInput(
            f"{path} is not a whole {what}: it has {len(found):,} bytes, "
            f"which must be a multiple of {size:,}."
        )
    return found.reshape(-1, size)


def whole_labels(labels: np.ndarray, classes: int, path: Path) -> np.ndarray:
    """Labels as int64, once all are in 0, ..., classes - 1."""
    found = np.asarray(labels)
    if found.ndim != 1 or found.dtype.kind not in "ui":
        raise BadInput(f"the labels of {path} must be one whole number an image.")
    wrong = (found < 0) | (found >= classes)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise BadInput(
            f"image {at} of {path} has the label {found[at]}: labels go from 0 to {classes - 1}."
        )
    return found.astype(np.int64)


def as_many(images: np.ndarray, labels: np.ndarray, path: Path) -> None:
    """Refuses images without a label each."""
    if len(images) != len(labels):
        raise BadInput(f"{path} has {len(labels):,} labels for {len(images):,} images.")
