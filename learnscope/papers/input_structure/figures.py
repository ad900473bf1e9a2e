"""Figures: accuracy by step, maps of the weights, tables beside the paper's, and artefacts."""

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.data import GaussianParity
from learnscope.evidence import Figure, experiment_of
from learnscope.figures import COLOURS, STYLES, curves, interval, legend_below, styled
from learnscope.papers.input_structure import experiments as ex
from learnscope.papers.input_structure import reported, theory
from learnscope.papers.input_structure.mixture_figures import MIXTURE_FIGURES
from learnscope.papers.input_structure.real_figures import REAL_FIGURES
from learnscope.probes import chunk_alignment

ACCURACY = "test accuracy"
NEAR = 0.9
_LEARNERS = (ex.NETWORK, ex.NTK, ex.RANDOM)
_SHOWN = (*_LEARNERS, *(name + ex.FREE for name in _LEARNERS))


def _accuracies(panels: Sequence[tuple[xr.Dataset, str, str]], title: str) -> Drawing:
    """Test accuracy by step, with and without input structure."""
    size = (4.2 * len(panels) + 0.4, 4.4)
    figure, grid = plt.subplots(1, len(panels), figsize=size, sharey=True, squeeze=False)
    for axes, (data, suffix, name) in zip(grid[0], panels, strict=True):
        shown = data.test_accuracy.sel(learner=[method + suffix for method in _SHOWN])
        curves(axes, shown.assign_coords(learner=list(_SHOWN)), "learner")
        axes.set(xlabel="step", title=name, ylim=(0.3, 1.03))
    grid[0, 0].set_ylabel(ACCURACY)
    legend_below(figure, [grid[0, 0]], 2 if len(panels) == 1 else 3)
    figure.suptitle(f"{title}; median and 10-90 % of seeds")
    return figure


def maps(title: str, rows: dict[str, str]) -> Callable[[xr.Dataset], Drawing]:
    """The weights before training, after one step and after two, one row per data set."""

    def draw(data: xr.Dataset) -> Drawing:
        size = (8.4, 2.9 * len(rows) + 0.8)
        figure, grid = plt.subplots(len(rows), 3, figsize=size, squeeze=False)
        for row, (name, words) in enumerate(rows.items()):
            for column, when in enumerate(("initial", "after one step", "after two steps")):
                one = data.sel(data=name).isel(seed=0, step=column)
                _map(grid[row, column], one)
                near = int((np.abs(one.truth_cosine) > NEAR).sum()) - 2
                text = f"max cos {float(one.cosine_max):.3f}, |cos| > {NEAR:g}: {near} neurons"
                grid[row, column].set_title(f"{words + ', ' if words else ''}{when}\n{text}")
        legend_below(figure, [grid[0, 0]], 3)
        figure.suptitle(f"{title}: weights' directions, classical scaling, seed 0")
        return figure

    return draw


def _map(axes: Axes, one: xr.Dataset) -> None:
    points = one.map_position.values
    points = points[~np.isnan(points[:, 0])]
    cosine = one.truth_cosine.values[: len(points)]
    neurons, (truth, opposite) = points[:-2], points[-2:]
    words = "neurons, coloured by cosine to the truth"
    axes.scatter(*neurons.T, c=cosine[:-2], cmap="coolwarm", vmin=-1, vmax=1, s=9,
                 edgecolors="0.35", linewidths=0.3, label=words, zorder=4)  # fmt: skip
    star: dict[str, Any] = {"marker": "*", "s": 260, "edgecolors": "black", "linewidths": 0.6}
    axes.scatter(*truth, color="#D62728", label="ground truth", zorder=3, **star)
    axes.scatter(*opposite, color="#FF9F1C", label="its opposite", zorder=3, **star)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xticks=[], yticks=[])


def tables(*datasets: xr.Dataset) -> Drawing:
    """Test accuracy of every entry: the paper's and ours."""
    rows = [row for table in reported.TABLES.values() for row in table]
    by_table = dict(zip(reported.TABLES, datasets, strict=True))
    figure, grid = plt.subplots(1, 2, figsize=(9.6, 0.19 * len(rows) + 1.6), sharey=True)
    y = -np.arange(len(rows))
    for axes, what, label in ((grid[0], "test", "test accuracy (%)"),
                              (grid[1], "cosine", "largest cosine to the truth")):  # fmt: skip
        ours = [reported.measured(by_table[row.table], row, what) for row in rows]
        centre = np.array([np.mean(v) for v in ours])
        low, high = (np.array([f(v) for v in ours]) for f in (np.min, np.max))
        bars = np.array([centre - low, high - centre])
        axes.errorbar(centre, y, xerr=bars, color=COLOURS[0], linestyle="", marker="o",
                      markersize=4, capsize=2, label="learnscope, mean and range of seeds"
                      )  # fmt: skip
        theirs = [np.nan if v is None else v for v in (getattr(row, what) for row in rows)]
        axes.plot(theirs, y, color=COLOURS[3], linestyle="", marker="x", label="paper")
        axes.set_xlabel(label)
    grid[0].set_yticks(y, [f"{row.where}: {row.method}" for row in rows], fontsize=7)
    grid[0].set_ylim(y[-1] - 1, 1)
    legend_below(figure, grid[:1], 2)
    figure.suptitle("Tables 1 to 5: every method, the paper's number and ours")
    return figure


