"""Images and labels from a user's files."""

import dataclasses
import zipfile
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput, unknown
from learnscope.images.classes import MEMORY, Classes
from learnscope.images.formats import npz
from learnscope.images.formats.folders import read_folder
from learnscope.images.formats.safe import reading
from learnscope.tools.csv_file import read_csv

_IMAGES = ("images", "x", "x_train", "train_images", "data")
_LABELS = ("labels", "label", "y", "y_train", "train_labels", "targets", "target")
KINDS = ".npz, .csv or .csv.gz, or a folder of class folders"


@dataclasses.dataclass(frozen=True)
class Labelled:
    """Images, their labels, the name of their source, and their files (none: one file for all)."""

    images: np.ndarray
    labels: np.ndarray
    name: str
    files: list[str] | None = None


def read_labelled(path: str | Path, label: str | None = None) -> Labelled:
    """Images and labels from a file or folder. Nothing is unpickled, nor unpacked beyond 4 GB.

    - `.npz`: the images are the first existing array of `images`, `x`, `x_train`, `train_images`
      and `data`. The labels are the array `label`, or the first of `labels`, `label`, `y`,
      `y_train`, `train_labels`, `targets` and `target` (in small or capital letters).
    - `.csv`, `.csv.gz`: a line of column names, then one line per image. The labels are the column
      `label`, or the one called `label`, `class`, `target` or `y`; all other columns are numbers.
    - A folder with one folder per class, of PNG and JPEG files of one size. Hidden files are
      ignored.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "points.csv").write_text("a,b,class\\n1,2,cat\\n3,4.5,dog\\n")
    ...     points = read_labelled(Path(folder, "points.csv"))
    >>> points.name, points.images.tolist(), points.labels.tolist()
    ('points', [[1.0, 2.0], [3.0, 4.5]], ['cat', 'dog'])
    """
    place = Path(path)
    name = place.resolve().name
    if not place.exists():
        raise BadInput(f"{path} cannot be read: there is no such file or folder.")
    try:
        if place.is_dir():
            if label is not None:
                raise BadInput(f"the labels of {path} are its folders: leave --label out.")
            images, texts, files = read_folder(place)
            return _checked(images, _numbers(texts), name, files)
        if name.lower().endswith(".npz"):
            return _checked(*_read_npz(place, label), name[:-4])
        for ending in (".csv", ".csv.gz"):
            if name.lower().endswith(ending):
                images, texts = read_csv(place, label)
                return _checked(images, _numbers(texts), name[: -len(ending)])
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from None
    except MemoryError:
        raise BadInput(f"{path} does not fit into the memory of this machine.") from None
    raise BadInput(f"{path} is not allowed: it must be {KINDS}.")


def _checked(
    images: np.ndarray, labels: np.ndarray, name: str, files: list[str] | None = None
) -> Labelled:
    """The images with labels as plain integers or text, one per image."""
    classes = Classes.check(images, labels, MEMORY)
    return Labelled(images, classes.names[classes.of], name or "images", files)


def _numbers(texts: list[str]) -> np.ndarray:
    """Labels as whole numbers if all are, so that 10 comes after 9; otherwise as text."""
    try:
        numbers = [int(text) for text in texts]
        if [str(number) for number in numbers] == texts:
            return np.array(numbers, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    return np.array(texts, dtype=np.str_)


def _read_npz(path: Path, label: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels."""
    with reading(path, ".npz file"), zipfile.ZipFile(path) as archive:
        members = npz.members(archive)
        images = _find(path, members, "images", _IMAGES)
        labels = label or _find(path, members, "labels", _LABELS)
        if labels not in members:
            raise unknown(f"array of {path}", labels, members)
        if labels == images:
            raise BadInput(f"'{images}' of {path} cannot be both images and labels.")
        read = lambda name: npz.read_member(archive, members[name], path)  # noqa: E731
        return read(images), read(labels)


def _find(path: Path, members: dict, what: str, names: tuple[str, ...]) -> str:
    lower = {name.lower(): name for name in reversed(members)}
    for name in names:
        if name in lower:
            return lower[name]
    hint = "; --label names any other" if what == "labels" else ""
    raise BadInput(
        f"{path} has no array of {what}: it must be called {', '.join(names[:-1])} or {names[-1]}"
        f"{hint}; arrays there: {npz.listed(members)}."
    )
