"""What tasks of images are drawn from: images by class, and for RainbowMNIST by task."""

import dataclasses
from functools import lru_cache

import numpy as np

from learnscope.data.images import load_few_shot, load_images
from learnscope.data.rainbow import TASKS, orders, painted
from learnscope.errors import BadInput

FEW_SHOT = ("omniglot", "cifar-fs", "mini-imagenet")
RAINBOW = {"train": 40, "test": 16}  # tasks
_TURNED_TRAIN = 28  # of the 40 classes of turned digits


@dataclasses.dataclass(frozen=True)
class Pools:
    """Bytes (world, class, image, pixel) for training and for fresh tasks. A task lies in one world
    (of RainbowMNIST; elsewhere there is one only) and has some of its classes. `shuffled` says
    whether the labels of classes are dealt out anew in every task. Images have so many `colours`
    and bytes go up to `top`.
    """

    train: np.ndarray
    test: np.ndarray
    shuffled: bool
    colours: int
    top: int = 255


@lru_cache(maxsize=8)
def pools(
    name: str, source: str, root: str | None, worlds: tuple[int, int], images: int | None,
    shrink: int,
) -> Pools:  # fmt: skip
    """The pools of a data set; `worlds` are those in use, `images` those kept of each class (none:
    all), and `shrink` x `shrink` pixels are averaged to one."""
    if name == "rainbow":
        train, test = _rainbow(source, root, worlds)
    elif name == "digits":
        train, test = _turned()
    else:
        found = load_few_shot(name, root)
        train, test = found["train"][None], found["test"][None]
    # The bundled digits go up to 16.
    top = 16 if name == "digits" else 255
    colours = 3 if train.ndim == 6 else 1
    rows = [_rows(_shrunk(part[:, :, :images], shrink)) for part in (train, test)]
    return Pools(*rows, shuffled=name != "rainbow", colours=colours, top=top)


def _rows(images: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(images.reshape(*images.shape[:3], -1))


def _shrunk(images: np.ndarray, by: int) -> np.ndarray:
    """Means of squares of pixels; what is left at the edges is cut off."""
    if by == 1:
        return images
    high, wide = images.shape[3] // by, images.shape[4] // by
    if min(high, wide) < 1:
        raise BadInput(f"ImageTasks.shrink = {by} is not allowed: nothing of the images is left.")
    even = images[:, :, :, : high * by, : wide * by]
    blocks = even.reshape(*images.shape[:3], high, by, wide, by, *images.shape[5:])
    return np.rint(blocks.mean((4, 6), dtype=np.float32)).astype(np.uint8)


def _rainbow(source: str, root: str | None, worlds: tuple[int, int]) -> tuple[np.ndarray, ...]:
    """As `rainbow_mnist`, but dealt out class by class to the tasks in use only, so that all have
    as many images of every class (of MNIST to all 56 tasks: 96)."""
    images, labels, _, _ = load_images(source, root)
    order, which = orders(len(images))
    chosen = [which[: worlds[0]], which[RAINBOW["train"] :][: worlds[1]]]
    count = sum(map(len, chosen))
    by_class = [order[labels[order] == k] for k in range(int(labels.max()) + 1)]
    each = min(map(len, by_class)) // count
    ink = images.astype(np.float32) / (16 if source == "digits" else 255)
    found, at = [], 0
    for part in chosen:
        shown = []
        for task in part:
            rows = np.stack([of_class[at::count][:each] for of_class in by_class])
            flat = painted(ink[rows.ravel()], *TASKS[task])
            shown.append(flat.reshape(*rows.shape, *flat.shape[1:]))
            at += 1
        found.append(np.stack(shown))
    return tuple(found)


def _turned() -> tuple[np.ndarray, ...]:
    """The bundled digits as a few-shot set: 40 classes, every digit in four rotations, of which 28
    are for training. All have as many images."""
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
