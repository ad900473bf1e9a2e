"""Figures 2 to 4 in both readings, the long tail beside its control, imbalance, and the lemmas."""

import json
from collections.abc import Callable
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Patch

from learnscope.evidence import experiment_of
from learnscope.figures import COLOURS, STYLES, band, draw_heat_map, draw_line, interval, styled
from learnscope.lab import CROSSED
from learnscope.papers.benign import theory as benign_theory
from learnscope.papers.benign.experiments import CLASSES, EPSILON, LEVEL, READINGS, STRENGTHS
from learnscope.papers.benign.real_figures import REAL_FIGURES

CHANCE = 1 / CLASSES
SIGNAL, RATIO = "feature strength ‖u‖", "noise correlation ratio Γ"
SIZE = "training examples a class |S|"


def accuracy(data: xr.Dataset, reading: str) -> xr.DataArray:
    """Mean test accuracy of every setting after the last step."""
    return data.test_accuracy.sel(reading=reading).isel(step=-1).mean("seed")


def _maps(data: xr.Dataset, x: str, y: str, labels: tuple[str, str], title: str) -> Drawing:
    """Heat maps of test accuracy (above) and training accuracy, one column per reading."""
    figure, grid = plt.subplots(2, 2, figsize=(8.6, 6.6), sharex=True, sharey=True)
    for column, reading in enumerate(READINGS):
        for row, name in enumerate(("test_accuracy", "train_accuracy")):
            axes = grid[row, column]
            table = data[name].sel(reading=reading).isel(step=-1).mean("seed")
            mesh = draw_heat_map(axes, table, x, y, vmin=CHANCE if row == 0 else 0, vmax=1)
            axes.set(xlabel=labels[0] if row else "", ylabel=labels[1] if column == 0 else "")
            words = name.replace("_", " ")
            axes.set_title(f"{words}, {_words(reading)}" if row == 0 else words)
            if column == 1:
                figure.colorbar(mesh, ax=grid[row, :], label=f"mean {words}")
    seeds = data.sizes["seed"]
    figure.suptitle(f"{title}; mean over {seeds} seeds")
    return figure


def _words(reading: str) -> str:
    return {"literal": "read literally (rate 0.05)", "no 1/m": "gradient without its 1/m"}[reading]


_REGIMES = ("harmful", "undetermined", "benign by covariance", "benign by features")
_SHADES = ("#F4B183", "#D9D9D9", "#9DC3E6", "#2E75B6")


def figure2(data: xr.Dataset, by_signal: xr.Dataset, by_correlation: xr.Dataset) -> Drawing:
    """The regimes of Theorem 1 (above); the measured accuracy and its boundary (below)."""
    experiment = experiment_of(data, "no 1/m")
    table = accuracy(data, "no 1/m")
    codes = xr.zeros_like(table)
    for signal in data.signal.values:
        for ratio in data.correlation.values:
            setting = experiment.replace("data.signal", float(signal))
            setting = setting.replace("data.correlation", float(ratio))
            regime = str(benign_theory.predict(setting)["regime"])
            codes.loc[{"signal": signal, "correlation": ratio}] = _REGIMES.index(regime)
    figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 8.0), sharex=True)
    draw_heat_map(above, codes, "signal", "correlation", vmin=-0.5, vmax=3.5,
             cmap=ListedColormap(_SHADES))  # fmt: skip
    above.legend(
        handles=[Patch(color=s, label=r) for r, s in zip(_REGIMES, _SHADES, strict=True)],
        loc="upper right", frameon=True, framealpha=0.9,
    )  # fmt: skip
    above.set_title("Figure 2: regimes of Theorem 1, with its constants at their defaults")
    mesh = draw_heat_map(below, table, "signal", "correlation", vmin=CHANCE, vmax=1)
    figure.colorbar(mesh, ax=below, label="mean test accuracy")
    points = {"linestyle": "", "marker": "o", "markersize": 4, "markeredgecolor": "black"}
    crossed = by_signal.status == CROSSED
    draw_line(below, by_signal.boundary.values[crossed], by_signal.correlation.values[crossed],
              f"accuracy {LEVEL:g}, found along ‖u‖", color="white", **points)  # fmt: skip
    crossed = by_correlation.status == CROSSED
    draw_line(below, by_correlation.signal.values[crossed], by_correlation.boundary.values[crossed],
              f"accuracy {LEVEL:g}, found along Γ", color=COLOURS[1], **points)  # fmt: skip
    below.legend(loc="upper right", frameon=True, framealpha=0.9)
    below.set_title("measured, gradient without its 1/m")
    above.set_xlabel("")
    below.set_xlabel(SIGNAL)
    plt.setp((above, below), ylabel=RATIO)
    return figure


