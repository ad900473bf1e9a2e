"""Accuracy against steps, maps of the weights, tables beside the paper's, theorems, artefacts."""

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.data import GaussianParity
from learnscope.probes import chunk_alignment
from learnscope.studies.drawing import COLOURS, STYLES, curves, interval, style
from learnscope.studies.input_structure import reported
from learnscope.studies.input_structure.experiments import (
    DIMS,
    EXACT,
    FASTER,
    FREE,
    NAIVE,
    NETWORK,
    NTK,
    RANDOM,
    RATIOS,
    RESCALED,
    SIZES,
    UPDATES,
)
from learnscope.studies.input_structure.mixture_figures import MIXTURE_FIGURES
from learnscope.studies.input_structure.real_figures import REAL_FIGURES
from learnscope.studies.study import Figure, experiment_of
from learnscope.theory import input_structure as theory

ACCURACY = "test accuracy"
NEAR = 0.9
_SHOWN = (NETWORK, NTK, RANDOM)


def _accuracy_panel(axes: Axes, data: xr.Dataset, suffix: str, title: str) -> None:
    """Methods with and without structure against the step."""
    names = [m + suffix for m in _SHOWN] + [m + FREE + suffix for m in _SHOWN]
    shown = data.test_accuracy.sel(learner=names)
    labels = [*_SHOWN, *(m + FREE for m in _SHOWN)]
    curves(axes, shown.assign_coords(learner=labels), "learner")
    axes.set_xlabel("step")
    axes.set_title(title)
    axes.set_ylim(0.3, 1.03)


def _accuracies(panels: Sequence[tuple[xr.Dataset, str, str]], title: str) -> Drawing:
    with style():
        size = (4.2 * len(panels) + 0.4, 4.4)
        figure, grid = plt.subplots(1, len(panels), figsize=size, sharey=True, squeeze=False)
        for axes, (data, suffix, name) in zip(grid[0], panels, strict=True):
            _accuracy_panel(axes, data, suffix, name)
        grid[0, 0].set_ylabel(ACCURACY)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        columns = 2 if len(panels) == 1 else 3
        figure.legend(handles, labels, loc="outside lower center", ncols=columns)
        figure.suptitle(f"{title}; median and 10-90 % of seeds")
    return figure


def figure5(data: xr.Dataset) -> Drawing:
    return _accuracies([(data, "", "parity, d = 500")], "Figures 1 and 5")


def figure7(data: xr.Dataset) -> Drawing:
    return _accuracies([(data, "", "interval")], "Figure 7")


def figure9(data: xr.Dataset) -> Drawing:
    return _accuracies([(data.sel(dim=d), "", f"d = {d}") for d in DIMS], "Figure 9")


def figure11(data: xr.Dataset) -> Drawing:
    panels = [(data, f" | {r:g}", f"negative class ratio {r:g}") for r in RATIOS]
    return _accuracies(panels, "Figure 11")


def figure13(data: xr.Dataset) -> Drawing:
    return _accuracies([(data, f" | {n:g}", f"n = {n}") for n in SIZES], "Figure 13")


def maps(title: str, rows: dict[str, str]) -> Callable[[xr.Dataset], Drawing]:
    """A row a data set: the weights at first, after one step, after two."""

    def draw(data: xr.Dataset) -> Drawing:
        with style():
            size = (8.4, 2.9 * len(rows) + 0.8)
            figure, grid = plt.subplots(len(rows), 3, figsize=size, squeeze=False)
            for row, (name, words) in enumerate(rows.items()):
                for column, when in enumerate(("initial", "after one step", "after two steps")):
                    one = data.sel(data=name).isel(seed=0, step=column)
                    _map(grid[row, column], one)
                    near = int((np.abs(one.truth_cosine) > NEAR).sum()) - 2
                    told = f"max cos {float(one.cosine_max):.3f}, |cos| > {NEAR:g}: {near} neurons"
                    grid[row, column].set_title(f"{words + ', ' if words else ''}{when}\n{told}")
            handles, labels = grid[0, 0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=3)
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
    axes.set_xticks([])
    axes.set_yticks([])


