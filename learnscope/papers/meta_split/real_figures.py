"""Figures of the real part: Tables 1 to 6 as points with intervals over fresh tasks."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.evidence import half_width
from learnscope.figures import COLOURS, legend_below, styled
from learnscope.papers.meta_split.real import BASE, FEW_SHOT, REPTILE, SPLITS, label
from learnscope.papers.meta_split.real_checks import accuracy
from learnscope.papers.meta_split.real_reported import REPORTED, REPTILES

_SHIFT = 0.16
_MARKS = "points and bars: mean and 95 % over fresh tasks; strokes: seeds"


def _point(axes: Axes, data: xr.Dataset, arm: str, at: float, index: int, text: str) -> None:
    """The mean with its interval over tasks, and the seeds."""
    one = accuracy(data, arm)
    spread = half_width(one.values.ravel())
    axes.errorbar(one.mean(), at, xerr=spread, color=COLOURS[index], linestyle="",
                  marker="os^"[index], markersize=5, capsize=2, label=text)  # fmt: skip
    seeds = one.mean("task").values
    axes.plot(seeds, np.full(seeds.size, at), "|", color=COLOURS[index], alpha=0.6, markersize=7)


def _printed(axes: Axes, value: tuple[float, float], at: float, index: int) -> None:
    axes.errorbar(*value[:1], at, xerr=value[1], color=COLOURS[index], linestyle="", marker="x",
                  markersize=5, alpha=0.8, label="paper" if index == 1 else None)  # fmt: skip


def _panel(axes: Axes, data: xr.Dataset, name: str, chance: float) -> None:
    """Settings from top to bottom, both splits in each; Reptile last."""
    there = [s for s in FEW_SHOT if label(s, SPLITS[0]) in data.setting.values]
    for row, setting in enumerate(there):
        for index, split in enumerate(SPLITS):
            at = row + _SHIFT * (2 * index - 1)
            _point(axes, data, label(setting, split), at, index, split)
            if setting in REPORTED.get(name, {}):
                _printed(axes, REPORTED[name][setting][index], at + _SHIFT / 2, index)
    _point(axes, data, REPTILE, len(there), 2, "Reptile")
    if name in REPTILES:
        _printed(axes, REPTILES[name], len(there) + _SHIFT / 2, 2)
    start = float(accuracy(data, label(BASE, SPLITS[0]), last=False).mean())
    axes.axvline(
        start, color="grey", linewidth=0.8, linestyle="--", label="before meta-training (first row)"
    )
    axes.axvline(chance, color="grey", linewidth=0.8, linestyle=":", label="chance")
    names = [s if s != BASE else "5 steps, huberised" for s in there]
    axes.set_yticks(np.arange(len(there) + 1), [*names, "Reptile"])
    axes.invert_yaxis()
    axes.set_xlabel("accuracy on fresh tasks, after adapting (%)")


def _size(data: xr.Dataset) -> str:
    tasks = accuracy(data, label(BASE, SPLITS[0])).sizes["task"]
    return f"T = {int(data.step[-1])}, {tasks} fresh tasks x {data.sizes['seed']} seeds"


def _one_set(data: xr.Dataset, name: str, chance: float, title: str, height: float) -> Drawing:
    """One column of the tables."""
    figure, axes = plt.subplots(figsize=(7.4, height))
    _panel(axes, data, name, chance)
    legend_below(figure, [axes], 3)
    figure.suptitle(f"{title}: {_size(data)}\n{_MARKS}")
    return figure


def real_few_shot(omniglot: xr.Dataset, cifar: xr.Dataset) -> Drawing:
    """The miniImageNet columns of Tables 1 to 6, on the sets that stand in for it."""
    figure, grid = plt.subplots(1, 2, figsize=(11.0, 4.6))
    for axes, data, name in zip(grid, (omniglot, cifar), ("Omniglot", "CIFAR-FS"), strict=True):
        _panel(axes, data, name, 20.0)
        axes.set_title(f"{name}: {_size(data)}")
    legend_below(figure, grid, 6)
    figure.suptitle(f"Tables 1 to 6, 5 ways and 1 shot (unless said otherwise); {_MARKS}")
    return figure


REAL_FIGURES = {
    "real_rainbow": styled("Tables 1 to 4 on RainbowMNIST", ("real_rainbow",), partial(
        _one_set, name="rainbow", chance=10.0, title="Tables 1 to 4, RainbowMNIST", height=4.2)),
    "real_few_shot": styled("Tables 1 to 6 on Omniglot and CIFAR-FS",
                            ("real_omniglot", "real_cifar_fs"), real_few_shot),
    "real_mini_imagenet": styled("Tables 1 to 6 on miniImageNet", ("real_mini_imagenet",), partial(
        _one_set, name="mini-imagenet", chance=20.0, title="Tables 1 to 6, miniImageNet",
        height=4.6)),
}  # fmt: skip
