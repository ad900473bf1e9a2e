"""Figures: accuracy by step, maps of the weights, tables beside the paper's, and the theorems."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from learnscope.evidence import Figure, Quantity, computed, every, last
from learnscope.figures import COLOURS, bars, figure, over, panel, ran, steps
from learnscope.papers.input_structure import experiments as ex
from learnscope.papers.input_structure.real_figures import REAL_FIGURES
from learnscope.papers.input_structure.tables import PAPER

ACCURACY, NEAR = "test accuracy", 0.9
_STEPS = ("untrained", "after one step", "after two steps")
_SEEDS = "median and 10-90 % of seeds"
# Settings with fewer examples, by their share: at every scale it is the same.
_FEWER = dict(zip((f"n = {n}" for n in ex.COUNTS), ("half the examples", "a fifth of the examples"),
                  strict=True))  # fmt: skip


def _accuracy(
    title: str, sweep: str, settings: dict[str, Any], found: str = "",
    free: tuple[str, ...] = ex.CURVES, name: str = "test_accuracy",
) -> Figure:  # fmt: skip
    """Accuracy by step, with and without input structure, a panel for each setting."""
    shown = [*ex.CURVES, *(each + ex.FREE for each in free)]
    panels = [
        steps(name, "learner", of=sweep, where={"learner": shown, "setting": setting},
              title=words, ylabel=name.replace("_", " "), ylim=(0.3, 1.03))
        for setting, words in settings.items()
    ]  # fmt: skip
    size = (4.2 * len(panels) + 0.8, 4.4)
    heading = f"{title}{found}; {_SEEDS}"
    return figure(title, sweep, [panels], heading, size, 2 if len(panels) == 1 else 3, sharey=True)


@panel
def _map(name: str, step: int, words: str = "") -> Any:
    """The weights of seed 0 on a plane, with the truth and its opposite."""

    def draw(axes: Axes, data: Any) -> None:
        one = data["maps"].sel(data=name).isel(seed=0, step=step)
        points = one.map_position.values
        points = points[~np.isnan(points[:, 0])]
        cosine = one.truth_cosine.values[: len(points)]
        axes.scatter(*points[:-2].T, c=cosine[:-2], cmap="coolwarm", vmin=-1, vmax=1, s=9,
                     edgecolors="0.35", linewidths=0.3, zorder=3, clip_on=False,
                     label="neurons, coloured by cosine to the truth")  # fmt: skip
        for place, colour, label in ((-2, "#B00020", "truth"), (-1, "#1F4FB4", "its opposite")):
            axes.scatter(*points[place], facecolors="none", edgecolors=colour, linewidths=1.4,
                         label=label, zorder=4, marker="*", s=230, clip_on=False)  # fmt: skip
        # One scale for all steps; what lies beside the axis of the truth needs less room.
        there = abs(data["maps"].sel(data=name).isel(seed=0).map_position)
        across, up = (1.15 * float(there.isel({there.dims[-1]: i}).max()) for i in (0, 1))
        up = max(up, across / 2)
        axes.set(aspect="equal", xlim=(-across, across), ylim=(-up, up))
        near = int((abs(cosine[:-2]) > NEAR).sum())
        axes.set(xticks=[], yticks=[], title=f"{words}{_STEPS[step]}\nmax cos "
                 f"{float(one.cosine_max):.3f}, |cos| > {NEAR:g}: {near} neurons")  # fmt: skip

    return draw


def _gathered(title: str, names: Sequence[str], data: xr.Dataset) -> str:
    """The share of seed 0's neurons that point along the truth before and after one step."""
    one = data.sel(data=list(names)).isel(seed=0)
    there = one.map_position.notnull().any(one.map_position.dims[-1])
    near = (there & (abs(one.truth_cosine) > NEAR)).sum("point") - 2  # the truth, its opposite
    shares = (near / (there.sum("point") - 2)).min("data").values
    said = ("at least " if len(names) > 1 else "") + ", ".join(f"{share:.0%}" for share in shares)
    return (f"{title}: one step turns neurons to the truth, and the second keeps them there\n"
            f"({said} of neurons have |cos| > {NEAR:g}; seed 0, classical scaling)")  # fmt: skip


