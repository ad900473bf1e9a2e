"""Rainbow MNIST of the bundled digits: 56 tasks, the same every time."""

import hashlib

import numpy as np

import learnscope as ls
from learnscope.images.rainbow import COLOURS, TASKS, orders
from learnscope.images.task_pools import RAINBOW, pools

FOUND = pools("rainbow", "digits", None, tuple(RAINBOW.values()), None, 1)


def tasks():
    """Colour, scale and rotation of every task, with its images by class."""
    images, _, _, _ = ls.data.load_images("digits")
    order = orders(len(images))[1]
    return zip([TASKS[i] for i in order], [*FOUND.train, *FOUND.test], strict=True)


def test_there_are_56_tasks_of_ten_classes():
    assert (FOUND.train.shape[:2], FOUND.test.shape[:2]) == ((40, 10), (16, 10))
    assert FOUND.train.dtype == np.uint8 and FOUND.colours == 3 and not FOUND.shuffled
    assert len(set(TASKS)) == 56 == len({task for task, _ in tasks()})


def test_every_task_is_of_one_colour_scale_and_rotation():
    """Undone, the images are those of the digits, and none is in two tasks."""
    digits, labels, _, _ = ls.data.load_images("digits")
    known = {image.tobytes(): label for image, label in zip(digits, labels, strict=True)}
    seen = 0
    for (colour, scale, turns), by_class in tasks():
        background = np.array(COLOURS[colour], float)
        dark = int(np.argmin(background))  # ink shows most where the colour is least
        images = by_class.reshape(10, -1, 8, 8, 3)
        ink = (images[..., dark] - background[dark]) / (255 - background[dark])
        back = np.rot90(ink, -turns, axes=(2, 3))
        if scale == "half":
            assert not back[..., :2, :].any() and not back[..., 6:, :].any()
            assert back[..., 2:6, 2:6].any((2, 3)).all()
            continue
        for number, of_class in enumerate(np.rint(16 * back).astype(np.uint8)):
            for image in of_class:
                assert known.pop(image.tobytes()) == number
                seen += 1
    assert seen == 28 * FOUND.train.shape[1] * FOUND.train.shape[2]


def test_it_never_changes():
    digest = hashlib.sha256(FOUND.train.tobytes() + FOUND.test.tobytes())
    assert digest.hexdigest()[:16] == "8281420194853ed9"
