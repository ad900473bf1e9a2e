"""The commands for data that is rarely at hand run end to end, on generated files of its layout.

They are the commands of the ledger's rows at the smallest scale: the same studies and loaders.
"""

import numpy as np
import pytest

from tests.images.formats.test_few_shot import write_mini
from tests.images.formats.test_folders import pictures, write_tiny

pytestmark = pytest.mark.slow  # plans and compiles several programs each
IMAGES = 140  # a batch of 128 and some


def stl10(root):
    folder = root / "stl10_binary"
    folder.mkdir()
    for part in ("train", "test"):
        planes = pictures(IMAGES, 96, 96, 3).transpose(0, 3, 2, 1)  # column by column
        (folder / f"{part}_X.bin").write_bytes(planes.tobytes())
        (folder / f"{part}_y.bin").write_bytes(bytes(1 + k % 10 for k in range(IMAGES)))


def cifar10(root):
    """All five batches."""
    folder = root / "cifar-10-batches-bin"
    folder.mkdir()
    for name in (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"):
        labels = (np.arange(IMAGES) % 10).astype(np.uint8)[:, None]
        rows = np.concatenate([labels, pictures(IMAGES, 3072)], 1)
        (folder / f"{name}.bin").write_bytes(rows.tobytes())


def mini_imagenet(root):
    write_mini(root, "images", classes=5, each=12)


def tiny_imagenet(root):
    write_tiny(root)


COMMANDS = {
    stl10: ["pred_head.figure3_real", "data.name=stl10"],
    cifar10: ["pred_head.figure3_real", "data.name=cifar10"],
    mini_imagenet: ["meta_split.real_mini_imagenet", "data.name=mini-imagenet"],
    tiny_imagenet: ["input_structure.figure23_colour", "data.other.name=tiny-imagenet"],
}


@pytest.mark.parametrize("make", COMMANDS, ids=lambda make: make.__name__)
def test_the_command_runs_on_files_of_the_layout(make, tmp_path, call):
    make(tmp_path)
    figure, change = COMMANDS[make]
    code, said, errors = call("run", figure, change, "--scale", "smoke", "--data", tmp_path,
                              "--store", "none", "--yes")  # fmt: skip
    assert code == 0, errors
    assert f"{figure.replace('.', '/')}.png" in said and "partial" not in errors


@pytest.mark.parametrize("make", COMMANDS, ids=lambda make: make.__name__)
def test_without_the_files_the_command_says_what_it_needs(make, tmp_path, call):
    figure, change = COMMANDS[make]
    code, _, errors = call("run", figure, change, "--scale", "smoke", "--data", tmp_path, "--yes")
    assert code == 2 and change.partition("=")[2] in errors and str(tmp_path) in errors
