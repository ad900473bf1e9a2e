"""Influence scores, noise correlations and baselines against their definitions."""

import tracemalloc
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from tests.small import refused

SCORES = ls.tools.influence_scores


@pytest.fixture(scope="module")
def digits():
    images, labels, more_images, more_labels = ls.data.load_images("digits")
    return np.concatenate([images, more_images]), np.concatenate([labels, more_labels])


@pytest.fixture(scope="module")
def scores(digits):
    return SCORES(*digits)


@pytest.fixture
def blobs():
    """Three classes, the second with fewer samples than dimensions."""
    source = np.random.default_rng(3)
    labels = np.repeat(["a", "b", "c"], [40, 7, 25])
    images = source.normal(size=(72, 12)) * source.uniform(0.2, 2, size=(72, 1)) + 5
    order = source.permutation(72)
    return images[order], labels[order]


def norm(rows):
    """Squared norm of the covariance of integers, exactly: its entries are N / (n (n - 1))."""
    rows = rows.astype(np.int64)
    count, total = len(rows), rows.sum(axis=0)
    scaled = count * (rows.T @ rows) - np.outer(total, total)
    assert np.abs(scaled).max() < 2**25  # so that the sum of 4096 squares stays below 2^63
    return Fraction(int((scaled * scaled).sum()), (count * (count - 1)) ** 2)


def by_definition(images, labels):
    """Eq. (10) as it is written, in float64: for real numbers of ordinary size."""
    found = np.full(len(images), np.nan)
    for i in range(len(images)):
        same = labels == labels[i]
        whole = np.cov(images[same], rowvar=False)
        same[i] = False
        found[i] = (whole**2).sum() - (np.cov(images[same], rowvar=False) ** 2).sum()
    return found


def test_every_digit_is_the_definition(digits, scores):
    """All 1797, against exact arithmetic; the smallest is 6e-6 of what is subtracted in it."""
    images, labels = digits
    rows = images.reshape(len(images), -1)
    for k in range(10):
        which = np.flatnonzero(labels == k)
        whole = norm(rows[which])
        exact = [float(whole - norm(rows[np.delete(which, at)])) for at in range(len(which))]
        np.testing.assert_allclose(scores[which], exact, rtol=1e-11)


@pytest.mark.parametrize("count", [3, 4, 10, 50, 64, 65, 66, 130])
def test_small_classes_of_digits(digits, count):
    images, labels = digits
    which = np.flatnonzero(labels == 8)[:count]
    rows = images[which].reshape(count, -1)
    exact = [float(norm(rows) - norm(np.delete(rows, at, axis=0))) for at in range(count)]
    np.testing.assert_allclose(SCORES(rows, labels[which]), exact, rtol=1e-10)


def test_real_numbers_and_text(blobs):
    images, labels = blobs
    np.testing.assert_allclose(SCORES(images, labels), by_definition(images, labels), rtol=1e-9)


def test_the_diagonal_of_the_correlation_is_the_norm(digits):
    images, labels = digits
    found = ls.tools.noise_correlation(images, labels)
    rows = images.reshape(len(images), -1)
    for k in range(10):
        np.testing.assert_allclose(found[k, k], float(norm(rows[labels == k])), rtol=1e-13)


def test_the_correlation_is_the_trace(blobs):
    images, labels = blobs
    found = ls.tools.noise_correlation(images, labels)
    covariances = [np.cov(images[labels == k], rowvar=False) for k in "abc"]
    expected = [[np.trace(a @ b) for b in covariances] for a in covariances]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found["class"].values.tolist() == ["a", "b", "c"]
    assert found.samples.values.tolist() == [40, 7, 25]
    ratio = ls.tools.noise_correlation_ratio(found)
    np.testing.assert_allclose(ratio[0, 1], 40 * found[0, 0] / (7 * found[0, 1]))
    np.testing.assert_allclose(np.diagonal(ratio), 1)


