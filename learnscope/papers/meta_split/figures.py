"""Figures: the separation, its exponent, Figure 1, Tables 1 to 3, the lemmas, rules, phases."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import StrMethodFormatter

from learnscope.evidence import experiment_of
from learnscope.figures import (
    COLOURS,
    STYLES,
    band,
    draw_heat_map,
    draw_line,
    interval,
    legend_below,
    styled,
)
from learnscope.papers.meta_split import experiments as ex
from learnscope.papers.meta_split import theory
from learnscope.papers.meta_split.fits import loss_exponents
from learnscope.papers.meta_split.real_figures import REAL_FIGURES
from learnscope.papers.meta_split.reported import LOSSES
from learnscope.probes import threshold_time

TASKS = "observed tasks K"
LOG2 = float(np.log(2))


def _log2(axes: Axes) -> None:
    axes.axhline(LOG2, color="grey", linewidth=0.8, label="log 2")


def _logarithmic(axes: Axes, ticks: np.ndarray) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])


def separation(data: xr.Dataset) -> Drawing:
    """Losses, and the features and noise learnt, by the number of tasks."""
    panels = {
        "test_loss": "test loss, before adapting (nat)",
        "adapted_test_loss": "test loss, after adapting (nat)",
        "meta_loss": "least training meta-loss (nat)",
        "test_accuracy": "test accuracy, before adapting",
        "shared_feature": "shared feature, min max j<w, ν>",
        "validation_noise": "noise of the validation half, max <w, ξ>",
    }
    figure, grid = plt.subplots(2, 3, figsize=(10.2, 6.2), sharex=True)
    for axes, (name, title) in zip(grid.flat, panels.items(), strict=True):
        for index, method in enumerate(ex.METHODS):
            one = data[name].sel(rule=method)
            one = one.min("step") if name == "meta_loss" else one.isel(step=-1)
            interval(axes, data.tasks.values, one, index, method)
        axes.set_title(title)
        _logarithmic(axes, data.tasks.values)
        if "loss" in name:
            axes.set_yscale("log")
    for axes in grid[0, :2]:
        _log2(axes)
    plt.setp(grid[1], xlabel=TASKS)
    grid[0, 0].legend(fontsize=8)
    figure.suptitle(
        f"Theorem regime: d = 1000, n = 2 + 2, m = 10, ‖ξ‖² = 24, T = {int(data.step[-1])}; "
        f"mean and 95 % of {data.sizes['seed']} seeds"
    )
    return figure


def exponent(data: xr.Dataset) -> Drawing:
    """-log of the test loss by K at several T, and c by T."""
    one = data.test_loss.sel(rule="train-validation")
    times = [int(t) for t in one.step.values if t > 0]
    shown = sorted({times[0], times[len(times) // 4], times[len(times) // 2], times[-1]})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.6))
    for index, t in enumerate(shown):
        interval(left, one.tasks.values, -np.log(one.sel(step=t)), index, f"T = {t}")
    _logarithmic(left, one.tasks.values)
    left.set_yscale("log")
    left.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    left.yaxis.set_minor_formatter(StrMethodFormatter("{x:.1g}"))
    left.set(xlabel=TASKS, ylabel="-log test loss")
    left.legend()
    powers = np.array([loss_exponents(one.sel(step=t)) for t in times])
    spread = 1.96 * powers.std(1, ddof=1) / np.sqrt(powers.shape[1])
    right.errorbar(times, powers.mean(1), spread, color=COLOURS[0], marker="o", markersize=3,
                   capsize=2)  # fmt: skip
    right.set(xlabel="outer steps T", ylabel="c of exp(-b K^c), K ≥ 8", ylim=(0, None))
    figure.suptitle(f"Train-validation: mean and 95 % of {data.sizes['seed']} seeds")
    return figure


def figure1(tables: xr.Dataset, adam: xr.Dataset) -> Drawing:
    """Test loss over time in section 5.1's setting."""
    panels = [("decoded", "5 steps", tables), ("stated", "5 steps", tables),
              ("Adam", "5 steps", adam), ("Adam", "1 step", adam)]  # fmt: skip
    figure, grid = plt.subplots(1, 4, figsize=(11.6, 3.4))
    for axes, (reading, setting, data) in zip(grid, panels, strict=True):
        for index, (split, label) in enumerate(
            zip(ex.SPLITS, ex.labels(reading, setting), strict=True)
        ):
            one = data.test_loss.sel(setting=label)
            band(axes, one.step, one, index, split, alpha=0.18)
        what = "Adam outside" if reading == "Adam" else f"{reading} (SGD)"
        axes.set(title=f"{what}, J = {setting.split()[0]}", xlabel="outer step", ylim=(0, None))
    grid[0].set_ylabel("test loss, before adapting (nat)")
    grid[0].legend()
    figure.suptitle("Figure 1: d = 1000, K = 343, n = 5 + 5; mean and range over seeds")
    return figure


