"""How each claim of the paper is checked: functions of the sweeps' datasets.

A neuron has learnt a feature that accounts for at least 90 % of its output's variance; a run with a
neuron that has learnt none is unsettled, which counts neither as success nor as collapse. "With
probability 1 - o(1)" is checked as: the share of initialisations is at least 0.95 from d = 1000 on.
Shares have Wilson's 95 % intervals. "O(1/sqrt d)" is checked as at most 10/sqrt d from d = 1000 on
(where that is below 1/3), "small" as at most 0.1 of what it is compared with, 1/poly(d) as at most
0.001.
"""

import math

import numpy as np
import xarray as xr

from learnscope.lab.ledger import Finding, judged, mean, share
from learnscope.studies.pred_head.experiments import (
    BARE,
    HEAD,
    RATIO,
    STRONG,
    VARIANTS,
    WEAK,
    model,
    size_name,
)
from learnscope.studies.pred_head.figures import off_diagonal, together
from learnscope.studies.pred_head.outcomes import (
    ALL,
    UNSETTLED,
    covered,
    law_of,
    outcome,
    phase_ends,
)
from learnscope.studies.pred_head.outcomes import STRONG as ALL_STRONG
from learnscope.theory import pred_head as theory

LIKELY, LARGE, BIG = 0.95, 1000.0, 10.0


def _told(words: xr.DataArray) -> str:
    """How often each outcome was met."""
    return ", ".join(
        f"{word} {share(words == word)}"
        for word in (ALL, ALL_STRONG, "other", UNSETTLED)
        if bool((words == word).any())
    )


def trained(data: xr.Dataset, name: str, expected: str) -> Finding:
    """Every run of an arm ends as expected."""
    words = outcome(data.share).sel(method_name=name)
    last = data.correlation.sel(method_name=name).isel(step=-1, neuron=0, other_neuron=1)
    size = float(abs(last).mean())
    told = f"{_told(words)}; mean |correlation| {size:.3f}"
    return judged(told, bool((words == expected).all()), f"not every run ends with {expected}")


def unnormalised(data: xr.Dataset) -> Finding:
    """Nothing keeps the outputs from shrinking: do they, instead of learning a feature?"""
    runs = data.sel(method_name="no normalisation")
    words = outcome(data.share).sel(method_name="no normalisation")
    size = np.sqrt((runs.strength**2).sum("feature") + runs.noise_norm**2).mean("neuron")
    told = (
        f"{_told(words)}; ‖w‖ goes from {mean(size.isel(step=0))} to {mean(size.isel(step=-1))}, "
        "and outputs shrink with its cube"
    )
    why = "no feature is learnt: all outputs shrink, and still do after the last step"
    return judged(told, bool((words == ALL_STRONG).all()), why)


def correlated(data: xr.Dataset) -> Finding:
    last = abs(data.correlation.isel(step=-1, neuron=0, other_neuron=1))
    bare, head = last.sel(method_name=BARE), last.sel(method_name=HEAD)
    told = f"|correlation| of the two neurons: without {mean(bare)}, with a head {mean(head)}"
    good = float(bare.min()) > 0.95 and float(head.max()) < 0.3
    return judged(told, good, "not all above 0.95 without and below 0.3 with a head")


def many_correlated(data: xr.Dataset) -> Finding:
    found = {kind: abs(off_diagonal(data, size_name(kind, 16, 4))) for kind in (HEAD, BARE)}
    told = "; ".join(
        f"{kind}: mean |correlation| {v.mean():.2f}, above 0.95 in {100 * (v > 0.95).mean():.0f} % "
        "of pairs" for kind, v in found.items()
    )  # fmt: skip
    why = "a random start lets different neurons find different features without a head, too"
    return judged(told, bool((found[BARE] > 0.95).mean() > 0.9), why)


def rise_and_fall(data: xr.Dataset) -> Finding:
    """The norm rises to ten times what it ends with, in every run."""
    told, good = [], True
    for name in VARIANTS:
        norm = data.head_norm.sel(variant=name)
        top, end = norm.max("step"), norm.isel(step=-1)
        told.append(f"{name}: highest {mean(top)}, at the end {mean(end)}")
        good = good and bool(((top > 10 * end) & (top > 0.001)).all())
    why = "in some run the end is above a tenth of the highest, or nothing rises above 0.001"
    return judged("; ".join(told), good, why)


