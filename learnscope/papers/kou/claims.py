"""The paper's claims.

The exponent's tolerance, 0.01, tells 1/4 from its neighbours 1/5 and 1/3; it was stated after the
first measurement (0.2490 ± 0.0007), whose distance from 1/4 is a correction of finite d.
"""

from learnscope.evidence import (
    Claim,
    Null,
    at_least,
    at_most,
    boundary_exponent,
    constant,
    exact,
    falls,
    last,
    rises,
    within,
)
from learnscope.lab import CROSSED
from learnscope.papers.kou.experiments import FLIP, RATIOS

CONVERGED = 0.1
ERROR = (1 - last("test_accuracy")).named("test error")
FITTED = at_most(last("loss"), CONVERGED)
EXPONENT = within(boundary_exponent(), 0.25, by=0.01).given(
    at_least(exact("share of dimensions with a crossing",
                   lambda found: float((found.status == CROSSED).mean())), 1.0)
)  # fmt: skip
# Noise and signal count alike, or the dimension does not count.
OTHER_POWERS = tuple(
    Null(f"|μ| ~ d^{power:g}", lambda data, power=power: data.assign_attrs(exponent=power))
    for power in (0.0, 0.5)
)


def _at(*ratios: float):
    """The test error at some n|μ|⁴/(dσ⁴)."""
    return ERROR.isel(signal=[RATIOS.index(ratio) for ratio in ratios]).named(
        f"test error at ratio {', '.join(f'{ratio:g}' for ratio in ratios)}"
    )


_PAPER = "n = 20, m = 10, p = 0.1, 100 steps, rate 0.1, scale 0.01"
_READING = "reading: rate and scale are not in the paper"
_THEOREM = "d = 10^7, 6000 steps"
_REGIME = "regime: Condition 4.1 holds with constants 1"

CLAIMS = (
    Claim("order", "Test error falls with the signal and grows with the dimension", "heat map",
          "a monotone heat map", _PAPER, "diagram",
          falls(ERROR.mean("dim"), "signal") & rises(ERROR.mean("signal"), "dim"), scope=_READING),
    Claim("transition", "There is a transition between benign and harmful overfitting", "heat map",
          "test error from 0.1 to near chance", _PAPER, "diagram",
          at_most(ERROR.isel(signal=-1, dim=0), FLIP + 0.02)
          & at_least(ERROR.isel(signal=0, dim=-1), 0.35), scope=_READING),
    Claim("paper_exponent", "The boundary is n|μ|⁴ ~ d σ⁴, so |μ| ~ d^(1/4), in the heat map",
          "heat map, boundary", "0.25", _PAPER, "boundary",
          EXPONENT.because("Condition 4.1 does not hold at such dimensions, nor is d large there"),
          scope=_READING, flags=("added after looking: the tolerance",), nulls=OTHER_POWERS),
    Claim("theorem_exponent", "The boundary is n|μ|⁴ ~ d σ⁴, so |μ| ~ d^(1/4)", "Theorem 4.2",
          "0.25", "d from 3e5 to 1e8, 3000 steps", "theorem", EXPONENT, scope=_REGIME,
          flags=("added after looking: the tolerance",), nulls=OTHER_POWERS),
    Claim("training", "The training loss becomes small on both sides", "Theorem 4.2 (1)",
          f"below {CONVERGED}", _THEOREM, "sides", FITTED, scope=_REGIME,
          nulls=(constant(),)),
    Claim("benign", "Where n|μ|⁴ is much larger than d σ⁴, test error tends to p",
          "Theorem 4.2 (2)", "p = 0.1", _THEOREM, "sides",
          at_most(_at(1e2), FLIP + 0.01).given(FITTED), scope=_REGIME),
    Claim("harmful", "Where n|μ|⁴ is much smaller than d σ⁴, test error is at least p + 0.1",
          "Theorem 4.2 (3)", "at least 0.2", _THEOREM, "sides",
          at_least(_at(1e-3, 1e-2), FLIP + 0.1).given(FITTED), scope=_REGIME),
)  # fmt: skip
