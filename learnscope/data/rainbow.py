"""Rainbow MNIST: 56 tasks that differ in background colour, scale and rotation of the digits."""

import functools
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from learnscope.data.images import load_images
from learnscope.errors import BadInput

COLOURS = {
    "red": (255, 0, 0), "orange": (255, 165, 0), "yellow": (255, 255, 0), "green": (0, 128, 0),
    "blue": (0, 0, 255), "indigo": (75, 0, 130), "violet": (238, 130, 238),
}  # fmt: skip
SCALES = ("full", "half")
TURNS = (0, 1, 2, 3)  # quarters of a circle, against the clock
TASKS = tuple(itertools.product(COLOURS, SCALES, TURNS))
_TRAIN = 40


def rainbow_mnist(
    root: str | Path | None = None, per_task: int | None = None, source: str = "mnist"
) -> dict[str, dict[str, Any]]:
    """Rainbow MNIST (C. Finn et al., 2019, *Online meta-learning*), made of MNIST, without chance.

    The 56 tasks are all combinations of seven background colours, two scales and four rotations.
    The training images of `source` (`mnist`, `fashion-mnist` or `digits`), shuffled once and for
    all, are dealt out to the tasks, each image to one task only; `per_task` keeps that many of each
    task's (all by default: 1071 of MNIST). The digit is white on the colour, pixels in between are
    mixed; at half scale it has half the side and stands in the middle. 40 of the tasks, chosen once
    and for all, are "train" and 16 are "test". For both there are

    - `images`: uint8 (task, example, height, width, 3), of the height and width of the source,
    - `labels`: int64 (task, example), the digits,
    - `tasks`: (colour, scale, quarter turns) of each task.

    >>> found = rainbow_mnist(source="digits")
    >>> found["train"]["images"].shape, found["test"]["labels"].shape
    ((40, 26, 8, 8, 3), (16, 26))
    """
    if source not in ("mnist", "fashion-mnist", "digits"):
        raise BadInput(f"source = {source!r} is not allowed: mnist, fashion-mnist or digits are.")
    images, labels, _, _ = load_images(source, root)
    most = len(images) // len(TASKS)
    size = most if per_task is None else per_task
    if not 1 <= size <= most:
        raise BadInput(f"per_task = {per_task} is not allowed: it must be from 1 to {most}.")
    order, which = orders(len(images))
    # The bundled digits go up to 16.
    ink = images.astype(np.float32) / (16 if source == "digits" else 255)
    found = {}
    for part, chosen in (("train", np.sort(which[:_TRAIN])), ("test", np.sort(which[_TRAIN:]))):
        rows = [order[task :: len(TASKS)][:size] for task in chosen]
        found[part] = {
            "images": np.stack(
                [painted(ink[row], *TASKS[at]) for row, at in zip(rows, chosen, strict=True)]
            ),
            "labels": np.stack([labels[row] for row in rows]),
            "tasks": [TASKS[task] for task in chosen],
        }
    return found


@functools.cache
def orders(count: int) -> tuple[np.ndarray, np.ndarray]:
    """A shuffled order of images and one of tasks.

    Of `RandomState`, whose numbers NumPy has promised never to change.
    """
    random = np.random.RandomState(0)
    return random.permutation(count), random.permutation(len(TASKS))


def painted(ink: np.ndarray, colour: str, scale: str, turns: int) -> np.ndarray:
    """Images of ink (n, height, width) between 0 and 1 as those of a task."""
    ink = np.rot90(_half(ink) if scale == "half" else ink, turns, axes=(1, 2))
    background = np.array(COLOURS[colour], np.float32)
    mixed = background + ink[..., None] * (255 - background)
    return np.rint(mixed).astype(np.uint8)


def _half(ink: np.ndarray) -> np.ndarray:
    """Averages of 2 x 2 pixels, with paper around."""
    count, height, width = ink.shape
    small = ink.reshape(count, height // 2, 2, width // 2, 2).mean((2, 4))
    top, left = (height - height // 2) // 2, (width - width // 2) // 2
    found = np.zeros_like(ink)
    found[:, top : top + height // 2, left : left + width // 2] = small
    return found
