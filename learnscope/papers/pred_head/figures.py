"""Figures 1, 3, 4 and 7 on the toy, ablations, phases, and where the head succeeds."""

import math

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.evidence import wilson
from learnscope.figures import COLOURS, STYLES, band, draw_heat_map, styled
from learnscope.papers.pred_head import experiments as ex
from learnscope.papers.pred_head import theory
from learnscope.papers.pred_head.outcomes import (
    ALL,
    ALL_STRONG,
    OTHER,
    UNSETTLED,
    covered,
    law_of,
    outcome,
    phase_ends,
    times,
)

_OUTCOMES = {ALL: COLOURS[2], ALL_STRONG: COLOURS[3], OTHER: COLOURS[1], UNSETTLED: "#BBBBBB"}
_PAIRS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def figure7(training: xr.Dataset, trajectories: xr.Dataset) -> Drawing:
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.1))
    for axes, name, title in (
        (left, ex.HEAD, "(a) with a prediction head"),
        (middle, ex.BARE, "(b) without"),
    ):
        strength = abs(training.strength.sel(method_name=name))
        for index, (j, k) in enumerate(_PAIRS):
            band(axes, training.step.values, strength.isel(neuron=j, feature=k), index,
                  f"$|\\langle w_{j + 1}, v_{k + 1} \\rangle|$")  # fmt: skip
        axes.set(title=title, xlabel="step", ylabel="feature strength", ylim=(0, None))
    left.legend(fontsize=7)
    head = abs(trajectories["head"].sel(variant="by strength"))
    for index, (j, k) in enumerate(((0, 1), (1, 0))):
        band(right, trajectories.step.values, head.isel(neuron=j, other_neuron=k), index,
              f"$|E_{{{j + 1}{k + 1}}}|$")  # fmt: skip
    right.set(title="(c) the head's off-diagonal", xlabel="step", ylabel="entry")
    right.legend(fontsize=7)
    seeds = training.sizes["seed"]
    figure.suptitle(f"mean of {seeds} runs; bands: least to largest", fontsize=8)
    return figure


