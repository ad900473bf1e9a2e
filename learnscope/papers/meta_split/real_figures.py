"""Figures of the real part: Tables 1 to 6 as bars beside the printed numbers."""

import xarray as xr

from learnscope.evidence import Quantity, computed
from learnscope.figures import bars, figure
from learnscope.papers.meta_split.quantities import tabled
from learnscope.papers.meta_split.real import BASE, FEW_SHOT, REPTILE, SPLITS, label
from learnscope.papers.meta_split.real_claims import accuracy
from learnscope.papers.meta_split.reported import column


def _accuracies(of: str) -> Quantity:
    """Accuracies in percent by setting and split; Reptile has no split."""

    def read(data: xr.Dataset) -> xr.DataArray:
        there = [s for s in FEW_SHOT if label(s, SPLITS[0]) in data.setting.values]
        rows = {setting: [accuracy(label(setting, split)) for split in SPLITS] for setting in there}
        return tabled({**rows, REPTILE: [accuracy(REPTILE)] * 2}, SPLITS).read({"": data})

    return computed("accuracy", read, of)


def _panel(of: str, name: str, title: str, chance: float):
    printed = {(s, split): pair[0] for s, pairs in column(name).items()
               for split, pair in zip(SPLITS, pairs, strict=True)}  # fmt: skip
    own = name in ("rainbow", "mini-imagenet")
    return bars(_accuracies(of), "row", "column", printed if own else None, title=title,
                ylabel="accuracy on fresh tasks (%)", levels={"chance": chance})  # fmt: skip


def _size(data: xr.Dataset, *_) -> str:
    tasks = data.task_accuracy.sel(setting=label(BASE, SPLITS[0])).sizes["task"]
    return f"T = {int(data.step[-1])}, {tasks} fresh tasks x {data.sizes['seed']} seeds"


REAL_FIGURES = {
    "real_rainbow": figure(
        "Tables 1 to 4 on RainbowMNIST", "real_rainbow",
        [_panel("real_rainbow", "rainbow", "RainbowMNIST", 10.0)], _size),
    "real_few_shot": figure(
        "Tables 1 to 6 on Omniglot and CIFAR-FS", ("real_omniglot", "real_cifar_fs"),
        [_panel("real_omniglot", "omniglot", "Omniglot", 20.0),
         _panel("real_cifar_fs", "cifar-fs", "CIFAR-FS", 20.0)], _size, (13, 4.4)),
    "real_mini_imagenet": figure(
        "Tables 1 to 6 on miniImageNet", "real_mini_imagenet",
        [_panel("real_mini_imagenet", "mini-imagenet", "miniImageNet", 20.0)], _size, (10, 4.4)),
}  # fmt: skip
