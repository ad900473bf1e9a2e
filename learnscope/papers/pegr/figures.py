"""The paper's figures 1 to 4 in three readings, three that it does not have, and 5 and 6."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from learnscope.evidence import Figure
from learnscope.figures import COLOURS, curves, legend_below, styled
from learnscope.papers.pegr import experiments as ex
from learnscope.papers.pegr import theory as pegr
from learnscope.papers.pegr.real_figures import REAL_FIGURES

_READINGS = {
    "literal": ("literal reading\n1/m, λ = 0.01", ex.CLOSING),
    "no_mean": ("without 1/m\nλ = 0.01", ex.CLOSING),
    "working": ("working setting\n1/m, λ = 2m/(σp² d)", ex.WORKING_CLOSING),
}
_RULES = ("PEGR", "FGR", "standard")
_FLOOR, _FLOOR_NOTE = 1e-6, "below 10⁻⁶ drawn there"


def _positive(values: xr.DataArray) -> xr.DataArray:
    """Values for a logarithmic axis: a network may have forgotten noise altogether."""
    return values.clip(min=_FLOOR)


def _paper_figure(variable: str, label: str, log: bool, *readings: xr.Dataset) -> Drawing:
    """One row per reading, one column per rule, one line per noise level."""
    figure, grid = plt.subplots(3, 3, figsize=(9.5, 7.6), sharex="row", sharey=not log)
    for row, (text, closing), data in zip(grid, _READINGS.values(), readings, strict=True):
        for axes, rule in zip(row, _RULES, strict=True):
            curves(axes, data[variable].sel(rule=rule), "noise", "σp = {}")
            if rule != "standard":
                axes.axvline(closing, color="0.4", linewidth=0.8, linestyle=":")
            if log:
                axes.set_yscale("log")
        row[0].set_ylabel(text)
    for axes, rule in zip(grid[0], _RULES, strict=True):
        axes.set_title(rule)
    plt.setp(grid[-1], xlabel="step")
    handles, names = grid[0, 0].get_legend_handles_labels()
    closed = Line2D([], [], color="0.4", linewidth=0.8, linestyle=":")
    figure.legend(
        [*handles, closed], [*names, "penalty switched off"], loc="outside lower center", ncols=5
    )
    figure.suptitle(f"{label}: median and 10-90 % of {readings[0].sizes['seed']} seeds")
    return figure


def figure3(*readings: xr.Dataset) -> Drawing:
    shown = [data.assign(shown=_positive(data.noise_memorisation)) for data in readings]
    return _paper_figure("shown", f"noise memorisation  max ⟨w, ξ⟩ ({_FLOOR_NOTE})", True, *shown)


def theorem(data: xr.Dataset) -> Drawing:
    """Both theorems where their condition holds."""
    panels = {
        "loss": ("training loss (nat)", False),
        "signal_learning": ("signal learning  max |⟨w, μ⟩|", True),
        "noise_memorisation": (f"noise memorisation  max ⟨w, ξ⟩\n({_FLOOR_NOTE})", True),
        "test_accuracy": ("test accuracy", False),
    }
    figure, grid = plt.subplots(2, 2, figsize=(9, 6), sharex=True)
    closing = ex.theorem_closing_time()
    for axes, (variable, (label, log)) in zip(grid.flat, panels.items(), strict=True):
        values = _positive(data[variable]) if log else data[variable]
        curves(axes, values, "rule")
        for factor in (1, 2):
            axes.axvline(factor * closing, color="0.4", linewidth=0.8, linestyle=":")
        if log:
            axes.set_yscale("log")
        axes.set_ylabel(label)
    plt.setp(grid[-1], xlabel="step (dotted: T1 and 2 T1)")
    legend_below(figure, [grid[0, 0]], 3)
    figure.suptitle(
        "Theorems 3.2 and 3.3 in ten million dimensions, where Condition 3.1 holds\n"
        f"median and 10-90 % of {data.sizes['seed']} seeds"
    )
    return figure


def bounds(literal: xr.Dataset, working: xr.Dataset, theorem_data: xr.Dataset) -> Drawing:
    """Lemma 5.5 and Proposition 5.6 along the trajectories."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.6))
    settings = [
        ("literal", literal, literal.noise**2 * ex.DIM),
        ("working", working, working.noise**2 * ex.DIM),
        ("d = 10⁷", theorem_data, ex.THEOREM["level"] ** 2),
    ]
    for position, (name, data, square) in enumerate(settings):
        ratio = data.gradient_norm / (72 * square * data.loss)
        worst = ratio.max([dim for dim in ratio.dims if dim != "step"])
        share = data.step / data.step[-1]
        left.plot(share, worst, color=COLOURS[position], label=name)
    left.axhline(1, color="k", linewidth=0.8)
    left.set(yscale="log", xlabel="share of the steps", ylabel="‖∇L‖² / (72 σp² d L), largest")
    left.set_title("Lemma 5.5: at most 1")
    left.legend()
    arm = theorem_data.sel(rule="PEGR, closed at 2 T1")
    open_ = arm.sel(step=arm.step[arm.step <= ex.theorem_closing_time(share=0.5)])
    largest = open_.gamma.max("filter")
    middle.fill_between(
        open_.step, largest.min("seed"), largest.max("seed"), color=COLOURS[0], alpha=0.4
    )
    limits = pegr.signal_bounds(*ex.THEOREM_SIZES[1:])
    middle.axhline(limits.lower, color=COLOURS[3], label="lower bound, at T1")
    middle.axhline(limits.upper, color="k", label="upper bound, up to T1")
    middle.axvline(ex.theorem_closing_time(), color="0.4", linestyle=":", label="T1 as printed")
    middle.set(yscale="log", xlabel="step", ylabel="largest γ, range of seeds")
    middle.set_title("Proposition 5.6: γ")
    middle.legend()
    rho = open_.rho_bar + open_.rho_underbar
    low, high = rho.min(["filter", "sample", "seed"]), rho.max(["filter", "sample", "seed"])
    right.fill_between(open_.step, low, high, color=COLOURS[2], alpha=0.4)
    limit = pegr.noise_bounds(*ex.THEOREM_SIZES, ex.THEOREM_NOISE, ex.THEOREM_SCALE)
    right.axhline(limit.lower, color="k", label="lower bound")
    right.axhline(0, color="k", linewidth=0.8)
    right.set(xlabel="step", ylabel="ρ, range of filters, samples, seeds")
    right.set_title("Proposition 5.6: ρ")
    right.legend()
    return figure


