"""Section 4.2 on images: what its claims can say, and that its figures are drawn."""

import os

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from learnscope.papers import get
from learnscope.papers.pegr import real
from learnscope.papers.pegr.real_figures import gains
from tests.papers.test_studies import attributes, check_all, check_nulls, judge

RULES = ("PEGR", "FGR", "standard")


SEEDS = 12
CLAIM = {claim.id: claim for claim in get("pegr").claims}


def reading(accuracy, loss=(1.0, 1.0, 1.0), noises=(0.0, 5.0, 15.0), seeds=SEEDS, late=0.0):
    """A dataset in which every rule ends with an accuracy a noise level, seeds a little apart."""
    steps = np.array([0, 60, 120, 160])
    ends = np.array([[row] * seeds for row in zip(*(accuracy[r] for r in RULES), strict=True)])
    ends = np.moveaxis(ends, 2, 0) + 0.001 * np.arange(seeds)  # rule, noise, seed
    table = np.stack([np.full_like(ends, 0.1), ends / 2, ends, ends], -1)
    last = 0 * ends + np.reshape(loss, (3, 1, 1))
    losses = np.stack([np.full_like(ends, 2.4), np.full_like(ends, 2.3), last, last - late], -1)
    dims = ("rule", "noise", "seed", "step")
    variables = {"test_accuracy": (dims, table), "loss": (dims, losses)}
    coords = {"rule": list(RULES), "noise": list(noises), "step": steps, "seed": np.arange(seeds)}
    return xr.Dataset(variables, coords, attributes(real.real_sweeps("laptop")["mnist_unit"]))


GOOD = reading({"PEGR": (0.9, 0.8, 0.6), "FGR": (0.9, 0.7, 0.5), "standard": (0.9, 0.7, 0.5)})
BAD = reading(
    {"PEGR": (0.5, 0.8, 0.4), "FGR": (0.9, 0.9, 0.5), "standard": (0.3, 0.7, 0.5)}, (2.3, 2.3, 1.0)
)
GUESSING = reading(dict.fromkeys(RULES, (0.1, 0.1, 0.1)), (2.29,) * 3)
LOST = GOOD.where((GOOD.rule != "PEGR") | (GOOD.noise < 1) | (GOOD.step < 60))


def verdict(name, data):
    claim = CLAIM[f"{name}.{'working' if name == 'figure-6-full' else 'unit'}"]
    return claim.judge({claim.needs[0]: data}).verdict


def test_claims_can_fail():
    for name in ("figure-5.unit", "figure-6.unit", "figure-6-full.working"):
        judge(CLAIM[name], GOOD, BAD, LOST)
    judge(CLAIM["figure-6-falls.unit"], GOOD, BAD)
    # Without noise it may be a little below.
    worse = reading({"PEGR": (0.8, 0.8, 0.6), "FGR": (0.9,) * 3, "standard": (0.9,) * 3})
    judge(CLAIM["figure-6-quiet.unit"], GOOD, worse)
    check_nulls(get("pegr"), {"mnist_unit": GOOD, "mnist_full": GOOD})


def test_what_guesses_or_has_few_seeds_refutes_nothing_and_divergence_does():
    names = ("figure-6", "figure-6-full", "figure-6-quiet", "figure-6-falls")
    assert [verdict(name, GUESSING) for name in names] == ["inconclusive"] * 4
    assert verdict("figure-5", GUESSING) == "differs"  # above log 10 by less than a hundredth
    few = [verdict(n, LOST.isel(seed=slice(4))) for n in ("figure-5", "figure-6")]
    assert few == ["inconclusive"] * 2
    assert verdict("figure-6", GOOD.isel(seed=slice(5))) == "reproduced"  # five are enough here
    assert verdict("figure-6", GOOD.isel(seed=slice(4))) == "inconclusive"
    lost = CLAIM["figure-5.unit"].judge({"mnist_unit": LOST})
    assert "12 of 12 not finite" in lost.measured


