"""CIFAR-10 and CIFAR-100: binary batches and Python batches, gzipped or not."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats.layout import Split
from learnscope.images.formats.pickled import read_pickle
from learnscope.images.formats.safe import as_many, check_bytes, records, stored, whole_labels

TRAIN = tuple(f"data_batch_{number}" for number in range(1, 6))
_PIXELS = 3 * 32 * 32
_MOST = 60_000  # images in a batch
_notices = logging.getLogger("learnscope")

Batch = tuple[np.ndarray, np.ndarray]


def read_binary10(folder: Path) -> Split:
    """The files `data_batch_1.bin` to `data_batch_5.bin` that exist, and `test_batch.bin`."""
    return _ten(folder, ".bin", lambda path: _binary(path, 1, 10))


def read_python10(folder: Path) -> Split:
    """The files `data_batch_1` to `data_batch_5` that exist, and `test_batch`."""
    return _ten(folder, "", lambda path: _python(path, "labels", 10))


def read_binary100(folder: Path) -> Split:
    """`train.bin` and `test.bin`, with the 100 fine labels."""
    train, test = (_binary(stored(folder, name), 2, 100) for name in ("train.bin", "test.bin"))
    return *train, *test


def read_python100(folder: Path) -> Split:
    """`train` and `test`, with the 100 fine labels."""
    train, test = (_python(stored(folder, n), "fine_labels", 100) for n in ("train", "test"))
    return *train, *test


def _ten(folder: Path, ending: str, read: Callable[[Path], Batch]) -> Split:
    paths = [stored(folder, name + ending) for name in TRAIN]
    batches = [read(path) for path in paths if path.is_file()]
    if len(batches) < len(TRAIN):
        missing = [path.name for path in paths if not path.is_file()]
        _notices.warning(
            "learnscope: CIFAR-10 in %s is partial: %d of 5 training batches (%s missing).",
            folder, len(batches), ", ".join(missing),
        )  # fmt: skip
    images, labels = (np.concatenate(arrays) for arrays in zip(*batches, strict=True))
    return images, labels, *read(stored(folder, f"test_batch{ending}"))


def _binary(path: Path, labels: int, classes: int) -> Batch:
    """Records of `labels` bytes, the last of which is the label, and three planes of 32 x 32."""
    size = labels + _PIXELS
    data = records(path, size, "CIFAR batch", most=size * _MOST)
    return _images(data[:, labels:]), whole_labels(data[:, labels - 1], classes, path)


def _python(path: Path, key: str, classes: int) -> Batch:
    content = read_pickle(path)
    images, labels = content.get("data"), content.get(key)
    if not isinstance(images, np.ndarray) or not isinstance(labels, list | np.ndarray):
        raise BadInput(f"{path} is no CIFAR batch: it must hold 'data' and '{key}'.")
    good = images.ndim == 2 and images.shape[1] == _PIXELS
    check_bytes(f"'data' of {path}", images, good, f"images, {_PIXELS}")
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
