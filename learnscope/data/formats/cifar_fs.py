"""CIFAR-FS: the few-shot split of CIFAR-100 of L. Bertinetto et al. (2019), 64/16/20 classes.

Stored as one .npz, as the original folders (`cifar100/data` with a folder a class and
`cifar100/splits/bertinetto`), or made of CIFAR-100 itself, which has the same images.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from learnscope.data.formats import cifar
from learnscope.data.formats.folders import by_class, read_files, text_lines
from learnscope.data.formats.layout import Split
from learnscope.data.formats.npz import read_arrays
from learnscope.errors import BadInput

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
    names = tuple(f"x_{part}" for part in _FILES.values())
    found = read_arrays(path, names, _LARGEST)
    for name, images in found.items():
        if images.dtype != np.uint8 or images.ndim != 5 or images.shape[2:] != (32, 32, 3):
            raise BadInput(
                f"'{name}' of {path} is {images.dtype} of the shape {images.shape}: "
                "it must be uint8 of the shape (classes, images, 32, 32, 3)."
            )
        if not images.size:
            raise BadInput(f"'{name}' of {path} is empty.")
    return dict(zip(_FILES, found.values(), strict=True))


def read_folders(folder: Path) -> dict[str, np.ndarray]:
    """`data/<class>/*.png`, and a list of classes a part in `splits/bertinetto`."""
    found = {}
    for part, file in _FILES.items():
        path = folder / SPLITS / f"{file}.txt"
        classes = text_lines(path)
        files = {name: folder / "data" / name for name in classes}
        found[part] = by_class(files, path, lambda paths: read_files(paths, folder, colour=True))
    return found


def from_cifar100(read: Callable[[Path], Split]) -> Callable[[Path], dict[str, np.ndarray]]:
    """Reads CIFAR-100 by `read`, and puts its training and test images together by class."""

    def parts(folder: Path) -> dict[str, np.ndarray]:
        images, labels, more_images, more_labels = read(folder)
        images, labels = np.concatenate([images, more_images]), np.append(labels, more_labels)
        counts = np.bincount(labels, minlength=100)
        if (counts != counts[0]).any():
            raise BadInput(f"CIFAR-100 in {folder} must have equally many images of each class.")
        order = np.argsort(labels, kind="stable").reshape(100, -1)
        held = {*VALIDATION, *TEST}
        train = tuple(label for label in range(100) if label not in held)
        which = {"train": train, "validation": VALIDATION, "test": TEST}
        return {part: images[order[list(classes)]] for part, classes in which.items()}

    return parts


from_binary = from_cifar100(cifar.read_binary100)
from_python = from_cifar100(cifar.read_python100)
