"""Rainbow MNIST (C. Finn et al., 2019, *Online meta-learning*): 56 tasks, all combinations of seven
background colours, two scales and four rotations. A digit is white on the colour, with mixtures in
between; at half scale it has half the side and is centred."""

import functools
import itertools

import numpy as np

COLOURS = {
    "red": (255, 0, 0), "orange": (255, 165, 0), "yellow": (255, 255, 0), "green": (0, 128, 0),
    "blue": (0, 0, 255), "indigo": (75, 0, 130), "violet": (238, 130, 238),
}  # fmt: skip
SCALES = ("full", "half")
TURNS = (0, 1, 2, 3)  # quarter turns, counterclockwise
TASKS = tuple(itertools.product(COLOURS, SCALES, TURNS))


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