def asymmetric(data: xr.Dataset) -> Finding:
    """While the norm is above half of its highest."""
    told, least = [], math.inf
    for name in VARIANTS:
        run = data.sel(variant=name)
        high = run.head_norm > 0.5 * run.head_norm.max("step")
        value = run.head_asymmetry.where(high).mean("step")
        least = min(least, float(value.min()))
        told.append(f"{name}: {mean(value)}")
    words = "; ".join(told) + " (√2: a single entry; 0: symmetric)"
    return judged(words, least > 0.2, "nearly symmetric in some run")


def consistent(data: xr.Dataset) -> Finding:
    """Among runs of one setting the time of the highest norm lies before the last tenth."""
    peak = data.head_norm.idxmax("step") / float(data.step[-1])
    told = "; ".join(f"{v}: highest at {mean(peak.sel(variant=v))} of training" for v in VARIANTS)
    return judged(told, bool((peak < 0.9).all()), "in some run the norm still rises at the end")


def theorem_success(data: xr.Dataset) -> Finding:
    words = outcome(data.population_share).sel(head_kind=HEAD)
    told = "; ".join(f"d = {d:g}: {_told(words.sel(dim=d))}" for d in data["dim"].values)
    shares = (words == ALL).mean("seed")
    large = shares.where(data["dim"] >= LARGE, drop=True)
    return judged(told, bool((large >= LIKELY).all()), f"below {LIKELY} for some d ≥ {LARGE:g}")


def _settled(data: xr.Dataset, kind: str, word: str, d: float) -> xr.Dataset:
    words = outcome(data.population_share).sel(head_kind=kind, dim=d)
    return data.sel(head_kind=kind, dim=d).isel(step=-1, seed=np.flatnonzero(words == word))


def theorem_weights(data: xr.Dataset, kind: str, word: str) -> Finding:
    """Of runs that end as the theorem says: all of w_j but its feature is O(1/sqrt d)."""
    told, worst, least = [], 0.0, math.inf
    for d in data["dim"].values:
        runs = _settled(data, kind, word, d)
        if not runs.sizes["seed"]:
            continue
        total = (runs.strength**2).sum("feature") + runs.noise_norm**2
        rest = np.sqrt(np.maximum(total - (runs.strength**2).max("feature"), 0)) * math.sqrt(d)
        sizes = abs(runs.strength).max("feature")
        if d >= LARGE:
            worst, least = max(worst, float(rest.max())), min(least, float(sizes.min()))
        told.append(f"d = {d:g}: ‖ε‖√d at most {float(rest.max()):.1f} (median "
                    f"{float(rest.median()):.1f}), |β| from {float(sizes.min()):.2f}")  # fmt: skip
    good = worst <= BIG and least >= 0.5
    return judged("; ".join(told), good, "‖ε‖ is not of the order 1/√d, or |β| below 0.5")


def theorem_loss(data: xr.Dataset, kind: str) -> Finding:
    words = outcome(data.population_share).sel(head_kind=kind)
    last = data.population_loss.sel(head_kind=kind).isel(step=-1)
    optimum = theory.optimum(model(), 2)
    gap = last.where(words != UNSETTLED) - optimum
    told = f"OPT = {optimum:.4f}; loss - OPT of settled runs: median {float(gap.median()):.1e}, " \
           f"largest {float(gap.max()):.1e}"  # fmt: skip
    return judged(told, float(abs(gap).max()) < 1e-3, "some settled run is 0.001 off OPT")


def corollary_apart(data: xr.Dataset) -> Finding:
    told, worst = [], 0.0
    for d in data["dim"].values:
        runs = _settled(data, HEAD, ALL, d)
        found = abs(runs.population_correlation.isel(neuron=0, other_neuron=1)) * math.sqrt(d)
        told.append(f"d = {d:g}: |Corr|√d at most {float(found.max()):.2g}")
        worst = max(worst, float(found.max()) if d >= LARGE else 0.0)
    return judged("; ".join(told), worst <= BIG, "|Corr| is not of the order 1/√d")