def tail(data: xr.Dataset) -> Drawing:
    """Accuracy on all data, on the long tail, and on the long tail of the untrained network."""
    last = data.isel(step=-1)
    figure, axes = plt.subplots(figsize=(6.2, 4.2))
    x = data.correlation.values
    interval(axes, x, last.test_accuracy.isel(share=0), 0, "all test data")
    for index, share in enumerate(data.share.values, 1):
        words = f"top {100 * float(share):g} % by ζ'"
        one = last.sel(share=share)
        interval(axes, x, one.long_tail_accuracy.mean("class"), index, f"{words}, trained")
        interval(axes, x, one.long_tail_untrained.mean("class"), index + 2,
                  f"{words}, untrained network")  # fmt: skip
    axes.axhline(CHANCE, color="grey", linewidth=0.8, label="chance")
    axes.set_xscale("log")
    axes.set_xlabel(RATIO)
    axes.set_ylabel("test accuracy")
    axes.set_ylim(0, 1.02)
    axes.set_title(f"The long tail (Definition 1) at ‖u‖ ≈ 0, {data.sizes['seed']} seeds")
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return figure


def majority(data: xr.Dataset) -> Drawing:
    last = data.isel(step=-1)
    figure, grid = plt.subplots(1, 2, figsize=(8.6, 3.8), sharey=True)
    x = np.array([json.loads(str(sizes))[1] for sizes in data.others.values])
    titles = {"long_tail_accuracy": "long-tailed data (top 20 %)", "class_accuracy": "all data"}
    for axes, (name, title) in zip(grid, titles.items(), strict=True):
        for index, loss in enumerate(data.loss.values):
            interval(axes, x, last[name].sel(loss=loss).isel({"class": 0}), index, str(loss))
        axes.set(xlabel="training examples of every other class", title=title)
    grid[0].set(ylabel="test accuracy of class 0 (50 examples)", ylim=(0, 1.02))
    grid[0].legend(title="loss")
    figure.suptitle("Increasing majority hurts minority: Γ = 50, ‖u‖ ≈ 0, mean and 95 %")
    return figure


def lemmas(data: xr.Dataset, residuals: xr.Dataset) -> Drawing:
    """Lemmas 3 to 7 along the trajectory."""
    balance = residuals.gradient_balance
    panels: dict[str, tuple[str, Callable[[xr.Dataset], xr.DataArray]]] = {
        "Lemma 3: singular values of W A": ("largest / √m", lambda d: d.noise_spectrum.isel(rank=0)
                                            .max("class") / 10),
        "Lemma 4: neurons active on test noise": ("least of any example",
                                                  lambda d: d.active_share_least),
        "Lemma 5: own / other training noise": ("ratio of activations", own_to_other),
        "Lemma 6: own / other test noise": ("ratio of activations",
                                            lambda d: own_to_other(d, "test_activation")),
        "Lemma 7: balance of residuals": ("κ", lambda d: balance.sel(reading=d.reading)),
        "explicit and implicit logit": ("own - largest other", lambda d: (
            d.implicit_own - d.implicit_other).mean("class")),
    }  # fmt: skip
    figure, grid = plt.subplots(2, 3, figsize=(10.2, 5.8), sharex=True)
    for axes, (title, (label, value)) in zip(grid.flat, panels.items(), strict=True):
        for index, reading in enumerate(data.reading.values):
            one = value(data.sel(reading=reading))
            for seed in one.seed.values:
                axes.plot(one.step, one.sel(seed=seed), color=COLOURS[index], linewidth=0.8,
                          linestyle=STYLES[index], alpha=0.8,
                          label=_words(str(reading)) if seed == 0 else None)  # fmt: skip
        axes.set(title=title, ylabel=label)
    last = grid.flat[-1]
    for index, reading in enumerate(data.reading.values):
        one = data.sel(reading=reading)
        explicit = (one.explicit_own - one.explicit_other).mean(["class", "seed"])
        last.plot(one.step, explicit, color=COLOURS[2 + index], linestyle=STYLES[index],
                  label=f"feature patch, {reading}")  # fmt: skip
    last.legend(fontsize=7, title="else: noise patch", title_fontsize=7)
    grid[0, 1].axhline(0.1, color="grey", linewidth=0.8)
    grid[1, 1].set_yscale("log")
    plt.setp(grid[1], xlabel="step")
    grid[0, 0].legend(fontsize=7)
    figure.suptitle(f"Γ = 100, ‖u‖ = 1: one line per seed ({data.sizes['seed']})")
    return figure


