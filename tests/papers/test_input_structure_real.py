"""The real part of the study of input structure: clusters, gradients, and a sweep on digits."""

import numpy as np
import pytest
import xarray as xr

from learnscope.papers.input_structure import real, real_claims
from learnscope.papers.input_structure.clusters import best_number, clusters, plane
from learnscope.papers.input_structure.study import STUDY
from learnscope.probes.patterns import chunk_alignment
from tests.papers.test_studies import check_all

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


def weights(end: np.ndarray, start: np.ndarray) -> xr.Dataset:
    """A dozen seeds that all start and end so, from every size of initial weights."""
    steps = np.stack([start, 0.5 * (start + end), end, end])[None, None, :, None]
    found = np.tile(steps, (len(real.NAMES), 12, 1, 1, 1, 1))
    dims = ("start", "seed", "step", "layer", "filter", "other_filter")
    coords = {"start": list(real.NAMES), "step": [0, 1, 10, 20]}
    curves = {"loss": [0.7, 0.5, 0.1, 0.1], "test_accuracy": [0.5, 0.7, 0.9, 0.9]}
    flat = {n: (dims[:3], np.tile(v, (*found.shape[:2], 1))) for n, v in curves.items()}
    return xr.Dataset({"filter_cosine": (dims, found), **flat}, coords)


def test_random_directions_are_no_clusters():
    noise, two = directions(1, 24, 100.0), directions(2, 12, 0.3)
    claims = {claim.id: claim for claim in STUDY.claims}

    def verdict(id, data):
        return claims[f"{id}_mnist"].find({"weights_mnist": data}).verdict

    for id in ("clusters", "cluster_number"):
        assert verdict(id, weights(two, noise)) == "reproduced"
        assert verdict(id, weights(noise, noise)) != "reproduced"
    assert verdict("cluster_number", weights(directions(4, 6, 0.3), noise)) == "differs"


def test_gradients_from_weights_of_descent_with_momentum():
    gradient = RANDOM.normal(size=(6, 2, 5))
    moved, rows = np.zeros((2, 5)), [np.zeros((2, 5))]
    for g in gradient:
        moved = real.DEEP_MOMENTUM * moved + g
        rows.append(rows[-1] - real.DEEP_RATE * moved)
    data = xr.Dataset({"filter_weight": (("step", "filter", "weight"), np.array(rows))},
                      coords={"step": np.arange(7)})  # fmt: skip
    found = real_claims.gradients(data)
    np.testing.assert_allclose(found, gradient, atol=1e-10)
    assert dict(chunk_alignment(found).pairs.sizes) == {"chunk": 3, "filter": 2, "other_chunk": 3}


@pytest.mark.slow
def test_weights_on_digits_are_drawn_and_judged():
    sweep = real.real_sweeps("smoke")["weights_mnist"]
    check_all(STUDY, {"weights_mnist": sweep.run(progress=False)})
