"""The map: its chances have the perplexity asked for, its slope is right, clusters stay apart."""

import numpy as np
import pytest

import learnscope as ls
from learnscope.tools.tsne import divergence_and_slope, neighbour_chances
from tests.small import refused


def test_every_row_has_the_perplexity():
    rows = np.random.default_rng(0).normal(size=(60, 5)) * np.linspace(1, 3, 60)[:, None]
    chances = neighbour_chances(rows, 12.0)
    assert chances.sum() == pytest.approx(1)
    np.testing.assert_allclose(chances, chances.T)
    assert (np.diagonal(chances) == 0).all()
    # The symmetrised chances hide the rows' own; the widths are found where all are equally far.
    square = neighbour_chances(np.eye(20), 19.0 * (1 - 1e-9))
    np.testing.assert_allclose(square[~np.eye(20, dtype=bool)], 1 / 380, rtol=1e-4)


def test_slope_is_the_derivative():
    rng = np.random.default_rng(1)
    chances, y = neighbour_chances(rng.normal(size=(12, 4)), 4.0), rng.normal(size=(12, 2))
    slope = divergence_and_slope(chances, y)[1]
    for at in [(0, 0), (3, 1), (11, 0)]:
        step = np.zeros_like(y)
        step[at] = 1e-6
        ends = [divergence_and_slope(chances, y + s * step)[0] for s in (1, -1)]
        assert slope[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-9)


def test_clusters_stay_apart_and_the_divergence_falls():
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(3), 30)
    rows = rng.normal(size=(90, 10)) + 8 * np.eye(10)[labels]
    y = ls.tools.tsne(rows, perplexity=10, steps=250)
    assert ls.tools.nearest_neighbour_disagreement(y, labels, neighbours=3).mean() < 0.02
    chances = neighbour_chances(rows, 10)
    start = divergence_and_slope(chances, 1e-4 * rows[:, :2])[0]
    assert divergence_and_slope(chances, y)[0] < start / 3
    np.testing.assert_array_equal(y, ls.tools.tsne(rows, perplexity=10, steps=250))


def test_equal_rows_are_parted_and_bad_perplexities_refused():
    assert np.isfinite(ls.tools.tsne(np.ones((8, 3)), perplexity=3, steps=20)).all()
    refused(lambda: ls.tools.tsne(np.ones((8, 3)), perplexity=8), "perplexity = 8")