def tables(data: xr.Dataset) -> Drawing:
    """Measured losses in each reading beside the printed ones."""
    readings = [r for r in ex.READINGS if r != "other rates"]
    figure, grid = plt.subplots(1, 2, figsize=(9.6, 3.8), sharey=True)
    for column, split in enumerate(ex.SPLITS):
        axes, at = grid[column], np.arange(len(ex.SETTINGS))
        printed = np.array([LOSSES[setting, split] for setting in ex.SETTINGS])
        axes.errorbar(at - 0.2, printed[:, 0], printed[:, 1], color="black", linestyle="",
                      marker="s", markersize=4, capsize=2, label="paper")  # fmt: skip
        for index, reading in enumerate(readings):
            chosen = [ex.labels(reading, setting)[column] for setting in ex.SETTINGS]
            one = data.test_loss.sel(setting=chosen).isel(step=-1)
            interval(axes, at + 0.2 * index, one, index, f"{reading} reading", linestyle="",
                     markersize=4)  # fmt: skip
        axes.set_xticks(at, [s.replace(", ", ",\n") for s in ex.SETTINGS])
        axes.set_title(split)
        _log2(axes)
    grid[0].set(ylabel="test loss, before adapting (nat)", ylim=(0, None))
    grid[1].legend()
    right = data.test_accuracy.isel(step=-1)
    figure.suptitle(
        f"Tables 1 to 3, synthetic columns: mean and 95 % of {data.sizes['seed']} seeds; test "
        f"accuracy {float(right.min()):.2f} to {float(right.max()):.2f}"
    )
    return figure


def lemmas(data: xr.Dataset) -> Drawing:
    """Amplification at the start beside the linearised factors, and growth along the run."""
    names = ("feature_amplification", "training_noise_amplification",
             "validation_noise_amplification")  # fmt: skip
    words = ("feature", "training noise", "validation noise")
    figure, grid = plt.subplots(2, 2, figsize=(9.4, 6.4))
    for axes, method in zip(grid[0], ex.SPLITS, strict=True):
        expected = theory.rates(experiment_of(data, method))
        factors = (expected.feature_factor, expected.noise_factor, expected.held_factor)
        at = np.arange(3)
        for index, (place, text) in enumerate(((0, "σ₀ = 10⁻⁹"), (-1, "σ₀ = d^-1/2"))):
            start = data.sel(rule=method).isel(scale=place, step=0)
            values = [float(start[name].mean()) for name in names]
            axes.plot(at + 0.15 * index, values, "o", color=COLOURS[index], label=text)
        axes.plot(at - 0.15, factors, "k_", markersize=14, label="linearised")
        axes.set_yscale("log")
        axes.set_xticks(at, words)
        axes.set_title(f"{method}: factor of 5 inner steps at t = 0")
    grid[0, 0].set_ylabel("after / before adapting")
    grid[0, 0].legend()
    for axes, method in zip(grid[1], ex.SPLITS, strict=True):
        one = data.sel(rule=method).isel(scale=-1)
        for index, (name, text) in enumerate(
            (("shared_feature", "shared feature, min max j<w, ν>"),
             ("task_feature", "task features, max |<w, z>|"),
             ("training_noise", "training noise, max <w, ξ>"),
             ("validation_noise", "validation noise, max <w, ξ>"))
        ):  # fmt: skip
            band(axes, one.step, one[name], index, text, "median")
        when = float(threshold_time(one.shared_feature, ex.THRESHOLD).median())
        if np.isfinite(when):
            axes.axvline(when, color="grey", linewidth=0.8, label="T⁽²⁾: feature ≥ 1/log d")
        axes.set_yscale("log")
        axes.set_xscale("symlog", linthresh=max(10, float(one.step[1])))
        axes.set(xlim=(0, float(one.step[-1])), xlabel="outer step",
                 title=f"{method}, σ₀ = d^-1/2: median and range")  # fmt: skip
    grid[1, 0].set_ylabel("inner product with filters")
    legend_below(figure, [grid[1, 1]], 3, fontsize=8)
    figure.suptitle(f"Lemmas 6.1 to 6.3, K = 16, {data.sizes['seed']} seeds")
    return figure


