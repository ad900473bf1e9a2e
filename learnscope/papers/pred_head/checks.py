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

from learnscope.evidence import Finding, judged, mean, share
from learnscope.papers.pred_head import experiments as ex
from learnscope.papers.pred_head.figures import off_diagonal, together
from learnscope.papers.pred_head.outcomes import ALL, ALL_STRONG, UNSETTLED, outcome


def counted(words: xr.DataArray) -> str:
    """The share of runs with each outcome."""
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
    text = f"{counted(words)}; mean |correlation| {size:.3f}"
    return judged(text, bool((words == expected).all()), f"not every run ends with {expected}")


def unnormalised(data: xr.Dataset) -> Finding:
    """Without normalisation, outputs shrink instead of learning a feature."""
    runs = data.sel(method_name="no normalisation")
    words = outcome(data.share).sel(method_name="no normalisation")
    size = np.sqrt((runs.strength**2).sum("feature") + runs.noise_norm**2).mean("neuron")
    text = (
        f"{counted(words)}; ‖w‖ goes from {mean(size.isel(step=0))} to {mean(size.isel(step=-1))}, "
        "and outputs shrink with its cube"
    )
    why = "no feature is learnt: all outputs shrink, and still do after the last step"
    return judged(text, bool((words == ALL_STRONG).all()), why)


def correlated(data: xr.Dataset) -> Finding:
    last = abs(data.correlation.isel(step=-1, neuron=0, other_neuron=1))
    bare, head = last.sel(method_name=ex.BARE), last.sel(method_name=ex.HEAD)
    text = f"|correlation| of the two neurons: without {mean(bare)}, with a head {mean(head)}"
    good = float(bare.min()) > 0.95 and float(head.max()) < 0.3
    return judged(text, good, "not all above 0.95 without and below 0.3 with a head")


def many_correlated(data: xr.Dataset) -> Finding:
    sizes = {
        kind: abs(off_diagonal(data, ex.size_name(kind, 16, 4))) for kind in (ex.HEAD, ex.BARE)
    }
    text = "; ".join(
        f"{kind}: mean |correlation| {v.mean():.2f}, above 0.95 in {100 * (v > 0.95).mean():.0f} % "
        "of pairs" for kind, v in sizes.items()
    )  # fmt: skip
    why = "a random start lets different neurons find different features without a head, too"
    return judged(text, bool((sizes[ex.BARE] > 0.95).mean() > 0.9), why)


def rise_and_fall(data: xr.Dataset) -> Finding:
    """The norm rises to ten times its final value, in every run."""
    parts, good = [], True
    for name in ex.VARIANTS:
        norm = data.head_norm.sel(variant=name)
        top, end = norm.max("step"), norm.isel(step=-1)
        parts.append(f"{name}: highest {mean(top)}, at the end {mean(end)}")
        good = good and bool(((top > 10 * end) & (top > 0.001)).all())
    why = "in some run the end is above a tenth of the highest, or nothing rises above 0.001"
    return judged("; ".join(parts), good, why)


def asymmetric(data: xr.Dataset) -> Finding:
    """The asymmetry while the norm is above half of its highest value."""
    parts, least = [], math.inf
    for name in ex.VARIANTS:
        run = data.sel(variant=name)
        high = run.head_norm > 0.5 * run.head_norm.max("step")
        value = run.head_asymmetry.where(high).mean("step")
        least = min(least, float(value.min()))
        parts.append(f"{name}: {mean(value)}")
    words = "; ".join(parts) + " (√2: a single entry; 0: symmetric)"
    return judged(words, least > 0.2, "nearly symmetric in some run")


def consistent(data: xr.Dataset) -> Finding:
    """The norm is highest before the last tenth of training, in every run."""
    peak = data.head_norm.idxmax("step") / float(data.step[-1])
    text = "; ".join(
        f"{v}: highest at {mean(peak.sel(variant=v))} of training" for v in ex.VARIANTS
    )
    return judged(text, bool((peak < 0.9).all()), "in some run the norm still rises at the end")


def comparable(training: xr.Dataset, rest: xr.Dataset) -> Finding:
    """Runs with all features: identity-initialised, linear and MLP heads, and EMA."""
    words = outcome(together(training, rest).share)
    names = (ex.HEAD, "linear head", "MLP head", "EMA target")
    text = "; ".join(f"{name}: {counted(words.sel(method_name=name))}" for name in names)
    good = all(float((words.sel(method_name=name) == ALL).mean()) >= 0.9 for name in names)
    return judged(text, good, "not all of them learn all features, with two neurons")
