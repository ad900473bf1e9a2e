"""The part of the study on images: what its claims can say, and its figures."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from learnscope.lab import Experiment
from learnscope.studies.pred_head import real_checks as checks
from learnscope.studies.pred_head.experiments import BARE, HEAD
from learnscope.studies.pred_head.real import (
    BATCH,
    CONSTANT,
    EMA,
    HEADS,
    L2,
    PLAIN,
    WAYS,
    real_sweeps,
)

SEEDS = 3


def table(values, dims=("method_name",)):
    """Values of arms (and steps), the same for all seeds but for a little noise."""
    values = np.asarray(values, float)[..., None]
    noise = 1 + 0.001 * np.arange(SEEDS)
    return ((*dims, "seed"), values * noise)


def ended(with_head, without, **more):
    """A dataset like `images` at its last step."""
    found = {"correlation_size": (with_head, without), "effective_rank": (9.0, 1.0), **more}
    data = xr.Dataset({name: table(v) for name, v in found.items()}, {"method_name": [HEAD, BARE]})
    return data.expand_dims(step=[100]).assign(neuron=("neuron", np.arange(4)))


@pytest.mark.parametrize(
    ("with_head", "without", "verdict"),
    [(0.3, 0.97, "reproduced"), (0.6, 0.97, "differs"), (0.3, 0.85, "differs")],
)
def test_collapse_has_two_sides(with_head, without, verdict):
    found = checks.correlated(ended(with_head, without))
    assert found.verdict == verdict
    assert f"{with_head:.1f}" in found.measured


def test_milder_below_the_projection():
    rank = {"feature_rank": (9.0, 5.0)}
    mild = ended(0.3, 0.99, feature_correlation_size=(0.2, 0.5), **rank)
    same = ended(0.3, 0.99, feature_correlation_size=(0.2, 0.98), **rank)
    assert checks.milder(mild).verdict == "reproduced"
    assert checks.milder(same).verdict == "differs"


def test_variety_of_preferred_images():
    assert checks.varied(ended(0, 1, preferred_alike=(0.2, 0.7))).verdict == "reproduced"
    assert checks.varied(ended(0, 1, preferred_alike=(0.7, 0.2))).verdict == "differs"


def compared(ways=(BATCH, L2, EMA), **accuracies):
    names = [f"{head}, {way}" for way in ways for head in HEADS]
    values = [accuracies.get(name.split(" ")[0].rstrip(","), 0.4) for name in names]
    size = [0.97 if name.startswith(BARE) else 0.4 for name in names]
    variables = {
        "probe_accuracy": values, "output_probe_accuracy": values, "correlation_size": size,
    }  # fmt: skip
    data = xr.Dataset({k: table(v) for k, v in variables.items()}, {"method_name": names})
    return data.expand_dims(step=[100])


def test_heads_are_compared_with_the_best():
    assert checks.comparable(compared()).verdict == "reproduced"
    assert checks.comparable(compared(MLP=0.5)).verdict == "differs"
    assert checks.comparable(compared(no=0.9)).verdict == "reproduced"  # not a head that is trained


def test_a_gain_needs_confidence():
    assert checks.worse_without(compared(no=0.3)).verdict == "reproduced"
    assert checks.worse_without(compared(no=0.5)).verdict == "differs"
    assert checks.ema(compared()).verdict == "reproduced"
    assert checks.l2_gap(compared()).verdict == "differs"
    few = compared(ways=(BATCH,))
    assert checks.ema(few).verdict == checks.l2_gap(few).verdict == "not run"


def trajectory(arms):
    """A dataset like `fading`, from the norms of each arm."""
    steps = np.arange(len(next(iter(arms.values())))) * 100
    norm = table(list(arms.values()), ("method_name", "step"))
    variables = {"head_norm": norm, "correlation_size": norm, "head_asymmetry": norm}
    return xr.Dataset(variables, {"method_name": list(arms), "step": steps})


def test_rise_and_fall_on_images():
    falls, rises = [0, 2, 1.9, 1], [0, 1, 1.9, 2]
    assert checks.rise_and_fall(trajectory({HEAD: falls})).verdict == "reproduced"
    assert checks.rise_and_fall(trajectory({CONSTANT: rises})).verdict == "differs"
    assert checks.decider(trajectory({CONSTANT: falls, PLAIN: rises})).verdict == "reproduced"
    assert checks.decider(trajectory({CONSTANT: falls, PLAIN: falls})).verdict == "differs"
    assert checks.decider(trajectory({CONSTANT: rises, PLAIN: rises})).verdict == "differs"
    assert checks.consistent(trajectory({HEAD: falls})).verdict == "reproduced"
    assert checks.asymmetric(trajectory({HEAD: falls})).verdict == "reproduced"
    assert checks.asymmetric(trajectory({HEAD: [0, 0.1, 0.1, 0.1]})).verdict == "differs"


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_every_experiment_can_be_stored(scale):
    found = real_sweeps(scale)
    assert all(sweep.seeds >= (2 if scale == "smoke" else 3) for sweep in found.values())
    for sweep in found.values():
        for arm in sweep.arms:
            assert Experiment.from_toml(arm.experiment.to_toml()) == arm.experiment
    if scale == "paper":
        assert len(found["heads"].arms) == len(HEADS) * len(WAYS)


def test_pictures_of_grey_and_colour():
    from learnscope.studies.pred_head.real_figures import _pictures

    for pixels in (64, 3072):
        _, axes = plt.subplots()
        _pictures(axes, np.random.default_rng(0).normal(size=(5, pixels)), 4)
        assert len(axes.images) == 1
        plt.close()
