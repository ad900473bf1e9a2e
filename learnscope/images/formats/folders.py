"""Images in class folders: PNG or JPEG files of one size."""

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from learnscope.errors import BadInput
from learnscope.images.formats.layout import Split
from learnscope.images.formats.safe import LARGEST, read_whole, reading

_LARGEST_IMAGE = 2**26  # pixels
_LONGEST_TEXT = 2**24  # bytes
_ENDINGS = (".png", ".jpg", ".jpeg")
# Pillow's modes, and the mode in which each is read: grey, 16-bit grey, or colour.
_READ_AS = {"1": "L", "L": "L", "LA": "L", "P": "RGB", "PA": "RGB", "RGB": "RGB", "RGBA": "RGB",
            "CMYK": "RGB", "YCbCr": "RGB", "I": "I;16", "I;16": "I;16"}  # fmt: skip
_BOMBS = (Image.DecompressionBombWarning, Image.DecompressionBombError)  # too large to open


def read_folder(folder: Path) -> tuple[np.ndarray, list[str], list[str]]:
    """Images (uint8, or uint16 from files of 16 bits), their classes, and their file names."""
    files, labels = class_files(folder)
    return read_files(files, folder), labels, [_text(file.relative_to(folder)) for file in files]


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
        cut = _last_fifth(np.array(names))
        if not cut.any():
            raise BadInput(f"the classes of {folder} are too small: a test needs five images each.")
    _, labels = np.unique(names, return_inverse=True)
    images = read_files(files, folder)
    if images.dtype != np.uint8:
        raise BadInput(f"the images of {folder} have 16 bits: they must have 8.")
    labels = labels.astype(np.int64)
    return images[~cut], labels[~cut], images[cut], labels[cut]


