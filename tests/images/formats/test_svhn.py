"""SVHN: MATLAB files as SciPy writes them, and garbage."""

import struct
import zlib

import numpy as np
import pytest
import scipy.io

import learnscope as ls
from learnscope.images.formats import svhn
from tests.images.formats.files import assert_loaded, little_memory, pictures
from tests.small import refused


def write_mat(root, part, images, labels, packed=True, **more):
    path = root / "svhn" / f"{part}_32x32.mat"
    path.parent.mkdir(exist_ok=True)
    arrays = {"X": np.moveaxis(images, 0, -1), "y": np.asarray(labels)[:, None], **more}
    scipy.io.savemat(path, arrays, do_compression=packed)
    return path


def load(root):
    return ls.data.load_images("svhn", root)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", [np.uint8, np.float64])
def test_layout(tmp_path, packed, kind):
    train, test = pictures(10, 32, 32, 3), pictures(1, 32, 32, 3)
    labels = np.arange(1, 11).astype(kind)
    write_mat(tmp_path, "train", train, labels, packed, other={"a": "cell"}, text="words")
    write_mat(tmp_path, "test", test, labels[-1:], packed)
    assert_loaded(load(tmp_path), [train, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0], test, [0]])


@pytest.mark.parametrize(
    ("images", "labels", "words"),
    [
        (pictures(2, 32, 32, 3), [1, 11], "from 1 to 10"),
        (pictures(2, 32, 32, 3), [0, 1], "from 1 to 10"),
        (pictures(2, 32, 32, 3), [1.5, 1], "whole numbers"),
        (pictures(2, 32, 32, 3), [np.nan, 1], "whole numbers"),
        (pictures(2, 32, 32, 3), [1], "1 labels for 2 images"),
        (pictures(2, 32, 31, 3), [1, 2], "(32, 31, 3, 2)"),
        (pictures(2, 32, 32, 3) / 255, [1, 2], "float64"),
        (pictures(2, 32, 32, 3) + 1j, [1, 2], "float64"),
    ],
)
def test_malformed_arrays(tmp_path, images, labels, words):
    write_mat(tmp_path, "train", images, labels)
    write_mat(tmp_path, "test", images, labels)
    refused(lambda: load(tmp_path), words, "train_32x32.mat")


@pytest.mark.parametrize("packed", [False, True])
def test_garbage(tmp_path, packed):
    path = write_mat(tmp_path, "train", pictures(2, 32, 32, 3), [1, 2], packed)
    write_mat(tmp_path, "test", pictures(2, 32, 32, 3), [1, 2])
    whole = path.read_bytes()
    for data in (b"", b"garbage" * 100, whole[:-2000], b"\x89HDF" + whole[4:], whole[:128]):
        path.write_bytes(data)
        refused(lambda: load(tmp_path), "train_32x32.mat")
    random = np.random.RandomState(0)
    for _ in range(200):  # any byte changed is either harmless or refused
        damaged = bytearray(whole)
        damaged[random.randint(128, 400)] = random.randint(256)
        path.write_bytes(damaged)
        try:
            svhn.read_mat(path)
        except ls.BadInput as error:
            assert "\n" not in str(error)


def test_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr(svhn, "_MOST", 10**6)
    path = write_mat(tmp_path, "train", pictures(2, 32, 32, 3), [1, 2])
    write_mat(tmp_path, "test", pictures(2, 32, 32, 3), [1, 2])
    packed = zlib.compress(bytes(20 * 2**20))
    path.write_bytes(path.read_bytes()[:128] + struct.pack("<II", 15, len(packed)) + packed)
    with little_memory(2**23):
        refused(lambda: load(tmp_path), "more than 1,000,000 bytes")
