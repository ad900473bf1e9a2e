"""STL-10's binary files: images column by column, labels 1 to 10."""

from pathlib import Path

from learnscope.data.formats.layout import Split
from learnscope.data.formats.safe import as_many, plain_or_packed, records, whole_labels

FILES = ("train_X.bin", "train_y.bin", "test_X.bin", "test_y.bin")
_MOST = 100_000  # images of a file


def read_split(folder: Path) -> Split:
    """The labelled images, as views of the memory-mapped files; labels become 0 to 9."""
    found = []
    for part in ("train", "test"):
        pixels, numbers = (
            plain_or_packed(folder, name) or folder / name
            for name in (f"{part}_X.bin", f"{part}_y.bin")
        )
        size = 3 * 96 * 96
        rows = records(pixels, size, "file of STL-10 images", most=size * _MOST)
        labels = records(numbers, 1, "file of STL-10 labels", most=_MOST)[:, 0]
        as_many(rows, labels, numbers)
        # The planes are stored column by column.
        found.append(rows.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1))
        found.append(whole_labels(labels.astype(int) - 1, 10, numbers))
    return tuple(found)
