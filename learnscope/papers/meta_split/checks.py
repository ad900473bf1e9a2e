"""How each claim of the paper is checked: functions of the sweeps' datasets.

Small training losses are those of at most 0.01; a test loss is at a constant if it never falls
below 0.6 (log 2 = 0.69), and small if it is below 0.1. Comparisons of two methods are paired by
seed and hold if the 95 % interval of the difference is on the claim's side of 0. Exponents hold if
their 95 % interval over seeds is on the claim's side.
"""

import math
from functools import partial

import numpy as np
import xarray as xr

from learnscope.evidence import Finding, experiment_of, is_positive, judged, mean
from learnscope.papers.meta_split import theory
from learnscope.papers.meta_split.experiments import DIM, RATE, SPLITS, THRESHOLD
from learnscope.papers.meta_split.fits import decay_exponents, loss_exponents, power_exponents
from learnscope.probes import threshold_time

FITTED, CONSTANT, SMALL = 0.01, 0.6, 0.1
CHANCE = 0.5
AS_BEFORE = 3.0  # times


def below(one: xr.DataArray | np.ndarray, other: xr.DataArray | np.ndarray) -> bool:
    """Whether paired values of `one` are smaller, with 95 % confidence."""
    return is_positive(np.asarray(other, float).ravel() - np.asarray(one, float).ravel())


def _by_tasks(values: xr.DataArray) -> str:
    return "; ".join(f"K = {int(k)}: {mean(values.sel(tasks=k))}" for k in values.tasks.values)


def training_loss(data: xr.Dataset, method: str) -> Finding:
    least = data.meta_loss.sel(rule=method).min("step")
    worst = float(least.mean("seed").max())
    scientific = "; ".join(
        f"K = {int(k)}: {float(least.sel(tasks=k).mean()):.1e}" for k in least.tasks.values
    )
    return judged(scientific, worst <= FITTED, f"above {FITTED} for some K after 2000 steps")


def stays_constant(data: xr.Dataset, method: str) -> Finding:
    """min_t of the test loss is of order 1 for every K."""
    least = data.test_loss.sel(rule=method).min("step")
    right = data.test_accuracy.sel(rule=method).isel(step=-1).mean("seed")
    text = f"least test loss {_by_tasks(least)}; accuracy at the end {float(right.min()):.2f} to "
    text += f"{float(right.max()):.2f}"
    good = bool((least.mean("seed") >= CONSTANT).all())
    why = "it falls with K: the noise of one example is worth less than the feature that K n share"
    return judged(text, good, why if method == "vanilla" else "it falls below 0.6")


def test_loss_falls(data: xr.Dataset) -> Finding:
    last = data.test_loss.sel(rule="train-validation").isel(step=-1)
    means = last.mean("seed").values
    good = bool((np.diff(means) < 0).all() and means[-1] < SMALL)
    return judged(f"at T: {_by_tasks(last)}", good, "it does not fall to below 0.1 with K")


def below_for_every_k(data: xr.Dataset, other: str, words: str, why: str) -> Finding:
    """Train-validation is below another method for every K; `words` has places for both losses."""
    last = data.test_loss.isel(step=-1)
    pairs = {int(k): [last.sel(rule=rule, tasks=k) for rule in (SPLITS[1], other)]
             for k in last.tasks.values}  # fmt: skip
    text = "; ".join(
        f"K = {k}: " + words.format(split=mean(split), other=mean(plain))
        for k, (split, plain) in pairs.items()
    )
    return judged(text, all(below(*pair) for pair in pairs.values()), why)


separation = partial(
    below_for_every_k, other=SPLITS[0], words="{other} without, {split} with a split",
    why="not below for every K",
)  # fmt: skip
beats_vanilla = partial(
    below_for_every_k, other="vanilla", words="{split} with a split, {other} vanilla",
    why="vanilla training is as good or better here, except at small K",
)  # fmt: skip


def _local(values: xr.DataArray) -> str:
    """Slopes in logarithms between neighbouring numbers of tasks."""
    k = values.tasks.values.astype(float)
    slopes = np.diff(np.log(values.values)) / np.diff(np.log(k))
    return ", ".join(
        f"K = {a:g} and {b:g} {s:.2f}" for a, b, s in zip(k, k[1:], slopes, strict=False)
    )


