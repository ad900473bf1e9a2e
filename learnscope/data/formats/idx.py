"""The idx format of MNIST and Fashion-MNIST: a magic number, sizes, then bytes."""

import math
from pathlib import Path

import numpy as np

from learnscope.data.formats.layout import Split
from learnscope.data.formats.safe import (
    as_many,
    opened,
    plain_or_packed,
    reading,
    records,
    whole_labels,
)
from learnscope.errors import BadInput

FILES = (
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
)  # fmt: skip
_LARGEST = 2**30  # bytes of one file, unpacked


def read_split(folder: Path) -> Split:
    """The four files of a folder, each gzipped or not."""
    paths = [plain_or_packed(folder, name) or folder / name for name in FILES]
    found = []
    for images_path, labels_path in (paths[:2], paths[2:]):
        images, labels = read_idx(images_path, 3), read_idx(labels_path, 1)
        as_many(images, labels, labels_path)
        found += [images, whole_labels(labels, 10, labels_path)]
    if found[0].shape[1:] != found[2].shape[1:]:
        shapes = [" x ".join(map(str, found[at].shape[1:])) for at in (0, 2)]
        raise BadInput(
            f"{paths[0]} and {paths[2]} differ in size: one has images of {shapes[0]} pixels, "
            f"the other of {shapes[1]}."
        )
    return tuple(found)


def shape_and_counts(folder: Path) -> tuple[tuple[int, ...], int, int]:
    """The shape of an image and how many there are for training and testing, from the headers."""
    train, test = (
        read_header(plain_or_packed(folder, name) or folder / name, 3) for name in FILES[::2]
    )
    return train[1:], train[0], test[0]


def read_idx(path: Path, dims: int) -> np.ndarray:
    """The array of unsigned bytes in a file, memory-mapped if it is not packed."""
    shape = read_header(path, dims)
    size = math.prod(shape)
    start = 4 + 4 * dims
    found = records(path, size, "idx file", start, most=size)
    if len(found) != 1:
        raise BadInput(
            f"{path} is not a whole idx file: its header says {size:,} bytes, not {found.size:,}."
        )
    return found.reshape(shape)


def read_header(path: Path, dims: int) -> tuple[int, ...]:
    """The sizes that an idx file of unsigned bytes states."""
    with reading(path, "idx file"), opened(path) as file:
        head = file.read(4 + 4 * dims)
    magic = bytes([0, 0, 8, dims])
    if len(head) < 4 + 4 * dims or head[:4] != magic:
        raise BadInput(
            f"{path} is not an idx file of {'images' if dims == 3 else 'labels'}: it starts with "
            f"{head[:4].hex() or 'nothing'} and must start with {magic.hex()}."
        )
    shape = tuple(int(size) for size in np.frombuffer(head[4:], ">u4"))
    if not 0 < math.prod(shape) <= _LARGEST:
        raise BadInput(
            f"{path} states the sizes {shape}: there must be some, and at most 1 GB is read."
        )
    return shape
