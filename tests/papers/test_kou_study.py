"""The phase diagram's study at its smallest scale, and what its claims can say."""

import numpy as np
import xarray as xr

from learnscope.papers import get
from learnscope.papers.kou import claims
from learnscope.papers.kou.experiments import RATIOS
from tests.papers.test_studies import check_all, judge, smoke

KOU = get("kou")


def test_figures_are_drawn_and_claims_found():
    check_all(KOU, smoke(KOU))


def line(exponent, error):
    data = xr.Dataset({"status": ("dim", ["crossed"])}, {"dim": [1.0]})
    return data.assign_attrs(exponent=exponent, exponent_error=error, seeds=3)


def test_exponents_are_judged_by_their_error():
    bad = line(0.26, 0.004), line(np.nan, np.nan)
    judge(lambda data: claims.exponent(data, "why"), line(0.26, 0.006), *bad)


def sides(errors, loss=0.01):
    shape = (1, len(RATIOS), 2, 1)
    accuracy = np.broadcast_to(1 - np.asarray(errors)[None, :, None, None], shape)
    dims = ("net", "signal", "seed", "step")
    return xr.Dataset({"test_accuracy": (dims, accuracy), "loss": (dims, np.full(shape, loss))})


def test_both_sides_can_fail():
    good, flat = sides([0.5, 0.4, 0.3, 0.2, 0.12, 0.1]), sides([0.15] * 6, loss=0.5)
    for check in (claims.benign, claims.harmful, claims.training_loss):
        judge(check, good, flat)


def test_order_and_transition_can_fail():
    signal, dim = np.linspace(0, 1, 6), np.linspace(0, 1, 5)

    def diagram(error):
        table = 1 - error[None, :, :, None, None]
        return xr.Dataset(
            {"test_accuracy": (("net", "signal", "dim", "seed", "step"), table)},
            {"signal": signal, "dim": dim},
        )

    falling = 0.45 - 0.3 * signal[:, None] + 0.04 * dim
    bad = falling[::-1], falling[:, ::-1] + 0.5 * (dim[::-1] - dim)
    judge(claims.orders, diagram(falling), *map(diagram, bad))
    assert claims.transition(diagram(falling * 0 + 0.3)).verdict == "differs"
