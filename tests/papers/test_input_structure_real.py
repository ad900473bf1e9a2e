"""The real part of the study of input structure: clusters, checks and their verdicts, on digits and
on made-up numbers."""

import numpy as np
import pytest
import xarray as xr

from learnscope.papers.input_structure import mixture_checks, real_checks
from learnscope.papers.input_structure.clusters import best_number, clusters, plane
from learnscope.papers.input_structure.real import real_sweeps
from learnscope.papers.input_structure.real_sizes import GAUSSIAN, NAMES
from learnscope.papers.input_structure.study import STUDY
from learnscope.probes.patterns import chunk_alignment
from tests.papers.test_studies import check_all, judge

RANDOM = np.random.default_rng(0)


def directions(centres: int, each: int, spread: float, dim: int = 60) -> np.ndarray:
    """Cosines of unit vectors around orthogonal centres."""
    rows = np.repeat(np.eye(dim)[:centres], each, axis=0)
    rows = rows + spread * RANDOM.normal(size=rows.shape) / dim**0.5
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


@pytest.mark.parametrize("number", [2, 3, 4])
def test_clusters_are_found_and_counted(number):
    found = best_number(directions(number, 12, 0.3))
    assert len(set(found.label.tolist())) == number
    assert all(len(set(found.label[12 * k : 12 * (k + 1)].tolist())) == 1 for k in range(number))
    assert found.inside > 0.9 and abs(found.between) < 0.2 and found.silhouette > 0.7


def test_a_core_leaves_the_rest_out():
    matrix = directions(2, 12, 0.3)
    found = clusters(matrix, 2, core=0.5)
    assert (found.label >= 0).sum() == 12
    assert found.inside > clusters(matrix, 2).inside
    points = plane(matrix)
    assert points.shape == (24, 2)
    assert np.abs(points[:12].mean(0) - points[12:].mean(0)).max() > 1
    found = best_number(directions(1, 50, 100.0, dim=784))  # random ones are no clusters
    assert found.silhouette < 0.05 and found.inside < 0.5


def weights(end: np.ndarray, start: np.ndarray) -> xr.Dataset:
    """Three seeds that all start and end so, from every size of initial weights."""
    steps = np.stack([start, end])[None, None, None, :, None]
    found = np.tile(steps, (1, len(NAMES), 3, 1, 1, 1, 1))
    dims = ("images", "start", "seed", "step", "layer", "filter", "other_filter")
    accuracy = xr.DataArray(np.ones(found.shape[:4]), dims=dims[:4])
    return xr.Dataset(
        {"filter_cosine": (dims, found), "test_accuracy": accuracy},
        coords={"start": list(NAMES), "step": [0, 20]},
    )


def test_verdicts_on_weights():
    noise, two = directions(1, 24, 100.0), directions(2, 12, 0.3)
    good, none = weights(two, noise), weights(noise, noise)
    judge(real_checks.weights_cluster, good, none)
    judge(lambda number: real_checks.cluster_number(good, number), 2, 4)


def test_gradients_from_weights_of_descent_with_momentum():
    gradient = RANDOM.normal(size=(6, 2, 5))
    moved, rows = np.zeros((2, 5)), [np.zeros((2, 5))]
    for g in gradient:
        moved = real_checks.real.DEEP_MOMENTUM * moved + g
        rows.append(rows[-1] - real_checks.real.DEEP_RATE * moved)
    data = xr.Dataset({"filter_weight": (("step", "filter", "weight"), np.array(rows))},
                      coords={"step": np.arange(7)})  # fmt: skip
    found = real_checks.gradients(data)
    np.testing.assert_allclose(found, gradient, atol=1e-10)
    assert dict(chunk_alignment(found).pairs.sizes) == {"chunk": 3, "filter": 2, "other_chunk": 3}


def parts(real: float, other: float, alone: float = 0.95, images: float = 0.8) -> xr.Dataset:
    """Accuracies at the end of three seeds, for shares 0 and 1/2 and two kinds of other inputs."""
    seeds = np.array([-0.01, 0.0, 0.01])
    first = {0.0: alone, 0.25: real, 0.5: real, 0.75: real}
    kinds = {GAUSSIAN: other, "omniglot": images}
    shape = ("other", "share", "seed", "step")
    accuracy = np.array([[[v] for v in first.values()] for _ in kinds])
    others = np.array([[[v]] * len(first) for v in kinds.values()])
    cells = {
        "real_accuracy": accuracy + seeds,
        "other_accuracy": others + seeds,
        "mixture_accuracy": (accuracy + others) / 2 + seeds,
        "teacher_accuracy": 0 * accuracy + 0.9 + seeds,
        "commonest_label": 0 * accuracy + 0.15 + seeds,
    }
    return xr.Dataset(
        {name: (shape, values[..., None]) for name, values in cells.items()},
        coords={"other": list(kinds), "share": list(first), "step": [9]},
    )


def test_verdicts_on_mixtures():
    good, bad = parts(0.93, 0.6), parts(0.7, 0.75)
    half = lambda data: data.sel(share=0.5)  # noqa: E731
    for check, right, *wrong in (
        (lambda data: mixture_checks.real_above_other(data, at=0.5), good, bad),
        (mixture_checks.all_shares, good, bad),
        (mixture_checks.mnist_similar, good, bad),
        (mixture_checks.mnist_whole, good, parts(0.97, 0.97)),
        (mixture_checks.images_help, *map(half, (good, parts(0.93, 0.85), parts(0.7, 0.2)))),
    ):
        judge(check, right, *wrong)


def losses(**arms: list[float]) -> xr.Dataset:
    """Losses by width for three seeds."""
    values = np.array(list(arms.values()))[:, :, None, None] + np.array([[-0.01], [0], [0.01]])
    dims = ("labels", "width", "seed", "step")
    return xr.Dataset(
        {"test_loss": (dims, values), "other_loss": (dims, values)},
        coords={"labels": list(arms), "width": [3, 6, 9, 15, 30][: values.shape[1]]},
    )


def test_verdicts_on_curves():
    curves = ([1.0, 0.5, 0.9, 1.5, 0.7], [5, 4, 3, 2, 1], [1, 2, 3, 4, 5], [2, 1])  # 2: smoke
    judge(mixture_checks.second_descent, *(losses(images=curve) for curve in curves))
    low, high = [2.0, 1.5, 1.0, 2.0, 3.0], [5.0, 4.0, 3.0, 2.0, 1.0]
    good = losses(images=low, small=low, large=high)
    other = losses(images=high, small=low, large=low)
    for check in ("teacher_size", "same_minimum", "grows_with_teacher"):
        judge(getattr(mixture_checks, check), good, other)


def test_weights_on_digits_are_drawn_and_judged():
    check_all(STUDY, {"weights_mnist": real_sweeps("smoke")["weights_mnist"].run(progress=False)})
