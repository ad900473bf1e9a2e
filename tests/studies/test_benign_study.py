"""The study of class-dependent noise at its smallest scale, and what its claims can say."""

import numpy as np
import pytest
import xarray as xr

from learnscope.studies import get
from learnscope.studies.benign import checks
from learnscope.studies.benign.experiments import CLASSES, CORNERS, STRENGTHS, experiment

BENIGN = get("benign")


@pytest.fixture(scope="module")
def datasets():
    return {name: sweep.run(progress=False) for name, sweep in BENIGN.sweeps("smoke").items()}


@pytest.mark.slow  # all sweeps, if small: compiling them takes more than a minute
def test_every_figure_is_drawn(datasets):
    for figure in BENIGN.figures.values():
        drawn = figure.draw(*(datasets[need] for need in figure.needs))
        assert all(axes.get_title() or axes.get_ylabel() for axes in drawn.axes)


@pytest.mark.slow
def test_every_claim_has_a_finding(datasets):
    ledger = BENIGN.ledger(datasets)
    assert len(ledger) == len(BENIGN.claims)
    assert len({claim.id for claim in BENIGN.claims}) == len(BENIGN.claims)
    assert ledger.count("not run") == 0
    for entry in ledger:
        if entry.finding.verdict != "not run":
            assert entry.finding.measured
            assert (entry.finding.verdict == "differs") == bool(entry.finding.why)


def test_headlines_are_figures():
    assert set(BENIGN.headline) <= set(BENIGN.figures)


def test_readings_differ_in_the_rate_alone():
    literal, unscaled = experiment("literal"), experiment("no 1/m")
    assert literal.replace("rule.rate", 5.0) == unscaled
    assert float(literal.rule.rate) == 0.05


def grid(accuracy, train=1.0, names=("signal", "correlation")):
    """A dataset of both readings, 2 seeds and one recorded step, from a table of accuracies."""
    table = np.broadcast_to(accuracy[None, :, :, None, None], (2, *accuracy.shape, 2, 1))
    dims = ("reading", *names, "seed", "step")
    coords = {"reading": ["literal", "no 1/m"]}
    for name, size in zip(names, accuracy.shape, strict=True):
        coords[name] = np.linspace(10, 800, size)
    return xr.Dataset(
        {"test_accuracy": (dims, table), "train_accuracy": (dims, np.full_like(table, train))},
        coords,
    )


RISING = np.linspace(0.2, 1.0, 6)[:, None] * np.ones(6)


def test_figure_3_can_fail():
    rises, flat = grid(RISING), grid(np.full((6, 6), 0.2), train=0.4)
    assert checks.increases(rises, "no 1/m", "signal").verdict == "reproduced"
    assert checks.increases(rises, "no 1/m", "correlation").verdict == "differs"
    found = checks.increases(flat, "literal", "signal")
    assert found.verdict == "differs"
    assert "nothing is overfitted" in found.why
    assert checks.fitted(rises, "literal").verdict == "reproduced"
    assert checks.fitted(flat, "literal").verdict == "differs"
    assert checks.without_feature(grid(RISING.T), "no 1/m").verdict == "reproduced"
    assert checks.without_feature(rises, "no 1/m").verdict == "differs"
    jagged = RISING.copy()
    jagged[2] -= 0.4
    assert checks.increases(grid(jagged), "no 1/m", "signal").verdict == "differs"


def test_figure_4b_can_fail():
    names = ("correlation", "size")
    steady, moving = np.full((6, 6), 0.9), np.linspace(0.3, 0.9, 6) * np.ones((6, 1))
    assert checks.constant_in_size(grid(steady, names=names), "no 1/m").verdict == "reproduced"
    assert checks.constant_in_size(grid(moving, names=names), "no 1/m").verdict == "differs"
    assert checks.constant_in_size(grid(steady / 3, names=names), "no 1/m").verdict == "differs"


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
        assert check(good).verdict == "reproduced", check
        assert check(bad).verdict == "differs", check


def strengths(accuracy):
    table = np.asarray(accuracy)[None, :, None, None] * np.ones((1, 1, 3, 1))
    return xr.Dataset({"test_accuracy": (("net", "signal", "seed", "step"), table)})


def test_the_snr_term_can_fail():
    assert len(STRENGTHS) == 6
    good = [0.35, 0.37, 0.45, 0.6, 0.9, 1.0]
    assert checks.theorem_2a(strengths(good)).verdict == "reproduced"
    for bad in (good[::-1], [0.9] * 6, [0.35, 0.6, 0.4, 0.6, 0.9, 1.0], [0.35] * 6):
        assert checks.theorem_2a(strengths(bad)).verdict == "differs"


def minority(plain, balanced, adjusted):
    drops = np.array([plain, balanced, adjusted])[:, :, None, None, None]
    table = drops + np.linspace(-0.02, 0.02, 5)[None, None, :, None, None]
    dims = ("loss", "others", "seed", "step", "class")
    return xr.Dataset(
        {"long_tail_accuracy": (dims, table), "class_accuracy": (dims, table)},
        {
            "loss": ["plain", "class-balanced", "logit-adjusted"],
            "others": ["[50, 10]", "[50, 200]"],
        },
    )


def test_the_majority_can_be_harmless():
    hurts = minority((1.0, 0.7), (1.0, 1.0), (1.0, 0.8))
    assert checks.majority_hurts(hurts, "plain").verdict == "reproduced"
    assert checks.majority_cause(hurts).verdict == "reproduced"
    helps = minority((0.7, 0.9), (0.9, 0.9), (0.9, 0.9))
    assert checks.majority_hurts(helps, "plain").verdict == "differs"
    assert checks.majority_cause(helps).verdict == "differs"


def test_b_is_the_norm_of_summed_residuals():
    residual = np.random.default_rng(0).uniform(size=(2, 4, 3 * CLASSES))
    data = xr.Dataset({"residual": (("seed", "step", "sample"), residual)})
    found = checks.residual_sums(data)
    summed = residual[:, :3].sum(1).reshape(2, CLASSES, 3)  # t' = 0, 1, 2
    expected = np.sqrt((summed**2).sum(2))
    np.testing.assert_allclose(found.isel(step=3).transpose("seed", "class"), expected, rtol=1e-12)
    np.testing.assert_allclose(found.isel(step=0), 0)