def tables(*datasets: xr.Dataset) -> Drawing:
    """Test accuracy of every entry: the paper's and ours."""
    rows = [row for table in reported.TABLES.values() for row in table]
    by_table = dict(zip(reported.TABLES, datasets, strict=True))
    with style():
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
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        figure.suptitle("Tables 1 to 5: every method, the paper's number and ours")
    return figure


def theorem1(data: xr.Dataset) -> Drawing:
    """Error against the width and against the number of steps."""
    error = 1 - data.test_accuracy
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.8, 3.8))
        for index, rates in enumerate(data.rates.values):
            last = error.sel(rates=rates).isel(step=-1)
            interval(left, data.width, last.clip(1e-4), index, rates)
        left.set_xscale("log")
        left.set_xlabel("neuron pairs m")
        left.set_ylabel("test error after the last step")
        left.axhline(1 - 0.84375, color="black", linewidth=0.8, linestyle=":",
                     label="majority rule, 0.156")  # fmt: skip
        left.legend()
        tuned = error.sel(rates="tuned rates").rename(width="m")
        curves(right, tuned, "m", "m = {}")
        right.set_xlabel("step T")
        right.set_ylabel("test error, tuned rates")
        right.legend()
        figure.suptitle("Theorem 1: error against width and steps")
    return figure


def theorem2(data: xr.Dataset) -> Drawing:
    """Random features against their number, with the bound and the best threshold."""
    with style():
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
            axes.set_xscale("log")
            axes.set_xlabel("random features N")
            axes.legend()
        left.set_ylabel("test hinge loss")
        left.set_title("trained last layer; dotted: Theorem 2's bound\nfor its norm (0: no bound)")
        right.set_ylabel("test accuracy")
        right.set_title("least-squares last layer; dotted: best\nthreshold of the relevant count")
        figure.suptitle("Theorem 2: parity of k patterns with random features")
    return figure


def emergence(data: xr.Dataset, agreement: xr.Dataset) -> Drawing:
    """What the first steps find: relevant and background components, and whether they agree."""
    one = data.sel(learner=NETWORK)
    with style():
        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10.4, 3.5))
        share = one.relevant_share.transpose("seed", "step")
        left.plot(data.step, share.T, color=COLOURS[0], alpha=0.6, marker="o", markersize=3)
        left.set_ylabel("relevant part of ‖w‖² in the dictionary")
        left.set_xlabel("step")
        left.set_ylim(0, 1.03)
        for step, colour in ((1, COLOURS[1]), (2, COLOURS[2])):
            at = one.sel(step=step).isel(seed=0)
            middle.scatter(np.abs(at.relevant_component), at.background_component, s=5,
                           color=colour, label=f"after step {step}")  # fmt: skip
        middle.set_xscale("log")
        middle.set_yscale("log")
        middle.set_xlabel("|mean ⟨w, M_j⟩|, j relevant")
        middle.set_ylabel("rms ⟨w, M_j⟩, j background")
        middle.legend()
        found = chunk_alignment(agreement.weight_gradient.sel(learner=NETWORK).isel(seed=0))
        names = ["v₁, v̄", "v₂, v̄", "v₃, v̄", "v₁, v₂", "v₁, v₃", "v₂, v₃"]
        pairs = [found.pairs.sel(chunk=a, other_chunk=b) for a, b in ((1, 2), (1, 3), (2, 3))]
        values = [*(found.to_mean.sel(chunk=c) for c in (1, 2, 3)), *pairs]
        right.boxplot([v.values[np.isfinite(v.values)] for v in values], tick_labels=names,
                      showfliers=False)  # fmt: skip
        right.tick_params(axis="x", labelrotation=35)
        right.set_ylabel("cosine, over neurons")
        right.set_title("gradients of steps 0-9, 10-19, 20-29")
        figure.suptitle("Features emerge in two steps; parity, d = 500")
    return figure


