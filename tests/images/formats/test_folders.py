"""Folders of class folders, Tiny ImageNet, STL-10; decoded images are kept."""

import numpy as np
import pytest

import learnscope as ls
from learnscope.images import image_cache as kept
from tests.images.formats.files import assert_loaded, class_folders, pictures, save_png, write
from tests.small import refused

load = ls.data.load_images


def test_class_folders_are_cut_at_the_last_fifth(tmp_path):
    images = class_folders(tmp_path, {"b": 10, "a": 5, "c": 4})
    found = load(str(tmp_path))
    assert found[1].tolist() == [0] * 4 + [1] * 8 + [2] * 4
    assert found[3].tolist() == [0, 1, 1]
    np.testing.assert_array_equal(found[2], [images["a"][4], *images["b"][8:]])
    class_folders(tmp_path / "few", {"a": 4})
    refused(lambda: load(str(tmp_path / "few")), "too small")
    refused(lambda: load(str(tmp_path / "absent")), "no such folder")


@pytest.mark.parametrize("test", ["test", "val"])
def test_train_and_test_folders(tmp_path, test):
    train = class_folders(tmp_path / "train", {"a": 2, "b": 1}, colour=False)
    class_folders(tmp_path / test, {"b": 2}, colour=False)
    images, labels, _, test_labels = load(tmp_path.as_posix())
    assert images.shape == (3, 6, 6) and images.dtype == np.uint8
    np.testing.assert_array_equal(images[2], train["b"][0])
    assert (labels.tolist(), test_labels.tolist()) == ([0, 0, 1], [1, 1])
    class_folders(tmp_path / test, {"z": 1}, colour=False)
    refused(lambda: load(tmp_path.as_posix()), "z is a class that")


def write_tiny(root):
    folder = root / "tiny-imagenet-200"
    for name in ("n02", "n01"):
        for number in range(2):
            path = folder / "train" / name / "images" / f"{name}_{number}.JPEG"
            save_png(path, pictures(64, 64, 3))
    save_png(folder / "train" / "n01" / "images" / "n01_9.JPEG", pictures(64, 64))
    for number in range(3):
        save_png(folder / "val" / "images" / f"val_{number}.JPEG", pictures(64, 64, 3))
    lines = "val_0.JPEG\tn02\t0\t0\t9\t9\nval_2.JPEG\tn01\t0\t0\t9\t9\n"
    (folder / "val" / "val_annotations.txt").write_text(lines)
    return folder


def test_tiny_imagenet(tmp_path):
    folder = write_tiny(tmp_path)
    images, labels, test_images, test_labels = load("tiny-imagenet", tmp_path)
    assert images.shape == (5, 64, 64, 3) and test_images.shape == (2, 64, 64, 3)
    assert (labels.tolist(), test_labels.tolist()) == ([0, 0, 0, 1, 1], [1, 0])
    annotations = folder / "val" / "val_annotations.txt"
    for text in ("val_0.JPEG\tn07\n", "../x.JPEG\tn01\n", "val_0.JPEG\n", "\n"):
        annotations.write_text(text)
        refused(lambda: load("tiny-imagenet", tmp_path), "val_annotations.txt")
    annotations.write_text("val_7.JPEG\tn01\n")
    refused(lambda: load("tiny-imagenet", tmp_path), "val_7.JPEG cannot be read")


@pytest.mark.parametrize("packed", [False, True])
def test_stl10(tmp_path, packed):
    folder = tmp_path / "stl10_binary"
    images = pictures(3, 96, 96, 3)
    columns = images.transpose(0, 3, 2, 1).tobytes()  # planes, column by column
    for part in ("train", "test"):
        write(folder / f"{part}_X.bin", columns, packed)
        write(folder / f"{part}_y.bin", bytes([1, 10, 5]), packed)
    assert_loaded(load("stl10", tmp_path), [images, [0, 9, 4]] * 2)
    for file, data, words in (
        ("test_y.bin", bytes([1, 0, 5]), "label -1"),
        ("test_y.bin", bytes([1, 11, 5]), "label 10"),
        ("test_y.bin", bytes([1]), "1 labels for 3 images"),
        ("test_X.bin", columns[:-1], "multiple of 27,648"),
    ):
        write(folder / file, data, packed)
        refused(lambda: load("stl10", tmp_path), words, "test_")


def test_many_images_are_decoded_once(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "_SMALLEST", 1)
    monkeypatch.setenv("LEARNSCOPE_CACHE", str(tmp_path / "cache"))
    made = []

    def build():
        made.append(1)
        return {"images": pictures(2, 3), "labels": np.arange(2)}

    first, second = kept.cached("key", build), kept.cached("key", build)
    assert len(made) == 1 and list(second) == ["images", "labels"]
    np.testing.assert_array_equal(first["images"], second["images"])
    for path in (tmp_path / "cache" / "images").glob("*/images.npy"):
        path.write_bytes(b"damaged")
    assert kept.cached("key", build)["labels"].tolist() == [0, 1] and len(made) == 2
    assert kept.cached("key", build)["labels"].tolist() == [0, 1] and len(made) == 2
    monkeypatch.setenv("LEARNSCOPE_CACHE", "off")
    kept.cached("key", build)
    assert len(made) == 3


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("LEARNSCOPE_DATA", raising=False)
    for name in ls.images.registry.SETS:
        for root in (None, tmp_path):
            text = refused(lambda n=name, r=root: load(n, r), name, kind=ls.MissingData)
            assert "--data DIR" in text if root is None else str(tmp_path) in text
            assert name == "mini-imagenet" or f"`learnscope data get {name}`" in text
    write(tmp_path / "mnist" / "train-images-idx3-ubyte", b"", packed=True)
    text = refused(lambda: load("mnist", tmp_path), "is not whole: train-labels-idx1-ubyte")
    assert "train-images" not in text
    for name in ("mnist", "svhn"):  # a ledger does not name a folder of this machine
        with pytest.raises(ls.MissingData) as error:
            load(name, tmp_path)
        published = error.value.anywhere
        assert str(tmp_path) not in published and "in the data folder" in published
