"""Section 4.2 on images: what its claims can say, and that its figures are drawn."""

import os

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from learnscope.papers import get
from learnscope.papers.pegr import real, real_checks
from learnscope.papers.pegr.real_figures import REAL_FIGURES
from tests.papers.test_studies import attributes, check_all, judge

RULES = ("PEGR", "FGR", "standard")


def reading(accuracy, loss=(1.0, 1.0, 1.0), noises=(0.0, 5.0, 15.0), seeds=3):
    """A dataset in which every rule ends with an accuracy a noise level, seeds a little apart."""
    steps = np.array([0, 60, 120])
    ends = np.array([[row] * seeds for row in zip(*(accuracy[r] for r in RULES), strict=True)])
    ends = np.moveaxis(ends, 2, 0) + 0.001 * np.arange(seeds)  # rule, noise, seed
    table = np.stack([np.full_like(ends, 0.1), ends / 2, ends], -1)
    last = 0 * ends + np.reshape(loss, (3, 1, 1))
    losses = np.stack([np.full_like(ends, 2.4), np.full_like(ends, 2.3), last], -1)
    dims = ("rule", "noise", "seed", "step")
    variables = {"test_accuracy": (dims, table), "loss": (dims, losses)}
    coords = {"rule": list(RULES), "noise": list(noises), "step": steps}
    return xr.Dataset(variables, coords, attributes(real.real_sweeps("laptop")["mnist_unit"]))


GOOD = reading({"PEGR": (0.9, 0.8, 0.6), "FGR": (0.9, 0.7, 0.5), "standard": (0.9, 0.7, 0.5)})
BAD = reading(
    {"PEGR": (0.5, 0.8, 0.4), "FGR": (0.9, 0.9, 0.5), "standard": (0.3, 0.7, 0.5)}, (2.3, 2.3, 1.0)
)
GUESSING = reading(dict.fromkeys(RULES, (0.1, 0.1, 0.1)), (2.29,) * 3)
LOST = GOOD.where((GOOD.rule != "PEGR") | (GOOD.noise < 1) | (GOOD.step < 60))


def test_claims_can_fail():
    above_fgr = lambda data: real_checks.accuracy_above(data, other="FGR")  # noqa: E731
    names = ("losses_decrease", "accuracy_above", "accuracy_falls")
    for check in (above_fgr, *(getattr(real_checks, name) for name in names)):
        judge(check, GOOD, BAD, LOST)
        assert check(BAD).why and check(LOST).why
        assert check(GUESSING).verdict != "reproduced"
    # Without noise it may be a little below.
    worse = reading({"PEGR": (0.8, 0.8, 0.6), "FGR": (0.9,) * 3, "standard": (0.9,) * 3})
    judge(real_checks.noiseless_is_kept, GOOD, worse)


def test_divergence_and_standstill_are_told_and_too_short_refutes_nothing():
    lost = real_checks.accuracy_above(LOST)
    assert "diverged" in lost.measured and "PEGR diverges in 6 of 9 runs" in lost.why
    assert "when it closes after 60 steps" in real_checks.losses_decrease(BAD).why
    for check in (real_checks.accuracy_above, real_checks.noiseless_is_kept):
        assert check(GUESSING).verdict == "not run" and "too short" in check(GUESSING).why


def test_figures_draw_also_what_diverged():
    working = GOOD.isel(noise=slice(2))
    for figure in REAL_FIGURES.values():
        drawing = figure.draw(GOOD, LOST, working, working.isel(rule=[0, 2]))
        texts = [text.get_text() for axes in drawing.axes for text in axes.texts]
        assert "PEGR diverges in 3/3" in texts
        plt.close(drawing)


def test_readings_differ_only_where_they_say():
    sweeps = real.real_sweeps("paper")
    unit, bytes_ = (sweeps[f"mnist_{name}"].arms[0] for name in ("unit", "bytes"))
    assert unit.experiment.replace("data.pixels", "bytes") == bytes_.experiment
    rule = unit.experiment.rule
    assert (rule.rate, rule.weight, rule.until) == (0.01, 0.1, 25 * 938)
    assert (unit.experiment.net.scale, unit.experiment.data.batch) == (0.1, 64)
    for scale in real.SIZES:
        for sweep in real.real_sweeps(scale).values():
            assert sweep.arms[0].experiment.rule.until == sweep.arms[0].experiment.steps // 2


@pytest.mark.slow  # compiles eleven programs of a deep net
def test_smoke_runs():
    sweeps = real.real_sweeps("smoke")
    check_all(get("pegr"), {name: s.run(progress=False) for name, s in sweeps.items()}, ["short"])


@pytest.mark.skipif("LEARNSCOPE_DATA" not in os.environ, reason="LEARNSCOPE_DATA names no data")
def test_the_squared_norm_of_an_image_is_that_of_mnist():
    from learnscope.images import load_images

    images = load_images("mnist")[0].reshape(-1, 784)
    norm = np.einsum("ij,ij->", images, images, dtype=float) / 255**2 / len(images)
    assert norm == pytest.approx(real.SQUARED_NORM, rel=1e-3)
