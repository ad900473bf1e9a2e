"""CIFAR-10 and CIFAR-100: the binary batches and the Python batches, each gzipped or not."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np

from learnscope.data.formats.layout import Split
from learnscope.data.formats.pickled import read_pickle
from learnscope.data.formats.safe import as_many, plain_or_packed, records, whole_labels
from learnscope.errors import BadInput

TRAIN = tuple(f"data_batch_{number}" for number in range(1, 6))
_PIXELS = 3 * 32 * 32
_MOST = 60_000  # images of a batch
_notices = logging.getLogger("learnscope")

Batch = tuple[np.ndarray, np.ndarray]


def read_binary10(folder: Path) -> Split:
    """`data_batch_1.bin` to `data_batch_5.bin`, as many as there are, and `test_batch.bin`."""
    return _ten(folder, ".bin", lambda path: _binary(path, 1, 10))


def read_python10(folder: Path) -> Split:
    """`data_batch_1` to `data_batch_5`, as many as there are, and `test_batch`."""
    return _ten(folder, "", lambda path: _python(path, "labels", 10))


def read_binary100(folder: Path) -> Split:
    """`train.bin` and `test.bin`, with the 100 fine labels."""
    return (
        *_binary(_path(folder, "train.bin"), 2, 100),
        *_binary(_path(folder, "test.bin"), 2, 100),
    )


def read_python100(folder: Path) -> Split:
    """`train` and `test`, with the 100 fine labels."""
    return (
        *_python(_path(folder, "train"), "fine_labels", 100),
        *_python(_path(folder, "test"), "fine_labels", 100),
    )


def _path(folder: Path, name: str) -> Path:
    return plain_or_packed(folder, name) or folder / name


def _ten(folder: Path, ending: str, read: Callable[[Path], Batch]) -> Split:
    paths = [plain_or_packed(folder, name + ending) for name in TRAIN]
    batches = [read(path) for path in paths if path is not None]
    if len(batches) < len(TRAIN):
        missing = [name + ending for name, path in zip(TRAIN, paths, strict=True) if path is None]
        _notices.warning(
            "learnscope: CIFAR-10 in %s is partial: %d of 5 training batches (%s missing).",
            folder, len(batches), ", ".join(missing),
        )  # fmt: skip
    images, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    return images, labels, *read(_path(folder, f"test_batch{ending}"))


def _binary(path: Path, labels: int, classes: int) -> Batch:
    """Records of `labels` bytes, the last of which is the label, and three planes of 32 x 32."""
    size = labels + _PIXELS
    found = records(path, size, "CIFAR batch", most=size * _MOST)
    return _images(found[:, labels:]), whole_labels(found[:, labels - 1], classes, path)


def _python(path: Path, key: str, classes: int) -> Batch:
    found = read_pickle(path)
    images, labels = found.get("data"), found.get(key)
    if not isinstance(images, np.ndarray) or not isinstance(labels, list | np.ndarray):
        raise BadInput(f"{path} is no CIFAR batch: it must hold 'data' and '{key}'.")
    if images.dtype != np.uint8 or images.ndim != 2 or images.shape[1] != _PIXELS:
        raise BadInput(
            f"'data' of {path} is {images.dtype} of the shape {images.shape}: "
            f"it must be uint8 of the shape (images, {_PIXELS})."
        )
    if isinstance(labels, list) and not all(type(label) is int for label in labels):
        raise BadInput(f"'{key}' of {path} must be whole numbers.")
    try:
        labels = np.asarray(labels, None if isinstance(labels, np.ndarray) else np.int64)
    except OverflowError:
        raise BadInput(f"'{key}' of {path} must go from 0 to {classes - 1}.") from None
    labels = whole_labels(labels, classes, path)
    as_many(images, labels, path)
    return _images(images), labels


def _images(planes: np.ndarray) -> np.ndarray:
    """Rows of red, green and blue planes as images with the colours last."""
    return np.ascontiguousarray(planes.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
