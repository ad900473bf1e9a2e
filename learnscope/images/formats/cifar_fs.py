"""CIFAR-FS: the few-shot split of CIFAR-100 by L. Bertinetto et al. (2019), 64/16/20 classes.

It is read from one .npz, from the original folders (`cifar100/data` with one folder per class and
`cifar100/splits/bertinetto`), or from CIFAR-100 itself, which has the same images.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats import cifar
from learnscope.images.formats.folders import by_class, read_files, text_lines
from learnscope.images.formats.layout import Split
from learnscope.images.formats.npz import read_arrays
from learnscope.images.formats.safe import check_bytes

PACKED = "cifar_fs_60_per_class.npz"
SPLITS = "splits/bertinetto"
_LARGEST = 2**28  # bytes of an array: 64 classes of 600 images have 113 MB
_FILES = {"train": "train", "validation": "val", "test": "test"}
VALIDATION = (
    # beaver beetle butterfly camel cattle crab crocodile flatfish lamp maple_tree motorcycle
    # otter sea shark television tractor
    4, 7, 14, 15, 19, 26, 27, 32, 40, 47, 48, 55, 71, 73, 87, 89,
)  # fmt: skip
TEST = (
    # baby bed bicycle chimpanzee fox leopard man pickup_truck plain poppy rocket rose snail
    # sweet_pepper table telephone wardrobe whale woman worm
    2, 5, 8, 21, 34, 42, 46, 58, 60, 62, 69, 70, 77, 83, 84, 86, 94, 95, 98, 99,
)  # fmt: skip


def read_packed(folder: Path) -> dict[str, np.ndarray]:
    """`x_train`, `x_val` and `x_test`: (class, image, 32, 32, 3)."""
    path = folder / PACKED
    arrays = read_arrays(path, tuple(f"x_{file}" for file in _FILES.values()), _LARGEST)
    for name, images in arrays.items():
        good = images.ndim == 5 and images.shape[2:] == (32, 32, 3)
        check_bytes(f"'{name}' of {path}", images, good, "classes, images, 32, 32, 3")
        if not images.size:
            raise BadInput(f"'{name}' of {path} is empty.")
    return dict(zip(_FILES, arrays.values(), strict=True))


def read_folders(folder: Path) -> dict[str, np.ndarray]:
    """`data/<class>/*.png`, and three lists of classes in `splits/bertinetto`."""
    splits = {}
    for split, file in _FILES.items():
        path = folder / SPLITS / f"{file}.txt"
        folders = {name: folder / "data" / name for name in text_lines(path)}
        splits[split] = by_class(folders, path, lambda p: read_files(p, folder, colour=True))
    return splits


def from_cifar100(read: Callable[[Path], Split]) -> Callable[[Path], dict[str, np.ndarray]]:
    """A reader that joins the training and test images of CIFAR-100, read by `read`, by class."""

    def read_split(folder: Path) -> dict[str, np.ndarray]:
        images, labels, more_images, more_labels = read(folder)
        images, labels = np.concatenate([images, more_images]), np.append(labels, more_labels)
        counts = np.bincount(labels, minlength=100)
        if (counts != counts[0]).any():
            raise BadInput(f"CIFAR-100 in {folder} must have equally many images of each class.")
        order = np.argsort(labels, kind="stable").reshape(100, -1)
        held = {*VALIDATION, *TEST}
        train = tuple(label for label in range(100) if label not in held)
        which = {"train": train, "validation": VALIDATION, "test": TEST}
        return {split: images[order[list(classes)]] for split, classes in which.items()}

    return read_split


from_binary = from_cifar100(cifar.read_binary100)
from_python = from_cifar100(cifar.read_python100)