def _maps(title: str, *names: str) -> Figure:
    rows = [[_map(name, step, f"{_FEWER.get(name, name)}, " if len(names) > 1 else "")
             for step in range(3)]
            for name in names]  # fmt: skip
    heading = functools.partial(_gathered, title, names)
    return figure(title, "maps", rows, heading, (8.4, 1.75 * len(rows) + 1.15), 3)


def _bars(title: str, sweep: str, setting: str, key: str = "") -> Any:
    shown = [ex.NETWORK, ex.NTK, ex.RANDOM, ex.ONE, ex.TWO, ex.NETWORK + ex.FREE]
    quantity = 100 * last("test_accuracy", learner=shown, setting=setting).of(sweep)
    paper = {name: PAPER[key or setting, name] for name in shown}
    return bars(quantity, "learner", reported=paper, title=title, ylabel="test accuracy (%)",
                ylim=(0, 103), possible=(0, 100))  # fmt: skip


@panel
def _components() -> Any:
    """Relevant against background components of every neuron after the first two steps."""

    def draw(axes: Axes, data: Any) -> None:
        for step in (1, 2):
            one = data["maps"].sel(data="parity", step=step).isel(seed=0)
            axes.scatter(abs(one.relevant_component), one.background_component, s=5,
                         color=COLOURS[step], label=f"after step {step}")  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel="|mean ⟨w, M_j⟩|, j relevant",
                 ylabel="rms ⟨w, M_j⟩, j background")  # fmt: skip

    return draw


def _loss(name: str) -> Quantity:
    return last(name).of("theorem2").isel(rate=0)


_SHARE = every("relevant_share", data=["parity", "ratio 0.9", "n = 10000"]).of("maps").map(
    lambda v: v.assign_coords(data=[_FEWER.get(str(name), str(name)) for name in v["data"].values]),
    "{}")  # fmt: skip
_VALUES = {
    "relevant_error": "relevant patterns' error", "background": "largest background term",
    "free_query": "query, no structure", "tolerance": "tolerance of Theorem 4",
}  # fmt: skip
_EXACT = computed("", lambda data: data[list(_VALUES)].rename(_VALUES).to_array("of"), "population")


