"""How each claim of the paper is checked: functions of the sweeps' datasets.

A network has fitted its data if its training accuracy is at least 0.99. "Increases" along an axis
means: the last value is above the first by more than 0.05 on average over the other axis, and of
neighbouring cells fewer than one in twenty falls by more than 0.05, about three standard errors of
a mean over 3 seeds of 1000 test points. "Near-optimal" is 0.95. Comparisons of two means are paired
by seed; they hold if the 95 % interval of the difference is on the claim's side of 0.
"""

import json
import math

import numpy as np
import xarray as xr

from learnscope.evidence import Finding, judged, mean, share
from learnscope.lab import CROSSED
from learnscope.papers.benign.experiments import CLASSES, EPSILON, PER_CLASS, STRENGTHS, WIDTH
from learnscope.papers.benign.figures import CHANCE, accuracy, own_to_other

FITTED, NEAR_ONE, SLACK, FALLING = 0.99, 0.95, 0.05, 0.05
NOT_FITTED = "after 20 literal steps nothing is overfitted: training accuracy {:.2f} to {:.2f}"


def _training(data: xr.Dataset, reading: str) -> tuple[float, float]:
    table = data.train_accuracy.sel(reading=reading).isel(step=-1).mean("seed")
    return float(table.min()), float(table.max())


def _trained(data: xr.Dataset, reading: str) -> str:
    """A remark for findings about networks that have not fitted their data."""
    low, high = _training(data, reading)
    return "" if low >= FITTED else f"; not fitted: training accuracy {low:.2f} to {high:.2f}"


def _why(data: xr.Dataset, reading: str, otherwise: str) -> str:
    low, high = _training(data, reading)
    return NOT_FITTED.format(low, high) if low < FITTED else otherwise


def fitted(data: xr.Dataset, reading: str) -> Finding:
    low, high = _training(data, reading)
    text = f"mean training accuracy from {low:.3f} to {high:.3f} over the grid"
    return judged(text, low >= FITTED, "not all settings are fitted")


def increases(data: xr.Dataset, reading: str, dim: str) -> Finding:
    """Accuracy rises along one axis, over all values of the other."""
    table = accuracy(data, reading)
    gain = (table.isel({dim: -1}) - table.isel({dim: 0})).mean()
    steps = table.diff(dim)
    falling = float((steps < -SLACK).mean())
    text = (
        f"mean accuracy {float(table.isel({dim: 0}).mean()):.3f} at the lowest and "
        f"{float(table.isel({dim: -1}).mean()):.3f} at the highest value; falls by more than "
        f"{SLACK} in {100 * falling:.1f} % of neighbours{_trained(data, reading)}"
    )
    good = float(gain) > SLACK and falling < FALLING
    return judged(text, good, _why(data, reading, "it does not rise"))


def without_feature(data: xr.Dataset, reading: str) -> Finding:
    values = data.test_accuracy.sel(reading=reading).isel(step=-1, signal=0)
    low, high = values.isel(correlation=0), values.isel(correlation=-1)
    text = f"at ‖u‖ = 0.001: {mean(low)} at Γ = 1, {mean(high)} at Γ = 1400"
    return judged(text, float(high.mean()) >= NEAR_ONE, _why(data, reading, f"below {NEAR_ONE}"))


def constant_in_size(data: xr.Dataset, reading: str) -> Finding:
    """Accuracy is constant in the size, for ratios from 400 and sizes from 50 on."""
    table = accuracy(data, reading)
    high = table.sel(correlation=table.correlation[table.correlation >= 400])
    enough = high.sel(size=high["size"][high["size"] >= 50])
    spread = (enough.max("size") - enough.min("size")).max()
    low = table.sel(correlation=table.correlation[table.correlation < 100])
    moving = (low.isel(size=-1) - low.isel(size=0)).mean()
    text = (
        f"Γ ≥ 400: accuracy within {float(spread):.3f} from 50 to 200 a class (at 10: "
        f"{float(high.isel(size=0).min()):.2f} to {float(high.isel(size=0).max()):.2f}); "
        f"Γ < 100: changes by {float(moving):+.2f} on average from 10 to 200"
        f"{_trained(data, reading)}"
    )
    good = float(spread) <= 0.1 and float(enough.min()) > 0.5
    return judged(text, good, _why(data, reading, "it changes with the size"))


def training_loss(data: xr.Dataset) -> Finding:
    last = data.loss.isel(step=-1)
    text = "; ".join(f"{c}: {mean(last.sel(corner=c))}" for c in data.corner.values)
    good = bool((last.mean("seed") <= EPSILON).all())
    return judged(f"loss after {int(data.step[-1])} steps: {text}", good, f"above {EPSILON}")


