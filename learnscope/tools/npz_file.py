"""Which arrays of a user's .npz hold what: found by their names."""

import zipfile
from pathlib import Path

import numpy as np

from learnscope.data.formats import npz
from learnscope.data.formats.safe import reading
from learnscope.errors import BadInput, unknown

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
        first, second = (npz.read_member(archive, members[name], path) for name in (images, labels))
        return first, second


def read_one(path: Path, name: str | None, names: tuple[str, ...]) -> np.ndarray:
    """The array of that name, or the only one, or the first there is of some names."""
    with zipfile.ZipFile(path) as archive:
        members = npz.members(archive)
        if name is None:
            lower = {each.lower(): each for each in reversed(members)}
            found = [lower[each] for each in names if each in lower]
            if not found and len(members) != 1:
                raise BadInput(
                    f"{path} has {len(members)} arrays: --array names one; "
                    f"arrays there: {npz.listed(members)}."
                )
            name = next(iter(members)) if len(members) == 1 else found[0]
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