def theorem_collapse(data: xr.Dataset) -> Finding:
    words = outcome(data.population_share).sel(head_kind=BARE)
    told = "; ".join(f"d = {d:g}: {_told(words.sel(dim=d))}" for d in data["dim"].values)
    shares = (words == ALL_STRONG).mean("seed").where(data["dim"] >= LARGE, drop=True)
    why = (
        f"at α = ({STRONG:g}, {WEAK:g}) a neuron finds the strong feature with probability "
        "(2/π) arctan((α₁/α₂)^1.5) in any dimension; the theorem lets α₁/α₂ grow with d"
    )
    return judged(told, bool((shares >= LIKELY).all()), why)


def corollary_together(data: xr.Dataset) -> Finding:
    told, worst = [], 0.0
    for d in data["dim"].values:
        runs = _settled(data, BARE, ALL_STRONG, d)
        found = (1 - abs(runs.population_correlation.isel(neuron=0, other_neuron=1))) * math.sqrt(d)
        told.append(f"d = {d:g}: (1 - |Corr|)√d at most {float(found.max()):.2g}")
        worst = max(worst, float(found.max()) if d >= LARGE else 0.0)
    return judged("of runs with all strong: " + "; ".join(told), worst <= BIG,
                  "1 - |Corr| is not of the order 1/√d")  # fmt: skip


def arctan(data: xr.Dataset) -> Finding:
    """Within 3.3 standard errors at every ratio: a false alarm in one of about 170 such tests."""
    words = outcome(data.population_share)
    told, worst = [], 0.0
    for s in data.strength.values:
        hits = words.sel(strength=s) == ALL_STRONG
        p = theory.collapse_probability(model(float(s)), 2)
        error = math.sqrt(p * (1 - p) / hits.size)
        found = float(hits.mean())
        told.append(f"α₁/α₂ = {s / WEAK:g}: {found:.3f} against {p:.3f} ± {1.96 * error:.3f}")
        worst = max(worst, abs(found - p) / error)
    unsettled = float((words == UNSETTLED).mean())
    words_told = "; ".join(told) + f"; unsettled {100 * unsettled:.1f} %"
    return judged(words_told, worst < 3.3, f"off by {worst:.1f} standard errors")


def bare_width(data: xr.Dataset) -> Finding:
    """All neurons on the strongest feature, for 16 neurons."""
    runs = data.population_share.sel(setting=size_name(BARE, 16, 2))
    own = (runs.isel(step=-1, feature=0) >= 0.9).sum("neuron")
    open_ended = 16 - (runs.isel(step=-1) >= 0.9).any("feature").sum("neuron")
    p = theory.learning_probabilities(model())[0]
    told = (
        f"of 16 neurons {mean(own)} learn the strong feature ({16 * p:.1f} by the arctan formula), "
        f"{mean(open_ended)} none yet"
    )
    why = "each neuron finds the strong feature with a probability below 1, whatever their number"
    return judged(told, float(own.mean()) > 16 * LIKELY, why)


def phase_one(data: xr.Dataset) -> Finding:
    """T1 grows like d^2; all else is small then, and the head near the identity."""
    dims = data["dim"].values
    ends = [phase_ends(data, d).working[:, 0] for d in dims]
    slope = np.polyfit(np.log(dims), np.log([np.median(e) for e in ends]), 1)[0]
    rest, head = [], []
    for d in dims:
        runs, worst = data.sel(dim=d, head_kind=HEAD), []
        for seed in range(runs.sizes["seed"]):
            run = runs.isel(seed=seed)
            at = int(np.argmax(run.phase.values >= 2))
            sizes = np.sort(abs(run.strength.values[at]).ravel())
            worst.append((sizes[-2] / sizes[-1], float(run.head_norm[at])))
        rest.append(max(w[0] for w in worst))
        head.append(max(w[1] for w in worst))
    told = (
        f"T1 ∝ d^{slope:.2f}; at T1 the next largest overlap is at most "
        + ", ".join(f"{r:.3f}" for r in rest)
        + " of the largest and ‖E - I‖ "
        + ", ".join(f"{h:.1e}" for h in head)
        + f" at d = {', '.join(f'{d:g}' for d in dims)}"
    )
    good = abs(slope - 2) < 0.1 and rest[-1] < 0.1 and head[-1] < 0.1
    return judged(told, good, "T1 is not of the order d², or something else has grown as well")


