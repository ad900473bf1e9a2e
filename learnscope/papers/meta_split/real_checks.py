"""How the claims on images are checked: functions of a data set's sweep.

Accuracies are those of fresh tasks after adapting, in percent, with 95 % intervals over all fresh
tasks of all seeds (the paper's are over tasks), followed by the means of the seeds. A method is
better than another if the 95 % interval of the mean difference, paired by seed, is above 0.
"""

import numpy as np
import xarray as xr

from learnscope.evidence import Finding, half_width, is_positive, judged
from learnscope.papers.meta_split.real import BASE, OUTER, REPTILE, SPLITS, label
from learnscope.papers.meta_split.real_reported import REPORTED, column

MARGIN = 5.0  # points by which train-validation must be better on RainbowMNIST
ALIKE = 5.0  # points within which two accuracies are alike
_SHORT = "a short training of a narrow network on images of half the side"


def accuracy(data: xr.Dataset, arm: str, last: bool = True) -> xr.DataArray:
    """Accuracies in percent by seed and task, at the end (or before the first step)."""
    one = data.task_accuracy.sel(setting=arm).isel(step=-1 if last else 0)
    return 100 * one.dropna("task", how="all").transpose("seed", "task")


def shown(data: xr.Dataset, arm: str) -> str:
    """The mean with its interval over tasks, and the means of the seeds."""
    one = accuracy(data, arm)
    seeds = ", ".join(f"{v:.1f}" for v in one.mean("task").values)
    return f"{float(one.mean()):.1f} ± {half_width(one.values.ravel()):.1f} % (seeds {seeds})"


def gap(data: xr.Dataset, setting: str) -> np.ndarray:
    """Train-validation minus train-train, in points, for every seed."""
    same, apart = (accuracy(data, label(setting, split)).mean("task") for split in SPLITS)
    return (apart - same).values


def absent(data: xr.Dataset, *arms: str) -> Finding | None:
    """A finding "not run" if the dataset lacks one of these arms."""
    missing = [arm for arm in arms if arm not in data.setting.values]
    if not missing:
        return None
    text = f"the scale that was run has no setting '{missing[0]}'"
    return Finding("", "not run", f"{text}; learnscope verify meta_split --scale paper may have it")


def _pair(setting: str) -> list[str]:
    return [label(setting, split) for split in SPLITS]


def _points(values: np.ndarray) -> str:
    return f"{values.mean():.1f} ± {half_width(values):.1f} points"


def _both(data: xr.Dataset, setting: str) -> str:
    pair = zip(SPLITS, _pair(setting), strict=True)
    return "; ".join(f"{split} {shown(data, arm)}" for split, arm in pair)


def split_helps(data: xr.Dataset, setting: str, margin: float = 0.0) -> Finding:
    """Train-validation beats train-train, by more than a margin, and the initial network."""
    if (missing := absent(data, *_pair(setting))) is not None:
        return missing
    by = gap(data, setting)
    start = accuracy(data, label(setting, SPLITS[1]), last=False)
    learnt = (accuracy(data, label(setting, SPLITS[1])) - start).mean("task").values
    text = f"{_both(data, setting)}; better by {_points(by)}; before meta-training "
    text += f"{float(start.mean()):.1f} %"
    why = f"not better by more than {margin:g} points" if margin else "not better"
    better = is_positive(by) and bool(by.mean() > margin)
    why = "train-validation learnt nothing in so few steps" if better else why
    return judged(text, better and is_positive(learnt), f"{why}, over the seeds")


def numbers(data: xr.Dataset, name: str) -> Finding:
    """Both accuracies of the base setting are within 5 points of the printed ones."""
    if (missing := absent(data, *_pair(BASE))) is not None:
        return missing
    ours = [float(accuracy(data, arm).mean()) for arm in _pair(BASE)]
    printed = [value for value, _ in REPORTED[column(name)][BASE]]
    good = all(abs(a - b) <= ALIKE for a, b in zip(ours, printed, strict=True))
    stands = "" if name in REPORTED else "; another data set than the paper's"
    return judged(_both(data, BASE), good, f"off by more than {ALIKE:g} points: {_SHORT}{stands}")


def alike(data: xr.Dataset, other: str) -> Finding:
    """Two settings are within 5 points, with either split."""
    if (missing := absent(data, *_pair(BASE), *_pair(other))) is not None:
        return missing
    by = [
        (accuracy(data, label(BASE, split)) - accuracy(data, label(other, split))).mean("task")
        for split in SPLITS
    ]
    text = "; ".join(
        f"{split}: huberised - {other} {_points(v.values)}"
        for split, v in zip(SPLITS, by, strict=True)
    )
    good = all(abs(float(v.mean())) <= ALIKE for v in by)
    return judged(f"{text}; {other}: {_both(data, other)}", good, f"off by more than {ALIKE:g}")


def gap_grows(data: xr.Dataset, less: str) -> Finding:
    """The gap in the base setting is above that in another."""
    if (missing := absent(data, *_pair(BASE), *_pair(less))) is not None:
        return missing
    small, large = gap(data, less), gap(data, BASE)
    text = f"gap {_points(large)} ({BASE}), {_points(small)} ({less}: {_both(data, less)})"
    good = is_positive(large - small) and bool(large.mean() > 0)
    return judged(text, good, "the gap does not grow over the seeds, or is no gain")


def learns_nothing(data: xr.Dataset, setting: str, chance: float) -> Finding:
    """Both splits are within 5 points of chance."""
    if (missing := absent(data, *_pair(setting))) is not None:
        return missing
    means = [float(accuracy(data, arm).mean()) for arm in _pair(setting)]
    good = all(abs(value - chance) <= ALIKE for value in means)
    return judged(_both(data, setting), good, f"more than {ALIKE:g} points from {chance:g} %")


def loses(data: xr.Dataset) -> Finding:
    """Train-validation is worse with the larger rate outside."""
    if (missing := absent(data, *_pair(BASE), *_pair(OUTER))) is not None:
        return missing
    base, other = (accuracy(data, label(s, SPLITS[1])).mean("task") for s in (BASE, OUTER))
    by = (base - other).values
    text = f"{_both(data, OUTER)}; train-validation loses {_points(by)}"
    return judged(text, is_positive(by), "train-validation does not lose over the seeds")


def beats_reptile(data: xr.Dataset) -> Finding:
    """FOMAML with a split is better than Reptile."""
    apart = label(BASE, SPLITS[1])
    if (missing := absent(data, apart, REPTILE)) is not None:
        return missing
    by = (accuracy(data, apart).mean("task") - accuracy(data, REPTILE).mean("task")).values
    text = f"FOMAML {shown(data, apart)}; Reptile {shown(data, REPTILE)}; better by {_points(by)}"
    return judged(text, is_positive(by), "not better over the seeds")


def rises(data: xr.Dataset, settings: tuple[str, ...], splits: tuple[str, ...]) -> Finding:
    """Accuracies rise from the first setting to the last."""
    arms = [label(setting, split) for split in splits for setting in settings]
    if (missing := absent(data, *arms)) is not None:
        return missing
    good, parts = True, []
    for split in splits:
        chosen = [label(setting, split) for setting in settings]
        first, last = (accuracy(data, arm).mean("task").values for arm in (chosen[0], chosen[-1]))
        good &= is_positive(last - first)
        each = (f"{s} {shown(data, arm)}" for s, arm in zip(settings, chosen, strict=True))
        parts.append(f"{split}: {', '.join(each)}; up by {_points(last - first)}")
    return judged("; ".join(parts), good, "no rise over the seeds")