def own_to_other(data: xr.Dataset, name: str = "activation") -> xr.DataArray:
    """Activation by own noise over the largest by another class's: the least ratio."""
    table = data[name]
    same = xr.DataArray(np.eye(CLASSES, dtype=bool), dims=("neurons_of", "noise_of"))
    own = table.where(same).max("noise_of")
    other = table.where(~same).max("noise_of")
    return (own / other.where(other > 0)).min("neurons_of")


def corners(data: xr.Dataset) -> Drawing:
    figure, grid = plt.subplots(1, 3, figsize=(10.2, 3.4), sharex=True)
    for axes, (name, label) in zip(
        grid,
        {"loss": "training loss", "test_accuracy": "test accuracy, all data",
         "long_tail_accuracy": "test accuracy, long tail (top 20 %)"}.items(), strict=True,
    ):  # fmt: skip
        for index, corner in enumerate(data.corner.values):
            one = data[name].sel(corner=corner)
            one = one.mean("class") if "class" in one.dims else one
            band(axes, one.step, one, index, str(corner), "median", 0.2)
        axes.set(xlabel="step", title=label)
    grid[0].set_yscale("log")
    grid[0].axhline(EPSILON, color="grey", linewidth=0.8)
    grid[1].axhline(CHANCE, color="grey", linewidth=0.8)
    grid[2].set_ylim(0, 1.03)
    grid[2].legend(fontsize=7, loc="lower right")
    figure.suptitle(f"Theorem 1 in the corners of Figure 2: median and range of "
                    f"{data.sizes['seed']} seeds")  # fmt: skip
    return figure


def theorem(data: xr.Dataset) -> Drawing:
    last = data.isel(net=0, step=-1)
    figure, axes = plt.subplots(figsize=(5.6, 3.8))
    snr = np.array(STRENGTHS) ** 4
    interval(axes, snr, last.test_accuracy, 0, "test accuracy")
    interval(axes, snr, last.train_accuracy, 1, "training accuracy")
    axes.axhline(1 / 3, color="grey", linewidth=0.8, label="chance")
    axes.axvline(1, color=COLOURS[3], linestyle=":", label="SNR term = 1")
    axes.set_xscale("log")
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("SNR term of statement 2a: |S|² ‖u‖⁴ / (|S| ‖AᵀA‖²)")
    axes.set_ylabel("accuracy, mean and 95 %")
    axes.set_title(f"d = 10⁸, n = 9, m = 100, Γ = 1: all of Condition 1 but one item, "
                   f"{data.sizes['seed']} seeds")  # fmt: skip
    axes.legend()
    return figure


FIGURES = {
    "figure2": styled("Regimes of Theorem 1 and what was measured",
                      ("figure3a", "by_signal", "by_correlation"), figure2),
    "figure3a": styled("Test accuracy over ‖u‖ and Γ, Gaussian noise", ("figure3a",), partial(
        _maps, x="signal", y="correlation", labels=(SIGNAL, RATIO),
        title="Figure 3, Gaussian noise")),
    "figure3b": styled("Test accuracy over ‖u‖ and Γ, uniform noise", ("figure3b",), partial(
        _maps, x="signal", y="correlation", labels=(SIGNAL, RATIO),
        title="Figure 3, uniform noise")),
    "figure4a": styled("Test accuracy over ‖u‖ and sample size", ("figure4a",), partial(
        _maps, x="signal", y="size", labels=(SIGNAL, SIZE), title="Figure 4a: Γ = 1.2")),
    "figure4b": styled("Test accuracy over Γ and sample size", ("figure4b",), partial(
        _maps, x="correlation", y="size", labels=(RATIO, SIZE), title="Figure 4b: ‖u‖ = 10⁻⁶")),
    "corners": styled("Theorem 1 in the corners of Figure 2", ("corners",), corners),
    "theorem": styled("Statement 2a where most of Condition 1 holds", ("theorem",), theorem),
    "tail": styled("The long tail beside its untrained control", ("tail",), tail),
    "majority": styled("Increasing majority hurts minority", ("majority",), majority),
    "lemmas": styled("Lemmas 3 to 7 along the trajectory", ("lemmas", "residuals"), lemmas),
    **REAL_FIGURES,
}  # fmt: skip