def by_features(data: xr.Dataset) -> Finding:
    values = data.test_accuracy.isel(step=-1).sel(corner="strong feature, shared noise")
    return judged(f"test accuracy {mean(values)}", float(values.mean()) >= NEAR_ONE, "below 0.95")


def by_covariance(data: xr.Dataset) -> Finding:
    last = data.isel(step=-1).sel(corner="weak feature, own noise")
    tail, every = last.long_tail_accuracy.mean("class"), last.test_accuracy
    control = last.long_tail_untrained.mean("class")
    text = (
        f"long tail (top 20 %) {mean(tail)}, all data {mean(every)}, untrained control "
        f"{mean(control)}"
    )
    good = float(tail.mean()) >= NEAR_ONE and _above(tail - control)
    return judged(text, good, "below 0.95, or no better than the untrained control")


def harmful(data: xr.Dataset) -> Finding:
    values = 1 - data.test_accuracy.isel(step=-1).sel(corner="weak feature, shared noise")
    good = float(values.mean()) > 0.1
    return judged(f"test error {mean(values)} (chance: {1 - CHANCE:g})", good, "below 0.1")


def theorem_2a(data: xr.Dataset) -> Finding:
    """Test accuracy goes from chance at an SNR term of 1 to 1 far above it."""
    last = data.test_accuracy.isel(net=0, step=-1)
    text = "test accuracy at SNR term " + "; ".join(
        f"{strength**4:g}: {mean(last.isel(signal=i))}" for i, strength in enumerate(STRENGTHS)
    )
    means = last.mean("seed").values
    good = bool(means[-1] >= NEAR_ONE and means[0] < 0.5 and (np.diff(means) > -0.02).all())
    return judged(text, good, "it does not go from chance to 1 as the SNR term grows")


def _above(difference: xr.DataArray) -> bool:
    """Whether a paired difference is above 0 by more than 1.96 standard errors."""
    values = difference.values.ravel()
    return bool(values.mean() - 1.96 * values.std(ddof=1) / math.sqrt(values.size) > 0)


