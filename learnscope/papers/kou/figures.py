"""The heat map with its boundaries, the boundary over six decades, and test error on both sides."""

import json

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Drawing

from learnscope.figures import COLOURS, draw_boundary, draw_heat_map, draw_line, predicted, styled
from learnscope.papers.kou.experiments import FLIP, RATIOS


def error(data: xr.Dataset) -> xr.DataArray:
    """Mean test error of every setting after the last step."""
    return 1 - data.test_accuracy.isel(net=0, step=-1).mean("seed")


def diagram(data: xr.Dataset, boundary: xr.Dataset) -> Drawing:
    figure, axes = plt.subplots(figsize=(6.4, 4.8))
    mesh = draw_heat_map(axes, error(data), "dim", "signal", vmin=FLIP, vmax=0.5)
    figure.colorbar(mesh, ax=axes, label="test error, mean over seeds")
    axes.contour(
        data.dim, data.signal, error(data).transpose("signal", "dim"), [0.3],
        colors="white", linewidths=1,
    )  # fmt: skip
    draw_line(axes, boundary.dim.values, boundary.boundary.values, "found by bisection: 0.3",
              color="white", linestyle="", marker="o", markersize=4,
              markeredgecolor="black")  # fmt: skip
    attributes = {"experiment": json.loads(data.attrs["experiment"])["ReLU CNN"]}
    line = predicted(data.isel(signal=0, drop=True), attributes, "data.signal", "dim")
    draw_line(axes, data.dim.values, line, "theory, constant 1: n|μ|⁴ = d σ⁴")
    axes.set(xlabel="dimension d", ylabel="signal |μ|")
    axes.legend(loc="upper right", frameon=True, framealpha=0.9)
    runs = data.test_accuracy.isel(step=-1).size
    axes.set_title(f"Test error after 100 steps, {runs:,} trainings (n = 20, 10 % flips)")
    return figure


def exponent(boundary: xr.Dataset, theorem: xr.Dataset) -> Drawing:
    figure, grid = plt.subplots(1, 2, figsize=(9.4, 4.2))
    titles = ("the paper's range (Condition 4.1 fails)", "where Condition 4.1 holds")
    for axes, data, title in zip(grid, (boundary, theorem), titles, strict=True):
        draw_boundary(axes, data)
        axes.set(title=title, xlabel="dimension d", ylabel="signal |μ| at test accuracy 0.7")
        axes.legend(loc="upper left", fontsize=8)
    figure.suptitle("The boundary's exponent; theory: |μ| ~ d^(1/4)")
    return figure


def sides(data: xr.Dataset) -> Drawing:
    wrong = 1 - data.test_accuracy.isel(net=0, step=-1)
    figure, axes = plt.subplots(figsize=(5.6, 3.8))
    spread = 1.96 * wrong.std("seed", ddof=1) / np.sqrt(wrong.sizes["seed"])
    axes.errorbar(
        RATIOS, wrong.mean("seed"), spread,
        fmt="o-", color=COLOURS[0], capsize=3, label="measured, mean and 95 % interval",
    )  # fmt: skip
    axes.axhline(FLIP, color=COLOURS[2], linestyle="--", label="flips: no classifier is better")
    axes.axhline(FLIP + 0.1, color=COLOURS[3], linestyle=":", label="p + 0.1 of statement 3")
    axes.set(xscale="log", ylim=(0, 0.55), xlabel="n|μ|⁴ / (d σ⁴)", ylabel="test error",
             title="Theorem 4.2 at d = 10⁷")  # fmt: skip
    axes.legend(loc="upper right")
    return figure


FIGURES = {
    "diagram": styled("Test error over signal and dimension", ("diagram", "boundary"), diagram),
    "exponent": styled("The boundary and its exponent", ("boundary", "theorem"), exponent),
    "sides": styled("Test error on both sides of the boundary", ("sides",), sides),
}
