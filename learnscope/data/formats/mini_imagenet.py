"""miniImageNet: images, and the usual split in `train.csv`, `val.csv` and `test.csv`.

Each line of a CSV is `filename,label` after a line of these names. Images stand in `images/`, in a
folder a class, or in `images/` with a folder a class. Those that are not 84 x 84 are resized to it.
"""

import csv
from pathlib import Path

import numpy as np

from learnscope.data.formats.folders import equal_classes, is_name, read_resized, text_lines
from learnscope.errors import BadInput

FILES = ("train.csv", "val.csv", "test.csv")
_SIDE = 84


def read_parts(folder: Path) -> dict[str, np.ndarray]:
    """Images (class, image, 84, 84, 3) of the classes in each file, in the order of names."""
    return {
        part: equal_classes(
            _files(folder, folder / file), folder / file, lambda f: read_resized(f, folder, _SIDE)
        )
        for part, file in zip(("train", "validation", "test"), FILES, strict=True)
    }


def _files(folder: Path, path: Path) -> list[list[Path]]:
    lines = csv.reader(text_lines(path))
    if [name.strip().lower() for name in next(lines, [])] != ["filename", "label"]:
        raise BadInput(f"{path} must start with the line 'filename,label'.")
    classes: dict[str, list[Path]] = {}
    for cells in lines:
        if len(cells) != 2 or not all(is_name(cell) for cell in cells):
            raise BadInput(f"{path}, line {lines.line_num}, must be a file name and a class.")
        file, label = cells
        places = [folder / "images" / file, folder / label / file, folder / "images" / label / file]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            raise BadInput(f"{path} names {file}, which is neither in images/ nor in {label}/.")
        classes.setdefault(label, []).append(found)
    return [classes[label] for label in sorted(classes)]
