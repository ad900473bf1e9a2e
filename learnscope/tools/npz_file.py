"""Arrays of a user's .npz file, by their usual names."""

import zipfile
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput, unknown
from learnscope.images.formats import npz
from learnscope.images.formats.safe import reading

IMAGES = ("images", "x", "x_train", "train_images", "data")
LABELS = ("labels", "label", "y", "y_train", "train_labels", "targets", "target")


def read_npz(path: Path, label: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels."""
    with reading(path, ".npz file"), zipfile.ZipFile(path) as archive:
        members = npz.members(archive)
        images = _find(path, members, "images", IMAGES)
        labels = label or _find(path, members, "labels", LABELS)
        if labels not in members:
            raise unknown(f"array of {path}", labels, members)
        if labels == images:
            raise BadInput(f"'{images}' of {path} cannot be both images and labels.")
        read = lambda name: npz.read_member(archive, members[name], path)  # noqa: E731
        return read(images), read(labels)


def read_one(path: Path, name: str | None, names: tuple[str, ...]) -> np.ndarray:
    """The array `name`; without a name the only array, or the first of `names` that exists."""
    with zipfile.ZipFile(path) as archive:
        members = npz.members(archive)
        if name is None:
            lower = {each.lower(): each for each in reversed(members)}
            usual = [lower[each] for each in names if each in lower]
            if not usual and len(members) != 1:
                there = f"arrays there: {npz.listed(members)}"
                raise BadInput(f"{path} has {len(members)} arrays: --array names one; {there}.")
            name = next(iter(members)) if len(members) == 1 else usual[0]
        if name not in members:
            raise unknown(f"array of {path}", name, members)
        return npz.read_member(archive, members[name], path)


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