def tail_rises(data: xr.Dataset, share_of_tail: str) -> Finding:
    """Tail accuracy rises over the whole axis, and by more than the untrained control's."""
    one = data.isel(step=-1).sel(share=share_of_tail)
    tail, control = one.long_tail_accuracy.mean("class"), one.long_tail_untrained.mean("class")
    means = tail.mean("seed")
    lowest = int(means.argmin("correlation"))
    shown = dict.fromkeys((0, lowest, len(one.correlation) // 2, len(one.correlation) - 1))
    text = "; ".join(
        f"Γ = {float(one.correlation[i]):.3g}: {mean(tail.isel(correlation=i))}, all data "
        f"{mean(one.test_accuracy.isel(correlation=i))}, untrained "
        f"{mean(control.isel(correlation=i))}"
        for i in shown
    )
    gain = (tail - control).isel(correlation=-1) - (tail - control).isel(correlation=0)
    rises = _above(tail.isel(correlation=-1) - tail.isel(correlation=0)) and _above(gain)
    steady = float(means.diff("correlation").min()) >= -SLACK
    why = f"it falls up to Γ = {float(one.correlation[lowest]):.3g}, and rises from there on"
    return judged(text, rises and steady, why if rises else "it does not rise")


def selection_effect(data: xr.Dataset) -> Finding:
    """With noise that all classes share, the tail is at chance, as all data is."""
    one = data.isel(step=-1, correlation=0)
    tails = one.long_tail_accuracy.mean("class")
    text = f"all data {mean(one.test_accuracy.isel(share=0))}; " + "; ".join(
        f"top {100 * float(s):g} % {mean(tails.sel(share=s))}, untrained "
        f"{mean(one.long_tail_untrained.mean('class').sel(share=s))}"
        for s in data.share.values
    )
    good = bool((tails.mean("seed") < 2 * CHANCE).all())
    why = "asking for active neurons of its own class selects examples that are classified right"
    return judged(text, good, why)


def _minority(data: xr.Dataset, loss: str, name: str) -> xr.DataArray:
    return data[name].isel(step=-1).isel({"class": 0}).sel(loss=loss)


def majority_hurts(data: xr.Dataset, loss: str) -> Finding:
    values = _minority(data, loss, "long_tail_accuracy")
    every = _minority(data, loss, "class_accuracy")
    few, many = values.isel(others=0), values.isel(others=-1)
    sizes = [json.loads(str(s))[1] for s in data.others.values]
    text = (
        f"long-tailed accuracy of class 0 (50 examples): {mean(few)} with {sizes[0]} of every "
        f"other class, {mean(many)} with {sizes[-1]}; all its data: {mean(every.isel(others=0))}, "
        f"{mean(every.isel(others=-1))}"
    )
    return judged(text, _above(few - many), "it does not fall")


def majority_cause(data: xr.Dataset) -> Finding:
    """Logit adjustment corrects the label prior only: a drop that remains is due to noise."""
    drops = {
        loss: _minority(data, loss, "long_tail_accuracy").isel(others=0)
        - _minority(data, loss, "long_tail_accuracy").isel(others=-1)
        for loss in data.loss.values
    }
    text = "drop of long-tailed accuracy: " + "; ".join(f"{k} {mean(v)}" for k, v in drops.items())
    good = _above(drops["logit-adjusted"])
    return judged(text, good, "correcting the label prior alone removes the drop")


def spectrum(data: xr.Dataset, reading: str) -> Finding:
    values = data.noise_spectrum.sel(reading=reading).isel(step=-1)
    root, steps, n = math.sqrt(WIDTH), int(data.step[-1]), CLASSES * PER_CLASS
    rank = (values > 1e-5 * values.isel(rank=0)).sum("rank").min()
    top = float(values.max()) / (root * math.log(steps))
    return judged(
        f"rank at least {int(rank)} of {WIDTH}; largest ≤ {top:.2f} √m log T; "
        f"the bound on the smallest is empty, since n = {n} > m",
        int(rank) >= 0.9 * WIDTH and top <= 10,
        "rank below 0.9 m, or above 10 √m log T",
    )


def activated(data: xr.Dataset, reading: str) -> Finding:
    least = data.active_share_least.sel(reading=reading).isel(step=-1)
    text = (
        f"fewest active of any test example: {float(least.min()):.2f} m; ≥ 0.1 m in "
        f"{share(least >= 0.1)} of seeds"
    )
    return judged(text, bool((least >= 0.1).all()), "fewer than 0.1 m for some test example")


def own_training_noise(data: xr.Dataset, reading: str) -> Finding:
    ratio = own_to_other(data.sel(reading=reading))
    text = (
        f"least ratio over classes: {mean(ratio.isel(step=0))} at the start, "
        f"{mean(ratio.isel(step=-1))} at the end"
    )
    return judged(text, bool((ratio.isel(step=-1) >= 2).all()), "below 2")


def own_test_noise(data: xr.Dataset, residuals: xr.Dataset) -> Finding:
    """Own over other activation is of the order ||A_y^T A_y|| b(S_y) / (||A_y^T A_j|| b(S_j))."""
    one = data.sel(reading="no 1/m")
    ratio = own_to_other(one, "test_activation").isel(step=-1)
    b = residual_sums(residuals.sel(reading="no 1/m")).isel(step=-1)
    predicted = math.sqrt(100.0) * float((b.min("class") / b.max("class")).mean())
    text = f"{mean(ratio)}, where ‖A_yᵀA_y‖ b(S_y) / (‖A_yᵀA_j‖ b(S_j)) is {predicted:.1f}"
    good = predicted / 3 <= float(ratio.mean()) <= 3 * predicted
    return judged(text, good, "off by more than a factor of 3")


def residual_sums(data: xr.Dataset) -> xr.DataArray:
    """b(S_k) of eq. (8) for every class and step, from residuals recorded at every step."""
    before = data.residual.cumsum("step") - data.residual  # t' = 0, ..., t - 1
    per_class = data.residual.sizes["sample"] // CLASSES
    classes = xr.DataArray(np.arange(data.residual.sizes["sample"]) // per_class, dims="sample")
    squares = (before**2).assign_coords({"class": ("sample", classes.values)})
    return np.sqrt(squares.groupby("class").sum())


def balanced(data: xr.Dataset, reading: str) -> Finding:
    kappa = data.gradient_balance.sel(reading=reading)
    worst, last = kappa.max("step"), kappa.isel(step=-1)
    text = f"largest ratio up to step {int(data.step[-1])}: {mean(worst)}; at the end {mean(last)}"
    return judged(text, bool((worst <= 10).all()), "above 10, and growing while the data is fitted")


def boundary(by_signal: xr.Dataset, by_correlation: xr.Dataset) -> Finding:
    """The edge of Figure 2: the larger the noise correlation, the less feature is needed."""
    crossed = by_signal.boundary.where(by_signal.status == CROSSED)
    text = ", ".join(
        f"Γ = {float(g):.3g}: ‖u‖ = {float(v):.3f}"
        if np.isfinite(v)
        else f"Γ = {float(g):.3g}: {s}"
        for g, v, s in zip(by_signal.correlation, crossed, by_signal.status.values, strict=True)
    )
    zero = by_correlation.isel(signal=0)
    text += f"; at ‖u‖ = 0.001 accuracy 0.6 is reached at Γ = {float(zero.boundary):.3g}"
    values = crossed.values[np.isfinite(crossed.values)]
    good = (
        values.size >= 2
        and bool((np.diff(values) < 0.02).all())
        and bool(np.isfinite(zero.boundary))
    )
    return judged(text, good, "the boundary does not fall with Γ")
