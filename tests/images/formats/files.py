"""Writes small data sets in the layouts of the originals."""

import contextlib
import gzip
import io
import pickle
import struct
import tracemalloc
from pathlib import Path
from typing import ClassVar

import numpy as np
from PIL import Image

from learnscope.images.formats import idx

PICTURES = np.random.RandomState(0)


def pictures(*shape):
    return PICTURES.randint(0, 256, shape, dtype=np.uint8)


def write(path, data, packed=False):
    """Bytes into a file, gzipped with .gz behind its name if `packed`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if packed:
        path = path.with_name(path.name + ".gz")
        data = gzip.compress(data, 1)
    path.write_bytes(data)
    return path


@contextlib.contextmanager
def little_memory(most=2**22):
    """That what is read inside takes no more than so many bytes."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def assert_loaded(found, expected):
    """Images and labels for training, and those for testing, in their types."""
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert [array.dtype for array in found] == [np.uint8, np.int64, np.uint8, np.int64]


def idx_bytes(array):
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(np.uint8).tobytes()


def write_idx(folder, train=12, test=5, side=28, packed=False):
    """The four files; returns what they hold."""
    arrays = [
        pictures(train, side, side), np.arange(train) % 10,
        pictures(test, side, side), np.arange(test) % 10,
    ]  # fmt: skip
    for name, array in zip(idx.FILES, arrays, strict=True):
        write(folder / name, idx_bytes(array), packed)
    return arrays


def cifar_bytes(images, labels, coarse=None):
    columns = [np.asarray(each, np.uint8)[:, None] for each in (coarse, labels) if each is not None]
    planes = images.transpose(0, 3, 1, 2).reshape(-1, 3072)
    return np.concatenate([*columns, planes], axis=1).tobytes()


class _Python2(pickle._Pickler):  # type: ignore[name-defined]
    """Pickles bytes as the text of Python 2, as the official batches are."""

    dispatch: ClassVar = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def save_text(self, value):
        self.write(pickle.BINSTRING + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch[bytes] = save_text


def official_pickle(images, labels, key=b"labels"):
    """A Python batch, byte for byte of the official kind (protocol 2, NumPy's old names)."""
    file = io.BytesIO()
    rows = np.ascontiguousarray(images.transpose(0, 3, 1, 2).reshape(len(images), -1))
    names = [b"picture_%d.png" % number for number in range(len(images))]
    batch = {b"batch_label": b"training batch 1 of 5", key: list(map(int, labels))}
    _Python2(file, 2).dump(batch | {b"data": rows, b"filenames": names})
    return file.getvalue().replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


def save_png(path, image):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, "JPEG" if str(path).lower().endswith("jpeg") else "PNG")


def class_folders(folder, counts, side=6, colour=True):
    """A folder a class with so many pictures each; returns them by class."""
    found = {}
    for name, count in counts.items():
        found[name] = pictures(count, side, side, *((3,) if colour else ()))
        for number, image in enumerate(found[name]):
            save_png(folder / name / f"{number:03d}.png", image)
    return found