def growth(data: xr.Dataset) -> Finding:
    """The tensor power method's T1 against the flow's."""
    law, told, ratios = law_of(data), [], []
    for d in data["dim"].values:
        runs = data.sel(dim=d, head_kind=HEAD)
        predicted = [
            theory.first_learned(
                law, runs.strength.values[s, 0], runs.noise_norm.values[s, 0] ** 2
            ).time
            for s in range(runs.sizes["seed"])
        ]
        ratio = phase_ends(data, d).working[:, 0] / np.array(predicted)
        ratios.append(ratio)
        told.append(f"d = {d:g}: measured / predicted {mean(ratio)}")
    good = bool(abs(np.mean(ratios[-1]) - 1) < 0.2)
    return judged("; ".join(told), good, "off by more than a fifth in the largest dimension")


def phase_two(data: xr.Dataset) -> Finding:
    told, parts = [], []
    for d in data["dim"].values:
        ends = phase_ends(data, d).working
        part = (ends[:, 1] - ends[:, 0]) / ends[:, 0]
        parts.append(float(np.nanmedian(part)))
        told.append(f"d = {d:g}: {mean(part)}")
    words = "(T2 - T1) / T1: " + "; ".join(told) + " (it fires in every run)"
    fires = all(np.isfinite(phase_ends(data, d).working[:, 1]).all() for d in data["dim"].values)
    why = "substitution comes, but takes longer than phase I except in the largest dimensions"
    return judged(words, fires and max(parts) < 1, why)


def phase_three(data: xr.Dataset) -> Finding:
    told, good = [], True
    for d in data["dim"].values:
        runs = data.sel(dim=d, head_kind=HEAD)
        last = runs.isel(step=-1)
        weak = abs(last.strength.isel(neuron=1, feature=1))
        rest = np.sqrt(last.strength.isel(neuron=1, feature=0) ** 2
                       + last.noise_norm.isel(neuron=1) ** 2)  # fmt: skip
        told.append(f"d = {d:g}: |B22| {mean(weak)}, rest {mean(rest)}")
        good = good and bool((rest < weak / 4).all())
    at_end = data.sel(head_kind=HEAD).isel(step=-1)
    rest = float((at_end.noise_norm.isel(neuron=1)).isel(dim=-1).max())
    return judged("; ".join(told), good and rest < 0.1, "neuron 2 is not on the weak feature alone")


def acceleration(data: xr.Dataset) -> Finding:
    """Without a head neuron 2 learns the strong feature first, or later, from the same start."""
    with_head = outcome(data.population_share).sel(head_kind=HEAD)
    without = outcome(data.population_share).sel(head_kind=BARE)
    told = f"same starts: with a head {_told(with_head)}; without {_told(without)}"
    good = bool((with_head == ALL).all() and (without == ALL_STRONG).all())
    return judged(told, good, "not in every run")


def head_returns(data: xr.Dataset) -> Finding:
    told, good = [], True
    for d in data["dim"].values:
        norm = data.head_norm.sel(dim=d, head_kind=HEAD)
        top, end = norm.max("step"), norm.isel(step=-1)
        told.append(f"d = {d:g}: highest {mean(top)}, at the end {float(end.max()):.0e}")
        good = good and float(end.max()) < 1e-3
    return judged("; ".join(told), good, "the off-diagonal does not vanish")


def head_bounded(data: xr.Dataset) -> Finding:
    """|E21| against ||w_2(0)|| sqrt(eta_E / 3 eta)."""
    told, worst = [], 0.0
    for d in data["dim"].values:
        run = data.sel(dim=d, head_kind=HEAD)
        start = run.isel(step=0, neuron=1)
        length = np.sqrt((start.strength**2).sum("feature") + start.noise_norm**2)
        top = abs(run["head"]).isel(neuron=1, other_neuron=0).max("step")
        ratio = top / (length * math.sqrt(RATIO / 3))
        told.append(f"d = {d:g}: at most {float(ratio.max()):.4f} of the bound")
        worst = max(worst, float(ratio.max()))
    return judged("; ".join(told), worst <= 1.001, "above the bound")


