"""MNIST and Fashion-MNIST: idx files, gzipped or not, and those that are not whole."""

import gzip
import struct

import numpy as np
import pytest

import learnscope as ls
from tests.images.formats import files
from tests.images.formats.files import assert_loaded, idx_bytes, pictures, write, write_idx
from tests.small import refused


def load(root, name="mnist"):
    return ls.data.load_images(name, root)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("mnist", "mnist"), ("mnist", "MNIST/raw"), ("fashion-mnist", "fashion-mnist"),
        ("fashion-mnist", "FashionMNIST/raw"),
    ],
)  # fmt: skip
def test_layouts(tmp_path, name, folder, packed):
    expected = write_idx(tmp_path / folder, packed=packed)
    found = load(tmp_path, name)
    assert_loaded(found, expected)
    assert not any(array.flags.writeable for array in found)


def test_plain_files_are_mapped_and_read_once(tmp_path):
    write_idx(tmp_path / "mnist")
    images = load(tmp_path)[0]
    base = images
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    assert load(tmp_path)[0] is images


def test_a_changed_file_is_read_again(tmp_path, monkeypatch):
    write_idx(tmp_path / "mnist", packed=True)
    load(tmp_path)
    expected = write_idx(tmp_path / "mnist", train=13, packed=True)
    np.testing.assert_array_equal(load(tmp_path)[0], expected[0])
    # Also in the data folder of the environment.
    monkeypatch.setenv("LEARNSCOPE_DATA", str(tmp_path))
    assert len(load(None)[0]) == 13
    # A gzip file that is cut short, or none at all.
    path = tmp_path / "mnist" / f"{IMAGES}.gz"
    path.write_bytes(path.read_bytes()[:-20])
    refused(lambda: load(tmp_path), "not a whole idx file", "ended before")
    path.write_bytes(b"plain text")
    refused(lambda: load(tmp_path), "Not a gzipped file")


LABELS, IMAGES = "train-labels-idx1-ubyte", "train-images-idx3-ubyte"


@pytest.mark.parametrize(
    ("file", "data", "words"),
    [
        (LABELS, idx_bytes(np.arange(12)), "label 10: labels go from 0 to 9"),
        (LABELS, idx_bytes(np.arange(9)), "9 labels for 12 images"),
        (LABELS, idx_bytes(pictures(12, 2, 2)), "00000803 and must start with 00000801"),
        (LABELS, b"", "starts with nothing"),
        (IMAGES, b"\x89PNG" + bytes(100), "89504e47 and must start with 00000803"),
        (IMAGES, idx_bytes(pictures(12, 28, 28))[:-1], "not a whole idx file"),
        (IMAGES, idx_bytes(pictures(12, 28, 28)) + b"x", "idx file"),
        (IMAGES, idx_bytes(pictures(12, 20, 28)), "differ in size"),
        (IMAGES, b"\0\0\x08\x03" + struct.pack(">3I", 2**32 - 1, 28, 28), "at most 1 GB"),
        (IMAGES, b"\0\0\x08\x03" + struct.pack(">3I", 0, 28, 28), "there must be some"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_malformed(tmp_path, file, data, words, packed):
    write_idx(tmp_path / "mnist", packed=packed)
    write(tmp_path / "mnist" / file, data, packed)
    refused(lambda: load(tmp_path), words, file)


def test_gzip_bomb(tmp_path):
    """A file of 20 kB that unpacks to 20 MB, behind a header that promises 9 kB."""
    write_idx(tmp_path / "mnist", packed=True)
    bomb = gzip.compress(idx_bytes(pictures(12, 28, 28)) + bytes(20 * 2**20))
    (tmp_path / "mnist" / f"{IMAGES}.gz").write_bytes(bomb)
    with files.little_memory():
        refused(lambda: load(tmp_path), "too large for idx file")