def gaussian(data: xr.Dataset) -> Drawing:
    """Figure 16 in numbers: how close the nearest neuron comes to every centre."""
    with style():
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
        left.set_xlabel("step")
        left.set_ylabel(ACCURACY)
        left.legend()
        right.set_xlabel("centres, sorted (share)")
        right.set_ylabel("cosine of the nearest neuron")
        right.set_ylim(top=1.005)
        figure.suptitle("Figure 16: Gaussian clusters at the corners of a cube")
    return figure


def artefacts(scale: xr.Dataset, rounding: xr.Dataset) -> Drawing:
    """One step fails by its scale, and its cosine falls with d by rounding."""
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.8))
        one = scale.sel(learner=RESCALED).isel(step=-1)
        interval(left, scale.rescale, one.test_accuracy, 0, "last layer trained on them")
        left.set_xscale("log")
        left.set_xlabel("one step's weights multiplied by")
        left.set_ylabel(ACCURACY)
        left.set_title("same directions, other scale (float32)")
        left.legend()
        last = rounding.cosine_max.isel(step=-1)
        words = {
            EXACT: "(1 − 2ηλ) w − η g",
            NAIVE: "w − η (g + 2λ w)",
            FASTER: f"the same, η {UPDATES[FASTER][1]:g} times larger",
        }
        for index, update in enumerate(rounding["update"].values):
            interval(right, rounding.dim, last.sel(update=update), index, words[str(update)])
        right.plot(*zip(*reported.ONE_STEP_COSINE.items(), strict=True), "x", color=COLOURS[3],
                   label="paper")  # fmt: skip
        right.set_xscale("log")
        right.set_xlabel("dimension d")
        right.set_ylabel("largest cosine after one step")
        right.set_title("same formula, other rounding (float32)")
        right.legend()
        figure.suptitle("Two artefacts of arithmetic in One Step")
    return figure


_TABLES = tuple(f"table{i}" for i in range(1, 6))
FIGURES = {
    "figure5": Figure("Figures 1 and 5: accuracy, parity", ("table1",), figure5),
    "figure6": Figure(
        "Figures 2 and 6: weights, parity", ("maps",), maps("Figures 2 and 6", {"parity": ""})
    ),
    "figure7": Figure("Figure 7: accuracy, interval", ("table2",), figure7),
    "figure8": Figure("Figure 8: weights, interval", ("maps",), maps("Figure 8", {"interval": ""})),
    "figure9": Figure("Figure 9: accuracy, other dimensions", ("table3",), figure9),
    "figure10": Figure(
        "Figure 10: weights, other dimensions",
        ("maps",),
        maps("Figure 10", {f"d = {d}": f"d = {d}" for d in DIMS}),
    ),
    "figure11": Figure("Figure 11: accuracy, imbalanced", ("table4",), figure11),
    "figure12": Figure(
        "Figure 12: weights, imbalanced",
        ("maps",),
        maps("Figure 12", {f"ratio {r:g}": f"ratio {r:g}" for r in RATIOS}),
    ),
    "figure13": Figure("Figure 13: accuracy, fewer examples", ("table5",), figure13),
    "figure14": Figure(
        "Figure 14: weights, fewer examples",
        ("maps",),
        maps("Figure 14", {f"n = {n}": f"n = {n}" for n in SIZES}),
    ),
    "figure15": Figure(
        "Figure 15: weights, hidden codes", ("maps",), maps("Figure 15", {"codes": ""})
    ),
    "figure16": Figure("Figure 16: Gaussian clusters", ("gaussian",), gaussian),
    "tables": Figure("Tables 1 to 5: the paper's numbers and ours", _TABLES, tables),
    "emergence": Figure(
        "Lemma 6: what the first two steps find", ("steps", "agreement"), emergence
    ),
    "theorem1": Figure("Theorem 1: error against width and steps", ("theorem1",), theorem1),
    "theorem2": Figure("Theorem 2: random features", ("theorem2",), theorem2),
    "artefacts": Figure("Two artefacts of arithmetic", ("scale", "rounding"), artefacts),
    **REAL_FIGURES,
    **MIXTURE_FIGURES,
}