def rules(data: xr.Dataset) -> Drawing:
    """Every rule at the same number of gradient passes."""
    figure, grid = plt.subplots(1, 2, figsize=(9.4, 4.4), sharey=True, sharex=True)
    kinds = list(dict.fromkeys(str(rule).split(", ")[0] for rule in data.rule.values))
    panels = {"test_loss": "before adapting", "adapted_test_loss": "after adapting"}
    for axes, (name, title) in zip(grid, panels.items(), strict=True):
        for index, split in enumerate(ex.SPLITS):
            one = data[name].sel(rule=[f"{kind}, {split}" for kind in kinds]).mean("step")
            spread = 1.96 * one.std("seed", ddof=1) / np.sqrt(one.sizes["seed"])
            at = np.arange(len(kinds)) + 0.15 * (2 * index - 1)
            axes.errorbar(one.mean("seed"), at, xerr=spread, color=COLOURS[index], linestyle="",
                          marker="os"[index], markersize=5, capsize=2, label=split)  # fmt: skip
        axes.axvline(LOG2, color="grey", linewidth=0.8, label="log 2")
        axes.set(xlabel=f"test loss, {title} (nat)", xscale="log")
    grid[0].set_yticks(np.arange(len(kinds)), kinds)
    grid[0].invert_yaxis()
    legend_below(figure, grid[:1], 3)
    figure.suptitle(f"All rules, K = 16, equal gradient passes: mean and 95 % of "
                    f"{data.sizes['seed']} seeds")  # fmt: skip
    return figure


def width(data: xr.Dataset) -> Drawing:
    last = data.isel(step=-1)
    figure, grid = plt.subplots(1, 2, figsize=(8.2, 3.5), sharex=True)
    for axes, (name, text) in zip(
        grid, (("test_loss", "test loss (nat)"), ("test_accuracy", "test accuracy")), strict=True
    ):
        for index, split in enumerate(ex.SPLITS):
            interval(axes, data.width.values, last[name].sel(rule=split), index, split)
        _logarithmic(axes, data.width.values)
        axes.set(xlabel="filters of either sign m", ylabel=f"{text}, before adapting")
    grid[0].set_yscale("log")
    _log2(grid[0])
    grid[0].legend()
    figure.suptitle(f"Width, K = 16: mean and 95 % of {data.sizes['seed']} seeds")
    return figure


