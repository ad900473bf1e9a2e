"""Batches that are made ready on a thread."""

import gc
import threading
import time

import jax
import numpy as np
import pytest

import learnscope as ls

KEY = jax.random.key(3)
IMAGES = np.arange(10 * 4 * 4, dtype=np.uint8).reshape(10, 4, 4)
LABELS = np.arange(10)


def read(**settings):
    with ls.data.stream(IMAGES, LABELS, 3, KEY, **settings) as batches:
        return [(np.asarray(x), np.asarray(y)) for x, y in batches]


def ended(before: int) -> bool:
    """Whether the threads that were started have ended (they look every tenth of a second)."""
    for _ in range(50):
        gc.collect()
        if threading.active_count() <= before:
            return True
        time.sleep(0.05)
    return False


def test_every_image_once_a_pass_with_its_label():
    found = read()
    assert len(found) == 3
    labels = np.concatenate([y for _, y in found])
    assert len(set(labels.tolist())) == 9
    for x, y in found:
        np.testing.assert_allclose(x, IMAGES[y] / 255, rtol=1e-6)
    labels = [y.tolist() for _, y in read(passes=2)]
    assert len(labels) == 6 and labels[:3] != labels[3:]  # a pass has an order of its own


def test_a_memory_map_is_read_in_parts_and_threads_do_not_matter(tmp_path):
    np.save(tmp_path / "images.npy", IMAGES)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    with ls.data.stream(mapped, LABELS, 3, KEY) as batches:
        for (x, y), (wanted, _) in zip(batches, read(), strict=True):
            np.testing.assert_array_equal(x, wanted)
            assert y.shape == (3,)
    for one, other in zip(read(ahead=0), read(ahead=5), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_augmented_pairs_and_single_views():
    augment = ls.data.Augment()
    with ls.data.stream(IMAGES, LABELS, 3, KEY, augment=augment) as batches:
        (one, other), _ = next(batches)
    assert one.shape == other.shape == (3, 4, 4, 1)
    assert np.any(one != other)
    with ls.data.stream(IMAGES, LABELS, 3, KEY, augment=augment.each) as batches:
        x, _ = next(batches)
    assert x.shape == (3, 4, 4, 1)


def test_stopping_early_ends_the_thread():
    before = threading.active_count()
    endless = ls.data.stream(IMAGES, LABELS, 2, KEY, passes=None)
    for _ in range(20):
        next(endless)
    endless.close()
    assert ended(before)
    with pytest.raises(StopIteration):
        next(endless)
    dropped = ls.data.stream(IMAGES, LABELS, 2, KEY, passes=None)
    next(dropped)
    del dropped
    assert ended(before)


@pytest.mark.parametrize("ahead", [0, 2])
def test_an_error_on_the_thread_is_raised_where_batches_are_read(ahead):
    def broken(key, x):
        raise ValueError("no such view")

    with (
        ls.data.stream(IMAGES, LABELS, 2, KEY, ahead=ahead, augment=broken) as batches,
        pytest.raises(ValueError, match="no such view"),
    ):
        next(batches)


def test_what_is_not_allowed_is_said():
    for words, given in {
        "batch = 11": {"batch": 11},
        "batch = 0": {"batch": 0},
        "ahead = -1": {"ahead": -1},
        "10 images and 9 labels": {"labels": LABELS[:9]},
    }.items():
        with pytest.raises(ls.BadInput, match=words):
            ls.data.stream(**{"images": IMAGES, "labels": LABELS, "batch": 2, "key": KEY} | given)
