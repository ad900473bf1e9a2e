"""The binary files of STL-10: images stored column by column, labels from 1 to 10."""

from pathlib import Path

from learnscope.images.formats.layout import Split
from learnscope.images.formats.safe import as_many, records, stored, whole_labels

FILES = ("train_X.bin", "train_y.bin", "test_X.bin", "test_y.bin")
_MOST = 100_000  # images in a file


def read_split(folder: Path) -> Split:
    """The labelled images, memory-mapped; labels become 0 to 9."""
    arrays = []
    for split in ("train", "test"):
        pixels, numbers = (stored(folder, f"{split}_{kind}.bin") for kind in "Xy")
        size = 3 * 96 * 96
        rows = records(pixels, size, "file of STL-10 images", most=size * _MOST)
        labels = records(numbers, 1, "file of STL-10 labels", most=_MOST)[:, 0]
        as_many(rows, labels, numbers)
        # The planes are stored column by column.
        arrays.append(rows.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1))
        arrays.append(whole_labels(labels.astype(int) - 1, 10, numbers))
    return tuple(arrays)