def figure1(training: xr.Dataset, many: xr.Dataset) -> Drawing:
    """Histograms of correlations between neurons."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    for axes, pairs, title in (
        (left, _two(training), "2 neurons trained on batches"),
        (right, _sixteen(many), "16 neurons, 4 features, population"),
    ):
        for index, (label, values) in enumerate(pairs.items()):
            weights = np.full(values.size, 1 / values.size)
            axes.hist(abs(values), bins=np.linspace(0, 1, 21), weights=weights, label=label,
                      color=COLOURS[index], alpha=0.6)  # fmt: skip
        axes.set(title=title, xlabel="|correlation| of two neurons", ylabel="share of pairs")
    left.legend()
    return figure


def _two(training: xr.Dataset) -> dict[str, np.ndarray]:
    last = training.correlation.isel(step=-1, neuron=0, other_neuron=1)
    return {name: last.sel(method_name=name).values for name in (ex.HEAD, ex.BARE)}


def _sixteen(many: xr.Dataset) -> dict[str, np.ndarray]:
    return {name: off_diagonal(many, ex.size_name(name, 16, 4)) for name in (ex.HEAD, ex.BARE)}


def off_diagonal(many: xr.Dataset, name: str) -> np.ndarray:
    """Correlations of all pairs of neurons of all runs of a setting."""
    matrix = many.population_correlation.sel(setting=name).isel(step=-1)
    values = matrix.transpose("seed", "neuron", "other_neuron").values
    width = int(np.isfinite(values[0, 0]).sum())
    return values[:, *np.triu_indices(width, 1)].ravel()


def figure3(data: xr.Dataset) -> Drawing:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.1))
    for index, name in enumerate(ex.VARIANTS):
        run = data.sel(variant=name)
        head = run["head"]
        turned = head.rename(neuron="other_neuron", other_neuron="neuron")
        skew = ((head - turned) ** 2).sum(("neuron", "other_neuron")) ** 0.5
        x = data.step.values
        left.plot(x, run.head_norm.mean("seed"), color=COLOURS[index],
                  label=f"{name}: $\\|\\mathrm{{offdiag}}(E)\\|_F$")  # fmt: skip
        left.plot(x, skew.mean("seed"), color=COLOURS[index], linestyle="--",
                  label=f"{name}: $\\|E - E^T\\|_F$")  # fmt: skip
        right.plot(x, run.head_asymmetry.mean("seed"), color=COLOURS[index], label=name)
    left.set(title="(a) rise and fall", xlabel="step", ylabel="norm")
    right.set(title="(b) asymmetry", xlabel="step", ylim=(0, 2.05),
              ylabel="$\\|E - E^T\\|_F / \\|\\mathrm{offdiag}(E)\\|_F$")  # fmt: skip
    right.axhline(math.sqrt(2), color="grey", linewidth=0.8)
    right.annotate("√2: one entry only", (0.98, math.sqrt(2) + 0.03), ha="right", fontsize=7,
                   xycoords=("axes fraction", "data"))  # fmt: skip
    left.legend(fontsize=6.5)
    right.legend(fontsize=7)
    return figure


def figure4(data: xr.Dataset) -> Drawing:
    figure, grid = plt.subplots(1, len(ex.VARIANTS), figsize=(9.5, 2.8), sharey=True)
    for index, (name, axes) in enumerate(zip(ex.VARIANTS, grid, strict=True)):
        band(axes, data.step.values, data.head_norm.sel(variant=name), index, name)
        axes.set(title=f"imbalance {name}" if "by" in name else name, xlabel="step")
    grid[0].set_ylabel("$\\|\\mathrm{offdiag}(E)\\|_F$")
    figure.suptitle(f"mean of {data.sizes['seed']} runs; bands: least to largest", fontsize=8)
    return figure


def together(training: xr.Dataset, rest: xr.Dataset) -> xr.Dataset:
    """All arms that were trained on batches, with the variables that they share."""
    names = ["share", "correlation"]
    return xr.concat([training[names], rest[names]], "method_name")


def ablations(training: xr.Dataset, rest: xr.Dataset) -> Drawing:
    """The outcomes of every arm, and the correlation of its two neurons."""
    names, data = [*ex.ABLATIONS, ex.CONTRASTIVE], together(training, rest)
    words = outcome(data.share)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
    for row, name in enumerate(names):
        start = 0.0
        for word, colour in _OUTCOMES.items():
            part = float((words.sel(method_name=name) == word).mean())
            left.barh(row, part, left=start, color=colour, label=word if row == 0 else None)
            start += part
        size = abs(data.correlation.sel(method_name=name)).isel(step=-1, neuron=0, other_neuron=1)
        right.plot(size.values, np.full(size.size, row), "o", color=COLOURS[0], alpha=0.5,
                   markersize=4)  # fmt: skip
    left.set_yticks(range(len(names)), names)
    left.invert_yaxis()
    left.set(xlabel="share of runs", xlim=(0, 1))
    right.set(xlabel="|correlation| of the two neurons at the end", xlim=(-0.03, 1.03))
    left.legend(ncols=4, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def diagram(data: xr.Dataset) -> Drawing:
    words = outcome(data.population_share)
    words = words.assign_coords(strength=words.strength / ex.WEAK)
    figure, grid = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True)
    for axes, word in zip(grid, (ALL, ALL_STRONG, UNSETTLED), strict=True):
        share = (words == word).mean("seed")
        mesh = draw_heat_map(axes, share, "ratio", "strength", vmin=0, vmax=1)
        axes.set(title=word, xlabel="head rate / encoder rate $\\eta_E/\\eta$",
                 ylabel="$\\alpha_1/\\alpha_2$" if word == ALL else "")  # fmt: skip
        axes.set_yticks([1, 1.5, 2, 3, 4], ["1", "1.5", "2", "3", "4"])
        axes.minorticks_off()
    figure.colorbar(mesh, ax=grid, label="share of initialisations")
    figure.suptitle(f"d = 1000, {data.sizes['seed']} initialisations a cell", fontsize=8)
    return figure


def dimensions(data: xr.Dataset) -> Drawing:
    words = outcome(data.population_share)
    figure, grid = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
    for axes, kind in zip(grid, (ex.HEAD, ex.BARE), strict=True):
        for index, word in enumerate((ALL, ALL_STRONG, UNSETTLED)):
            hits = words.sel(head_kind=kind) == word
            share = np.array([wilson(hits.sel(dim=d)) for d in data["dim"].values])
            axes.errorbar(
                data["dim"], share[:, 0], (share[:, :1] - share[:, 1:]).T * [[1], [-1]],
                color=_OUTCOMES[word], linestyle=STYLES[index], marker="o", markersize=3,
                capsize=2, label=word,
            )  # fmt: skip
        axes.set(xscale="log", xlabel="dimension d", title=kind, ylim=(-0.02, 1.02))
    strong = theory.collapse_probability(ex.model(), 2)
    grid[1].axhline(strong, color="black", linewidth=0.8, label="all strong, arctan formula")
    grid[0].set_ylabel("share of initialisations")
    grid[1].legend(fontsize=7)
    return figure


def no_head(data: xr.Dataset) -> Drawing:
    words = outcome(data.population_share)
    figure, axes = plt.subplots(figsize=(4.6, 3.2))
    ratios = data.strength.values / ex.WEAK
    share = np.array([wilson(words.sel(strength=s) == ALL_STRONG) for s in data.strength])
    axes.errorbar(ratios, share[:, 0], (share[:, :1] - share[:, 1:]).T * [[1], [-1]], fmt="o",
                  color=COLOURS[0], capsize=2, markersize=4,
                  label=f"measured, {data.sizes['seed']} draws")  # fmt: skip
    fine = np.linspace(1, ratios.max(), 100)
    line = [theory.collapse_probability(ex.model(ex.WEAK * r), 2) for r in fine]
    axes.plot(fine, line, color=COLOURS[3],
              label="$(\\frac{2}{\\pi} \\arctan (\\alpha_1/\\alpha_2)^{3/2})^2$")  # fmt: skip
    axes.set(xlabel="$\\alpha_1/\\alpha_2$", ylabel="P(both neurons learn the strong feature)")
    axes.legend()
    return figure


def _mark(axes: Axes, ends: np.ndarray) -> None:
    """Lines where phases end."""
    for number, end in enumerate(ends):
        if np.isfinite(end):
            axes.axvline(end, color="grey", linewidth=0.8)
            axes.annotate(f"$T_{number + 1}$", (end, 0.985), fontsize=7, ha="right", va="top",
                          xycoords=("data", "axes fraction"))  # fmt: skip


def phases(data: xr.Dataset) -> Drawing:
    dims = data["dim"].values
    figure, grid = plt.subplots(1, len(dims), figsize=(3.1 * len(dims), 3), sharey=True)
    for axes, dim in zip(grid, dims, strict=True):
        run = data.sel(dim=dim, head_kind=ex.HEAD).isel(seed=0)
        t = times(data, dim)[1:]
        for index, (j, k) in enumerate(((0, 0), (1, 1), (1, 0))):
            axes.plot(t, abs(run.strength.isel(neuron=j, feature=k))[1:], color=COLOURS[index],
                      linestyle=STYLES[index], label=f"$|B_{{{j + 1}{k + 1}}}|$")  # fmt: skip
        entry = abs(run["head"].isel(neuron=1, other_neuron=0))[1:]
        axes.plot(t, 5 * entry, color=COLOURS[3], linestyle=STYLES[3], label="$5 |E_{21}|$")
        ends = phase_ends(data, dim).working[0][:3]
        _mark(axes, ends)
        axes.set(xscale="log", xlabel="time (steps × η)", ylim=(0, 1.5), title=f"d = {dim:g}",
                 xlim=(ends[0] / 10, ends[2] * 10))  # fmt: skip
    grid[-1].legend(fontsize=7, loc="center right")
    grid[0].set_ylabel("size")
    return figure


def effects(data: xr.Dataset) -> Drawing:
    """The terms of the gradient along a trajectory: substitution, then acceleration."""
    dim = 1000.0
    run = data.sel(dim=dim, head_kind=ex.HEAD).isel(seed=0)
    t = times(data, dim)
    with jax.enable_x64(True):
        terms = theory.terms_along(
            law_of(data), *map(jnp.asarray, (
                run.strength.values, run.noise_gram.values, run["head"].values + np.eye(2)[None]))
        )  # fmt: skip
    ends = phase_ends(data, dim).working[0][:3]
    of_head = {"substitution": terms.substitution, "fading": terms.fading, "noise": terms.noise}
    of_weak = {"own growth": terms.growth, "acceleration": terms.acceleration,
               "borrowed": terms.borrowed, "competition": terms.competition}  # fmt: skip
    panels = (
        ("$-\\partial L/\\partial E_{21}$: substitution", of_head, (1, 0)),
        ("$-\\partial L/\\partial B_{22}$: acceleration", of_weak, (1, 1)),
        ("$-\\partial L/\\partial B_{21}$: the strong feature", of_weak, (1, 0)),
    )
    figure, grid = plt.subplots(1, 3, figsize=(11, 3.3))
    for axes, (title, listed, (j, k)) in zip(grid, panels, strict=True):
        sign = np.sign(run["head" if listed is of_head else "strength"].values[:, j, k])
        for index, (name, values) in enumerate(listed.items()):
            axes.plot(t[1:], (np.asarray(values)[:, j, k] * sign)[1:], color=COLOURS[index],
                      linestyle=STYLES[index], label=name)  # fmt: skip
        _mark(axes, ends)
        axes.set_yscale("symlog", linthresh=1e-7)
        axes.set(xscale="log", title=title, xlabel="time (steps × η)",
                 ylabel="term, away from 0 upwards")  # fmt: skip
        axes.set_xlim(ends[0] / 30, ends[2] * 10)
        axes.legend(fontsize=7, loc="lower left")
    figure.suptitle(f"d = {dim:g}, $\\eta_E/\\eta$ = {ex.RATIO}", fontsize=8)
    return figure


def many(data: xr.Dataset) -> Drawing:
    """The features learnt, by neurons and features."""
    learnt = covered(data.population_share)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.2))
    for index, kind in enumerate((ex.HEAD, ex.BARE)):
        for row, size in enumerate(ex.SIZES):
            values = learnt.sel(setting=ex.size_name(kind, *size)) / size[1]
            left.bar(row + 0.4 * index, float(values.mean()), 0.38, color=COLOURS[index],
                     label=kind if row == 0 else None)  # fmt: skip
            rank = data.population_rank.sel(setting=ex.size_name(kind, *size)).isel(step=-1)
            right.bar(row + 0.4 * index, float(rank.mean()), 0.38, color=COLOURS[index])
    for axes in (left, right):
        axes.set_xticks(np.arange(len(ex.SIZES)) + 0.2, [f"{m}\n{k}" for m, k in ex.SIZES])
        axes.set_xlabel("neurons (above), features (below)")
    left.set(ylabel="share of features learnt", ylim=(0, 1.15))
    right.set(ylabel="effective rank of the outputs")
    left.legend(ncols=2, loc="upper center")
    return figure


FIGURES = {
    "figure7": styled("Features learnt with and without a head", ("figure7", "trajectories"),
                      figure7),
    "figure1": styled("Correlations of neurons", ("figure7", "many"), figure1),
    "figure3": styled("The head's off-diagonal and its asymmetry", ("trajectories",), figure3),
    "figure4": styled("Trajectories of the head over runs", ("trajectories",), figure4),
    "ablations": styled("What each part is needed for", ("figure7", "ablations"), ablations),
    "diagram": styled("Success over strengths and rates", ("diagram",), diagram),
    "dimensions": styled("Success over the dimension", ("dimensions",), dimensions),
    "no_head": styled("Collapse without a head, and the arctan formula", ("no_head",), no_head),
    "phases": styled("The four phases", ("phases",), phases),
    "effects": styled("Substitution and acceleration as terms of the gradient", ("phases",),
                      effects),
    "many": styled("More neurons and features", ("many",), many),
}  # fmt: skip
