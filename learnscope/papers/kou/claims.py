"""The paper's claims.

The exponent's tolerance, 0.01, tells 1/4 from its neighbours 1/5 and 1/3; it was stated after the
first measurement (0.2490 ± 0.0007), whose distance from 1/4 is a correction of finite d.

A cell of the authors' heat map is a mean over 10 repetitions, whose draws are new in every cell;
their spread is not published, and taken to be that of our seeds. Intervals are of both errors
together.
"""

from typing import Any

import numpy as np
import xarray as xr

from learnscope.evidence import (
    Claim,
    Null,
    Verb,
    above,
    alike,
    at_least,
    at_most,
    boundary_exponent,
    bounded_by,
    computed,
    constant,
    every,
    exact,
    exponent,
    falls,
    last,
    rises,
    scaled,
    shuffled,
    swapped,
    within,
)
from learnscope.lab import CROSSED
from learnscope.papers.kou.experiments import (
    AVERAGED,
    DECAY,
    FLIP,
    RATIOS,
    REPETITIONS,
    SUMMED,
    published,
)

CONVERGED = 0.1
TRANSITION = (0.15, 0.45)  # published test errors: elsewhere they are those of any network
STABLE = {"dim": slice(100, 500), "signal": slice(0, 3)}
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


def from_published(ours: xr.DataArray, of: str, *over: str) -> xr.DataArray:
    """Ours minus the authors' errors or losses, averaged over axes where ours is a number, draw by
    draw; the draws are spread so that the error of their mean is that of both."""
    draws = ours - published(of).sel(dim=ours.dim, signal=ours.signal)
    cells = draws.isel(seed=0).count(over) if over else 1
    of_theirs = draws.var("seed", ddof=1).mean(over) / (REPETITIONS * cells)
    draws = draws.mean(over)
    middle, own = draws.mean("seed"), draws.var("seed", ddof=1) / draws.sizes["seed"]
    return middle + np.sqrt(1 + of_theirs / own) * (draws - middle)


def error_of(data: xr.Dataset, patches: str) -> xr.DataArray:
    """Test errors with outputs summed or averaged over patches."""
    return 1 - data.test_accuracy.sel(patches=patches, drop=True).isel(step=-1, drop=True)


def _agrees(patches: str) -> Verb:
    """Test errors across the transition, and training losses where no draw oscillates."""

    def errors(data: xr.Dataset) -> xr.DataArray:
        theirs = published("errors")
        some = (theirs > TRANSITION[0]) & (theirs < TRANSITION[1])
        return from_published(error_of(data, patches).where(some), "errors", "dim", "signal")

    def losses(data: xr.Dataset) -> xr.DataArray:
        ours = data.loss.sel(patches=patches, **STABLE).isel(step=-1, drop=True)
        theirs = published("losses").sel(dim=ours.dim, signal=ours.signal).mean()
        return from_published(ours, "losses", "dim", "signal") / theirs

    return within(
        computed(f"test error minus the published one, mean over cells, {patches}", errors),
        0.0, by=0.015,
    ) & within(
        computed(f"relative difference of training losses, {patches}", losses), 0.0, by=0.2
    )  # fmt: skip


def _gain(small: xr.Dataset, large: xr.Dataset) -> xr.DataArray:
    """How much larger the exponent is in large dimensions, with its error."""
    errors = [data.attrs["exponent_error"] for data in (small, large)]
    draws = min(data.attrs["seeds"] for data in (small, large))
    found = large.attrs["exponent"] - small.attrs["exponent"]
    return xr.DataArray(found, attrs={"error": float(np.hypot(*errors)), "draws": draws})


def _rate(data: xr.Dataset) -> xr.DataArray:
    """-log of the test error, over n|μ|⁴/(d σ⁴)."""
    error = 1 - data.test_accuracy.isel(step=-1, drop=True)
    return (-np.log(error.where(error > 0))).assign_coords(signal=np.array(DECAY))


def _local(values: xr.DataArray) -> xr.DataArray:
    """The exponent between neighbours on an axis that doubles."""
    logs: Any = np.log(values)
    return logs.diff("signal") / np.log(2.0)


