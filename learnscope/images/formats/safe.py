"""Safe reading of files: limited sizes, and one sentence for each error."""

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

LARGEST = 4 * 2**30  # bytes of an unpacked file or data set
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError,
    RuntimeError, NotImplementedError,
)  # fmt: skip
_PIECE = 2**20
_FREELY, _RATIO = 2**28, 300  # bytes; text and images shrink less when they are packed


def most_unpacked(packed: int) -> int:
    """The most bytes that a packed file of a size may unpack to."""
    return min(LARGEST, max(_FREELY, _RATIO * packed))


@contextlib.contextmanager
def reading(path: str | Path, what: str) -> Iterator[None]:
    """Turn any error in reading `path` as `what` into `BadInput`."""
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
    """The path of a file, or of the same with .gz; None if neither exists."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    return None


def stored(folder: Path, name: str) -> Path:
    """Like `plain_or_packed`, but the plain path if neither exists."""
    return plain_or_packed(folder, name) or folder / name


def opened(path: Path) -> IO[bytes]:
    """Open a file, through gzip if its name ends with .gz."""
    return gzip.open(path) if path.suffix == ".gz" else open(path, "rb")  # type: ignore[return-value]


def read_up_to(file: IO[bytes], limit: int) -> bytearray:
    """All bytes of a file, but at most `limit + 1`; memory grows with the bytes read."""
    data = bytearray()
    while len(data) <= limit:
        piece = file.read(min(_PIECE, limit + 1 - len(data)))
        if not piece:
            break
        data += piece
    return data


def read_whole(path: Path, what: str, most: int) -> bytes:
    """All bytes of a file, which may have `most`."""
    with reading(path, what), opened(path) as file:
        data = bytes(read_up_to(file, most))
        if len(data) > most:
            raise ValueError(f"it has more than {most:,} bytes")
        return data


def records(path: Path, size: int, what: str, start: int = 0, most: int = LARGEST) -> np.ndarray:
    """The bytes of a file after `start`, as rows of `size`; memory-mapped unless gzipped."""
    with reading(path, what):
        if path.suffix == ".gz":
            with opened(path) as file:
                file.read(start)
                data = np.frombuffer(read_up_to(file, most), np.uint8)
        else:
            length = path.stat().st_size - start
            empty = np.zeros(0, np.uint8)  # an empty file cannot be mapped
            data = np.memmap(path, np.uint8, "r", start) if length > 0 else empty
            data = data.view(np.ndarray)
    if len(data) > most:
        raise BadInput(f"{path} is too large for {what}: at most {most:,} bytes are read.")
    if not len(data) or len(data) % size:
        must = f"it has {len(data):,} bytes, which must be a multiple of {size:,}"
        raise BadInput(f"{path} is not a whole {what}: {must}.")
    return data.reshape(-1, size)


def whole_labels(labels: np.ndarray, classes: int, path: Path) -> np.ndarray:
    """Labels as int64, checked to be 0, ..., classes - 1."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "ui":
        raise BadInput(f"the labels of {path} must be one whole number per image.")
    wrong = (array < 0) | (array >= classes)
    if wrong.any():
        at = int(np.argmax(wrong))
        given = f"image {at} of {path} has the label {array[at]}"
        raise BadInput(f"{given}: labels go from 0 to {classes - 1}.")
    return array.astype(np.int64)


def check_bytes(name: str, images: np.ndarray, good: bool, shape: str) -> None:
    """Refuse images that are not bytes, or (unless `good`) not of a shape."""
    if images.dtype != np.uint8 or not good:
        given = f"{name} is {images.dtype} of the shape {images.shape}"
        raise BadInput(f"{given}: it must be uint8 of the shape ({shape}).")


def as_many(images: np.ndarray, labels: np.ndarray, path: Path) -> None:
    """Refuse unequal numbers of images and labels."""
    if len(images) != len(labels):
        raise BadInput(f"{path} has {len(labels):,} labels for {len(images):,} images.")
