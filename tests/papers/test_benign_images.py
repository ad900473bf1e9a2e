"""The paper's figures on images: what their claims can say, and that they are drawn."""

import types

import numpy as np
import pytest
import xarray as xr

from learnscope.evidence import SCALES
from learnscope.papers.benign import real, real_images
from learnscope.papers.benign.real_claims import REAL_CLAIMS
from learnscope.papers.benign.real_figures import REAL_FIGURES, remaining
from tests.papers.test_studies import attributes, check_figures, check_nulls, judge, repeated

CLAIMS = {claim.id: claim for claim in REAL_CLAIMS}
DRAWS = 12


def pruned(high, low, shares=(0.25, 0.5), late=0.0):
    """A dataset of figure 7, from accuracies without high and without low scores; the loss falls
    by `late` in the last quarter."""
    sweep = real.real_sweeps("laptop")["pruned_mnist"]
    labels = [arm.label for arm in sweep.arms]
    table = np.full((len(labels), 1 + len(shares), DRAWS, 1), np.nan)  # four arms
    spread = 0.001 * np.arange(DRAWS)[:, None]
    steps = np.array([0, 500, 1500, 2000])
    table[0, 0] = 0.95 + spread
    for row, values in ((1, high), (2, low), (3, low)):
        table[row, 1:] = np.array(values)[:, None, None] + spread
    ran, dims = np.where(np.isnan(table), np.nan, 1.0), ("by", "removed", "seed", "step")
    accuracy = np.concatenate([0.1 * ran, *[table] * 3], -1)
    loss = ran * np.array([2.3, 0.5, 0.2 + late, 0.2])
    variables = {"test_accuracy": (dims, accuracy), "loss": (dims, loss)}
    coords = {"by": labels, "removed": [0.0, *shares], "step": steps}
    return xr.Dataset(variables, coords, attributes(sweep))


GOOD, BAD = pruned((0.9, 0.8), (0.94, 0.93)), pruned((0.9, 0.8), (0.94, 0.7))


def test_removal_can_hurt_less_and_untrained_nets_tell_nothing():
    for id in ("figure7_mnist", "figure7_mnist_together"):
        judge(CLAIMS[id], GOOD, BAD)
    found = CLAIMS["figure7_mnist"].judge
    guessing = GOOD.assign(test_accuracy=GOOD.test_accuracy.where(GOOD.by != "all images", 0.1))
    assert "not given that accuracy with all" in found({"pruned_mnist": guessing}).why
    short = found({"pruned_mnist": pruned((0.9, 0.8), (0.94, 0.7), late=0.1)})
    assert short.verdict == "inconclusive" and "the loss still falls" in short.why
    few = [found({"pruned_mnist": GOOD.isel(seed=slice(n))}).verdict for n in (4, 5)]
    assert few == ["inconclusive", "reproduced"]
    curve = remaining(GOOD).sel(by="high")
    assert curve.removed.values.tolist() == [0, 0.25, 0.5]
    np.testing.assert_allclose(curve.isel(seed=0), [0.95, 0.9, 0.8])


def noisy(shapes, seed=0):
    """Rows of three classes, each with noise of a shape of its own."""
    rng = np.random.default_rng(seed)
    labels = np.arange(600) % 3
    return rng.normal(size=(600, 4)) * np.array(shapes)[labels], labels


def test_likeness_tells_shapes_apart():
    same, halves = real_images.likeness(*noisy([[1, 1, 1, 1]] * 3))
    assert same == pytest.approx(halves, abs=0.03)
    other, halves = real_images.likeness(*noisy([[5, 1, 1, 1], [1, 5, 1, 1], [1, 1, 5, 1]]))
    assert other < 0.3 < 0.9 < halves


def test_figures_are_drawn_from_digits_and_nulls_fail():
    sweeps = real.real_sweeps("smoke")
    names = ("map", "scores_mnist", "scores_cifar", "classes")
    datasets = {name: sweeps[name].run() for name in names}
    together = GOOD.isel(by=[0, 1, 2])
    datasets |= {"pruned_mnist": GOOD, "pruned_together": together, "pruned_cifar": BAD}
    check_figures(types.SimpleNamespace(figures=REAL_FIGURES), datasets)
    check_nulls(types.SimpleNamespace(claims=REAL_CLAIMS), datasets)
    many = {name: repeated(data) for name, data in datasets.items()}
    assert CLAIMS["figure5_mnist"].find(many).verdict == "reproduced"


def test_arms_differ_only_in_what_they_remove():
    for scale in SCALES:
        for name in ("pruned_mnist", "pruned_together", "pruned_cifar"):
            first, *others = (arm.experiment for arm in real.real_sweeps(scale)[name].arms)
            for other in others:
                same = other.replace("data.by", first.data.by)
                assert same.replace("data.apart", first.data.apart) == first
