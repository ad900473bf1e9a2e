"""Omniglot, CIFAR-FS and miniImageNet in their layouts."""

import numpy as np
import pytest

import learnscope as ls
from tests.images.formats.files import class_folders, pictures, save_png
from tests.small import refused

PARTS = ["train", "validation", "test"]
few = ls.data.load_few_shot


def write_omniglot(root, count=33, drawings=5, **changes):
    ink = np.random.RandomState(1).randint(0, 2, (count, drawings, 28, 28)).astype(np.uint8)
    arrays = {
        "images": np.packbits(ink.reshape(count, drawings, -1), axis=-1),
        "alphabet": np.array([f"Alphabet{number // 11}" for number in range(count)]),
        "character": np.array([f"character{number % 11:02d}" for number in range(count)]),
    }
    (root / "omniglot").mkdir(exist_ok=True)
    np.savez_compressed(root / "omniglot" / "omniglot28.npz", **(arrays | changes))
    return ink * np.uint8(255)


def test_omniglot_packed(tmp_path):
    ink = write_omniglot(tmp_path)
    found = few("omniglot", tmp_path)
    assert list(found) == PARTS
    assert [found[part].shape for part in PARTS] == [(n, 5, 28, 28) for n in (22, 2, 9)]
    everything = {image.tobytes() for part in PARTS for image in found[part]}
    assert everything == {image.tobytes() for image in ink}
    images, labels, test_images, test_labels = ls.data.load_images("omniglot", tmp_path)
    assert images.shape == (33 * 4, 28, 28) and test_images.shape == (33, 28, 28)
    assert test_labels.tolist() == list(range(33)) and labels[:5].tolist() == [0, 0, 0, 0, 1]
    np.testing.assert_array_equal(images[:4], found["train"][0, :4])
    np.testing.assert_array_equal(test_images[-1], found["test"][-1, 4])


def test_omniglot_folders_share_out_characters_alike(tmp_path):
    """Large drawings come down to their packed images, and the split is that of the names."""
    packed, folders = tmp_path / "packed", tmp_path / "folders"
    packed.mkdir()
    ink = np.zeros((33, 2, 28, 28), np.uint8)
    for number, image in enumerate(ink):
        image[:, number // 7 + 3, 4:20] = image[:, 3:20, 2 + number % 7] = 1
    write_omniglot(packed, drawings=2, images=np.packbits(ink.reshape(33, 2, -1), axis=-1))
    for number, drawings in enumerate(ink):
        part = "images_background" if number < 22 else "images_evaluation"
        folder = folders / "omniglot" / part / f"Alphabet{number // 11}"
        for at, drawing in enumerate(drawings):
            large = 255 * (1 - np.kron(drawing, np.ones((4, 4), np.uint8)))
            save_png(folder / f"character{number % 11:02d}" / f"{number:04d}_{at:02d}.png", large)
    for part in PARTS:
        one, other = (few("omniglot", root)[part] for root in (packed, folders))
        assert one.shape == other.shape
        assert (one != other).mean() < 0.03


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"images": np.zeros((33, 5, 98))}, "float64 of the shape (33, 5, 98)"),
        ({"images": np.zeros((33, 5, 97), np.uint8)}, "(33, 5, 97)"),
        ({"character": np.array(["a"] * 32)}, "one text per character"),
        ({"character": np.array(["a"] * 33)}, "different names"),
        ({"images": np.array([{}] * 33)}, "Python objects, which are never unpickled"),
    ],
)
def test_omniglot_malformed(tmp_path, changes, words):
    write_omniglot(tmp_path, **changes)
    refused(lambda: few("omniglot", tmp_path), words, "omniglot28.npz")


def write_cifar_fs(root, **changes):
    sizes = {"x_train": 64, "x_val": 16, "x_test": 20}
    arrays = {name: pictures(count, 3, 32, 32, 3) for name, count in sizes.items()} | changes
    (root / "cifar-fs").mkdir(exist_ok=True)
    np.savez(root / "cifar-fs" / "cifar_fs_60_per_class.npz", **arrays)
    return arrays


