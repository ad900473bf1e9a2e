"""How each claim of the paper is checked: functions of the sweeps' datasets.

A training loss has converged below 0.05; a test accuracy is near 1 from 0.99 on. A statement about
"all" noise levels or "in all cases" must hold for at least nine tenths of the seeds at every one of
them; NaN (a diverged run) never satisfies any.
"""

import math
from collections.abc import Callable

import numpy as np
import xarray as xr

from learnscope.evidence import Finding, judged, mean, share
from learnscope.papers.pegr import experiments as ex
from learnscope.papers.pegr import theory as pegr
from learnscope.papers.pegr.figures import predicted_side, success

CONVERGED, NEAR_ONE, MOST = 0.05, 0.99, 0.9
# The theorems' epsilon: a loss that the runs are long enough to reach.
EPSILON = 0.1


def _judge(cells: dict[str, xr.DataArray], reason: str = "") -> Finding:
    """Reproduced if most seeds hit in every cell; else for the given reason, or naming cells."""
    shares = {name: float(hits.mean()) for name, hits in cells.items()}
    text = "; ".join(f"{name}: {share(hits)}" for name, hits in cells.items())
    failing = [name for name, value in shares.items() if value < MOST]
    return judged(text, not failing, reason or f"not at {', '.join(failing)}")


def _by_noise(hits: xr.DataArray) -> dict[str, xr.DataArray]:
    return {f"σp={float(noise):g}": hits.sel(noise=noise) for noise in hits.noise}


def _last(data: xr.Dataset) -> xr.Dataset:
    return data.isel(step=-1)


def _loud(data: xr.Dataset) -> xr.Dataset:
    """The noise levels at which standard training fails, according to the paper."""
    return data.sel(noise=data.noise[data.noise >= 0.5])


def losses_converge(data: xr.Dataset) -> Finding:
    done = _last(data).loss.sel(rule=["PEGR", "FGR", "standard"]) < CONVERGED
    cells = {
        f"{rule} {name}": hits
        for rule in done.rule.values
        for name, hits in _by_noise(done.sel(rule=rule)).items()
    }
    finding = _judge(cells)
    worst = min(cells, key=lambda name: float(cells[name].mean()))
    text = f"loss < {CONVERGED} in {share(done.values)} of all runs, least at {worst}: "
    return Finding(text + share(cells[worst]), finding.verdict, finding.why)


def signal_is_learnt(data: xr.Dataset) -> Finding:
    """PEGR's signal is above twice that of both other rules, in the same seed."""
    signal = _loud(_last(data)).signal_learning
    others = signal.sel(rule=["FGR", "standard"]).max("rule")
    return _judge(_by_noise(signal.sel(rule="PEGR") > 2 * others))


def noise_is_suppressed(data: xr.Dataset, closing: int | None = None) -> Finding:
    """PEGR's noise is below half of the others', in the same seed, at closing or at the end."""
    noise = _loud(_last(data if closing is None else _open_steps(data, closing))).noise_memorisation
    others = noise.sel(rule=["FGR", "standard"]).min("rule")
    return _judge(_by_noise(noise.sel(rule="PEGR") < others / 2))


def weak_noise_signal_grows(data: xr.Dataset, variable: str = "signal_learning") -> Finding:
    """At sigma_p = 0.1, the variable ends above twice its start under every rule."""
    weak = data[variable].sel(noise=0.1, rule=["PEGR", "FGR", "standard"])
    grown = weak.isel(step=-1) > 2 * weak.isel(step=0)
    return _judge({str(rule): grown.sel(rule=rule) for rule in grown.rule.values})


def accuracy_near_one(data: xr.Dataset, rule: str = "PEGR") -> Finding:
    return _judge(_by_noise(_last(data).test_accuracy.sel(rule=rule) >= NEAR_ONE))


def others_fail(data: xr.Dataset) -> Finding:
    """FGR and standard training are near 1 at sigma_p = 0.1, and not from 0.5 on."""
    accuracy = _last(data).test_accuracy.sel(rule=["FGR", "standard"])
    cells = {}
    for rule in accuracy.rule.values:
        weak = accuracy.sel(rule=rule, noise=0.1) >= NEAR_ONE
        loud = accuracy.sel(rule=rule, noise=accuracy.noise[accuracy.noise >= 0.5]) < NEAR_ONE
        cells[f"{rule} near 1 at σp=0.1"] = weak
        cells[f"{rule} below 0.99 above"] = loud
    return _judge(cells)


