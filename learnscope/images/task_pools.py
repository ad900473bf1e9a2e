"""Pools of images for tasks: images by class, and for RainbowMNIST also by task."""

import dataclasses
from functools import lru_cache

import numpy as np

from learnscope.images.loading import load_few_shot, load_images
from learnscope.images.rainbow import TASKS, orders, painted
from learnscope.images.shrink import shrunk

FEW_SHOT = ("omniglot", "cifar-fs", "mini-imagenet")
RAINBOW = {"train": 40, "test": 16}  # tasks
_VALIDATION = 8  # of the 40
_TURNED_TRAIN = 28  # of the 40 classes of turned digits


@dataclasses.dataclass(frozen=True)
class Pools:
    """Images as bytes (world, class, image, pixel) for observed and for fresh tasks. A task has
    some classes of one world. The worlds are the tasks of RainbowMNIST; other data sets have one
    world. `shuffled`: every task numbers its classes anew. `colours` is the number of colours of an
    image, and `top` the largest value of a byte."""

    train: np.ndarray
    test: np.ndarray
    shuffled: bool
    colours: int
    top: int = 255


@lru_cache(maxsize=8)
def pools(
    name: str, source: str, root: str | None, worlds: tuple[int, int], images: int | None,
    shrink: int, held_out: str = "test",
) -> Pools:  # fmt: skip
    """The pools of a data set with the first `worlds` and `images` per class (none: all);
    `shrink` x `shrink` pixels are averaged to one. `held_out` is the part of fresh tasks: the
    classes of a few-shot set, the worlds of RainbowMNIST."""
    if name == "rainbow":
        train, test = _rainbow(source, root, worlds, held_out)
    elif name == "digits":
        train, test = _turned()
    else:
        splits = load_few_shot(name, root)
        train, test = splits["train"][None], splits[held_out][None]
    # Pixels of the bundled digits go up to 16.
    top = 16 if name == "digits" else 255
    colours = 3 if train.ndim == 6 else 1
    rows = [_rows(shrunk(split[:, :, :images], shrink, 3, "ImageTasks")) for split in (train, test)]
    return Pools(*rows, shuffled=name != "rainbow", colours=colours, top=top)


def _rows(images: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(images.reshape(*images.shape[:3], -1))


def _rainbow(
    source: str, root: str | None, worlds: tuple[int, int], held_out: str
) -> tuple[np.ndarray, ...]:
    """The tasks in use of RainbowMNIST, of which a fixed random choice of 40 is for training (32,
    if the other 8 are held out for validation). No image is in two tasks, and all have equally many
    of every class (56 tasks of MNIST: 96)."""
    images, labels, _, _ = load_images(source, root)
    order, which = orders(len(images))
    train, fresh = which[: RAINBOW["train"]], which[RAINBOW["train"] :]
    if held_out == "validation":
        train, fresh = train[:-_VALIDATION], train[-_VALIDATION:]
    chosen = [train[: worlds[0]], fresh[: worlds[1]]]
    count = sum(map(len, chosen))
    by_class = [order[labels[order] == k] for k in range(int(labels.max()) + 1)]
    each = min(map(len, by_class)) // count
    ink = images.astype(np.float32) / (16 if source == "digits" else 255)
    splits, at = [], 0
    for tasks in chosen:
        shown = []
        for task in tasks:
            rows = np.stack([of_class[at::count][:each] for of_class in by_class])
            flat = painted(ink[rows.ravel()], *TASKS[task])
            shown.append(flat.reshape(*rows.shape, *flat.shape[1:]))
            at += 1
        splits.append(np.stack(shown))
    return tuple(splits)


def _turned() -> tuple[np.ndarray, ...]:
    """The bundled digits as a few-shot set of 40 classes, each digit in four rotations, with
    equally many images. 28 classes are for training."""
    images, labels, _, _ = load_images("digits")
    each = int(np.bincount(labels).min()) // 4
    classes = []
    for turn in range(4):
        for digit in range(10):
            rows = images[labels == digit][turn * each : (turn + 1) * each]
            classes.append(np.rot90(rows, turn, axes=(1, 2)))
    order = np.random.RandomState(0).permutation(len(classes))
    stacked = np.stack(classes)[order][None]
    return stacked[:, :_TURNED_TRAIN], stacked[:, _TURNED_TRAIN:]
