"""CIFAR-10 and CIFAR-100: binary and Python batches, partial sets, and pickles that are refused."""

import io
import os
import pickle
import struct

import numpy as np
import pytest

import learnscope as ls
from learnscope.images.formats.pickled import read_pickle
from tests.images.formats.files import assert_loaded, cifar_bytes, official_pickle, pictures, write
from tests.small import refused

load = ls.data.load_images


def batch(count=4, classes=10):
    return pictures(count, 32, 32, 3), np.arange(count) * 7 % classes


def write_ten(root, batches=5, python=False, packed=False):
    folder = root / ("cifar-10-batches-py" if python else "cifar-10-batches-bin")
    ending, form = ("", official_pickle) if python else (".bin", cifar_bytes)
    parts = [batch() for _ in range(batches)]
    for number, part in enumerate(parts, 1):
        write(folder / f"data_batch_{number}{ending}", form(*part), packed)
    test = batch(3)
    write(folder / f"test_batch{ending}", form(*test), packed)
    return [*map(np.concatenate, zip(*parts, strict=True)), *test]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("python", [False, True])
def test_cifar10(tmp_path, caplog, python, packed):
    expected = write_ten(tmp_path, python=python, packed=packed)
    assert_loaded(load("cifar10", tmp_path), expected)
    assert not caplog.records
    # A partial set loads with a notice.
    expected = write_ten(tmp_path / "some", batches=2, python=python)
    assert_loaded(load("cifar10", tmp_path / "some"), expected)
    (said,) = [record.getMessage() for record in caplog.records]
    assert "2 of 5 training batches" in said and "data_batch_5" in said
    write_ten(tmp_path / "none", batches=0)
    words = "data_batch_1.bin to data_batch_5.bin"
    refused(lambda: load("cifar10", tmp_path / "none"), words, kind=ls.MissingData)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("python", [False, True])
