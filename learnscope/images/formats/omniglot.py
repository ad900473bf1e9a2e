"""Omniglot: 1623 characters of 50 alphabets, 20 drawings each, as 28 x 28 images of ink.

Ink is 255 and paper is 0, the reverse of the original files. Their 105 x 105 pixels are averaged
to 28 x 28; a pixel of at least a quarter ink is ink.
"""

from hashlib import sha256
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats.folders import class_files, read_resized, visible
from learnscope.images.formats.npz import read_arrays
from learnscope.images.formats.safe import check_bytes

PACKED = "omniglot28.npz"
FOLDERS = ("images_background", "images_evaluation")
_SIDE = 28
_LARGEST = 2**25  # bytes of an array, packed: eight times as many unpacked


def read_packed(folder: Path) -> dict[str, np.ndarray]:
    """`omniglot28.npz`: `images` bit-packed along the last axis, `alphabet` and `character`."""
    path = folder / PACKED
    arrays = read_arrays(path, ("images", "alphabet", "character"), _LARGEST)
    bits, alphabets, characters = arrays.values()
    good = bits.ndim == 3 and bits.shape[2] == _SIDE**2 // 8
    check_bytes(f"'images' of {path}", bits, good, f"characters, drawings, {_SIDE**2 // 8}")
    texts = (alphabets, characters)
    if any(names.shape != (len(bits),) or names.dtype.kind != "U" for names in texts):
        raise BadInput(f"'alphabet' and 'character' of {path} must be one text per character.")
    images = np.unpackbits(bits, axis=-1).reshape(*bits.shape[:2], _SIDE, _SIDE) * np.uint8(255)
    names = [f"{a}/{c}" for a, c in zip(alphabets, characters, strict=True)]
    return _split(images, names, path)


def read_folders(folder: Path) -> dict[str, np.ndarray]:
    """The original folders: `<alphabet>/<character>/*.png`."""
    files: list[Path] = []
    names: list[str] = []
    for part in FOLDERS:
        for alphabet in visible(folder / part):
            if alphabet.is_dir():
                own, labels = class_files(alphabet)
                files += own
                names += [f"{alphabet.name}/{label}" for label in labels]
    each, counts = np.unique(names, return_counts=True)
    if not len(each) or (counts != counts[0]).any():
        raise BadInput(f"the characters in {folder} must have equally many drawings, and some.")
    order = np.argsort(names, kind="stable")
    paper = read_resized([files[at] for at in order], folder, _SIDE, colour=False)
    ink = np.where(paper <= 191, np.uint8(255), np.uint8(0))
    return _split(ink.reshape(len(each), counts[0], _SIDE, _SIDE), list(each), folder)


def _split(images: np.ndarray, names: list[str], path: Path) -> dict[str, np.ndarray]:
    """1100 characters for training, 100 for validation and 423 for testing, in the order of a
    checksum of their names. A set with fewer characters is split in proportion."""
    count = len(names)
    test = count - count * 1200 // 1623
    validation = count * 100 // 1623
    if len(set(names)) != count or min(count - test - validation, test) < 1:
        raise BadInput(f"{path} must hold characters of different names, and two at least.")
    order = sorted(range(count), key=lambda at: sha256(names[at].encode()).digest())
    cuts = np.cumsum([count - test - validation, validation])
    parts = zip(("train", "validation", "test"), np.split(np.array(order), cuts), strict=True)
    return {part: images[which] for part, which in parts}
