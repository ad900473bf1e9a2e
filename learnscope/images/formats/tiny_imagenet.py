"""Tiny ImageNet: `train/<class>/images` and `val/images` with `val/val_annotations.txt`."""

from pathlib import Path

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats.folders import images_in, is_name, read_files, text_lines, visible
from learnscope.images.formats.layout import Split

FILES = ("train", "val/val_annotations.txt", "val/images")


def read_split(folder: Path) -> Split:
    """Training images, and validation images as the test set (`test` has no labels)."""
    names = [path.name for path in visible(folder / "train") if path.is_dir()]
    files, labels = [], []
    for label, name in enumerate(names):
        own = images_in(folder / "train" / name / "images")
        if not own:
            raise BadInput(f"{folder / 'train' / name / 'images'} has no PNG or JPEG files.")
        files += own
        labels += [label] * len(own)
    if not files:
        raise BadInput(f"{folder / 'train'} has no class folders.")
    train = len(files)
    annotations = folder / "val" / "val_annotations.txt"
    number = {name: label for label, name in enumerate(names)}
    for line in text_lines(annotations):
        file, name, *_ = [*line.split("\t"), ""]
        if not is_name(file) or name not in number:
            must = "it must be a file and a class"
            raise BadInput(f"{annotations} has a line '{line[:60]}': {must}.")
        files.append(folder / "val" / "images" / file)
        labels.append(number[name])
    if len(files) == train:
        raise BadInput(f"{annotations} names no images.")
    images, classes = read_files(files, folder, colour=True), np.array(labels, np.int64)
    if images.shape[1:] != (64, 64, 3):
        raise BadInput(f"the images in {folder} are not of 64 x 64 pixels.")
    return images[:train], classes[:train], images[train:], classes[train:]