def theorem1(data: xr.Dataset) -> Drawing:
    """Test error by width and by step."""
    error = 1 - data.test_accuracy
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.8, 3.8))
    for index, rates in enumerate(data.rates.values):
        last = error.sel(rates=rates).isel(step=-1)
        interval(left, data.width, last.clip(1e-4), index, rates)
    left.set(xscale="log", xlabel="neuron pairs m", ylabel="test error after the last step")
    left.axhline(1 - 0.84375, color="black", linewidth=0.8, linestyle=":",
                 label="majority rule, 0.156")  # fmt: skip
    left.legend()
    tuned = error.sel(rates="tuned rates").rename(width="m")
    curves(right, tuned, "m", "m = {}")
    right.set(xlabel="step T", ylabel="test error, tuned rates")
    right.legend()
    figure.suptitle("Theorem 1: error against width and steps")
    return figure


def theorem2(data: xr.Dataset) -> Drawing:
    """Random features by their number, with the bound and the best threshold."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.9))
    for index, k in enumerate(data.relevant.values):
        one = data.sel(relevant=k).isel(step=-1)
        interval(left, data.features, one.test_loss, index, f"k = {k}")
        norm = one.readout_norm.mean("seed")
        bound = [theory.fixed_feature_bound(0.5, int(k), float(n), float(b))
                 for n, b in zip(data.features, norm, strict=True)]  # fmt: skip
        left.plot(data.features, np.maximum(bound, 0), color=COLOURS[index], linewidth=0.8,
                  linestyle=":")  # fmt: skip
        interval(right, data.features, one.readout_test_accuracy, index, f"k = {k}")
        model = experiment_of(data, str(k)).data
        right.axhline(theory.threshold_score(model), color=COLOURS[index], linewidth=0.8,
                      linestyle=":")  # fmt: skip
    for axes in (left, right):
        axes.set(xscale="log", xlabel="random features N")
        axes.legend()
    left.set_ylabel("test hinge loss")
    left.set_title("trained last layer; dotted: Theorem 2's bound\nfor its norm (0: no bound)")
    right.set_ylabel("test accuracy")
    right.set_title("least-squares last layer; dotted: best\nthreshold of the relevant count")
    figure.suptitle("Theorem 2: parity of k patterns with random features")
    return figure


def emergence(data: xr.Dataset, agreement: xr.Dataset) -> Drawing:
    """The first steps: relevant and background components, and the agreement of gradients."""
    one = data.sel(learner=ex.NETWORK)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10.4, 3.5))
    share = one.relevant_share.transpose("seed", "step")
    left.plot(data.step, share.T, color=COLOURS[0], alpha=0.6, marker="o", markersize=3)
    left.set(ylabel="relevant part of ‖w‖² in the dictionary", xlabel="step", ylim=(0, 1.03))
    for step, colour in ((1, COLOURS[1]), (2, COLOURS[2])):
        at = one.sel(step=step).isel(seed=0)
        middle.scatter(np.abs(at.relevant_component), at.background_component, s=5,
                       color=colour, label=f"after step {step}")  # fmt: skip
    middle.set(xscale="log", yscale="log", xlabel="|mean ⟨w, M_j⟩|, j relevant",
               ylabel="rms ⟨w, M_j⟩, j background")  # fmt: skip
    middle.legend()
    aligned = chunk_alignment(agreement.weight_gradient.sel(learner=ex.NETWORK).isel(seed=0))
    names = ["v₁, v̄", "v₂, v̄", "v₃, v̄", "v₁, v₂", "v₁, v₃", "v₂, v₃"]
    pairs = [aligned.pairs.sel(chunk=a, other_chunk=b) for a, b in ((1, 2), (1, 3), (2, 3))]
    values = [*(aligned.to_mean.sel(chunk=c) for c in (1, 2, 3)), *pairs]
    right.boxplot([v.values[np.isfinite(v.values)] for v in values], tick_labels=names,
                  showfliers=False)  # fmt: skip
    right.tick_params(axis="x", labelrotation=35)
    right.set(ylabel="cosine, over neurons", title="gradients of steps 0-9, 10-19, 20-29")
    figure.suptitle("Features emerge in two steps; parity, d = 500")
    return figure


def gaussian(data: xr.Dataset) -> Drawing:
    """Figure 16 in numbers: the cosine of every centre to its nearest neuron."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.7))
    for index, name in enumerate(data.experiment.values):
        model = experiment_of(data, str(name)).data
        assert isinstance(model, GaussianParity)
        label = f"{name}: d = {model.dim:g}, k = {model.factors}, σ_r = {model.noise:g}"
        one = data.sel(experiment=name)
        interval(left, data.step, one.test_accuracy, index, label)
        covered = np.sort(one.centre_cosine.isel(step=-1, seed=0).dropna("centre").values)
        right.plot(np.linspace(0, 1, covered.size), covered, color=COLOURS[index], marker="o",
                   linestyle=STYLES[index], markersize=3, label=label)  # fmt: skip
    left.set(xlabel="step", ylabel=ACCURACY)
    left.legend()
    right.set(xlabel="centres, sorted (share)", ylabel="cosine of the nearest neuron",
              ylim=(None, 1.005))  # fmt: skip
    figure.suptitle("Figure 16: Gaussian clusters at the corners of a cube")
    return figure


