"""The real data sets, where LEARNSCOPE_DATA names a folder that has them."""

import hashlib

import numpy as np
import pytest

import learnscope as ls
from learnscope.images.formats.svhn import read_mat
from learnscope.images.registry import find


def needs(name):
    there = find(name, None) is not None
    return pytest.mark.skipif(not there, reason=f"{name} is not in the folder of LEARNSCOPE_DATA")


def counts(labels):
    return np.bincount(labels).tolist()


@needs("mnist")
def test_mnist():
    images, labels, _, test_labels = ls.data.load_images("mnist")
    assert labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert test_labels[:5].tolist() == [7, 2, 1, 0, 4]
    assert counts(labels) == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert images.mean() / 255 == pytest.approx(0.1307, abs=1e-4)


@needs("cifar10")
def test_cifar10():
    images, labels, _, test_labels = ls.data.load_images("cifar10")
    assert len(images) % 10000 == 0 and images.shape[1:] == (32, 32, 3)
    assert labels[:5].tolist() == [6, 9, 9, 4, 1]
    assert images[0, 0, 0].tolist() == [59, 62, 63]  # red, green and blue of the first frog
    assert counts(test_labels) == [1000] * 10 and test_labels[:4].tolist() == [3, 8, 8, 0]


@needs("svhn")
def test_svhn():
    scipy = pytest.importorskip("scipy.io")
    images, labels, test_images, _ = ls.data.load_images("svhn")
    assert images.shape[1:] == test_images.shape[1:] == (32, 32, 3)
    assert set(labels) == set(range(10))
    layout, folder = find("svhn", None) or pytest.fail("not there")
    found = read_mat(folder / layout.files[1])
    expected = scipy.loadmat(folder / layout.files[1])
    for name in ("X", "y"):
        np.testing.assert_array_equal(found[name], expected[name])


@needs("omniglot")
def test_omniglot():
    found = ls.data.load_few_shot("omniglot")
    assert [len(part) for part in found.values()] == [1100, 100, 423]
    assert all(part.shape[1:] == (20, 28, 28) for part in found.values())
    assert set(np.unique(found["test"])) == {0, 255}
    assert 0.05 < found["train"].mean() / 255 < 0.12
    # Which characters are for testing does not change.
    digest = hashlib.sha256(np.packbits(found["test"][:, 0] > 0).tobytes()).hexdigest()
    if find("omniglot", None)[0].files == ("omniglot28.npz",):  # type: ignore[index]
        assert digest[:16] == "b9ba5f5835a737a3"


@needs("cifar-fs")
def test_cifar_fs():
    found = ls.data.load_few_shot("cifar-fs")
    assert [len(part) for part in found.values()] == [64, 16, 20]
    assert all(part.shape[2:] == (32, 32, 3) for part in found.values())
    _, labels, _, test_labels = ls.data.load_images("cifar-fs")
    assert labels.max() == 99 and len(labels) == 4 * len(test_labels)


PUBLISHED = {
    "mnist": ((28, 28), 10, 60000, 10000),
    "fashion-mnist": ((28, 28), 10, 60000, 10000),
    "cifar100": ((32, 32, 3), 100, 50000, 10000),
    "stl10": ((96, 96, 3), 10, 5000, 8000),
    "tiny-imagenet": ((64, 64, 3), 200, 10**5, 10**4),
    "mini-imagenet": ((84, 84, 3), 100, 48000, 12000),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in PUBLISHED])
def test_as_published(name):
    images, labels, test_images, _ = ls.data.load_images(name)
    sizes = (images.shape[1:], 1 + labels.max(), len(images), len(test_images))
    assert sizes == PUBLISHED[name]
