"""The idx format of MNIST and Fashion-MNIST: a magic number, sizes, then bytes."""

import math
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats.layout import Split
from learnscope.images.formats.safe import as_many, opened, reading, records, stored, whole_labels

FILES = (
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
)  # fmt: skip
_LARGEST = 2**30  # bytes of one file, unpacked


def read_split(folder: Path) -> Split:
    """The four files of MNIST in a folder, gzipped or not."""
    paths = [stored(folder, name) for name in FILES]
    arrays = []
    for images_path, labels_path in (paths[:2], paths[2:]):
        images, labels = read_idx(images_path, 3), read_idx(labels_path, 1)
        as_many(images, labels, labels_path)
        arrays += [images, whole_labels(labels, 10, labels_path)]
    if arrays[0].shape[1:] != arrays[2].shape[1:]:
        shapes = [" x ".join(map(str, arrays[at].shape[1:])) for at in (0, 2)]
        sizes = f"one has images of {shapes[0]} pixels, the other of {shapes[1]}"
        raise BadInput(f"{paths[0]} and {paths[2]} differ in size: {sizes}.")
    return tuple(arrays)


def read_idx(path: Path, dims: int) -> np.ndarray:
    """The array of unsigned bytes in a file, memory-mapped unless gzipped."""
    shape = read_header(path, dims)
    size = math.prod(shape)
    data = records(path, size, "idx file", 4 + 4 * dims, most=size)
    if len(data) != 1:
        header = f"its header says {size:,} bytes, not {data.size:,}"
        raise BadInput(f"{path} is not a whole idx file: {header}.")
    return data.reshape(shape)


def read_header(path: Path, dims: int) -> tuple[int, ...]:
    """The shape in the header of an idx file of unsigned bytes."""
    with reading(path, "idx file"), opened(path) as file:
        head = file.read(4 + 4 * dims)
    magic = bytes([0, 0, 8, dims])
    if len(head) < 4 + 4 * dims or head[:4] != magic:
        what = f"an idx file of {'images' if dims == 3 else 'labels'}"
        start = f"it starts with {head[:4].hex() or 'nothing'} and must start with {magic.hex()}"
        raise BadInput(f"{path} is not {what}: {start}.")
    shape = tuple(int(size) for size in np.frombuffer(head[4:], ">u4"))
    if not 0 < math.prod(shape) <= _LARGEST:
        must = "there must be some, and at most 1 GB is read"
        raise BadInput(f"{path} states the sizes {shape}: {must}.")
    return shape