def _within_time(finding: Finding, data: xr.Dataset) -> Finding:
    """Not run, rather than refuted, before the theorem's time limit has passed."""
    allowed = pegr.convergence_time(
        *ex.THEOREM_SIZES, 1.0, ex.THEOREM_NOISE, ex.THEOREM_SCALE, ex.THEOREM_RATE, EPSILON
    )
    if finding.verdict != "differs" or int(data.step[-1]) >= allowed:
        return finding
    why = f"not yet after {int(data.step[-1])} steps, and the theorem allows {allowed:.1g}"
    return Finding(finding.measured, "not run", why)


def reaches(data: xr.Dataset, rule: str) -> Finding:
    """Loss and squared gradient norm are both below epsilon at some recorded step."""
    arm = data.sel(rule=rule)
    both = ((arm.loss <= EPSILON) & (arm.gradient_norm <= EPSILON)).any("step")
    finding = _within_time(_judge({f"both ≤ {EPSILON}": both}), arm)
    first = arm.step.where((arm.loss <= EPSILON) & (arm.gradient_norm <= EPSILON)).min("step")
    when = f", first at step {float(first.median()):.0f} (median)" if bool(both.any()) else ""
    return Finding(finding.measured + when, finding.verdict, finding.why)


def error_vanishes(data: xr.Dataset, rule: str) -> Finding:
    accuracy = _last(data).test_accuracy.sel(rule=rule)
    finding = _within_time(_judge({"error ≤ 0.01": accuracy >= NEAR_ONE}), data)
    return Finding(f"error {mean(1 - accuracy)}; {finding.measured}", finding.verdict, finding.why)


def error_is_large(data: xr.Dataset, rule: str) -> Finding:
    """Error at least 1/2.01, up to three standard deviations of 1000 test points."""
    error = 1 - _last(data).test_accuracy.sel(rule=rule)
    bound = 1 / 2.01 - 3 * math.sqrt(0.25 / 1000)
    return _judge({f"error {mean(error)}, ≥ 1/2.01 up to sampling": error >= bound})


def theorem_signal_and_noise(data: xr.Dataset) -> Finding:
    """Signal wins under PEGR while the penalty acts; noise wins without it."""
    closed = ex.theorem_closing_time(share=0.5)
    while_open = data.sel(step=data.step[data.step <= closed][-1])
    learnt = while_open.sel(rule="PEGR, closed at 2 T1")
    plain = _last(data).sel(rule="standard")
    signal_wins = learnt.signal_learning > 10 * learnt.noise_memorisation
    noise_wins = plain.noise_memorisation > 10 * plain.signal_learning
    return _judge({"PEGR at 2 T1: signal > 10 x noise": signal_wins,
                   "standard at the end: noise > 10 x signal": noise_wins})  # fmt: skip


def lemma_5_5(literal: xr.Dataset, working: xr.Dataset, theorem: xr.Dataset) -> Finding:
    """The largest ||grad||^2 / (72 sigma_p^2 d L_S) on all trajectories with the paper's 1/m."""
    largest = {}
    for name, data in (("literal", literal), ("working", working)):
        bound = 72 * data.noise**2 * ex.DIM * data.loss
        largest[name] = float((data.gradient_norm / bound).max())
    bound = 72 * ex.THEOREM["level"] ** 2 * theorem.loss
    largest["d=10⁷"] = float((theorem.gradient_norm / bound).max())
    text = ", ".join(f"{name} {value:.2g}" for name, value in largest.items())
    words = f"largest ratio to the bound: {text}"
    return judged(words, max(largest.values()) <= 1, "the bound is exceeded")


def _open_steps(data: xr.Dataset, closing: int) -> xr.Dataset:
    return data.sel(step=data.step[data.step <= closing])


def derivatives_stay(data: xr.Dataset) -> Finding:
    """|l' + 1/2| <= 1/log(n)^2 up to T1, read off the mean loss, which stays near log 2."""
    open_ = _open_steps(data.sel(rule="PEGR, closed at T1"), ex.theorem_closing_time())
    away = float(np.abs(open_.loss - math.log(2)).max())
    bound = 1 / math.log(ex.THEOREM["train"]) ** 2
    text = f"mean over examples only: |L - log 2| ≤ {away:.2g}, 1/log(n)² is {bound:.2g}"
    return judged(text, away <= bound, "")


def gamma_stays_small(data: xr.Dataset) -> Finding:
    open_ = _open_steps(data.sel(rule="PEGR, closed at T1"), ex.theorem_closing_time())
    largest = float(open_.gamma.max())
    bound = pegr.signal_bounds(*ex.THEOREM_SIZES[1:]).upper
    return judged(f"largest gamma is {largest:.3f}, the bound {bound:.3f}", largest <= bound, "")