def exponent(data: xr.Dataset) -> Finding:
    """The exponent c of exp(-K^c) at several T is positive, and settles."""
    one = data.test_loss.sel(rule="train-validation")
    times = [int(t) for t in one.step.values if t > 0]
    shown = sorted({times[len(times) // 4], times[len(times) // 2], times[-1]})
    exponents = {t: loss_exponents(one.sel(step=t)) for t in times}
    text = "; ".join(f"T = {t}: c = {mean(exponents[t])}" for t in shown)
    last, before = exponents[times[-1]], exponents[times[len(times) // 2]]
    positive = is_positive(last)
    settled = abs(last.mean() - before.mean()) < 0.1 * abs(last.mean())
    text += "; " + ("it changes by less" if settled else "it still changes by more")
    text += " than a tenth over the last half of the steps; it is a mean slope: between "
    text += _local(-np.log(one.isel(step=-1).mean("seed")))
    return judged(text, bool(positive and settled), "c is not positive, or has not settled")


def feature_grows(data: xr.Dataset) -> Finding:
    last = data.shared_feature.sel(rule="train-validation").isel(step=-1)
    powers = power_exponents(last)
    text = f"min_j max_r j<w, nu>: {_by_tasks(last)}; exponent {mean(powers)}, "
    text += f"between {_local(last.mean('seed'))}"
    return judged(text, is_positive(powers), "it does not grow as a power of K")


def _start(data: xr.Dataset, method: str, tiny: bool) -> xr.Dataset:
    return data.sel(rule=method).isel(scale=0 if tiny else -1, step=0)


def amplification(data: xr.Dataset, method: str, tiny: bool) -> Finding:
    """Lemmas 6.1 and 6.2 before the first outer step, compared with the linearised factors."""
    at = _start(data, method, tiny)
    expected = theory.rates(experiment_of(data, method))
    feature, noise = at.feature_amplification, at.training_noise_amplification
    held = at.validation_noise_amplification
    text = (
        f"feature x{float(feature.mean()):.3g} (linearised {expected.feature_factor:.3g}), noise "
        f"adapted to x{float(noise.mean()):.3g} ({expected.noise_factor:.3g}), validation noise "
        f"x{float(held.mean()):.3g} ({expected.held_factor:.3g})"
    )
    if tiny:
        pairs = ((feature, expected.feature_factor), (noise, expected.noise_factor),
                 (held, expected.held_factor))  # fmt: skip
        good = all(0.5 <= float(v.mean()) / e <= 2 for v, e in pairs)
        return judged(text, good, "off by more than a factor of 2")
    if method == "train-train":
        good = below(feature, noise)
        return judged(text, good, "noise is not amplified more than the feature")
    good = below(held, feature) and float(held.mean()) < 2
    return judged(text, good, "the feature is not amplified more than validation noise")


def noise_at_threshold(data: xr.Dataset) -> Finding:
    """Lemma 6.3: when the feature has grown, validation noise is as at the start."""
    one = data.sel(rule="train-validation").isel(scale=-1)
    when = threshold_time(one.shared_feature, THRESHOLD)
    values = [
        float(one.validation_noise.sel(seed=s, step=when.sel(seed=s)))
        / float(one.validation_noise.sel(seed=s).isel(step=0))
        for s in one.seed.values
        if np.isfinite(when.sel(seed=s))
    ]
    if not values:
        return judged("the feature never reaches 1/log(d)", False, "T^(2) is never reached")
    text = (
        f"T^(2) = {mean(when)} steps (linearised: "
        f"{theory.predict(experiment_of(data, 'train-validation'))['feature_time']:.3g}); "
        f"validation noise there / at the start: {mean(values)}"
    )
    text += f", at most {max(values):.2f} (log d = {math.log(DIM):.1f})"
    good = len(values) == one.sizes["seed"] and max(values) <= AS_BEFORE
    why = f"in some run it has grown by more than a factor of {AS_BEFORE:g}"
    return judged(text, good, f"{why}; the bound's tilde allows powers of log(d)")


def slopes_fall(data: xr.Dataset) -> Finding:
    """Lemma 6.4: sums of -l' fall as 1 / (T eta)."""
    one = data.sel(rule="train-validation").isel(scale=-1)
    powers = decay_exponents(one.outer_slope)
    experiment = experiment_of(data, "train-validation")
    count = experiment.data.tasks * experiment.data.validation  # type: ignore[attr-defined]
    least = count * one.outer_slope.min("step")
    text = (
        f"least sum {mean(least)}, 1/(T eta) = {1 / (RATE * int(one.step[-1])):.3g}; power of time "
        f"in the later half {mean(powers)}"
    )
    return judged(text, bool(powers.mean() <= -0.8), "it falls more slowly than 1/T")


def wide_enough(data: xr.Dataset) -> Finding:
    last = data.test_loss.isel(step=-1)
    apart = {
        int(m): below(*(last.sel(rule=s, width=m) for s in SPLITS[::-1])) for m in last.width.values
    }
    text = "; ".join(
        f"m = {m}: {mean(last.sel(rule=SPLITS[0], width=m))} without, "
        f"{mean(last.sel(rule=SPLITS[1], width=m))} with a split"
        for m in apart
    )
    narrow = [str(m) for m, good in apart.items() if not good]
    why = (
        f"no separation at m = {', '.join(narrow)}: some examples activate no filter of their sign"
    )
    return judged(text, not narrow, why)


def _end(data: xr.Dataset, name: str, rule: str) -> xr.DataArray:
    """The only recorded value of a rule: rules at equal budgets end at different steps."""
    return data[name].sel(rule=rule).mean("step", skipna=True)


def at_equal_budget(data: xr.Dataset, one: str, other: str) -> Finding:
    """One rule's test loss is below another's."""
    pair = [_end(data, "test_loss", rule) for rule in (one, other)]
    adapted = [_end(data, "adapted_test_loss", rule) for rule in (one, other)]
    text = (
        f"{one}: {mean(pair[0])} ({mean(adapted[0])} adapted); {other}: {mean(pair[1])} "
        f"({mean(adapted[1])} adapted)"
    )
    return judged(text, below(*pair), "not below, before adapting")


def needs_split(data: xr.Dataset, rule: str) -> Finding:
    """A rule's train-train version stays at a constant; its train-validation version does not."""
    same, apart = (_end(data, "test_loss", f"{rule}, {split}") for split in SPLITS)
    text = f"{mean(same)} without, {mean(apart)} with a split"
    good = below(apart, same) and float(same.mean()) >= CONSTANT
    return judged(text, good, "train-train generalises too, or the split does not help")


def _best(data: xr.Dataset, name: str, method: str) -> xr.DataArray:
    """The values at the weight that is best on average."""
    one = data[name].sel(rule=method).isel(step=-1)
    return one.isel(weight=int(one.mean("seed").argmin("weight")))


def linear_reversal(data: xr.Dataset, name: str) -> Finding:
    """Train-train is below train-validation, each at its best ridge."""
    same, apart = (_best(data, name, split) for split in SPLITS)
    text = (
        f"train-train {mean(same)} (at weight {float(same.weight):.3g}), train-validation "
        f"{mean(apart)} (at {float(apart.weight):.3g})"
    )
    return judged(text, below(same, apart), "train-train is not better")


def predicted_sides(data: xr.Dataset) -> tuple[dict[str, float], xr.DataArray]:
    """The share of cells on the predicted side by method; and which cells learnt the feature."""
    learnt = data.test_accuracy.isel(step=-1).mean("seed") > (1 + CHANCE) / 2
    shares = {}
    for name in data.rule.values:
        experiment = experiment_of(data, str(name))
        hits = []
        for noise in data.noise.values:
            for tasks in data.tasks.values:
                setting = experiment.replace("data.noise", float(noise))
                setting = setting.replace("data.tasks", int(tasks))
                expected = theory.rates(setting).advantage > 1
                hits.append(expected == bool(learnt.sel(rule=name, noise=noise, tasks=tasks)))
        shares[str(name)] = float(np.mean(hits))
    return shares, learnt


def criterion(data: xr.Dataset) -> Finding:
    shares, _ = predicted_sides(data)
    text = "cells on the predicted side: " + "; ".join(
        f"{k} {100 * v:.0f} %" for k, v in shares.items()
    )
    missed = [name for name, part in shares.items() if part < 0.8]
    why = f"below 80 % for {', '.join(missed)}: at this sigma_0 inner loops soon saturate"
    return judged(text, not missed, why)


def vanilla_in_large_noise(data: xr.Dataset) -> Finding:
    """Cells where vanilla training should fail by its rates and train-validation should not."""
    last = data.test_loss.isel(step=-1)
    pairs = []
    for noise in data.noise.values:
        for tasks in data.tasks.values:
            growth = {}
            for name in ("train-validation", "vanilla"):
                setting = experiment_of(data, name).replace("data.noise", float(noise))
                growth[name] = theory.rates(setting.replace("data.tasks", int(tasks))).advantage
            if growth["vanilla"] < 0.5 and growth["train-validation"] > 2:
                pairs.append(last.sel(noise=noise, tasks=tasks))
    if not pairs:
        return judged("no such cell in the sweep", False, "the sweep does not reach it")
    apart, plain = (
        np.stack([pair.sel(rule=name).values for pair in pairs])
        for name in ("train-validation", "vanilla")
    )
    text = (
        f"{len(pairs)} cells of (noise, K): {mean(apart)} with a split, {mean(plain)} vanilla; "
        f"below in {100 * float((apart < plain).mean()):.0f} % of runs"
    )
    good = below(apart, plain) and float(plain.mean()) >= CONSTANT
    why = "vanilla training does not fail there"
    if float(plain.mean()) >= CONSTANT:
        why = "both fail there: the inner loop saturates far below its linearised factor"
    return judged(text, good, why)
