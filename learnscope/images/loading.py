"""Real data sets of images, as NumPy arrays.

`digits` comes with the package (`digits.npz`, 45 kB): the 1797 test images of *Optical Recognition
of Handwritten Digits*, E. Alpaydin and C. Kaynak (1998), UCI Machine Learning Repository,
doi:10.24432/C50P49, licensed under CC BY 4.0. They are 8 x 8 images with values from 0 to 16 (the
number of ink points among the 4 x 4 points of a pixel), in the order of the original file and as
in scikit-learn; only their type is changed (unsigned bytes).
"""

import functools
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput, unknown
from learnscope.images.formats import folders
from learnscope.images.formats.layout import Layout, Split, stamp
from learnscope.images.formats.safe import reading
from learnscope.images.image_cache import cached
from learnscope.images.registry import SETS, located

_DIGITS_TRAIN = 1500
_FOLDER = Layout((), (), folders.read_split)


def load_images(
    name: str = "digits", root: str | Path | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training images, training labels, test images and test labels of a data set.

    Images are uint8 of the shape (n, height, width), in colour (n, height, width, 3); labels are
    int64 from 0. The arrays are read once per process, shared and read-only.

    - `digits`: the first 1500 of its 1797 images are for training, the last 297 for testing.
    - `mnist`, `fashion-mnist`, `cifar10`, `cifar100`, `svhn`, `stl10`: as published (of `stl10`,
      the labelled images). `tiny-imagenet`: its validation images are for testing.
    - `omniglot`, `cifar-fs`, `mini-imagenet`: all classes, training classes first; the last fifth
      of each class is for testing. `load_few_shot` separates the classes.
    - The path of a folder with `train/` and `test/` (or `val/`), or of a folder of class folders,
      where the last fifth of each class, in the order of file names, is for testing.

    `root` is the folder that holds data sets, by default that of LEARNSCOPE_DATA; `digits` needs
    none. Missing files raise `MissingData`, malformed ones `BadInput`.

    >>> images, labels, test_images, test_labels = load_images("digits")
    >>> images.shape, images.dtype, labels[:5].tolist(), len(test_images)
    ((1500, 8, 8), dtype('uint8'), [0, 1, 2, 3, 4], 297)
    """
    if name == "digits":
        arrays = _digits()
    elif name in SETS:
        layout, folder = located(name, root)
        load = _joined if SETS[name].few_shot else _load
        arrays = load(layout, folder, layout.stamp(folder))
    else:
        folder = _class_folder(name)
        arrays = _load(_FOLDER, folder, stamp([folder]))
    first, second, third, fourth = arrays.values()
    return first, second, third, fourth


def load_few_shot(name: str, root: str | Path | None = None) -> dict[str, np.ndarray]:
    """The images of `omniglot`, `cifar-fs` or `mini-imagenet`: "train", "validation", "test".

    Each is uint8 of the shape (class, image, height, width), in colour with 3 at the end; the three
    have no class in common. `cifar-fs` and `mini-imagenet` have 64, 16 and 20 classes as published.
    `omniglot` has 1100, 100 and 423 characters, in the order of a SHA-256 of their names: the usual
    1200 for meta-training, of which 100 are for validation. Rotated characters as further classes
    are left to augmentation.
    """
    few = [known for known, each in SETS.items() if each.few_shot]
    if name not in SETS and name != "digits":
        raise unknown("few-shot data set", name, few)
    if name not in few:
        listed = f"{', '.join(few[:-1])} and {few[-1]}"
        raise BadInput(f"{name} is not a few-shot data set: it has too few classes; {listed} are.")
    layout, folder = located(name, root)
    return dict(_load(layout, folder, layout.stamp(folder)))


@functools.lru_cache(maxsize=4)
def _load(layout: Layout, folder: Path, stamp: str) -> dict[str, np.ndarray]:
    """The arrays of a data set by name; files with the same stamp are read once."""

    def read() -> dict[str, np.ndarray]:
        with reading(folder, "data set"):
            arrays = layout.read(folder)
        return arrays if isinstance(arrays, dict) else _named(arrays)

    # Only data sets of many files are slow to read.
    many = layout is _FOLDER or any((folder / name).is_dir() for name in layout.names)
    key = f"1 {layout.read.__module__} {layout.read.__qualname__} {folder.resolve()} {stamp}"
    return _frozen(cached(key, read) if many else read())


@functools.lru_cache(maxsize=2)
def _joined(layout: Layout, folder: Path, stamp: str) -> dict[str, np.ndarray]:
    """A few-shot set as an ordinary one: all classes, the last fifth of each for testing."""
    arrays = [array for array in _load(layout, folder, stamp).values() if len(array)]
    if min(array.shape[1] for array in arrays) < 2:
        raise BadInput(f"the classes in {folder} have one image: they must have two at least.")
    cuts = [array.shape[1] - max(1, array.shape[1] // 5) for array in arrays]
    split = []
    for train in (True, False):
        chosen = [a[:, :cut] if train else a[:, cut:] for a, cut in zip(arrays, cuts, strict=True)]
        counts = np.concatenate([np.full(len(array), array.shape[1]) for array in chosen])
        split.append(np.concatenate([array.reshape(-1, *array.shape[2:]) for array in chosen]))
        split.append(np.repeat(np.arange(len(counts)), counts))
    return _frozen(_named(tuple(split)))


@functools.cache
def _digits() -> dict[str, np.ndarray]:
    with as_file(files("learnscope.images") / "digits.npz") as path, np.load(path) as stored:
        images, labels = stored["images"], stored["labels"].astype(np.int64)
    cut = _DIGITS_TRAIN
    return _frozen(_named((images[:cut], labels[:cut], images[cut:], labels[cut:])))


def _named(split: Split) -> dict[str, np.ndarray]:
    return dict(zip(("images", "labels", "test_images", "test_labels"), split, strict=True))


def _frozen(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    for array in arrays.values():
        array.setflags(write=False)
    return arrays


def _class_folder(name: str) -> Path:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if len(folder.parts) > 1:
        raise BadInput(f"{name} cannot be read: there is no such folder of class folders.")
    raise unknown("data set of images", name, ["digits", *SETS, "the path of a folder"])
