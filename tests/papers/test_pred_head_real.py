"""The part of the study on images: what its claims can say, and its figures."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from learnscope.evidence import SCALES
from learnscope.papers.pred_head import real
from learnscope.papers.pred_head import real_checks as checks
from learnscope.papers.pred_head.experiments import BARE, HEAD
from tests.papers.test_studies import judge

SEEDS = 3


def table(values, dims=("method_name",)):
    """Values of arms (and steps), the same for all seeds but for a little noise."""
    values = np.asarray(values, float)[..., None]
    return ((*dims, "seed"), values * (1 + 0.001 * np.arange(SEEDS)))


def ended(with_head, without, **more):
    """A dataset like `images` at its last step."""
    found = {"correlation_size": (with_head, without), "effective_rank": (9.0, 1.0), **more}
    data = xr.Dataset({name: table(v) for name, v in found.items()}, {"method_name": [HEAD, BARE]})
    return data.expand_dims(step=[100]).assign(neuron=("neuron", np.arange(4)))


def test_collapse_and_variety_can_fail():
    judge(checks.correlated, ended(0.3, 0.97), ended(0.6, 0.97), ended(0.3, 0.85))
    assert "0.3" in checks.correlated(ended(0.3, 0.97)).measured
    rank = {"feature_rank": (9.0, 5.0)}
    mild, same = (ended(0.3, 0.99, feature_correlation_size=(0.2, x), **rank) for x in (0.5, 0.98))
    judge(checks.milder, mild, same)
    varied, alike = (ended(0, 1, preferred_alike=pair) for pair in ((0.2, 0.7), (0.7, 0.2)))
    judge(checks.varied, varied, alike)


def compared(ways=(real.BATCH, real.L2, real.EMA), **accuracies):
    names = [f"{head}, {way}" for way in ways for head in real.HEADS]
    values = [accuracies.get(name.split(" ")[0].rstrip(","), 0.4) for name in names]
    size = [0.97 if name.startswith(BARE) else 0.4 for name in names]
    variables = dict.fromkeys(("probe_accuracy", "output_probe_accuracy"), values)
    variables["correlation_size"] = size
    data = xr.Dataset({k: table(v) for k, v in variables.items()}, {"method_name": names})
    return data.expand_dims(step=[100])


def test_heads_are_compared_with_the_best():
    judge(checks.comparable, compared(), compared(MLP=0.5))
    judge(checks.comparable, compared(no=0.9))  # not a head that is trained
    judge(checks.worse_without, compared(no=0.3), compared(no=0.5))
    judge(checks.ema, compared())
    assert checks.l2_gap(compared()).verdict == "differs"
    few = compared(ways=(real.BATCH,))
    assert checks.ema(few).verdict == checks.l2_gap(few).verdict == "not run"


def trajectory(arms):
    """A dataset like `fading`, from the norms of each arm."""
    steps = np.arange(len(next(iter(arms.values())))) * 100
    norm = table(list(arms.values()), ("method_name", "step"))
    variables = {"head_norm": norm, "correlation_size": norm, "head_asymmetry": norm}
    return xr.Dataset(variables, {"method_name": list(arms), "step": steps})


def test_rise_and_fall_on_images():
    falls, rises = [0, 2, 1.9, 1], [0, 1, 1.9, 2]
    fall = trajectory({HEAD: falls})
    judge(checks.rise_and_fall, fall, trajectory({real.CONSTANT: rises}))
    pairs = ((falls, rises), (falls, falls), (rises, rises))
    judge(checks.decider, *(trajectory({real.CONSTANT: a, real.PLAIN: b}) for a, b in pairs))
    judge(checks.consistent, fall)
    judge(checks.asymmetric, fall, trajectory({HEAD: [0, 0.1, 0.1, 0.1]}))


def test_there_are_enough_seeds_and_all_pairs():
    for scale in SCALES:
        sweeps = real.real_sweeps(scale)
        assert all(sweep.seeds >= (2 if scale == "smoke" else 3) for sweep in sweeps.values())
    assert len(sweeps["heads"].arms) == len(real.HEADS) * len(real.WAYS)  # at the paper's


def test_pictures_of_grey_and_colour():
    from learnscope.papers.pred_head.real_figures import _pictures

    for pixels in (64, 3072):
        _, axes = plt.subplots()
        _pictures(axes, np.random.default_rng(0).normal(size=(5, pixels)), 4)
        assert len(axes.images) == 1
        plt.close()