def centroid(linear: xr.Dataset, family: xr.Dataset) -> Drawing:
    figure, grid = plt.subplots(1, 2, figsize=(8.6, 3.6))
    panels = (
        (linear, "centroid_error", "‖ŵ₀ - w*‖²", "linear tasks around a centroid"),
        (family, "test_loss", "squared loss on fresh tasks", "this paper's data, linear model"),
    )
    for axes, (data, name, text, title) in zip(grid, panels, strict=True):
        for index, split in enumerate(ex.SPLITS):
            one = data[name].sel(rule=split).isel(step=-1)
            interval(axes, data.weight.values, one, index, split)
        axes.set(xscale="log", yscale="log", xlabel="ridge weight λ", ylabel=text, title=title)
    grid[0].legend()
    figure.suptitle(f"Ridge inside, least squares outside: mean and 95 % of "
                    f"{linear.sizes['seed']} seeds")  # fmt: skip
    return figure


def phase(data: xr.Dataset) -> Drawing:
    """Which methods learn the shared feature, over noise and tasks, and the gain of the split."""
    squared = data.noise.values**2 * (ex.DIM - ex.DICTIONARY - 1)
    last = data.isel(step=-1).mean("seed").assign_coords(noise=squared)
    gain = last.test_loss.sel(rule="train-train") - last.test_loss.sel(rule="train-validation")
    over = last.test_loss.sel(rule="vanilla") - last.test_loss.sel(rule="train-validation")
    panels = [(last.test_accuracy.sel(rule=name), f"accuracy, {name}", (name,), (0.5, 1.0))
              for name in ex.METHODS]  # fmt: skip
    panels += [
        (gain, "test loss, train-train - train-validation", ex.SPLITS, (-0.7, 0.7)),
        (over, "test loss, vanilla - train-validation", ex.METHODS[1:], (-0.7, 0.7)),
    ]
    figure, grid = plt.subplots(2, 3, figsize=(11.4, 6.6), sharex=True, sharey=True)
    for axes, (table, title, lines, (low, high)) in zip(grid.flat, panels, strict=False):
        bar = "viridis" if low == 0.5 else "RdBu"
        mesh = draw_heat_map(axes, table, "noise", "tasks", vmin=low, vmax=high, cmap=bar)
        figure.colorbar(mesh, ax=axes)
        for name in lines:
            index = ex.METHODS.index(name)
            edge = [_edge(data, name, int(k)) for k in data.tasks.values]
            draw_line(axes, np.array(edge), data.tasks.values, f"{name}, linearised",
                      color=COLOURS[index + 2], linestyle=STYLES[index])  # fmt: skip
        axes.set(title=title, xlabel="‖ξ‖²", ylabel=TASKS)
        axes.set_yscale("log", base=2)
        axes.set_yticks(data.tasks.values, [str(k) for k in data.tasks.values])
    grid[1, 2].axis("off")
    legend_below(grid[1, 2], grid.flat, 1, loc="center", title="where feature and noise grow alike")
    figure.suptitle(f"Theorem regime, T = {int(data.step[-1])}: mean of {data.sizes['seed']} "
                    "seeds, before adapting")  # fmt: skip
    return figure


def _edge(data: xr.Dataset, method: str, tasks: int) -> float:
    """||xi||^2 on the linearised boundary."""
    setting = experiment_of(data, method).replace("data.tasks", tasks)
    noise = theory.boundary(setting, "data.noise")
    return np.nan if noise is None else noise**2 * (ex.DIM - ex.DICTIONARY - 1)


FIGURES = {
    "separation": styled("Theorems 4.4 and 4.5 and J = 0, over the number of tasks",
                         ("separation",), separation),
    "exponent": styled("c of exp(-K^c), and whether it has settled", ("separation",), exponent),
    "figure1": styled("Test loss over time in section 5.1's setting", ("tables", "adam"), figure1),
    "tables": styled("Tables 1 to 3, synthetic columns", ("tables",), tables),
    "lemmas": styled("Lemmas 6.1 to 6.3: amplification and growth", ("lemmas",), lemmas),
    "rules": styled("All rules at equal budgets", ("rules",), rules),
    "width": styled("The separation over the width", ("width",), width),
    "centroid": styled("The linear-centroid reversal", ("centroid", "centroid_family"), centroid),
    "phase": styled("The train-validation advantage over noise and tasks", ("phase",), phase),
    **REAL_FIGURES,
}  # fmt: skip
