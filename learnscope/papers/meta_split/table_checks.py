"""How the claims about section 5.1's setting are checked: Tables 1 to 3 and Figure 1."""

import numpy as np
import xarray as xr

from learnscope.evidence import Finding, experiment_of, judged, mean
from learnscope.papers.meta_split import theory
from learnscope.papers.meta_split.checks import below
from learnscope.papers.meta_split.experiments import SPLITS, labels
from learnscope.papers.meta_split.reported import LOSSES

NEAR = 0.15  # the largest relative difference from a printed loss


def _losses(data: xr.Dataset, reading: str, setting: str) -> list[xr.DataArray]:
    return [data.test_loss.sel(setting=label).isel(step=-1) for label in labels(reading, setting)]


def _both(data: xr.Dataset, reading: str, setting: str) -> str:
    """Loss and accuracy of both splits."""
    parts = []
    for split, label in zip(SPLITS, labels(reading, setting), strict=True):
        one = data.sel(setting=label).isel(step=-1)
        lost = int(np.isfinite(data.diverged_at.sel(setting=label)).sum())
        more = f", {lost} of {one.sizes['seed']} diverged" if lost else ""
        parts.append(
            f"{split} {mean(one.test_loss)} (accuracy {float(one.test_accuracy.mean()):.2f}, "
            f"shared feature {float(one.shared_feature.mean()):.2g}{more})"
        )
    return "; ".join(parts)


def smaller_loss(data: xr.Dataset, reading: str, setting: str) -> Finding:
    same, apart = _losses(data, reading, setting)
    return judged(_both(data, reading, setting), below(apart, same), "the order is not the paper's")


def same_numbers(data: xr.Dataset, reading: str, setting: str) -> Finding:
    """Both losses within 15 % of those printed."""
    losses = _losses(data, reading, setting)
    ratios = [
        float(values.mean()) / LOSSES[setting, split][0]
        for values, split in zip(losses, SPLITS, strict=True)
    ]
    text = f"{_both(data, reading, setting)}; over the paper's: {ratios[0]:.2f}, {ratios[1]:.2f}"
    return judged(text, all(abs(ratio - 1) <= NEAR for ratio in ratios), "off by more than 15 %")


def activations_alike(data: xr.Dataset, reading: str) -> Finding:
    ratios = []
    for split in SPLITS:
        relu, huber = (
            float(data.test_loss.sel(setting=f"{reading}: {s}, {split}").isel(step=-1).mean())
            for s in ("5 steps, ReLU", "5 steps")
        )
        ratios.append(huber / relu)
    text = f"huberised / ReLU: train-train {ratios[0]:.2f}, train-validation {ratios[1]:.2f}"
    return judged(text, all(abs(r - 1) <= NEAR for r in ratios), "they differ by more than 15 %")


def gap_grows(data: xr.Dataset, reading: str, less: str) -> Finding:
    """The gap at 5 inner steps (outer < inner) is above that of another setting."""
    gaps = []
    for setting in (less, "5 steps"):
        same, apart = _losses(data, reading, setting)
        gaps.append(same - apart)
    text = f"train-train - train-validation: {less} {mean(gaps[0])}, 5 steps {mean(gaps[1])}"
    good = below(*gaps) and float(gaps[1].mean()) > 0
    return judged(text, good, "the gap does not grow, or is no gain")


def learns_feature(data: xr.Dataset, reading: str) -> Finding:
    """Train-validation learns the shared feature and classifies fresh tasks."""
    label = labels(reading, "5 steps")[1]
    one = data.sel(setting=label)
    right = one.test_accuracy.isel(step=-1)
    predicted = theory.rates(experiment_of(data, label)).advantage
    text = (
        f"test accuracy {mean(right)}; shared feature {float(one.shared_feature[:, 0].mean()):.3g} "
        f"at the start, {float(one.shared_feature[:, -1].mean()):.3g} at the end; growth of "
        f"feature over noise, linearised: {predicted:.2g}"
    )
    good = float(right.mean()) > 0.9
    return judged(text, good, "near chance: the table's losses are the size of the noise output")


def _curve(data: xr.Dataset, label: str) -> np.ndarray:
    return data.test_loss.sel(setting=label).mean("seed").values


def falls_steadily(data: xr.Dataset, label: str) -> Finding:
    curve = _curve(data, label)
    drop = curve[0] - curve.min()
    rise = float(np.maximum(curve - np.minimum.accumulate(curve), 0).max())
    text = (
        f"from {curve[0]:.2f} to {curve[-1]:.2f}, least {curve.min():.2f}; largest rise {rise:.2f}"
    )
    good = drop > 0 and rise <= 0.1 * drop
    return judged(text, bool(good), "it does not fall, or rises by more than a tenth of its fall")


def falls_then_rises(data: xr.Dataset, label: str) -> Finding:
    curve = _curve(data, label)
    low = int(curve.argmin())
    text = f"{curve[0]:.2f} at the start, least {curve[low]:.2f} at step {int(data.step[low])}, "
    text += f"{curve[-1]:.2f} at the end"
    fall, rise = curve[0] - curve[low], curve[-1] - curve[low]
    good = bool(fall > 0 and rise > 0.1 * fall)
    return judged(text, good, "no fall and rise by more than a tenth of the fall")
