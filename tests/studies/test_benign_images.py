"""The paper's figures on images: what their claims can say, and that they are drawn."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from learnscope.studies.benign import real, real_checks, real_images
from learnscope.studies.benign.real_figures import REAL_FIGURES, remaining


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
    told = {arm.label: arm.experiment.to_toml() for arm in sweep.arms}
    return xr.Dataset(
        {"test_accuracy": (("by", "removed", "seed", "step"), table)},
        {"by": labels, "removed": [0.0, *shares]},
        {"experiment": json.dumps(told)},
    )


GOOD, BAD = pruned((0.9, 0.8), (0.94, 0.93)), pruned((0.9, 0.8), (0.94, 0.7))


def test_removal_can_hurt_less():
    for together in (False, True):
        assert real_checks.high_hurts_more(GOOD, together).verdict == "reproduced"
        assert real_checks.high_hurts_more(BAD, together).verdict == "differs"
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


def test_shapes_and_scores_can_be_ordinary():
    assert real_checks.shapes_differ(likenesses(0.3, 0.8)).verdict == "reproduced"
    assert real_checks.shapes_differ(likenesses(0.8, 0.8)).verdict == "differs"
    for high, verdict in ((0.4, "reproduced"), (0.1, "differs")):
        table = np.array([[high, 0.1]] * 3) + 0.01 * np.arange(3)[:, None] * [1, 2]
        data = xr.Dataset(
            {
                "disagreement": (("seed", "end"), table),
                "distance": (("seed", "end"), table),
                "disagreement_of_all": ("seed", table[:, 1]),
            },
            {"end": ["high", "low"]},
            {"images": 9},
        )
        assert real_checks.high_is_atypical(data).verdict == verdict


def test_ratios_can_be_small():
    table = np.full((3, 4, 4), 3.0)
    data = xr.Dataset({"ratio": (("seed", "class", "other"), table)})
    assert real_checks.ratios_are_large(data).verdict == "reproduced"
    for value in (0.9, 0.5):
        one = data.copy(deep=True)
        one.ratio[:, 1, 2] = value
        assert real_checks.ratios_are_large(one).verdict == "differs"
    assert real_checks.ratios_are_large(data / 2).verdict == "differs"


def test_figures_are_drawn_from_digits():
    sweeps = real.real_sweeps("smoke")
    names = ("map", "scores_mnist", "scores_cifar", "classes")
    datasets = {name: sweeps[name].run() for name in names}
    datasets |= {"pruned_mnist": GOOD, "pruned_cifar": BAD}
    for name, figure in REAL_FIGURES.items():
        drawing = figure.draw(*(datasets[need] for need in figure.needs))
        assert all(axes.get_title() or axes.get_ylabel() for axes in drawing.axes), name
        plt.close(drawing)
    assert real_checks.high_is_atypical(datasets["scores_mnist"]).verdict == "reproduced"


def test_arms_differ_only_in_what_they_remove():
    for scale in real.SIZES:
        for name in ("pruned_mnist", "pruned_cifar"):
            first, *others = real.real_sweeps(scale)[name].arms
            for arm in others:
                for path in ("data.by", "data.apart"):
                    value = getattr(first.experiment.data, path.rpartition(".")[2])
                    arm_experiment = arm.experiment.replace(path, value)
                    arm = type(arm)(arm.label, arm_experiment, arm.axes)
                assert arm.experiment == first.experiment