def printed_triggers(data: xr.Dataset) -> Finding:
    """Do the printed triggers fire in order, in every run?"""
    told, good = [], True
    for d in data["dim"].values:
        ends = phase_ends(data, d).printed[:, :3]
        told.append(
            f"d = {d:g}: T1 at {np.nanmedian(ends[:, 0]):.3g}, T2 fires in "
            f"{int(np.isfinite(ends[:, 1]).sum())} of {len(ends)} runs"
        )
        good = good and bool(np.isfinite(ends).all()) and bool((ends[:, 0] > 0).all())
    why = "0.01 is below 1/√d up to d = 10⁴, and R2 does not fall below |E21|/log d in phase II"
    return judged("; ".join(told), good, why)


def stop_gradient(data: xr.Dataset) -> Finding:
    shares = (outcome(data.population_share) == ALL).mean("seed")
    told = "; ".join(
        f"η_E/η = {r:g}: all features {float(shares.sel(ablation=HEAD, ratio=r)):.2f}, without "
        f"stop-gradient {float(shares.sel(ablation='no stop-gradient', ratio=r)):.2f}"
        for r in data.ratio.values
    )
    best = float(shares.sel(ablation="no stop-gradient").max())
    return judged(told, best < 0.5 and float(shares.sel(ablation=HEAD).max()) > 0.9,
                  "features are learnt without it, or not with it")  # fmt: skip


def head_rates(data: xr.Dataset) -> Finding:
    """The paper asks for a head slower than the encoder, and conjectures equal rates suffice."""
    words = outcome(data.population_share).sel(ablation=HEAD)
    told = "; ".join(f"η_E/η = {r:g}: {_told(words.sel(ratio=r))}" for r in data.ratio.values)
    shares = (words == ALL).mean("seed")
    slow = float(shares.sel(ratio=0.05))
    return judged(told, slow >= LIKELY and slow > float(shares.sel(ratio=10.0)),
                  "a slower head is not better")  # fmt: skip


def success_region(data: xr.Dataset) -> Finding:
    """Where a head is slower than the encoder, but not by much (the band is a choice): the mean
    share is at least 0.95 for every strength, and none of its cells is below 0.9; a cell has 50
    draws, of which fewer than 45 succeed once in 600 cells if the chance is 0.97."""
    shares = (outcome(data.population_share) == ALL).mean("seed")
    band = shares.sel(ratio=slice(0.02, 0.2))
    told = (
        f"η_E/η from 0.02 to 0.2: from {float(band.min()):.2f} to {float(band.max()):.2f} over "
        f"α₁/α₂ from {float(data.strength[0]) / WEAK:.2f} to {float(data.strength[-1]) / WEAK:g}; "
        f"at the slowest head {float(shares.isel(ratio=0).min()):.2f} to "
        f"{float(shares.isel(ratio=0).max()):.2f}, at the fastest "
        f"{float(shares.isel(ratio=-1).min()):.2f} to {float(shares.isel(ratio=-1).max()):.2f}"
    )
    good = float(band.min()) >= 0.9 and bool((band.mean("ratio") >= LIKELY).all())
    return judged(told, good, "below 0.95 on average at some strength, or below 0.9 in a cell")


def more_features(data: xr.Dataset) -> Finding:
    told, good = [], True
    for width, features in ((4, 2), (8, 2), (16, 2), (4, 4), (8, 4), (16, 4)):
        found = covered(data.population_share)
        head, bare = (found.sel(setting=size_name(k, width, features)) for k in (HEAD, BARE))
        told.append(f"{features} by {width} neurons: {mean(head)} with, {mean(bare)} without")
        good = good and float(head.mean()) > float(bare.mean())
    return judged("features learnt: " + "; ".join(told), good, "not more with a head everywhere")


def comparable(training: xr.Dataset, rest: xr.Dataset) -> Finding:
    """Identity-initialised against linear, MLP and EMA: share of runs with all features."""
    words = outcome(together(training, rest).share)
    names = (HEAD, "linear head", "MLP head", "EMA target")
    told = "; ".join(f"{name}: {_told(words.sel(method_name=name))}" for name in names)
    good = all(float((words.sel(method_name=name) == ALL).mean()) >= 0.9 for name in names)
    return judged(told, good, "not all of them learn all features, with two neurons")
