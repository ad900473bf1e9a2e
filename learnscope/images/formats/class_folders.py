"""Training and test images from a folder of class folders."""

from pathlib import Path

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats.folders import class_files, read_files
from learnscope.images.formats.layout import Split


def read_split(folder: Path) -> Split:
    """The images of `train/` and of `test/` (or `val/`), which have one folder per class. Without
    these two, `folder` has the class folders, and the last fifth of each class, in the order of
    file names, is for testing. Classes are numbered in the order of their names."""
    test = next((folder / name for name in ("test", "val") if (folder / name).is_dir()), None)
    if (folder / "train").is_dir() and test is not None:
        files, names = class_files(folder / "train")
        test_files, test_names = class_files(test)
        strange = sorted(set(test_names) - set(names))
        if strange:
            raise BadInput(f"{test / strange[0]} is a class that {folder / 'train'} has not.")
        cut = np.arange(len(files) + len(test_files)) >= len(files)
        files, names = files + test_files, names + test_names
    else:
        files, names = class_files(folder)
        cut = last_fifth(np.array(names))
        if not cut.any():
            raise BadInput(f"the classes of {folder} are too small: a test needs five images each.")
    _, labels = np.unique(names, return_inverse=True)
    images = read_files(files, folder)
    if images.dtype != np.uint8:
        raise BadInput(f"the images of {folder} have 16 bits: they must have 8.")
    labels = labels.astype(np.int64)
    return images[~cut], labels[~cut], images[cut], labels[cut]


def last_fifth(names: np.ndarray) -> np.ndarray:
    """A mask of the last fifth of each class."""
    last = np.zeros(len(names), bool)
    for name in np.unique(names):
        which = np.flatnonzero(names == name)
        last[which[len(which) - len(which) // 5 :]] = True
    return last
