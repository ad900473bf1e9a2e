"""How each claim about images is checked: functions of the datasets of `real.py`.

"Extremely correlated" is a mean |correlation| of two outputs above 0.9 at the end, in every run; a
head is to keep it below 0.5. "Comparable" linear probes differ by less than 3 points of accuracy on
average. A norm has "fallen" if it ends below 0.8 of its highest.
"""

import math

import xarray as xr

from learnscope.evidence import Finding, is_positive, judged, mean, share
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.papers.pred_head.real import BATCH, CONSTANT, EMA, HEADS, L2, PLAIN, WAYS

APART, TOGETHER, FALLEN, COMPARABLE = 0.5, 0.9, 0.8, 0.03


def _last(data: xr.Dataset, name: str, arm: str) -> xr.DataArray:
    return data[name].sel(method_name=arm).isel(step=-1)


def correlated(data: xr.Dataset, tried: str = "") -> Finding:
    """|Correlation| is above 0.9 without and below 0.5 with a head, in every run."""
    bare, head = (_last(data, "correlation_size", arm) for arm in (BARE, HEAD))
    ranks = [_last(data, "effective_rank", arm) for arm in (BARE, HEAD)]
    text = (
        f"mean |correlation| of two outputs: without {mean(bare)}, with a head {mean(head)}; "
        f"effective rank {mean(ranks[0])} and {mean(ranks[1])} of {data.sizes['neuron']}"
    )
    good = float(bare.min()) > TOGETHER and float(head.max()) < APART
    why = f"not all above {TOGETHER} without and below {APART} with a head"
    return judged(text, good, f"{why}; {tried}" if tried else why)


def milder(data: xr.Dataset) -> Finding:
    """Below the projection, features of a collapsed network correlate less than its outputs."""
    outputs = _last(data, "correlation_size", BARE)
    features, with_head = (_last(data, "feature_correlation_size", a) for a in (BARE, HEAD))
    rank = _last(data, "feature_rank", BARE)
    text = (
        f"without a head: outputs {mean(outputs)}, features {mean(features)} (effective rank "
        f"{mean(rank)}); features with a head {mean(with_head)}"
    )
    good = bool((features < outputs - 0.1).all() and (rank > 2).all())
    return judged(text, good, "features correlate nearly as much as outputs")


def _accuracy(data: xr.Dataset, head: str, way: str) -> xr.DataArray:
    return _last(data, "probe_accuracy", f"{head}, {way}")


def _ways(data: xr.Dataset) -> list[str]:
    """The normalisations and targets of Figure 2 that were run."""
    return [way for way in WAYS if f"{HEAD}, {way}" in data.method_name.values]


def comparable(data: xr.Dataset) -> Finding:
    """Linear probes on features: identity-initialised, linear and MLP heads."""
    parts, worst = [], 0.0
    for way in _ways(data):
        if f"linear head, {way}" not in data.method_name.values:
            continue
        means = {head: _accuracy(data, head, way) for head in HEADS if head != BARE}
        parts.append(f"{way}: " + ", ".join(f"{h} {mean(v)}" for h, v in means.items()))
        best = max(float(v.mean()) for v in means.values())
        worst = max(worst, best - float(means[HEAD].mean()))
    why = f"the identity-initialised head is {100 * worst:.1f} points behind the best of some row"
    return judged("; ".join(parts), worst < COMPARABLE, why)


def worse_without(data: xr.Dataset) -> Finding:
    """Paired differences of linear probes on features, with batch normalisation."""
    measured, gains = [], []
    for name, of in (("probe_accuracy", "features"), ("output_probe_accuracy", "outputs")):
        way = _ways(data)[0]
        head, bare = (_last(data, name, f"{kind}, {way}") for kind in (HEAD, BARE))
        gains.append((head - bare).values)
        measured.append(f"on {of}: {mean(head)} with, {mean(bare)} without, gain {mean(gains[-1])}")
    why = "the gain on features is not above 0 with 95 % confidence"
    return judged("; ".join(measured), is_positive(gains[0]), why)