def gamma_is_large_at(data: xr.Dataset, rule: str, share_of_class: float) -> Finding:
    """max_r gamma of each sign j at the closing time, compared with the lower bound of item 3."""
    width = ex.THEOREM_SIZES[2]
    closing = ex.theorem_closing_time(share_of_class)
    at = _open_steps(data.sel(rule=rule), closing).gamma.isel(step=-1)
    positive, negative = at.isel(filter=slice(width)), at.isel(filter=slice(width, None))
    best = np.minimum(positive.max("filter"), negative.max("filter"))
    bound = pegr.signal_bounds(*ex.THEOREM_SIZES[1:]).lower
    reason = "the signal grows half as fast as the proof counts (docs/errata.md)"
    return _judge({f"max gamma {mean(best)} ≥ {bound:.3f}": best >= bound}, reason)


def rho_stays_small(data: xr.Dataset) -> Finding:
    """0 >= rho >= -8 sqrt(log(8mn/delta)) sigma_0 sigma_p sqrt(d) at T1, up to rounding."""
    open_ = _open_steps(data.sel(rule="PEGR, closed at T1"), ex.theorem_closing_time())
    rho = (open_.rho_bar + open_.rho_underbar).isel(step=-1)
    bounds = pegr.noise_bounds(*ex.THEOREM_SIZES, ex.THEOREM_NOISE, ex.THEOREM_SCALE)
    low, high = float(rho.min()), float(rho.max())
    holds = low >= bounds.lower and high <= 1e-3 * abs(bounds.lower)
    text = f"rho between {low:.2g} and {high:.2g}, the bound {bounds.lower:.2g}"
    return judged(text, holds, "a coefficient is outside")


def rates_match(data: xr.Dataset) -> Finding:
    """Growth of the signal per step between steps 2000 and 12000, compared with theory."""
    arm = data.sel(rule="PEGR, closed at 2 T1").signal_learning
    early = arm.sel(step=arm.step[(arm.step >= 2000) & (arm.step <= 12000)])
    span = float(early.step[-1] - early.step[0])
    measured = np.log(early.isel(step=-1) / early.isel(step=0)) / span
    theory = pegr.rates(
        *ex.THEOREM_SIZES, 1.0, ex.THEOREM_NOISE, ex.THEOREM_RATE, 1 / ex.THEOREM["level"]
    )
    predicted = math.log1p(theory.signal_growth - theory.signal_suppression)
    ratio = measured / predicted
    # Random labels: the larger class of 26 has a share of 1/2, give or take 0.1.
    return _judge({f"rate / theory {mean(ratio)}, within 30 %": np.abs(ratio - 1) < 0.3})


def criterion(data: xr.Dataset) -> Finding:
    """Cells of the diagram whose majority outcome is on the predicted side."""
    measured = success(data).sel(rule="PEGR").mean("seed") > 0.5
    predicted = predicted_side(data)
    agree = measured == predicted.signal
    small = agree.where(~predicted.overshoots)
    fails, succeeds = ~measured & predicted.signal, measured & ~predicted.signal
    text = (
        f"{100 * float(agree.mean()):.0f} % of {agree.size} cells agree; fails unpredicted in "
        f"{100 * float(fails.mean()):.0f} %, succeeds unpredicted in "
        f"{100 * float(succeeds.mean()):.0f} %; where a step does not overshoot "
        f"{100 * float(small.mean()):.0f} % of {int(small.notnull().sum())} agree"
    )
    why = "far above the boundary steps overshoot, which the linearisation ignores"
    return judged(text, float(agree.mean()) >= MOST, why)


def explained(
    check: Callable[..., Finding], reading: str, penalty: bool, data: xr.Dataset
) -> Finding:
    """A finding that, where it differs, adds what the linearised rates of section 5.1 say: the
    suppression of noise over its growth (`penalty`), or the possible growth of signal."""
    finding = check(data)
    if finding.verdict != "differs" or reading == "working":
        return finding
    layer, name = ("mean", "λ‖ξ‖²/m") if reading == "literal" else ("sum", "λ‖ξ‖²")
    if not penalty:
        rates = pegr.rates(ex.DIM, ex.TRAIN, ex.WIDTH, 1.0, 0.1, ex.RATE, 0.0, layer)
        growth = math.exp(ex.STEPS * math.log1p(rates.signal_growth))
        text = f"signal grows by a factor of {growth:.2g} in {ex.STEPS} steps at most"
    else:
        args = ex.DIM, ex.WIDTH, layer
        ratios = ", ".join(f"{pegr.suppression_ratio(ex.WEIGHT, x, *args):.2g}" for x in ex.NOISES)
        text = f"{name} is {ratios}, and noise is suppressed above 1 only"
    return Finding(finding.measured, finding.verdict, f"{finding.why}; {text}")