@pytest.mark.parametrize("dim", [5, 700])
def test_blocks_change_nothing(dim):
    source = np.random.default_rng(1)
    images, labels = source.normal(size=(300, dim)) + 1, source.integers(0, 3, 300)
    few, many = SCORES(images, labels, memory=2**16), SCORES(images, labels)
    np.testing.assert_allclose(few, many, rtol=1e-12, atol=1e-13 * np.abs(many).max())
    baselines = ls.tools.distance_to_class_mean, ls.tools.nearest_neighbour_disagreement
    for measure in (ls.tools.noise_correlation, *baselines):
        pair = (measure(images, labels, memory=m) for m in (2**16, 2**28))
        np.testing.assert_allclose(*pair, rtol=1e-12)


@pytest.mark.parametrize(("count", "dim"), [(3000, 40), (40, 30_000), (1000, 1000), (2, 300_000)])
def test_memory_is_bounded(count, dim):
    """2 MB of work and a few rows, beside images of float32 that may be larger."""
    budget = 2**21
    images = np.random.default_rng(0).normal(size=(count, dim)).astype(np.float32)
    labels = np.arange(count) % 2 if count > 2 else np.zeros(count, int)
    for measure in (SCORES, ls.tools.noise_correlation, ls.tools.distance_to_class_mean):
        tracemalloc.start()
        measure(images, labels, memory=budget)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < budget + 8 * (4 * dim + 12 * count) + 5e5, measure.__name__


@pytest.mark.parametrize("kind", ["u1", "i8", "f4", "f2", ">f8", "longdouble", jnp.bfloat16])
def test_types_of_pixels(digits, scores, kind):
    np.testing.assert_array_equal(SCORES(digits[0].astype(kind), digits[1]), scores)


def test_views_and_files(digits, scores, tmp_path):
    images, labels = digits
    np.save(tmp_path / "images.npy", images)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    for given in (np.asfortranarray(images), np.repeat(images, 2, axis=0)[::2], mapped):
        np.testing.assert_array_equal(SCORES(given, labels), scores)


def test_a_power_of_two_and_a_large_shift_of_integers_cost_nothing(digits, scores):
    for power in (-60, -3, 7, 60):
        found = SCORES(np.ldexp(digits[0].astype(float), power), digits[1])
        np.testing.assert_array_equal(found, np.ldexp(scores, 4 * power))
    np.testing.assert_array_equal(SCORES(digits[0].astype(np.float64) + 2.0**40, digits[1]), scores)


def test_order_and_names_of_classes(blobs):
    images, labels = blobs
    expected = SCORES(images, labels)
    order = np.random.default_rng(5).permutation(72)
    np.testing.assert_allclose(SCORES(images[order], labels[order]), expected[order], rtol=1e-10)
    numbers = np.select([labels == "a", labels == "b"], [7, -2], 10**6)
    others = [numbers.astype(kind) for kind in (int, float, object)] + [numbers[:, None]]
    others += [labels.astype(kind) for kind in (object, "S")] + [np.char.add("grün ", labels)]
    for other in (*others, list(labels)):
        np.testing.assert_allclose(SCORES(images, other), expected, rtol=1e-12)


