"""The registry of image data sets: what they are, and where their files may be."""

import dataclasses
import os
from pathlib import Path

from learnscope.errors import BadInput, MissingData
from learnscope.images.formats import (
    cifar,
    cifar_fs,
    idx,
    mini_imagenet,
    omniglot,
    stl10,
    svhn,
    tiny_imagenet,
)
from learnscope.images.formats.layout import Layout

VARIABLE = "LEARNSCOPE_DATA"


@dataclasses.dataclass(frozen=True)
class DataSet:
    """A data set: a title, and its layouts, which read images and labels or (few-shot) training,
    validation and test classes."""

    title: str
    layouts: tuple[Layout, ...]
    few_shot: bool = False
    public: bool = True  # whether anyone may download it


_BINARY100 = (("cifar-100-binary",), ("train.bin", "test.bin"))
_PYTHON100 = (("cifar-100-python",), ("train", "test"))
_OMNIGLOT = ("omniglot", "omniglot-py", "omniglot/python")

SETS = {
    "mnist": DataSet(
        "handwritten digits, 28 x 28, 10 classes",
        (Layout(("mnist", "MNIST/raw", "MNIST"), idx.FILES, idx.read_split),),
    ),
    "fashion-mnist": DataSet(
        "clothes, 28 x 28, 10 classes",
        (Layout(("fashion-mnist", "FashionMNIST/raw", "FashionMNIST"), idx.FILES, idx.read_split),),
    ),
    "cifar10": DataSet(
        "photographs, 32 x 32 in colour, 10 classes",
        (
            Layout(("cifar-10-batches-bin",), ("test_batch.bin",), cifar.read_binary10,
                   one_of=tuple(f"{name}.bin" for name in cifar.TRAIN)),
            Layout(("cifar-10-batches-py",), ("test_batch",), cifar.read_python10,
                   one_of=cifar.TRAIN),
        ),
    ),
    "cifar100": DataSet(
        "photographs, 32 x 32 in colour, 100 classes",
        (Layout(*_BINARY100, cifar.read_binary100), Layout(*_PYTHON100, cifar.read_python100)),
    ),
    "svhn": DataSet(
        "house numbers, 32 x 32 in colour, 10 classes",
        (Layout(("svhn", "SVHN"), svhn.FILES, svhn.read_split),),
    ),
    "stl10": DataSet(
        "photographs, 96 x 96 in colour, 10 classes",
        (Layout(("stl10_binary", "stl10"), stl10.FILES, stl10.read_split),),
    ),
    "tiny-imagenet": DataSet(
        "photographs, 64 x 64 in colour, 200 classes",
        (Layout(("tiny-imagenet-200",), tiny_imagenet.FILES, tiny_imagenet.read_split),),
    ),
    "omniglot": DataSet(
        "characters of 50 alphabets, 28 x 28, few-shot",
        (
            Layout(("omniglot",), (omniglot.PACKED,), omniglot.read_packed),
            Layout(_OMNIGLOT, omniglot.FOLDERS, omniglot.read_folders),
        ),
        few_shot=True,
    ),
    "cifar-fs": DataSet(
        "CIFAR-100 split by classes, few-shot",
        (
            Layout(("cifar-fs",), (cifar_fs.PACKED,), cifar_fs.read_packed),
            Layout(("cifar100", "cifar-fs"), ("data", cifar_fs.SPLITS), cifar_fs.read_folders),
            Layout(*_BINARY100, cifar_fs.from_binary),
            Layout(*_PYTHON100, cifar_fs.from_python),
        ),
        few_shot=True,
    ),
    "mini-imagenet": DataSet(
        "photographs, 84 x 84 in colour, few-shot",
        (
            Layout(("mini-imagenet", "miniImageNet", "mini_imagenet"), mini_imagenet.FILES,
                   mini_imagenet.read_parts, also=(".",),
                   note=" and the images in images/ or in one folder per class"),
        ),
        few_shot=True, public=False,
    ),
}  # fmt: skip


def data_folder(root: str | Path | None) -> Path | None:
    """The folder that holds data sets: `root`, or that of LEARNSCOPE_DATA."""
    given = root if root is not None else os.environ.get(VARIABLE) or None
    return None if given is None else Path(given).expanduser()


def find(name: str, root: str | Path | None) -> tuple[Layout, Path] | None:
    """The layout and the folder of a data set on this machine; None if it is missing."""
    base = data_folder(root)
    if base is None:
        return None
    places = ((layout, layout.find(base)) for layout in SETS[name].layouts)
    return next(((layout, folder) for layout, folder in places if folder is not None), None)


def located(name: str, root: str | Path | None) -> tuple[Layout, Path]:
    """Like `find`, but raises `MissingData` if the data set is missing."""
    location = find(name, root)
    if location is None:
        raise missing(name, data_folder(root))
    return location


def missing(name: str, base: Path | None) -> BadInput:
    """The error for a missing data set: the expected files, their place, and how to get them."""
    layouts = SETS[name].layouts
    expected = ", or ".join(layout.expected() for layout in layouts)
    command = f"`learnscope data get {name}` downloads it"
    get = command if SETS[name].public else "it has no public download"
    if base is None:
        needs = f"{name} needs a data folder (--data DIR or {VARIABLE})"
        return MissingData(f"{needs} that holds {expected}; {get}.")
    # If a folder exists but lacks files, name these.
    for layout in layouts:
        for folder in layout.folders:
            absent = layout.absent(base / folder)
            if 0 < len(absent) < len(layout.files) + bool(layout.one_of):
                lacks = f"{', '.join(absent)} must be there too"
                place = f"{name} in {base / folder}"
                return MissingData(f"{place} is not whole: {lacks}; {get}.", base)
    return MissingData(f"{name} is not in {base}: put there {expected}; {get}.", base)