def ema(data: xr.Dataset) -> Finding:
    """A target that follows slowly does not keep outputs apart by itself."""
    if EMA not in _ways(data):
        return Finding("", "not run", "this scale has no arm with EMA")
    bare, head = (_last(data, "correlation_size", f"{kind}, {EMA}") for kind in (BARE, HEAD))
    text = f"EMA: mean |correlation| without {mean(bare)}, with a head {mean(head)}"
    good = bool((bare > TOGETHER).all()) and bool((head < bare).all())
    why = f"not all above {TOGETHER} without a head: few steps, for a target of momentum 0.99"
    return judged(text, good, why)


def l2_gap(data: xr.Dataset) -> Finding:
    """Batch normalisation of outputs against l2, with the identity-initialised head."""
    if L2 not in _ways(data):
        return Finding("", "not run", "this scale has no arm with l2")
    batch, l2 = (_accuracy(data, HEAD, way) for way in (BATCH, L2))
    gain = (batch - l2).values
    text = f"batch norm {mean(batch)}, l2 {mean(l2)}, gap {mean(gain)}"
    return judged(text, is_positive(gain), "the gap is not above 0 with 95 % confidence")


def _fallen(norm: xr.DataArray) -> xr.DataArray:
    return norm.isel(step=-1) < FALLEN * norm.max("step")


def _fall(norm: xr.DataArray) -> str:
    top, end = norm.max("step"), norm.isel(step=-1)
    return f"highest {mean(top)}, at the end {mean(end)}, fallen in {share(_fallen(norm))}"


def rise_and_fall(data: xr.Dataset) -> Finding:
    """The norm falls at a constant rate without weight decay, which is all that the paper names."""
    arm = HEAD if HEAD in data.method_name.values else CONSTANT
    norm = data.head_norm.sel(method_name=arm)
    why = (
        "it has not fallen at the end of some run, but may still rise: on the digits the top comes "
        "after 1,500 steps (figure3_digits, figure3_decider)"
    )
    return judged(_fall(norm), bool(_fallen(norm).all()), why)


def decider(data: xr.Dataset) -> Finding:
    """Every run falls except those without normalisation of the projection, of which none does."""
    measured, good = [], True
    for arm in data.method_name.values.tolist():
        norm, size = data.head_norm.sel(method_name=arm), _last(data, "correlation_size", arm)
        at, fallen = float(norm.idxmax("step").mean()), _fallen(norm)
        measured.append(f"{arm}: {_fall(norm)}, top at step {at:.0f}, |correlation| {mean(size)}")
        good = good and bool((~fallen).all() if arm == PLAIN else fallen.all())
    why = (
        "it matters but does not decide alone: some run falls without it, or does not with it; all "
        "that fall have trained long past the top"
    )
    return judged("; ".join(measured), good, why)


def asymmetric(data: xr.Dataset) -> Finding:
    """The asymmetry while the norm is above half of its highest value."""
    run = data.sel(method_name=HEAD)
    high = run.head_norm > 0.5 * run.head_norm.max("step")
    value = run.head_asymmetry.where(high).mean("step")
    end = run.head_asymmetry.isel(step=-1)
    text = f"{mean(value)} on average, {mean(end)} at the end (a random matrix: {math.sqrt(2):.2f})"
    return judged(text, float(value.min()) > 0.2, "nearly symmetric in some run")


def consistent(data: xr.Dataset) -> Finding:
    """The band from the least to the largest norm is narrow at every recorded step."""
    norm = data.head_norm.sel(method_name=HEAD).isel(step=slice(1, None))
    band = (norm.max("seed") - norm.min("seed")) / norm.mean("seed")
    top = norm.idxmax("step") / float(norm.step[-1])
    text = (
        f"(largest - least)/mean over {norm.sizes['seed']} runs: at most {float(band.max()):.2f}; "
        f"highest at {mean(top)} of training"
    )
    return judged(text, float(band.max()) < 0.25, "runs differ by more than a quarter")


def varied(data: xr.Dataset) -> Finding:
    """Preferred images of different outputs are more alike without a head, in every run."""
    head, bare = (_last(data, "preferred_alike", arm) for arm in (HEAD, BARE))
    text = f"mean |cosine| of two preferred images: with a head {mean(head)}, without {mean(bare)}"
    return judged(text, bool((head < bare).all()), "not more varied with a head in every run")
