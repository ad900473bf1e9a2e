"""The real part of the study of input structure: clusters, gradients, and a sweep on digits."""

import numpy as np
import pytest
import xarray as xr

from learnscope.papers.input_structure import cluster_claims, real
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


NOISE, TWO, OTHERS = directions(1, 24, 100.0), directions(2, 12, 0.3), directions(2, 12, 0.3)


def weights(end: np.ndarray, start: np.ndarray = NOISE, control: np.ndarray = NOISE,
            span: np.ndarray = NOISE) -> xr.Dataset:  # fmt: skip
    """A dozen seeds that all start and end so, from every size of initial weights; where they end
    on random labels, and random directions in the span of the inputs."""
    records = [np.stack([start, 0.5 * (start + e), e, e]) for e in (end, control)]
    found = np.tile(np.stack(records)[:, None, None, :, None], (1, len(real.NAMES), 12, 1, 1, 1, 1))
    dims = ("labels", "start", "seed", "step", "layer", "filter", "other_filter")
    coords = {"labels": [real.TRUE, real.SHUFFLED], "start": list(real.NAMES),
              "step": [0, 1, 10, 20]}  # fmt: skip
    curves = {"loss": [0.7, 0.5, 0.1, 0.1], "test_accuracy": [0.5, 0.7, 0.9, 0.9]}
    flat = {n: (dims[:4], np.tile(v, (*found.shape[:3], 1))) for n, v in curves.items()}
    spans = np.tile(span, (*found.shape[:4], 1, 1))
    random = {"input_cosine": ((*dims[:4], "direction", "other_direction"), spans)}
    return xr.Dataset({"filter_cosine": (dims, found), **flat, **random}, coords)


def test_random_directions_are_no_clusters():
    claims = {claim.id: claim for claim in STUDY.claims}

    def verdict(id, data):
        return claims[f"{id}_mnist"].find({"weights_mnist": data}).verdict

    for id in ("clusters", "clusters_usual", "cluster_number"):
        assert verdict(id, weights(TWO)) == "reproduced"
        assert verdict(id, weights(NOISE)) != "reproduced"
        # what random labels, or the inputs alone, show as well says nothing
        assert verdict(id, weights(TWO, control=OTHERS)) == "inconclusive"
        assert verdict(id, weights(TWO, span=OTHERS)) == "inconclusive"
    assert verdict("cluster_number", weights(directions(4, 6, 0.3))) == "differs"


def test_early_features_must_be_early():
    claim = {claim.id: claim for claim in STUDY.claims}["early_mnist"]
    main = weights(TWO)

    def verdict(early):
        return claim.find({"early_mnist": early, "weights_mnist": main}).verdict

    assert verdict(weights(TWO)) == "reproduced"
    assert verdict(weights(NOISE)) == "differs"
    never = weights(TWO).assign(test_accuracy=0.5 * xr.ones_like(main.test_accuracy))
    assert verdict(never) != "reproduced"


def curves(**rows) -> xr.Dataset:
    """Losses by width, of a dozen seeds and two steps."""
    width, labels = [3, 5, 9, 20, 50], list(rows)
    end = np.tile(np.stack([rows[n] for n in labels])[:, :, None], (1, 1, 12))
    start = np.full_like(end, 7.0)
    loss = (("labels", "width", "seed", "step"), np.stack([start, end, end], -1))
    accuracy = (loss[0], np.stack([0.1 + 0 * end, 0.9 + 0 * end, 0.9 + 0 * end], -1))
    names = {"test_loss": loss, "other_loss": loss, "loss": loss, "test_accuracy": accuracy}
    return xr.Dataset(names, {"labels": labels, "width": width, "step": [0, 10, 20]})


def test_minima_of_losses_lie_inside_the_widths():
    claims = {claim.id: claim for claim in STUDY.claims}
    at_nine, at_twenty, falls = [3, 2, 1, 2, 0.5], [4, 3, 2, 1, 1.5], [5, 4, 3, 2, 1]

    def verdict(id, **rows):
        return claims[id].find({"capacity": curves(**rows)}).verdict

    both = {"images": at_nine, "teacher FC(9)": at_nine, "teacher FC(50)": at_twenty}
    assert verdict("teacher_size", **both) == "reproduced"
    assert verdict("student_minimum", **both) == "reproduced"
    assert verdict("larger_teacher", **both) == "reproduced"
    assert verdict("larger_teacher", **both | {"teacher FC(50)": at_nine}) != "reproduced"
    assert verdict("teacher_size", **both | {"images": falls}) == "inconclusive"
    assert verdict("teacher_size", **both | {"images": at_twenty}) == "differs"


def test_gradients_from_weights_of_descent_with_momentum():
    gradient = RANDOM.normal(size=(6, 2, 5))
    moved, rows = np.zeros((2, 5)), [np.zeros((2, 5))]
    for g in gradient:
        moved = real.DEEP_MOMENTUM * moved + g
        rows.append(rows[-1] - real.DEEP_RATE * moved)
    data = xr.Dataset({"filter_weight": (("step", "filter", "weight"), np.array(rows))},
                      coords={"step": np.arange(7)})  # fmt: skip
    found = cluster_claims.gradients(data)
    np.testing.assert_allclose(found, gradient, atol=1e-10)
    assert dict(chunk_alignment(found).pairs.sizes) == {"chunk": 3, "filter": 2, "other_chunk": 3}


@pytest.mark.slow
def test_weights_on_digits_are_drawn_and_judged():
    sweep = real.real_sweeps("smoke")["weights_mnist"]
    check_all(STUDY, {"weights_mnist": sweep.run(progress=False)})
