"""The paper's figures on images: what their claims can say, and that they are drawn."""

import types

import numpy as np
import pytest
import xarray as xr

from learnscope.papers.benign import real, real_checks, real_images
from learnscope.papers.benign.real_figures import REAL_FIGURES, remaining
from tests.papers.test_studies import attributes, check_figures, judge


def pruned(high, low, shares=(0.25, 0.5)):
    """A dataset of figure 7, from accuracies without high and without low scores."""
    sweep = real.real_sweeps("laptop")["pruned_mnist"]
    labels = [arm.label for arm in sweep.arms]
    table = np.full((len(labels), 1 + len(shares), 3, 1), np.nan)
    spread = 0.001 * np.arange(3)[:, None]
    table[0, 0] = 0.95 + spread
    for row, values in ((1, high), (2, low), (3, low)):
        table[row, 1:] = np.array(values)[:, None, None] + spread
    table[4, 2], table[5, 2] = high[-1] + spread, low[-1] + spread
    accuracy = {"test_accuracy": (("by", "removed", "seed", "step"), table)}
    return xr.Dataset(accuracy, {"by": labels, "removed": [0.0, *shares]}, attributes(sweep))


GOOD, BAD = pruned((0.9, 0.8), (0.94, 0.93)), pruned((0.9, 0.8), (0.94, 0.7))


def test_removal_can_hurt_less():
    for together in (False, True):
        judge(lambda d, t=together: real_checks.high_hurts_more(d, t), GOOD, BAD)
    curve = remaining(GOOD, "high")
    assert curve.removed.values.tolist() == [0, 0.25, 0.5]
    np.testing.assert_allclose(curve.mean("seed").squeeze(), [0.951, 0.901, 0.801])


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


def likenesses(two, halves):
    table = np.array([[[two, halves]] * 2] * 3) + 0.001 * np.arange(3)[:, None, None]
    coords = {"space": ["pixels", "map"], "pair": ["two classes", "halves of one"]}
    return xr.Dataset({"likeness": (("seed", "space", "pair"), table)}, coords)


def scores(high):
    table = np.array([[high, 0.1]] * 3) + 0.01 * np.arange(3)[:, None] * [1, 2]
    values = dict.fromkeys(("disagreement", "distance"), (("seed", "end"), table))
    values |= {"disagreement_of_all": ("seed", table[:, 1])}
    return xr.Dataset(values, {"end": ["high", "low"]}, {"images": 9})


def test_shapes_scores_and_ratios_can_be_ordinary():
    judge(real_checks.shapes_differ, likenesses(0.3, 0.8), likenesses(0.8, 0.8))
    judge(real_checks.high_is_atypical, scores(0.4), scores(0.1))
    data = xr.Dataset({"ratio": (("seed", "class", "other"), np.full((3, 4, 4), 3.0))})
    small = [data.copy(deep=True) for _ in range(2)]
    for one, value in zip(small, (0.9, 0.5), strict=True):
        one.ratio[:, 1, 2] = value
    judge(real_checks.ratios_are_large, data, *small, data / 2)


def test_figures_are_drawn_from_digits():
    sweeps = real.real_sweeps("smoke")
    names = ("map", "scores_mnist", "scores_cifar", "classes")
    datasets = {name: sweeps[name].run() for name in names}
    datasets |= {"pruned_mnist": GOOD, "pruned_cifar": BAD}
    check_figures(types.SimpleNamespace(figures=REAL_FIGURES), datasets)
    assert real_checks.high_is_atypical(datasets["scores_mnist"]).verdict == "reproduced"


def test_arms_differ_only_in_what_they_remove():
    for scale in real.SIZES:
        for name in ("pruned_mnist", "pruned_cifar"):
            first, *others = (arm.experiment for arm in real.real_sweeps(scale)[name].arms)
            for other in others:
                same = other.replace("data.by", first.data.by)
                assert same.replace("data.apart", first.data.apart) == first
