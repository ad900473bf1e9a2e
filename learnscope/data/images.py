"""Images of real data sets, as NumPy arrays.

`digits` comes with the package (`digits.npz`, 45 kB): the 1797 test images of *Optical Recognition
of Handwritten Digits*, E. Alpaydin and C. Kaynak (1998), UCI Machine Learning Repository,
doi:10.24432/C50P49, licensed under CC BY 4.0. They are 8 x 8 images of the numbers 0 to 16 (how
many of the 4 x 4 points below a pixel are ink), in the order of the original file and as
scikit-learn ships them, unchanged but for their type (unsigned bytes).
"""

from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from learnscope.errors import unknown

_DIGITS_TRAIN = 1500


def load_images(
    name: str = "digits", root: str | Path | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training images, training labels, test images and test labels of a data set.

    `digits`: the first 1500 of its 1797 images are for training, the last 297 for testing. `root`
    is the folder of data sets that do not come with the package; `digits` needs none.

    >>> images, labels, test_images, test_labels = load_images("digits")
    >>> images.shape, images.dtype, labels[:5].tolist(), len(test_images)
    ((1500, 8, 8), dtype('uint8'), [0, 1, 2, 3, 4], 297)
    """
    if name != "digits":
        raise unknown("data set of images", name, ["digits"])
    with as_file(files("learnscope.data") / "digits.npz") as path, np.load(path) as stored:
        images, labels = stored["images"], stored["labels"].astype(np.int64)
    cut = _DIGITS_TRAIN
    return images[:cut], labels[:cut], images[cut:], labels[cut:]