def test_cifar_fs_packed(tmp_path):
    arrays = write_cifar_fs(tmp_path)
    found = few("cifar-fs", tmp_path)
    for part, expected in zip(PARTS, arrays.values(), strict=True):
        np.testing.assert_array_equal(found[part], expected)
        assert not found[part].flags.writeable
    images, labels, test_images, _ = ls.data.load_images("cifar-fs", tmp_path)
    assert (images.shape, 1 + labels.max(), len(test_images)) == ((200, 32, 32, 3), 100, 100)


@pytest.mark.parametrize(
    "images", [pictures(4, 3, 32, 32), np.zeros((4, 3, 32, 32, 3)), pictures(0, 3, 32, 32, 3)]
)
def test_cifar_fs_malformed(tmp_path, images):
    write_cifar_fs(tmp_path, x_val=images)
    refused(lambda: few("cifar-fs", tmp_path), "'x_val' of")


def test_cifar_fs_folders(tmp_path):
    root = tmp_path / "cifar100"
    found = class_folders(root / "data", {"apple": 2, "bear": 2, "cup": 2}, side=32)
    (root / "splits" / "bertinetto").mkdir(parents=True)
    for part, name in zip(("train", "val", "test"), found, strict=True):
        (root / "splits" / "bertinetto" / f"{part}.txt").write_text(f"{name}\n")
    parts = few("cifar-fs", tmp_path)
    for part, name in zip(PARTS, found, strict=True):
        np.testing.assert_array_equal(parts[part], found[name][None])
    (root / "splits" / "bertinetto" / "val.txt").write_text("../data\n")
    refused(lambda: few("cifar-fs", tmp_path), "val.txt lists the class '../data'")


def write_mini(root, place, side=84, classes=3, each=2):
    folder = root / "mini-imagenet"
    folder.mkdir()
    images = {}
    for part in ("train", "val", "test"):
        lines = ["filename,label"]
        for label in range(classes):
            name = f"n{part}{label}"
            images[name] = pictures(each, side, side, 3)
            for number, image in enumerate(images[name]):
                save_png(folder / place.format(name) / f"{name}{number}.png", image)
                lines.append(f"{name}{number}.png,{name}")
        (folder / f"{part}.csv").write_text("\n".join(lines) + "\n")
    return folder, images


@pytest.mark.parametrize("place", ["images", "{}", "images/{}"])
def test_mini_imagenet(tmp_path, place):
    _, images = write_mini(tmp_path, place)
    found = few("mini-imagenet", tmp_path)
    assert [found[part].shape for part in PARTS] == [(3, 2, 84, 84, 3)] * 3
    np.testing.assert_array_equal(found["validation"][1], images["nval1"])


def test_mini_imagenet_is_resized(tmp_path):
    write_mini(tmp_path, "images", side=100)
    assert few("mini-imagenet", tmp_path)["test"].shape == (3, 2, 84, 84, 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n", "filename,label"),
        ("filename,label\nx.png,nval0,3\n", "line 2"),
        ("filename,label\n../x.png,nval0\n", "line 2"),
        ("filename,label\nx.png,nval0\n", "x.png, which is neither"),
        ("filename,label\nnval00.png,nval0\nnval10.png,nval1\nnval11.png,nval1\n", "equally many"),
        ("filename,label\n", "equally many"),
    ],
)
def test_mini_imagenet_malformed(tmp_path, text, words):
    folder, _ = write_mini(tmp_path, "images")
    (folder / "val.csv").write_text(text)
    refused(lambda: few("mini-imagenet", tmp_path), words, "val.csv")


@pytest.mark.parametrize("name", ["digits", "mnist", "cifar10"])
def test_others_are_no_few_shot_sets(name):
    refused(lambda: few(name), f"{name} is not a few-shot data set", "omniglot")
