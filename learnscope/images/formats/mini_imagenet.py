"""miniImageNet: images, and the usual split in `train.csv`, `val.csv` and `test.csv`.

A CSV file has the header `filename,label` and one line per image. Images are in `images/`, in
`<class>/`, or in `images/<class>/`. Images of other sizes are resized to 84 x 84.
"""

import csv
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats.folders import equal_classes, is_name, read_resized, text_lines

FILES = ("train.csv", "val.csv", "test.csv")
_SIDE = 84


def read_parts(folder: Path) -> dict[str, np.ndarray]:
    """The images (class, image, 84, 84, 3) of each CSV file, classes in the order of names."""
    read = lambda files: read_resized(files, folder, _SIDE)  # noqa: E731
    paths = zip(("train", "validation", "test"), [folder / file for file in FILES], strict=True)
    return {split: equal_classes(_files(folder, path), path, read) for split, path in paths}


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
        image = next((place for place in places if place.is_file()), None)
        if image is None:
            raise BadInput(f"{path} names {file}, which is neither in images/ nor in {label}/.")
        classes.setdefault(label, []).append(image)
    return [classes[label] for label in sorted(classes)]
