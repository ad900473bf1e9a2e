"""The paper's claims and their checks.

An exponent agrees with theory if it is within 1.96 standard errors of it. A statement about all
settings must hold for the mean over seeds in every one of them.
"""

from functools import partial

import numpy as np
import xarray as xr

from learnscope.evidence import Claim, Finding, judged, mean
from learnscope.lab import CROSSED
from learnscope.papers.kou.experiments import FLIP, RATIOS
from learnscope.papers.kou.figures import error

EXPONENT = 0.25
CONVERGED = 0.1
WITHIN = 1.96
_SLACK = 0.02  # twice the sampling error of a mean over 10 seeds of 1000 test points


def orders(data: xr.Dataset) -> Finding:
    """The error falls with the signal and rises with the dimension, between neighbouring cells."""
    table = error(data)
    against = {
        "with the signal it rises": table.diff("signal") > _SLACK,
        "with the dimension it falls": table.diff("dim") < -_SLACK,
    }
    text = "; ".join(
        f"{name} (by more than {_SLACK}) in {int(hits.sum())} of {hits.size} neighbours"
        for name, hits in against.items()
    )
    return judged(text, all(float(hits.mean()) < 0.01 for hits in against.values()), "not in order")


def transition(data: xr.Dataset) -> Finding:
    """Both phases occur: errors near the flips, and errors near chance."""
    table = error(data)
    low, high = float(table.min()), float(table.max())
    good = low < FLIP + 0.02 and high > 0.35
    return judged(f"mean test error from {low:.3f} to {high:.3f}", good, "one phase only")


def exponent(boundary: xr.Dataset, why: str) -> Finding:
    value, spread = boundary.attrs["exponent"], boundary.attrs["exponent_error"]
    crossed = int((boundary.status == CROSSED).sum())
    dims = boundary.dim.values
    text = (
        f"|μ| ~ d^{value:.4f} ± {WITHIN * spread:.4f} (95 %), d from {dims.min():.3g} to "
        f"{dims.max():.3g}, {crossed} of {dims.size} crossed, {boundary.attrs['seeds']} seeds"
    )
    agrees = abs(value - EXPONENT) <= WITHIN * spread
    return judged(text, agrees, why)


def training_loss(data: xr.Dataset) -> Finding:
    last = data.loss.isel(net=0, step=-1)
    worst = last.mean("seed")
    good = bool((worst < CONVERGED).all())
    text = f"largest mean training loss over six ratios: {float(worst.max()):.3f}"
    return judged(text, good, "not yet small")


def _error_at(data: xr.Dataset, ratio: float) -> np.ndarray:
    return 1 - data.test_accuracy.isel(net=0, step=-1, signal=RATIOS.index(ratio)).values


def benign(data: xr.Dataset) -> Finding:
    values = _error_at(data, 1e2)
    good = bool(values.mean() <= FLIP + 0.01)
    return judged(f"test error {mean(values)} at ratio 100", good, "above the flips")


def harmful(data: xr.Dataset) -> Finding:
    values = {ratio: _error_at(data, ratio) for ratio in (1e-3, 1e-2)}
    good = all(v.mean() >= FLIP + 0.1 for v in values.values())
    text = "; ".join(f"test error {mean(v)} at ratio {r:g}" for r, v in values.items())
    return judged(text, good, "below p + 0.1")


_PAPER = "n = 20, m = 10, p = 0.1, 100 steps, rate 0.1, scale 0.01"
_THEOREM = "d = 10^7, Condition 4.1 holds with constants 1, 6000 steps"

CLAIMS = (
    Claim("order", "Test error falls with the signal and grows with the dimension", "heat map",
          "a monotone heat map", _PAPER, ("diagram",), orders),
    Claim("transition", "There is a transition between benign and harmful overfitting", "heat map",
          "test error from 0.1 to near chance", _PAPER, ("diagram",), transition),
    Claim("paper_exponent", "The boundary is n|μ|⁴ ~ d σ⁴, so |μ| ~ d^(1/4), in the heat map",
          "heat map", "0.25", _PAPER, ("boundary",), partial(
              exponent, why="Condition 4.1 does not hold at such dimensions, nor is d large there"
          )),
    Claim("theorem_exponent", "The boundary is n|μ|⁴ ~ d σ⁴, so |μ| ~ d^(1/4)", "Theorem 4.2",
          "0.25", "d from 3e5 to 1e8, Condition 4.1 holds with constants 1, 3000 steps",
          ("theorem",), partial(exponent, why="although Condition 4.1 holds with constants 1")),
    Claim("training", "The training loss becomes small on both sides", "Theorem 4.2 (1)",
          f"below {CONVERGED}", _THEOREM, ("sides",), training_loss),
    Claim("benign", "Where n|μ|⁴ is much larger than d σ⁴, test error tends to p",
          "Theorem 4.2 (2)", "p = 0.1", _THEOREM, ("sides",), benign),
    Claim("harmful", "Where n|μ|⁴ is much smaller than d σ⁴, test error is at least p + 0.1",
          "Theorem 4.2 (3)", "at least 0.2", _THEOREM, ("sides",), harmful),
)  # fmt: skip