def _power_law(data: xr.Dataset) -> xr.Dataset:
    error = xr.DataArray(0.1 / np.array(DECAY), dims="signal")
    return data.assign(test_accuracy=0 * data.test_accuracy + 1 - error)


def _ratio(data: xr.Dataset) -> xr.DataArray:
    """The signal coefficient over the noise coefficients, summed over filters and examples."""
    end = data.isel(step=-1, drop=True)
    return end.gamma.sum("filter") / end.rho_bar.sum(["filter", "sample"])


RATE = computed("-log of the test error", _rate)
RATIO = computed("Σγ / Σρ at the end", _ratio)
_PAPER = "n = 20, m = 10, p = 0.1, 100 steps, rate 0.1, scale 0.01"
_READING = "reading: rate and scale are not in the paper"
_THEOREM = "d = 10^7, 6000 steps"
_CODE = "the setting of their code, with bias; every ninth signal, every sixth dimension; "
_CODE += f"errors of cells from {TRANSITION[0]} to {TRANSITION[1]}, losses at d < 500, |μ| ≤ 3"
_OTHERS = (shuffled("signal"), swapped("patches"), alike("signal"))
_MAP = ("heat map, published data", "10,000 cells, 10 repetitions each")
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
          scope="beyond: the theorem says nothing of such dimensions",
          flags=("added after looking: the tolerance",), nulls=OTHER_POWERS),
    Claim("theorem_exponent", "The boundary is n|μ|⁴ ~ d σ⁴, so |μ| ~ d^(1/4)", "Theorem 4.2",
          "0.25", "d from 3e5 to 1e8, 3000 steps", "theorem", EXPONENT, scope=_REGIME,
          sentence="exponent",
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
    Claim("decay", "The excess error falls as exp(-n|μ|⁴/(C d σ⁴)), so faster than any power",
          "Theorem 4.2 (2), rate", "-log of it is linear in n|μ|⁴/(d σ⁴), in the end",
          f"{_THEOREM}; p = 0; n|μ|⁴/(d σ⁴) from 1 to 8", "decay",
          rises(RATE.map(_local, "exponent of {} between neighbours"), "signal").given(FITTED),
          scope="asymptotic: ratios from 1 to 8", flags=("added after looking: the claim's form",),
          nulls=(Null("a power law", _power_law), alike("signal"))),
    Claim("coefficients", "The ratio of signal to noise coefficients falls as 1/d",
          "coefficient ratio (proof)", "Θ(|μ|²/(d σ²))", "d from 3e5 to 1e8, |μ| = 20",
          "coefficients", exponent(RATIO, "dim", -1.0, by=0.05),
          scope=_REGIME, nulls=(alike("dim"),)),
    Claim("balance", "The loss derivatives of two training examples have a bounded ratio",
          "balanced derivatives (proof)", "O(1)", "d from 3e5 to 1e8, |μ| = 20", "coefficients",
          bounded_by(every("gradient_balance"), 10.0).given(FITTED), scope=_REGIME,
          flags=("added after looking: O(1) is read as 10",),
          nulls=(scaled(10.0, "gradient_balance"),)),
    Claim("trend", "The boundary's exponent tends to 1/4 as the dimension grows", "Theorem 4.2",
          "0.25 in the limit", "d from 100 to 1090 against 3e5 to 1e8", ("boundary", "theorem"),
          above(computed("gain in the exponent", _gain, "boundary", "theorem"), 0.0),
          scope="asymptotic: a finite-d correction", flags=("added after looking: the claim",),
          sentence="exponent",
          nulls=(Null("no trend", lambda data: data.assign_attrs(exponent=0.25)),)),
    Claim("published", "The authors' test errors and training losses, with outputs summed over "
          "patches", *_MAP, _CODE, "published", _agrees(SUMMED),
          scope="reading: outputs summed over patches, as in the formula; their code averages",
          sentence="published",
          flags=("added after looking: which sum, and which cells",), nulls=_OTHERS),
    Claim("published_code", "The authors' test errors and training losses, with outputs averaged "
          "over patches", *_MAP, _CODE, "published", _agrees(AVERAGED).because(
              "the published numbers are those of outputs summed over patches"),
          scope="as stated", sentence="published", nulls=_OTHERS),
)  # fmt: skip