def _last_fifth(names: np.ndarray) -> np.ndarray:
    """A mask of the last fifth of each class."""
    last = np.zeros(len(names), bool)
    for name in np.unique(names):
        which = np.flatnonzero(names == name)
        last[which[len(which) - len(which) // 5 :]] = True
    return last


def read_files(files: list[Path], folder: Path, colour: bool = False) -> np.ndarray:
    """The images of these files, all of one size: all in colour, if one is or `colour` is set. All
    headers are read before any pixel."""
    kinds = {file: _header(file) for file in files}
    first = kinds[files[0]]
    for file, (size, mode) in kinds.items():
        if size != first[0]:
            given = f"{file} has {size[0]} x {size[1]} pixels and {files[0]} has"
            raise BadInput(f"{given} {first[0][0]} x {first[0][1]}: all must have one size.")
        if (mode == "I;16") != (first[1] == "I;16"):
            raise BadInput(f"{file} and {files[0]} differ in depth (8 or 16 bits): all must agree.")
    colour = colour or any(mode == "RGB" for _, mode in kinds.values())
    width, height = first[0]
    dtype = np.dtype(np.uint16 if first[1] == "I;16" else np.uint8)
    images = _room(len(files), height, width, colour, dtype, folder)
    for at, file in enumerate(files):
        images[at] = _pixels(file, "RGB" if colour else first[1])
    return images


def read_resized(files: list[Path], folder: Path, side: int, colour: bool = True) -> np.ndarray:
    """The images of these files, of any sizes, resized to side x side."""
    images = _room(len(files), side, side, colour, np.dtype(np.uint8), folder)
    for at, file in enumerate(files):
        if _header(file)[1] == "I;16":
            raise BadInput(f"{file} has 16 bits: it must have 8.")
        pixels = _pixels(file, "RGB" if colour else "L")
        if pixels.shape[:2] != (side, side):
            pixels = Image.fromarray(pixels).resize((side, side), Image.Resampling.BILINEAR)
        images[at] = np.asarray(pixels)
    return images


def _room(
    count: int, height: int, width: int, colour: bool, dtype: np.dtype, folder: Path
) -> np.ndarray:
    shape = (count, height, width, *((3,) if colour else ()))
    if np.prod(shape, dtype=float) * dtype.itemsize > LARGEST:
        raise BadInput(f"the images in {folder} would take more than the 4 GB that are read.")
    return np.empty(shape, dtype)


def class_files(folder: Path) -> tuple[list[Path], list[str]]:
    """The image files of all class folders, and their classes."""
    files, labels = [], []
    for one in visible(folder):
        if not one.is_dir():
            if one.suffix.lower() in _ENDINGS:
                raise BadInput(f"{one} is in no class: images must be in one folder per class.")
            continue
        before = len(files)
        for file in visible(one):
            if file.is_dir() or file.suffix.lower() not in _ENDINGS:
                must = f"class folders may hold PNG and JPEG files ({', '.join(_ENDINGS)}) only"
                raise BadInput(f"{file} is not allowed: {must}.")
            files.append(file)
            labels.append(_text(Path(one.name)))
        if len(files) == before:
            raise BadInput(f"the class folder {one} has no images: it must hold PNG or JPEG files.")
    if not files:
        raise BadInput(f"{folder} has no class folders: it must hold one folder per class.")
    return files, labels


def visible(folder: Path) -> list[Path]:
    """The visible entries of a folder, in the order of their names."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _text(path: Path) -> str:
    """A name as valid text, whatever its bytes are."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@contextlib.contextmanager
def open_image(file: Path) -> Iterator[Image.Image]:
    """An image file; any error in reading it becomes `BadInput`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            opened = Image.open(file, formats=("PNG", "JPEG"))
        with opened as image:
            yield image
    except (BadInput, *_BOMBS):
        raise
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise BadInput(f"{file} cannot be read: {error.strerror}.") from None
        raise BadInput(f"{file} is not a whole PNG or JPEG image.") from None


def _header(file: Path) -> tuple[tuple[int, int], str]:
    """The size (width, height), and the mode in which the file is read."""
    try:
        with open_image(file) as image:
            size, mode = image.size, image.mode
    except _BOMBS:
        size, mode = (_LARGEST_IMAGE, 2), "L"
    if size[0] * size[1] > _LARGEST_IMAGE:
        raise BadInput(f"{file} is too large: an image has at most {_LARGEST_IMAGE} pixels (2^26).")
    if mode not in _READ_AS:
        raise BadInput(f"{file} is of the kind {mode}: it must be grey or colour.")
    return size, _READ_AS[mode]


def _pixels(file: Path, mode: str) -> np.ndarray:
    with open_image(file) as image:
        image.load()
        if image.has_transparency_data:
            image = image.convert("RGBA")
            if np.asarray(image)[..., 3].min() < 255:
                raise BadInput(f"{file} has transparent pixels: they must all be opaque.")
            return np.asarray(image.convert(mode))
        # 16-bit images are not converted: that would clip them.
        return np.asarray(image if mode == "I;16" else image.convert(mode))


def text_lines(path: Path) -> list[str]:
    """The non-empty lines of a short text."""
    with reading(path, "text"):
        lines = read_whole(path, "text", _LONGEST_TEXT).decode("utf-8").splitlines()
        return [line.strip() for line in lines if line.strip()]


def by_class(
    folders: dict[str, Path], path: Path, read: Callable[[list[Path]], np.ndarray]
) -> np.ndarray:
    """The images (class, image, ...) of the classes that the file `path` lists."""
    files = []
    for name, folder in folders.items():
        if not is_name(name) or not folder.is_dir():
            raise BadInput(f"{path} lists the class '{name[:60]}', which has no folder {folder}.")
        files.append(images_in(folder))
    return equal_classes(files, path, read)


def equal_classes(
    files: list[list[Path]], path: Path, read: Callable[[list[Path]], np.ndarray]
) -> np.ndarray:
    """The images (class, image, ...); all classes must have equally many."""
    counts = {len(each) for each in files}
    if len(counts) != 1 or counts == {0}:
        raise BadInput(f"the classes of {path} must have equally many images, and some.")
    images = read([file for each in files for file in each])
    return images.reshape(len(files), counts.pop(), *images.shape[1:])


def images_in(folder: Path) -> list[Path]:
    """The PNG and JPEG files of a folder, in the order of their names."""
    return [file for file in visible(folder) if file.suffix.lower() in _ENDINGS]


def is_name(text: str) -> bool:
    """Whether a text is a plain file name, which cannot lead out of its folder."""
    return bool(text) and Path(text).name == text and text != ".."