FIGURES: dict[str, Figure] = {
    "figure5": _accuracy("Figures 1 and 5: parity", "table1",
                         {"parity": lambda data: f"parity, d = {ran(data['table1'], 'data.dim')}"},
                         ": only the network learns, and only with structure"),
    "figure6": _maps("Figures 2 and 6, parity", "parity"),
    "figure7": _accuracy("Figure 7: interval", "table2", {"interval": "interval"}),
    "figure8": _maps("Figure 8, interval", "interval"),
    "figure9": _accuracy("Figure 9: other dimensions", "table1",
                         {"parity": "every d: the law is the same"}, ": nothing changes"),
    "figure10": _maps("Figure 10, other dimensions", *(f"d = {d}" for d in ex.DIMS)),
    "figure11": _accuracy("Figure 11: unequal classes", "varied",
                          {f"ratio {r:g}": f"share {r:g} of labels -1" for r in ex.RATIOS},
                          free=(ex.NETWORK,), name="balanced_accuracy"),
    "figure12": _maps("Figure 12, unequal classes", *(f"ratio {r:g}" for r in ex.RATIOS)),
    "figure13": _accuracy("Figure 13: fewer examples", "varied",
                          _FEWER,
                          ": the network is still superior", (ex.NETWORK,)),
    "figure14": _maps("Figure 14, fewer examples", *(f"n = {n}" for n in ex.COUNTS)),
    "figure15": _maps("Figure 15, hidden codes", "codes"),
    "figure16": figure(
        "Figure 16: Gaussian clusters", "gaussian",
        [[steps("test_accuracy", "experiment", label="set {}", ylabel=ACCURACY),
          steps(every("centre_cosine").map(lambda v: v.min("centre"), "{}"), "experiment",
                label="set {}", ylabel="cosine of the least covered centre"),
          steps(every("neuron_cosine").map(lambda v: (v > 0.95).mean("neuron"), "{}"),
                "experiment", label="set {}", ylabel="share of neurons at a centre",
                levels={"random directions": 0.107})]],
        f"Figure 16: neurons turn to the centres of Gaussian clusters; {_SEEDS}", (11, 3.8)),
    "tables": figure(
        "Tables 1 to 5: the paper's numbers and ours", ("table1", "table2", "varied"),
        [[_bars("Table 1 (and 3: every d)", "table1", "parity", "Table 1"),
          _bars("Table 2", "table2", "interval", "Table 2"),
          _bars("Table 4, ratio 0.8", "varied", "ratio 0.8")],
         [_bars("Table 4, ratio 0.9", "varied", "ratio 0.9"),
          _bars("Table 5, half the examples", "varied", "n = 25000"),
          _bars("Table 5, a fifth of the examples", "varied", "n = 10000")]],
        "Tables 1 to 5: our test accuracies beside the paper's (dashed)", (12, 7), 2,
        sharey=True),
    "emergence": figure(
        "Lemma 6: what the first two steps find", ("maps", "population"),
        [[steps(_SHARE, "data", ylabel="relevant part of ‖w‖²", ylim=(0, 1.03)), _components(),
          over(_EXACT, "patterns", "of", title="exactly, infinitely many examples", xscale="log",
               yscale="log", xlabel="patterns D", ylabel="in units of γ/σ̃, or 1")]],
        "Lemma 6: two steps find the relevant patterns", (11, 3.8)),
    "theorem1": figure(
        "Theorem 1: loss against width", "theorem1",
        [over(last("test_loss"), "width", xscale="log", xlabel="neuron pairs m",
              ylabel="test hinge loss")], "Theorem 1: the loss falls with the width (tuned rates)"),
    "theorem26": figure(
        "Theorem 26 at its printed rates", "wide",
        [over(last("loss"), "width", "relevant", label="k = {}", xscale="log",
              xlabel="neuron pairs m; T = m^(4/3)", ylabel="least hinge loss",
              levels={"p_o": 0.5, "ε": 0.1})],
        "Theorem 26: at its printed rates the loss falls with the width"),
    "theorem2": figure(
        "Theorem 2 and Corollary 3: fixed features", ("theorem2", "corollary3"),
        [[over(_loss("test_loss"), "width", "relevant", label="k = {}", ylim=(0, None),
               xlabel="random features N", ylabel="test hinge loss", levels={"p_o": 0.5}),
          over(_loss("readout_norm"), "width", "relevant", label="k = {}", ylim=(0, None),
               xlabel="random features N", ylabel="norm B"),
          over(computed("loss", lambda data: data.loss, "corollary3"), "relevant", "kernel",
               xlabel="relevant patterns k", ylabel="least test hinge loss",
               levels={"p_o": 0.5})]],
        "Theorem 2, Corollary 3: fixed features stay at p_o or above", (11, 3.8)),
    "artefacts": figure(
        "What One Step's failure depends on", ("scale", "small_background", "rounding"),
        [[over(last("test_accuracy").of("scale"), "rescale", xscale="log", ylabel=ACCURACY,
               xlabel="one step's weights multiplied by", title="float64"),
          bars(last("test_accuracy").of("small_background"), "background", "learner",
               xlabel="probability of background patterns p_o", ylabel=ACCURACY),
          over(last("cosine_max").of("rounding"), "dim", "update", xscale="log",
               xlabel="dimension d", ylabel="largest cosine after one step",
               title="same formula, other rounding (float32)")]],
        "One step fails by the scale of its weights, not by its directions", (11, 3.8)),
    **REAL_FIGURES,
}  # fmt: skip
