"""Rainbow MNIST: 56 tasks that differ in background colour, scale and rotation of the digits."""

import functools
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from learnscope.errors import refuse_value
from learnscope.images.loading import load_images

COLOURS = {
    "red": (255, 0, 0), "orange": (255, 165, 0), "yellow": (255, 255, 0), "green": (0, 128, 0),
    "blue": (0, 0, 255), "indigo": (75, 0, 130), "violet": (238, 130, 238),
}  # fmt: skip
SCALES = ("full", "half")
TURNS = (0, 1, 2, 3)  # quarter turns, counterclockwise
TASKS = tuple(itertools.product(COLOURS, SCALES, TURNS))
_TRAIN = 40


def rainbow_mnist(
    root: str | Path | None = None, per_task: int | None = None, source: str = "mnist"
) -> dict[str, dict[str, Any]]:
    """Rainbow MNIST (C. Finn et al., 2019, *Online meta-learning*), made of MNIST, always the same.

    The 56 tasks are all combinations of seven background colours, two scales and four rotations.
    Each training image of `source` (`mnist`, `fashion-mnist` or `digits`) belongs to one task, in a
    fixed random order; `per_task` is the number of images per task (none: all, 1071 for MNIST). The
    digit is white on the colour, with mixtures in between; at half scale it has half the side and
    is centred. A fixed random choice of 40 tasks is "train", the other 16 are "test". Both have

    - `images`: uint8 (task, example, height, width, 3), of the height and width of the source,
    - `labels`: int64 (task, example), the digits,
    - `tasks`: (colour, scale, quarter turns) of each task.

    >>> tasks = rainbow_mnist(source="digits")
    >>> tasks["train"]["images"].shape, tasks["test"]["labels"].shape
    ((40, 26, 8, 8, 3), (16, 26))
    """
    if source not in ("mnist", "fashion-mnist", "digits"):
        refuse_value("source", source, "it must be mnist, fashion-mnist or digits")
    images, labels, _, _ = load_images(source, root)
    most = len(images) // len(TASKS)
    size = most if per_task is None else per_task
    if not 1 <= size <= most:
        refuse_value("per_task", per_task, f"it must be from 1 to {most}")
    order, which = orders(len(images))
    # Pixels of the bundled digits go up to 16.
    ink = images.astype(np.float32) / (16 if source == "digits" else 255)
    splits = {}
    for split, chosen in (("train", np.sort(which[:_TRAIN])), ("test", np.sort(which[_TRAIN:]))):
        indices = [order[task :: len(TASKS)][:size] for task in chosen]
        images = [painted(ink[i], *TASKS[task]) for i, task in zip(indices, chosen, strict=True)]
        splits[split] = {
            "images": np.stack(images),
            "labels": np.stack([labels[own] for own in indices]),
            "tasks": [TASKS[task] for task in chosen],
        }
    return splits


@functools.cache
def orders(count: int) -> tuple[np.ndarray, np.ndarray]:
    """A fixed random order of the images, and one of the tasks."""
    random = np.random.RandomState(0)  # NumPy has promised never to change its numbers
    return random.permutation(count), random.permutation(len(TASKS))


def painted(ink: np.ndarray, colour: str, scale: str, turns: int) -> np.ndarray:
    """The images of a task, from ink (n, height, width) between 0 and 1."""
    ink = np.rot90(_half(ink) if scale == "half" else ink, turns, axes=(1, 2))
    background = np.array(COLOURS[colour], np.float32)
    mixed = background + ink[..., None] * (255 - background)
    return np.rint(mixed).astype(np.uint8)


def _half(ink: np.ndarray) -> np.ndarray:
    """Averages of 2 x 2 pixels, centred on an empty image."""
    count, height, width = ink.shape
    small = ink.reshape(count, height // 2, 2, width // 2, 2).mean((2, 4))
    top, left = (height - height // 2) // 2, (width - width // 2) // 2
    image = np.zeros_like(ink)
    image[:, top : top + height // 2, left : left + width // 2] = small
    return image
