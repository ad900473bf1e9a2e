"""Figures 5 and 6: loss and accuracy on noisy MNIST by reading (row) and noise (column)."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from learnscope.evidence import Figure, experiment_of
from learnscope.figures import COLOURS, STYLES, styled
from learnscope.papers.pegr.real import RULES

_READINGS = {
    "mnist_unit": "pixels 0 to 1\nλ = 0.1",
    "mnist_bytes": "pixels 0 to 255\nλ = 0.1",
    "mnist_working": "working setting\npixels 0 to 1, λ = 1/E‖x‖²",
    "mnist_long": "the same for longer\npixels 0 to 1, λ = 1/E‖x‖²",
}


def closing(data: xr.Dataset) -> float:
    """The step from which on the penalty is switched off."""
    return float(experiment_of(data, "PEGR").to_dict()["rule"]["until"])


def _panel(axes: Axes, values: xr.DataArray) -> None:
    """One line per seed. Rules that diverge are named, since nothing can be drawn of them."""
    lost = []
    for index, rule in enumerate(RULES):
        if rule not in values.rule:
            continue
        one = values.sel(rule=rule).transpose("step", "seed")
        axes.plot(one.step, one, color=COLOURS[index], linestyle=STYLES[index], linewidth=1.1)
        gone = int((~np.isfinite(one.isel(step=-1))).sum())
        if gone:
            lost.append(f"{rule} diverges in {gone}/{one.sizes['seed']}")
    if lost:
        axes.text(0.5, 0.5, "\n".join(lost), transform=axes.transAxes, ha="center", va="center",
                  fontsize=7, bbox={"facecolor": "white", "edgecolor": "0.8"})  # fmt: skip


def _figure(variable: str, label: str, title: str, *readings: xr.Dataset) -> Drawing:
    columns = max(data.sizes["noise"] for data in readings)
    size = (2.6 * columns, 2.4 * len(readings) + 0.4)
    figure, grid = plt.subplots(len(readings), columns, figsize=size, sharex="row")
    for row, words, data in zip(grid, _READINGS.values(), readings, strict=True):
        for axes, noise in zip(row, data.noise.values, strict=False):
            _panel(axes, data[variable].sel(noise=noise))
            axes.axvline(closing(data), color="0.4", linewidth=0.8, linestyle=":")
            axes.set(title=f"σp = {noise:g}", xlabel="step")
            if variable == "loss":
                axes.set_ylim(0, 3.2)
                axes.axhline(np.log(10), color="0.7", linewidth=0.8)
            else:
                axes.set_ylim(0, 1)
                axes.axhline(0.1, color="0.7", linewidth=0.8)
        for axes in row[data.sizes["noise"] :]:
            axes.set_axis_off()
        row[0].set_ylabel(f"{words}\n{label}")
    handles = [
        Line2D([], [], color=COLOURS[i], linestyle=STYLES[i], label=rule)
        for i, rule in enumerate(RULES)
    ]
    handles += [Line2D([], [], color="0.4", linestyle=":", label="penalty switched off"),
                Line2D([], [], color="0.7", label="guessing")]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=5)
    seeds = readings[0].sizes["seed"]
    figure.suptitle(f"{title}: LeNet5 on noisy images, one line per seed ({seeds})")
    return figure


_ALL = tuple(_READINGS)
REAL_FIGURES: dict[str, Figure] = {
    "figure5": styled("Training loss of LeNet5 on noisy images", _ALL, partial(
        _figure, "loss", "training loss (nat)", "Figure 5, training loss")),
    "figure6": styled("Test accuracy of LeNet5 trained on noisy images", _ALL, partial(
        _figure, "test_accuracy", "test accuracy", "Figure 6, accuracy on clean images")),
}  # fmt: skip