def artefacts(scale: xr.Dataset, rounding: xr.Dataset) -> Drawing:
    """One step fails because of its scale; its cosine falls with d because of rounding."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.8))
    one = scale.sel(learner=ex.RESCALED).isel(step=-1)
    interval(left, scale.rescale, one.test_accuracy, 0, "last layer trained on them")
    left.set(xscale="log", xlabel="one step's weights multiplied by", ylabel=ACCURACY,
             title="same directions, other scale (float32)")  # fmt: skip
    left.legend()
    last = rounding.cosine_max.isel(step=-1)
    words = {
        ex.EXACT: "(1 − 2ηλ) w − η g",
        ex.NAIVE: "w − η (g + 2λ w)",
        ex.FASTER: f"the same, η {ex.UPDATES[ex.FASTER][1]:g} times larger",
    }
    for index, update in enumerate(rounding["update"].values):
        interval(right, rounding.dim, last.sel(update=update), index, words[str(update)])
    right.plot(*zip(*reported.ONE_STEP_COSINE.items(), strict=True), "x", color=COLOURS[3],
               label="paper")  # fmt: skip
    right.set(xscale="log", xlabel="dimension d", ylabel="largest cosine after one step",
              title="same formula, other rounding (float32)")  # fmt: skip
    right.legend()
    figure.suptitle("Two artefacts of arithmetic in One Step")
    return figure


def _accuracy_figure(
    title: str, words: str, table: str, panels: Callable[[xr.Dataset], list[tuple]]
) -> Figure:
    draw = lambda data: _accuracies(panels(data), title)  # noqa: E731
    return styled(f"{title}: accuracy, {words}", (table,), draw)


def _map_figure(title: str, words: str, *rows: str) -> Figure:
    shown = {row: row if len(rows) > 1 else "" for row in rows}
    return styled(f"{title}: weights, {words}", ("maps",), maps(title, shown))


FIGURES = {
    "figure5": _accuracy_figure("Figures 1 and 5", "parity", "table1",
                                lambda data: [(data, "", "parity, d = 500")]),
    "figure6": _map_figure("Figures 2 and 6", "parity", "parity"),
    "figure7": _accuracy_figure("Figure 7", "interval", "table2",
                                lambda data: [(data, "", "interval")]),
    "figure8": _map_figure("Figure 8", "interval", "interval"),
    "figure9": _accuracy_figure("Figure 9", "other dimensions", "table3", lambda data: [
        (data.sel(dim=d), "", f"d = {d}") for d in ex.DIMS]),
    "figure10": _map_figure("Figure 10", "other dimensions", *(f"d = {d}" for d in ex.DIMS)),
    "figure11": _accuracy_figure("Figure 11", "imbalanced", "table4", lambda data: [
        (data, f" | {r:g}", f"negative class ratio {r:g}") for r in ex.RATIOS]),
    "figure12": _map_figure("Figure 12", "imbalanced", *(f"ratio {r:g}" for r in ex.RATIOS)),
    "figure13": _accuracy_figure("Figure 13", "fewer examples", "table5", lambda data: [
        (data, f" | {n:g}", f"n = {n}") for n in ex.SIZES]),
    "figure14": _map_figure("Figure 14", "fewer examples", *(f"n = {n}" for n in ex.SIZES)),
    "figure15": _map_figure("Figure 15", "hidden codes", "codes"),
    "figure16": styled("Figure 16: Gaussian clusters", ("gaussian",), gaussian),
    "tables": styled("Tables 1 to 5: the paper's numbers and ours", tuple(reported.TABLES), tables),
    "emergence": styled("Lemma 6: what the first two steps find", ("steps", "agreement"),
                        emergence),
    "theorem1": styled("Theorem 1: error against width and steps", ("theorem1",), theorem1),
    "theorem2": styled("Theorem 2: random features", ("theorem2",), theorem2),
    "artefacts": styled("Two artefacts of arithmetic", ("scale", "rounding"), artefacts),
    **REAL_FIGURES,
    **MIXTURE_FIGURES,
}  # fmt: skip