def test_few_images_have_no_score_and_a_constant_class_may_stand_beside_another(blobs):
    images = np.random.default_rng(0).normal(size=(6, 4))
    found = SCORES(images, [1, 2, 2, 3, 3, 3])
    assert np.isnan(found).tolist() == [True, True, True, False, False, False]
    assert np.isnan(SCORES(images[:1], [0])).all()
    matrix = ls.tools.noise_correlation(images, [1, 2, 2, 3, 3, 3])
    assert np.isnan(matrix.values).tolist() == [[1, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert ls.tools.noise_correlation(images[:1], [0]).isnull().all()
    images, labels = blobs
    images[labels == "a"] = 0.3
    found = SCORES(images, labels)
    assert (found[labels == "a"] == 0).all()
    assert (found[labels != "a"] != 0).all()


@pytest.mark.parametrize("value", [0, 7, 0.1, 1e70, 1e-300, 255])
@pytest.mark.parametrize("count", [3, 7, 100])
def test_equal_images_have_the_score_zero(value, count):
    images = np.full((count, 30), value)
    for tool in (SCORES, ls.tools.noise_correlation, ls.tools.distance_to_class_mean):
        assert (tool(images, np.zeros(count, int)) == 0).all()


def test_distances_to_means(blobs):
    images, labels = blobs
    means = np.stack([images[labels == k].mean(axis=0) for k in labels])
    found = ls.tools.distance_to_class_mean(images, labels)
    np.testing.assert_allclose(found, np.linalg.norm(images - means, axis=1), rtol=1e-12)


@pytest.mark.parametrize("neighbours", [1, 5, 71])
def test_neighbours(blobs, neighbours):
    images, labels = blobs
    distances = np.linalg.norm(images[:, None] - images[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :neighbours]
    expected = (labels[nearest] != labels[:, None]).mean(axis=1)
    found = ls.tools.nearest_neighbour_disagreement(images, labels, neighbours)
    np.testing.assert_allclose(found, expected)


def test_ties_do_not_depend_on_the_order(digits):
    images, labels = digits[0] // 4, digits[1]
    order = np.random.default_rng(0).permutation(len(images))
    found = ls.tools.nearest_neighbour_disagreement(images, labels)
    shuffled = ls.tools.nearest_neighbour_disagreement(images[order], labels[order])
    np.testing.assert_allclose(shuffled, found[order], rtol=1e-15)


GOOD = np.arange(12.0).reshape(6, 2)
LABELS = np.array([0, 0, 0, 1, 1, 1])


def changed(value, at=(4, 1)):
    images = GOOD.copy()
    images[at] = value
    return images


BAD = {
    "no images": (np.empty((0, 3)), [], "there are no images"),
    "no pixels": (np.empty((6, 0)), LABELS, "no pixels"),
    "ragged": ([[1, 2], [3]], [0, 0], "different sizes"),
    "text": (GOOD.astype(str), LABELS, "real numbers"),
    "nan": (changed(np.nan), LABELS, "image 4 (class 1) has a pixel nan"),
    "huge": (changed(1e80), LABELS, "at most 1.8e+72"),
    "tiny": (GOOD * 1e-90, LABELS, "scale the images up"),
    "masked": (np.ma.masked_equal(GOOD, 3.0), LABELS, "masked"),
    "too few labels": (GOOD, LABELS[:5], "6 images and 5 labels"),
    "one hot": (GOOD, np.eye(6), "shape (6, 6)"),
    "missing": (GOOD, [0, 0, np.nan, 1, 1, 1], "image 2 is missing (NaN)"),
    "none": (GOOD, ["a", "a", "a", None, "b", "b"], "image 3 is missing (None)"),
    "empty": (GOOD, ["a", "a", " ", "b", "b", "b"], "image 2 is empty"),
    "masked labels": (GOOD, np.ma.masked_equal(LABELS, 1), "labels are masked"),
    "fractions": (GOOD, LABELS + 0.5, "image 0 is 0.5: labels must be whole"),
    "mixed": (GOOD, np.array([0, 0, "a", 1, 1, 1], object), "of one kind"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_sentence(kind):
    images, labels, words = BAD[kind]
    for tool in (SCORES, ls.tools.noise_correlation):
        assert refused(lambda tool=tool: tool(images, labels), words).endswith(".")


@pytest.mark.parametrize("neighbours", [0, -1, 6, 2.5, "3", None, True])
def test_neighbours_that_are_not_allowed(neighbours):
    call = lambda: ls.tools.nearest_neighbour_disagreement(GOOD, LABELS, neighbours)  # noqa: E731
    refused(call, match="neighbours = .* less than the number of images, 6")


@pytest.mark.parametrize("memory", [0, -1, 1000, float("nan"), "lots"])
def test_memory_that_is_not_allowed(memory):
    refused(lambda: SCORES(GOOD, LABELS, memory=memory), "at least 65536 bytes")


def test_too_many_classes_for_a_matrix():
    images = np.zeros((5000, 1))
    refused(lambda: ls.tools.noise_correlation(images, np.arange(5000)), "5000 different values")
    assert np.isnan(SCORES(images, np.arange(5000))).all()


def test_the_split_of_digits_and_the_names_of_others():
    refused(lambda: ls.data.load_images("digit"), "unknown data set of images 'digit'; did you")
    images, labels, test_images, test_labels = ls.data.load_images()
    assert (images.shape, test_images.shape) == ((1500, 8, 8), (297, 8, 8))
    assert (images.dtype, images.max()) == (np.uint8, 16)
    counts = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert np.bincount(np.concatenate([labels, test_labels])).tolist() == counts
    # The first row of the first image in the original file.
    assert images[0, 0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]