def test_what_is_not_trained_to_the_end_decides_nothing():
    names = ("figure-6", "figure-6-full", "figure-6-quiet", "figure-6-falls")
    accuracy = {"PEGR": (0.9, 0.8, 0.6), "FGR": (0.9, 0.7, 0.5), "standard": (0.9, 0.7, 0.5)}
    short = reading(accuracy, late=0.1)  # the loss falls by 4 % of 2.4 in the last quarter
    assert [verdict(name, short) for name in names] == ["inconclusive"] * 4
    found = CLAIM["figure-6.unit"].judge({"mnist_unit": short})
    assert "the loss still falls: by 4.2 %" in found.why and "would have seen" in found.power
    almost = reading(accuracy, late=0.03)
    assert [verdict(name, almost) for name in names] == ["reproduced"] * 4
    early = GOOD.test_accuracy.where((GOOD.rule != "PEGR") | (GOOD.step > 120), 0.2)
    turned = CLAIM["figure-6.unit"].judge({"mnist_unit": GOOD.assign(test_accuracy=early)})
    assert turned.verdict == "inconclusive" and "but differs before the last quarter" in turned.why


def test_figures_draw_also_what_diverged_and_say_the_gain():
    lost = get("pegr").figures["mnist_unit"].draw(LOST)
    texts = [text.get_text() for axes in lost.axes for text in axes.texts]
    assert "PEGR diverges in 12/12" in texts
    assert "training diverges at σp" in lost.get_suptitle().replace("\n", " ")
    assert gains(GOOD)[1:] == [f"0.1000 [0.1000, 0.1000] at σp = {noise}" for noise in (5, 15)]
    plt.close(lost)


def test_readings_differ_only_where_they_say():
    sweeps = real.real_sweeps("paper")
    unit, *others = (sweeps[f"mnist_{name}"].arms[0] for name in ("unit", "bytes", "standard"))
    for pixels, other in zip(("bytes", "standard"), others, strict=True):
        assert unit.experiment.replace("data.pixels", pixels) == other.experiment
    scaled = sweeps["mnist_scaled"].arms[0]
    assert scaled.experiment == unit.experiment
    assert scaled.axes[0].fields["data.noise"] == [0, 5 / 255, 10 / 255, 15 / 255]
    rule = unit.experiment.rule
    assert (rule.rate, rule.weight, rule.until) == (0.01, 0.1, 25 * 938)
    assert (unit.experiment.net.scale, unit.experiment.data.batch) == (0.1, 64)
    full, working = sweeps["mnist_full"], sweeps["mnist_working"]
    assert full.arms[:2] == working.arms and full.arms[2].label == "FGR"


def test_the_laptop_scale_sees_every_image_five_times_with_five_seeds():
    for name, sweep in real.real_sweeps("laptop").items():
        run = sweep.arms[0].experiment
        assert (run.data.train, run.data.test, sweep.seeds) == (None, None, 5)
        assert run.steps * run.data.batch == pytest.approx(5 * 60_000, rel=0.001)
        assert run.steps % run.record.every == 0 and run.steps // run.record.every >= 4
        assert run.steps / run.rule.until == (2 if name in ("mnist_working", "mnist_full") else 8)


@pytest.mark.slow  # compiles a dozen programs of a deep net
def test_smoke_runs():
    sweeps = real.real_sweeps("smoke")
    check_all(get("pegr"), {name: s.run(progress=False) for name, s in sweeps.items()}, ["short"])


@pytest.mark.skipif("LEARNSCOPE_DATA" not in os.environ, reason="LEARNSCOPE_DATA names no data")
def test_the_squared_norm_of_an_image_is_that_of_mnist():
    from learnscope.images import load_images

    images = load_images("mnist")[0].reshape(-1, 784)
    norm = np.einsum("ij,ij->", images, images, dtype=float) / 255**2 / len(images)
    assert norm == pytest.approx(real.SQUARED_NORM, rel=1e-3)