def test_cifar100_and_its_few_shot_split(tmp_path, python, packed):
    labels = np.repeat(np.arange(100), 2)
    parts = [(pictures(200, 32, 32, 3), labels[::-1]), (pictures(100, 32, 32, 3), labels[::2])]
    for name, part in zip(("train", "test"), parts, strict=True):
        if python:
            data, folder = official_pickle(*part, key=b"fine_labels"), "cifar-100-python"
        else:
            data, folder = cifar_bytes(*part, coarse=part[1] // 5), "cifar-100-binary"
            name += ".bin"
        write(tmp_path / folder / name, data, packed)
    assert_loaded(load("cifar100", tmp_path), [*parts[0], *parts[1]])
    few = ls.data.load_few_shot("cifar-fs", tmp_path)
    assert [len(few[part]) for part in ("train", "validation", "test")] == [64, 16, 20]
    # The first class of the test part is baby, number 2.
    images = np.concatenate([parts[0][0][parts[0][1] == 2], parts[1][0][parts[1][1] == 2]])
    np.testing.assert_array_equal(few["test"][0], images)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (cifar_bytes(pictures(2, 32, 32, 3), [3, 10]), "image 1 of"),
        (cifar_bytes(pictures(2, 32, 32, 3), [3, 10]), "label 10: labels go from 0 to 9"),
        (cifar_bytes(*batch())[:-1], "multiple of 3,073"),
        (b"", "it has 0 bytes"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_malformed_binary(tmp_path, data, words, packed):
    write_ten(tmp_path, packed=packed)
    write(tmp_path / "cifar-10-batches-bin" / "data_batch_3.bin", data, packed)
    refused(lambda: ls.data.load_images("cifar10", tmp_path), words, "data_batch_3.bin")


class Runs(str):
    """A pickle that would make a folder."""

    def __reduce__(self):
        return os.mkdir, (str(self),)


def test_a_pickle_that_names_a_class_is_refused_and_not_run(tmp_path):
    trap = tmp_path / "made"
    for protocol in range(6):
        for value in (Runs(trap), {"data": Runs(trap)}, {"data": [Runs(trap)]}):
            path = write(tmp_path / "batch", pickle.dumps(value, protocol))
            refused(lambda path=path: read_pickle(path), str(path), "mkdir", "only arrays")
    write_ten(tmp_path, python=True)
    write(tmp_path / "cifar-10-batches-py" / "data_batch_1", pickle.dumps(Runs(trap)))
    refused(lambda: ls.data.load_images("cifar10", tmp_path), "data_batch_1", "is refused")
    assert not trap.exists()


@pytest.mark.parametrize("protocol", [3, 4])
def test_pickles_of_python_3(tmp_path, protocol):
    images = pictures(3, 3072)
    value = {"data": images, "labels": np.arange(3), "names": ["a", "b"]}
    found = read_pickle(write(tmp_path / "batch", pickle.dumps(value, protocol)))
    np.testing.assert_array_equal(found["data"], images)
    np.testing.assert_array_equal(found["labels"], np.arange(3))
    assert found["names"] == ["a", "b"]


def bomb(levels=40):
    """Lists in lists: 2^levels things in a few hundred bytes."""
    inner = []
    for _ in range(levels):
        inner = [inner, inner]
    return {"data": inner}


def shaped(shape):
    """The pickle of an array that says it has another shape."""
    data = pickle.dumps({"data": np.zeros(7, np.uint8)}, 3)
    small, large = pickle.dumps((7,), 3)[2:-1], pickle.dumps(shape, 3)[2:-1]
    return data.replace(small.split(b"q")[0], large.split(b"q")[0])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (pickle.dumps(bomb(), 2), "a list of more"),
        (pickle.dumps({"data": bytearray(5)}, 5), "BYTEARRAY8"),
        (b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b".", "pickle"),
        (b"\x80\x02}r" + struct.pack("<I", 2**32 - 1) + b".", "more memory"),
        (pickle.dumps({"data": np.array([{}, "x"], object)}, 4), "array of objects"),
        (pickle.dumps({"data": np.zeros(2, "U5")}, 4), "array of objects"),
        (pickle.dumps({"data": np.zeros(2, "u1,u1")}, 4), "refused"),
        (pickle.dumps({"data": np.zeros(5, np.uint8)}, 4)[:-10], "pickle"),
        (shaped((10**6, 10**6)), "shape"),
        (pickle.dumps([1, 2]), "no dictionary"),
        (pickle.dumps({"data": {"more": 1}}), "dict"),
        (b"", "pickle"),
        (b"hello", "pickle"),
        (b"\x80\x02cnumpy\ndtype\n}b.", "pickle"),
    ],
)
def test_malformed_pickles(tmp_path, data, words):
    path = write(tmp_path / "batch", data)
    refused(lambda: read_pickle(path), str(path), words)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"labels": [1]}, "must hold 'data' and 'labels'"),
        ({"data": np.zeros((1, 3072)), "labels": [1]}, "float64 of the shape (1, 3072)"),
        ({"data": pictures(1, 3071), "labels": [1]}, "(1, 3071)"),
        ({"data": pictures(2, 3072), "labels": [1]}, "1 labels for 2 images"),
        ({"data": pictures(1, 3072), "labels": [10]}, "labels go from 0 to 9"),
        ({"data": pictures(1, 3072), "labels": np.ones((1, 1), int)}, "one whole number"),
    ],
)
def test_malformed_batches(tmp_path, value, words):
    write_ten(tmp_path, python=True)
    write(tmp_path / "cifar-10-batches-py" / "data_batch_4", pickle.dumps(value, 4))
    refused(lambda: ls.data.load_images("cifar10", tmp_path), words, "data_batch_4")


def test_our_official_pickle_is_what_python_reads():
    images, labels = batch()
    data = official_pickle(images, labels)
    assert b"cnumpy.core.multiarray\n_reconstruct" in data
    assert pickle.load(io.BytesIO(data), encoding="bytes")[b"labels"] == labels.tolist()
