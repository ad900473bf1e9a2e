"""Rainbow MNIST of the bundled digits: 56 tasks, the same every time."""

import hashlib

import numpy as np

import learnscope as ls
from learnscope.images.rainbow import COLOURS, TASKS
from tests.small import refused

FOUND = ls.data.rainbow_mnist(source="digits")


def test_shapes_tasks_and_mixed_labels():
    assert FOUND["train"]["images"].shape == (40, 26, 8, 8, 3)
    assert FOUND["test"]["images"].shape == (16, 26, 8, 8, 3)
    assert FOUND["train"]["labels"].shape == (40, 26)
    assert FOUND["test"]["images"].dtype == np.uint8 and FOUND["test"]["labels"].dtype == np.int64
    assert sorted(FOUND["train"]["tasks"] + FOUND["test"]["tasks"]) == sorted(TASKS)
    assert len(set(TASKS)) == 56
    assert all(len(np.unique(row)) >= 6 for row in FOUND["train"]["labels"])


def test_every_task_is_of_one_colour_scale_and_rotation():
    """Undone, the images are those of the digits, and none is in two tasks."""
    digits, labels, _, _ = ls.data.load_images("digits")
    known = {image.tobytes(): label for image, label in zip(digits, labels, strict=True)}
    seen = 0
    for part in FOUND.values():
        rows = (part[name] for name in ("images", "labels", "tasks"))
        for images, numbers, (colour, scale, turns) in zip(*rows, strict=True):
            background = np.array(COLOURS[colour], float)
            dark = int(np.argmin(background))  # ink shows most where the colour is least
            ink = (images[..., dark] - background[dark]) / (255 - background[dark])
            back = np.rot90(ink, -turns, axes=(1, 2))
            if scale == "half":
                assert not back[:, :2].any() and not back[:, :, 6:].any()
                assert back[:, 2:6, 2:6].any()
                continue
            for image, number in zip(np.rint(16 * back).astype(np.uint8), numbers, strict=True):
                assert known.pop(image.tobytes()) == number
                seen += 1
    assert seen == 28 * 26


def test_it_never_changes():
    again = ls.data.rainbow_mnist(source="digits", per_task=5)
    np.testing.assert_array_equal(again["test"]["labels"], FOUND["test"]["labels"][:, :5])
    digest = hashlib.sha256()
    for part in FOUND.values():
        digest.update(part["images"].tobytes() + part["labels"].astype("<i8").tobytes())
    assert digest.hexdigest()[:16] == "64508d1eeeb622ad"


def test_bad_input():
    refused(lambda: ls.data.rainbow_mnist(source="cifar10"), "source = 'cifar10'")
    for count in (0, 27):
        make = lambda n=count: ls.data.rainbow_mnist(source="digits", per_task=n)  # noqa: E731
        refused(make, "from 1 to 26")