def success(data: xr.Dataset) -> xr.DataArray:
    """Test accuracy above 0.99 and training loss below 0.05 at the end; diverged runs fail."""
    last = data.isel(step=-1)
    return (last.test_accuracy > 0.99) & (last.loss < 0.05)


def predicted_side(data: xr.Dataset) -> xr.Dataset:
    """Whether signal outgrows noise by the linearised rates of section 5.1, and whether a step
    turns noise to more than its negative (`overshoots`), where the linearisation is poor."""

    def side(weight: float, noise: float) -> tuple[bool, bool]:
        rates = pegr.rates(ex.DIM, ex.TRAIN, ex.WIDTH, 1.0, noise, ex.RATE, weight, "sum")
        signal = rates.signal_growth - rates.signal_suppression
        change = rates.noise_growth - rates.noise_suppression
        return signal > change, change < -2

    signal, overshoots = xr.apply_ufunc(
        side, data.weight, data.noise, vectorize=True, output_core_dims=[[], []]
    )
    return xr.Dataset({"signal": signal, "overshoots": overshoots})


def phase(data: xr.Dataset) -> Drawing:
    """Success probability over (weight, noise), with what the linearised rates predict."""
    chance = success(data).sel(rule="PEGR").mean("seed").transpose("noise", "weight")
    figure, axes = plt.subplots(figsize=(7, 5))
    mesh = axes.pcolormesh(
        data.weight, data.noise, chance, vmin=0, vmax=1, cmap="viridis", shading="nearest"
    )
    axes.grid(False)
    noises = np.geomspace(float(data.noise[0]), float(data.noise[-1]), 300)
    critical = [pegr.critical_weight(x, ex.DIM, ex.WIDTH, "sum") for x in noises]
    overshoot = [2 * ex.TRAIN / (ex.RATE * (x**2 * ex.DIM) ** 2) for x in noises]
    axes.plot(critical, noises, color="#D55E00", linewidth=2, label="λ‖ξ‖² = 1: noise dies out")
    axes.plot(overshoot, noises, color="#CC79A7", linewidth=2, linestyle="--",
              label="λη‖ξ‖⁴/n = 2: a step overshoots")  # fmt: skip
    plain = pegr.critical_noise(1.0, ex.DIM, ex.TRAIN)
    axes.axhline(plain, color="black", linestyle=":", linewidth=2,
                 label="below: no penalty is needed",
                 path_effects=[withStroke(linewidth=4, foreground="white")])  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="penalty weight λ", ylabel="noise level σp",
             xlim=(float(data.weight[0]), float(data.weight[-1])),
             ylim=(float(data.noise[0]), float(data.noise[-1])))  # fmt: skip
    axes.yaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1, 2, 3]))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_title(
        "PEGR without 1/m: accuracy > 0.99 and loss < 0.05 after 1500 steps\n"
        f"{data.sizes['weight']} x {data.sizes['noise']} settings, {data.sizes['seed']} seeds"
    )
    figure.colorbar(mesh, label="share of seeds that succeed")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


_ALL = ("literal", "no_mean", "working")
FIGURES: dict[str, Figure] = {
    "figure1": styled("Training loss in three readings", _ALL,
                      partial(_paper_figure, "loss", "training loss (nat)", False)),
    "figure2": styled("Signal learning in three readings", _ALL, partial(
        _paper_figure, "signal_learning", "signal learning  max |⟨w, μ⟩|", True)),
    "figure3": styled("Noise memorisation in three readings", _ALL, figure3),
    "figure4": styled("Test accuracy in three readings", _ALL,
                      partial(_paper_figure, "test_accuracy", "test accuracy", False)),
    "theorem": styled("Theorems 3.2 and 3.3 where their condition holds", ("theorem",), theorem),
    "bounds": styled("Lemma 5.5 and Proposition 5.6", ("literal", "working", "theorem"), bounds),
    "phase": styled("Success over (weight, noise)", ("phase",), phase),
    **REAL_FIGURES,
}  # fmt: skip
