"""How the claims about the phases of training are checked: Lemmas 5.1 to 5.3, Proposition 5.4."""

import math

import numpy as np
import xarray as xr

from learnscope.evidence import Finding, judged, mean
from learnscope.papers.pred_head import experiments as ex
from learnscope.papers.pred_head import theory
from learnscope.papers.pred_head.checks import counted
from learnscope.papers.pred_head.outcomes import ALL, ALL_STRONG, law_of, outcome, phase_ends


def phase_one(data: xr.Dataset) -> Finding:
    """T1 grows like d^2; all else is small then, and the head near the identity."""
    dims = data["dim"].values
    ends = [phase_ends(data, d).working[:, 0] for d in dims]
    slope = np.polyfit(np.log(dims), np.log([np.median(e) for e in ends]), 1)[0]
    rest, head = [], []
    for d in dims:
        runs, worst = data.sel(dim=d, head_kind=ex.HEAD), []
        for seed in range(runs.sizes["seed"]):
            run = runs.isel(seed=seed)
            at = int(np.argmax(run.phase.values >= 2))
            sizes = np.sort(abs(run.strength.values[at]).ravel())
            worst.append((sizes[-2] / sizes[-1], float(run.head_norm[at])))
        rest.append(max(w[0] for w in worst))
        head.append(max(w[1] for w in worst))
    text = (
        f"T1 ∝ d^{slope:.2f}; at T1 the next largest overlap is at most "
        + ", ".join(f"{r:.3f}" for r in rest)
        + " of the largest and ‖E - I‖ "
        + ", ".join(f"{h:.1e}" for h in head)
        + f" at d = {', '.join(f'{d:g}' for d in dims)}"
    )
    good = abs(slope - 2) < 0.1 and rest[-1] < 0.1 and head[-1] < 0.1
    return judged(text, good, "T1 is not of the order d², or something else has grown as well")


def growth(data: xr.Dataset) -> Finding:
    """T1 by the tensor power method, compared with the flow's."""
    law, parts, ratios = law_of(data), [], []
    for d in data["dim"].values:
        runs = data.sel(dim=d, head_kind=ex.HEAD)
        predicted = [
            theory.first_learned(
                law, runs.strength.values[s, 0], runs.noise_norm.values[s, 0] ** 2
            ).time
            for s in range(runs.sizes["seed"])
        ]
        ratio = phase_ends(data, d).working[:, 0] / np.array(predicted)
        ratios.append(ratio)
        parts.append(f"d = {d:g}: measured / predicted {mean(ratio)}")
    good = bool(abs(np.mean(ratios[-1]) - 1) < 0.2)
    return judged("; ".join(parts), good, "off by more than a fifth in the largest dimension")


def phase_two(data: xr.Dataset) -> Finding:
    parts, ratios = [], []
    for d in data["dim"].values:
        ends = phase_ends(data, d).working
        ratio = (ends[:, 1] - ends[:, 0]) / ends[:, 0]
        ratios.append(float(np.nanmedian(ratio)))
        parts.append(f"d = {d:g}: {mean(ratio)}")
    words = "(T2 - T1) / T1: " + "; ".join(parts) + " (it fires in every run)"
    fires = all(np.isfinite(phase_ends(data, d).working[:, 1]).all() for d in data["dim"].values)
    why = "substitution comes, but takes longer than phase I except in the largest dimensions"
    return judged(words, fires and max(ratios) < 1, why)


def phase_three(data: xr.Dataset) -> Finding:
    parts, good = [], True
    for d in data["dim"].values:
        runs = data.sel(dim=d, head_kind=ex.HEAD)
        last = runs.isel(step=-1)
        weak = abs(last.strength.isel(neuron=1, feature=1))
        rest = np.sqrt(last.strength.isel(neuron=1, feature=0) ** 2
                       + last.noise_norm.isel(neuron=1) ** 2)  # fmt: skip
        parts.append(f"d = {d:g}: |B22| {mean(weak)}, rest {mean(rest)}")
        good = good and bool((rest < weak / 4).all())
    at_end = data.sel(head_kind=ex.HEAD).isel(step=-1)
    rest = float((at_end.noise_norm.isel(neuron=1)).isel(dim=-1).max())
    good = good and rest < 0.1
    return judged("; ".join(parts), good, "neuron 2 is not on the weak feature alone")


def acceleration(data: xr.Dataset) -> Finding:
    """From the same start, all features are learnt with a head, the strong one without."""
    with_head = outcome(data.population_share).sel(head_kind=ex.HEAD)
    without = outcome(data.population_share).sel(head_kind=ex.BARE)
    text = f"same starts: with a head {counted(with_head)}; without {counted(without)}"
    good = bool((with_head == ALL).all() and (without == ALL_STRONG).all())
    return judged(text, good, "not in every run")


def head_returns(data: xr.Dataset) -> Finding:
    parts, good = [], True
    for d in data["dim"].values:
        norm = data.head_norm.sel(dim=d, head_kind=ex.HEAD)
        top, end = norm.max("step"), norm.isel(step=-1)
        parts.append(f"d = {d:g}: highest {mean(top)}, at the end {float(end.max()):.0e}")
        good = good and float(end.max()) < 1e-3
    return judged("; ".join(parts), good, "the off-diagonal does not vanish")


def head_bounded(data: xr.Dataset) -> Finding:
    """|E21| stays below ||w_2(0)|| sqrt(eta_E / 3 eta)."""
    parts, worst = [], 0.0
    for d in data["dim"].values:
        run = data.sel(dim=d, head_kind=ex.HEAD)
        start = run.isel(step=0, neuron=1)
        length = np.sqrt((start.strength**2).sum("feature") + start.noise_norm**2)
        top = abs(run["head"]).isel(neuron=1, other_neuron=0).max("step")
        ratio = top / (length * math.sqrt(ex.RATIO / 3))
        parts.append(f"d = {d:g}: at most {float(ratio.max()):.4f} of the bound")
        worst = max(worst, float(ratio.max()))
    return judged("; ".join(parts), worst <= 1.001, "above the bound")


def printed_triggers(data: xr.Dataset) -> Finding:
    """The printed triggers fire in order, in every run."""
    parts, good = [], True
    for d in data["dim"].values:
        ends = phase_ends(data, d).printed[:, :3]
        parts.append(
            f"d = {d:g}: T1 at {np.nanmedian(ends[:, 0]):.3g}, T2 fires in "
            f"{int(np.isfinite(ends[:, 1]).sum())} of {len(ends)} runs"
        )
        good = good and bool(np.isfinite(ends).all()) and bool((ends[:, 0] > 0).all())
    why = "0.01 is below 1/√d up to d = 10⁴, and R2 does not fall below |E21|/log d in phase II"
    return judged("; ".join(parts), good, why)
