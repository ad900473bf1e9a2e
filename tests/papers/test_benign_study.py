"""The study of class-dependent noise at its smallest scale, and what its claims can say."""

import numpy as np
import pytest
import xarray as xr

from learnscope.papers import get
from learnscope.papers.benign import checks
from learnscope.papers.benign.experiments import CORNERS, STRENGTHS, experiment
from tests.papers.test_studies import check_all, judge, smoke

BENIGN = get("benign")


@pytest.mark.slow  # all sweeps, if small: compiling them takes more than a minute
def test_figures_are_drawn_and_claims_found():
    check_all(BENIGN, smoke(BENIGN))


def test_readings_differ_in_the_rate_alone():
    literal, unscaled = experiment("literal"), experiment("no 1/m")
    assert literal.replace("rule.rate", 5.0) == unscaled
    assert float(literal.rule.rate) == 0.05


def grid(accuracy, train=1.0, names=("signal", "correlation")):
    """A dataset of both readings, 2 seeds and one recorded step, from a table of accuracies."""
    table = np.broadcast_to(accuracy[None, :, :, None, None], (2, *accuracy.shape, 2, 1))
    sides = [["literal", "no 1/m"], *(np.linspace(10, 800, size) for size in accuracy.shape)]
    coords = dict(zip(("reading", *names), sides, strict=True))
    found = {"test_accuracy": table, "train_accuracy": np.full_like(table, train)}
    return xr.Dataset({name: ((*coords, "seed", "step"), v) for name, v in found.items()}, coords)


RISING = np.linspace(0.2, 1.0, 6)[:, None] * np.ones(6)


def test_figures_3_and_4b_can_fail():
    rises, flat = grid(RISING), grid(np.full((6, 6), 0.2), train=0.4)
    jagged = RISING.copy()
    jagged[2] -= 0.4
    judge(lambda d: checks.increases(d, "no 1/m", "signal"), rises, grid(jagged))
    judge(lambda d: checks.increases(d, "no 1/m", "correlation"), grid(RISING.T), rises)
    found = checks.increases(flat, "literal", "signal")
    assert found.verdict == "differs" and "nothing is overfitted" in found.why
    judge(lambda d: checks.fitted(d, "literal"), rises, flat)
    judge(lambda d: checks.without_feature(d, "no 1/m"), grid(RISING.T), rises)
    steady, moving = np.full((6, 6), 0.9), np.linspace(0.3, 0.9, 6) * np.ones((6, 1))
    tables = (grid(table, names=("correlation", "size")) for table in (steady, moving, steady / 3))
    judge(lambda d: checks.constant_in_size(d, "no 1/m"), *tables)


def corner(loss, accuracy, tail, untrained):
    seeds = np.linspace(-0.01, 0.01, 4)

    def spread(values, *more):
        table = np.asarray(values, float)[:, None, None] + seeds[None, :, None]
        return (("corner", "seed", "step", *more), table[(...,) + (None,) * len(more)])

    return xr.Dataset(
        {"loss": spread(loss), "test_accuracy": spread(accuracy),
         "long_tail_accuracy": spread(tail, "class"),
         "long_tail_untrained": spread(untrained, "class")},
        {"corner": list(CORNERS), "step": [1000]},
    )  # fmt: skip


def test_theorem_1_can_fail():
    good = corner([0.05] * 4, [0.2, 0.97, 0.9, 1], [0.5, 1, 0.98, 1], [0.6] * 4)
    bad = corner([0.05, 0.5, 0.05, 0.05], [0.95, 0.6, 0.3, 1], [0.5, 1, 0.97, 1], [0.97] * 4)
    for check in (checks.training_loss, checks.by_features, checks.by_covariance, checks.harmful):
        judge(check, good, bad)


def strengths(accuracy):
    table = np.asarray(accuracy)[None, :, None, None] * np.ones((1, 1, 3, 1))
    return xr.Dataset({"test_accuracy": (("net", "signal", "seed", "step"), table)})


def test_the_snr_term_can_fail():
    good = [0.35, 0.37, 0.45, 0.6, 0.9, 1.0]
    assert len(STRENGTHS) == len(good)
    bad = (good[::-1], [0.9] * 6, [0.35, 0.6, 0.4, 0.6, 0.9, 1.0], [0.35] * 6)
    judge(checks.theorem_2a, strengths(good), *map(strengths, bad))


def minority(plain, balanced, adjusted):
    drops = np.array([plain, balanced, adjusted])[:, :, None, None, None]
    table = drops + np.linspace(-0.02, 0.02, 5)[None, None, :, None, None]
    dims = ("loss", "others", "seed", "step", "class")
    names = ["plain", "class-balanced", "logit-adjusted"]
    values = dict.fromkeys(("long_tail_accuracy", "class_accuracy"), (dims, table))
    return xr.Dataset(values, {"loss": names, "others": ["[50, 10]", "[50, 200]"]})


def test_the_majority_can_be_harmless():
    good = minority((1.0, 0.7), (1.0, 1.0), (1.0, 0.8))
    bad = minority((0.7, 0.9), (0.9, 0.9), (0.9, 0.9))
    judge(lambda d: checks.majority_hurts(d, "plain"), good, bad)
    judge(checks.majority_cause, good, bad)
