"""The phase diagram's study at its smallest scale, and what its claims can say."""

import numpy as np
import pytest
import xarray as xr

from learnscope.papers import get
from learnscope.papers.kou.claims import APART
from learnscope.papers.kou.experiments import PUBLISHED, RATIOS
from tests.papers.test_studies import check_all, judge, smoke

KOU = get("kou")
CLAIM = {claim.id: claim for claim in KOU.claims}
SPREAD = np.linspace(-0.002, 0.002, 12)  # over seeds


def test_figures_are_drawn_and_claims_found():
    check_all(KOU, smoke(KOU))


def line(exponent, error, status="crossed"):
    data = xr.Dataset({"status": ("dim", [status])}, {"dim": [1.0]})
    return data.assign_attrs(exponent=exponent, exponent_error=error, seeds=20)


def test_exponents_are_judged_by_their_error_within_a_tolerance():
    for name in ("paper_exponent", "theorem_exponent"):
        judge(CLAIM[name], line(0.255, 0.002), line(0.27, 0.004), line(0.2, 0.004))
        for open_ in (line(0.25, 0.01), line(np.nan, np.nan), line(0.25, 0.001, "below")):
            found = CLAIM[name].judge({CLAIM[name].needs[0]: open_})
            assert found.verdict == "inconclusive" and found.why


def test_published_means_have_errors_of_their_own():
    """A mean over 10 repetitions beside ours over 160 draws: (1/160 + 1/10)^(1/2) of the spread."""
    random, n = np.random.default_rng(0), 160
    error = np.array([*PUBLISHED.values()])[..., None] + 0.05 * random.normal(size=(3, 10, n))
    accuracy = (1 - error)[None, ..., None] + np.zeros((1, 1, 1, 1, 2))
    dims = ("variant", "dim", "signal", "seed", "step")
    coords = {"variant": ["as published"], "dim": [*PUBLISHED], "step": [50, 100]}
    data = xr.Dataset({"test_accuracy": (dims, accuracy)}, coords)
    apart = APART.read({"variants": data})
    alone = (error.std(-1, ddof=1) * (1 / n + 1 / 10) ** 0.5).mean()
    assert float((apart.std("seed", ddof=1) / n**0.5).mean()) == pytest.approx(alone, rel=1e-6)
    expected = error.mean(-1) - np.array([*PUBLISHED.values()])
    np.testing.assert_allclose(apart.mean("seed").transpose("dim", "signal"), expected, atol=1e-12)


def sides(errors, loss=0.01):
    dims = ("signal", "seed", "step")
    accuracy = 1 - np.asarray(errors)[:, None, None] + SPREAD[None, :, None]
    losses = np.full((len(RATIOS), len(SPREAD), 1), loss) + SPREAD[None, :, None]
    return xr.Dataset({"test_accuracy": (dims, accuracy), "loss": (dims, losses)},
                      {"signal": np.array(RATIOS), "step": [9]})  # fmt: skip


def test_both_sides_can_fail():
    right, wrong = [0.5, 0.4, 0.3, 0.2, 0.12, 0.1], [0.15] * 6
    judge(CLAIM["training"], sides(right), sides(right, loss=0.5))
    for name in ("benign", "harmful"):
        judge(CLAIM[name], sides(right), sides(wrong))
        # Without a small training loss nothing follows.
        assert CLAIM[name].judge({"sides": sides(right, loss=0.5)}).verdict == "inconclusive"


def test_order_and_transition_can_fail():
    signal, dim = np.linspace(0, 1, 6), np.linspace(0, 1, 5)

    def diagram(error):
        table = 1 - error[:, :, None, None] + SPREAD[None, None, :, None]
        return xr.Dataset({"test_accuracy": (("signal", "dim", "seed", "step"), table)},
                          {"signal": signal, "dim": dim, "step": [9]})  # fmt: skip

    falling = 0.4 - 0.3 * signal[:, None] + 0.04 * dim
    bad = falling[::-1], falling[:, ::-1], 0.3 + 0.1 * (signal[:, None] - 0.5) ** 2 + 0 * dim
    judge(CLAIM["order"], diagram(falling), *map(diagram, bad))
    judge(CLAIM["transition"], diagram(falling), diagram(falling * 0 + 0.3))
