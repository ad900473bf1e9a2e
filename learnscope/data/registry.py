"""The data sets of images that have a name: what they are, and where their files are looked for."""

import dataclasses
import os
from pathlib import Path

from learnscope.data.formats import (
    cifar,
    cifar_fs,
    idx,
    mini_imagenet,
    omniglot,
    stl10,
    svhn,
    tiny_imagenet,
)
from learnscope.data.formats.layout import Layout
from learnscope.errors import BadInput, MissingData

VARIABLE = "LEARNSCOPE_DATA"


@dataclasses.dataclass(frozen=True)
class DataSet:
    """What a data set is, the shape of its images if all layouts fix it, and its layouts.

    The layouts of a few-shot set give classes apart (training, validation, test); those of others
    give images and labels.
    """

    title: str
    shape: tuple[int, ...] | None
    layouts: tuple[Layout, ...]
    few_shot: bool = False
    public: bool = True  # whether anyone may download it


_BINARY100 = (("cifar-100-binary",), ("train.bin", "test.bin"))
_PYTHON100 = (("cifar-100-python",), ("train", "test"))
_OMNIGLOT = ("omniglot", "omniglot-py", "omniglot/python")

SETS = {
    "mnist": DataSet(
        "handwritten digits, 28 x 28, 10 classes", None,
        (Layout(("mnist", "MNIST/raw", "MNIST"), idx.FILES, idx.read_split),),
    ),
    "fashion-mnist": DataSet(
        "clothes, 28 x 28, 10 classes", None,
        (Layout(("fashion-mnist", "FashionMNIST/raw", "FashionMNIST"), idx.FILES, idx.read_split),),
    ),
    "cifar10": DataSet(
        "photographs, 32 x 32 in colour, 10 classes", (32, 32, 3),
        (
            Layout(
                ("cifar-10-batches-bin",), ("test_batch.bin",), cifar.read_binary10,
                one_of=tuple(f"{name}.bin" for name in cifar.TRAIN),
            ),
            Layout(
                ("cifar-10-batches-py",), ("test_batch",), cifar.read_python10, one_of=cifar.TRAIN,
            ),
        ),
    ),
    "cifar100": DataSet(
        "photographs, 32 x 32 in colour, 100 classes", (32, 32, 3),
        (
            Layout(*_BINARY100, cifar.read_binary100),
            Layout(*_PYTHON100, cifar.read_python100),
        ),
    ),
    "svhn": DataSet(
        "house numbers, 32 x 32 in colour, 10 classes", (32, 32, 3),
        (Layout(("svhn", "SVHN"), svhn.FILES, svhn.read_split),),
    ),
    "stl10": DataSet(
        "photographs, 96 x 96 in colour, 10 classes", (96, 96, 3),
        (Layout(("stl10_binary", "stl10"), stl10.FILES, stl10.read_split),),
    ),
    "tiny-imagenet": DataSet(
        "photographs, 64 x 64 in colour, 200 classes", (64, 64, 3),
        (Layout(("tiny-imagenet-200",), tiny_imagenet.FILES, tiny_imagenet.read_split),),
    ),
    "omniglot": DataSet(
        "characters of 50 alphabets, 28 x 28, few-shot", (28, 28),
        (
            Layout(("omniglot",), (omniglot.PACKED,), omniglot.read_packed),
            Layout(_OMNIGLOT, omniglot.FOLDERS, omniglot.read_folders),
        ),
        few_shot=True,
    ),
    "cifar-fs": DataSet(
        "CIFAR-100 split by classes, few-shot", (32, 32, 3),
        (
            Layout(("cifar-fs",), (cifar_fs.PACKED,), cifar_fs.read_packed),
            Layout(("cifar100", "cifar-fs"), ("data", cifar_fs.SPLITS), cifar_fs.read_folders),
            Layout(*_BINARY100, cifar_fs.from_binary),
            Layout(*_PYTHON100, cifar_fs.from_python),
        ),
        few_shot=True,
    ),
    "mini-imagenet": DataSet(
        "photographs, 84 x 84 in colour, few-shot", (84, 84, 3),
        (
            Layout(
                ("mini-imagenet", "miniImageNet", "mini_imagenet"), mini_imagenet.FILES,
                mini_imagenet.read_parts, also=(".",),
                note=" and the images in images/ or in a folder a class",
            ),
        ),
        few_shot=True, public=False,
    ),
}  # fmt: skip


def data_folder(root: str | Path | None) -> Path | None:
    """The folder that holds data sets: the one given, else that of LEARNSCOPE_DATA."""
    given = root if root is not None else os.environ.get(VARIABLE) or None
    return None if given is None else Path(given).expanduser()


def find(name: str, root: str | Path | None) -> tuple[Layout, Path] | None:
    """The layout that a data set is there in, and its folder; None if it is missing."""
    base = data_folder(root)
    if base is None:
        return None
    places = ((layout, layout.find(base)) for layout in SETS[name].layouts)
    return next(((layout, folder) for layout, folder in places if folder is not None), None)


def located(name: str, root: str | Path | None) -> tuple[Layout, Path]:
    """As `find`; what is missing is told."""
    found = find(name, root)
    if found is None:
        raise missing(name, data_folder(root))
    return found


def missing(name: str, base: Path | None) -> BadInput:
    """The files expected, where to put them and how to get them, in one sentence."""
    layouts = SETS[name].layouts
    expected = ", or ".join(layout.expected() for layout in layouts)
    get = (
        f"`learnscope data get {name}` downloads it"
        if SETS[name].public
        else "it has no public download"
    )
    if base is None:
        return MissingData(
            f"{name} needs a data folder (--data DIR or {VARIABLE}) that holds {expected}; {get}."
        )
    # A folder that is there but lacks files says more than one that is not there at all.
    for layout in layouts:
        for folder in layout.folders:
            absent = layout.absent(base / folder)
            if 0 < len(absent) < len(layout.files) + bool(layout.one_of):
                return MissingData(
                    f"{name} in {base / folder} is not whole: {', '.join(absent)} "
                    f"must be there too; {get}."
                )
    return MissingData(f"{name} is not in {base}: put there {expected}; {get}.")
