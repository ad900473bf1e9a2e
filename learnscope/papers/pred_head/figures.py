"""Figures 1, 3, 4 and 7 on the toy, ablations, phases, and where the head succeeds."""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from learnscope.evidence import Quantity, computed, every
from learnscope.figures import COLOURS, STYLES, bars, figure, heat, histogram, over, steps
from learnscope.papers.pred_head import experiments as ex
from learnscope.papers.pred_head import quantities as q
from learnscope.papers.pred_head import theory
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.papers.pred_head.quantities import ALL, ALL_STRONG, UNSETTLED

NORM, SKEW = "$\\|\\mathrm{offdiag}(E)\\|_F$", "$\\|E - E^T\\|_F / \\|\\mathrm{offdiag}(E)\\|_F$"
_SEEDS = "median and 10-90 % of runs"


def _entries(variable: str, dims: tuple[str, str], places: list[tuple[int, int]], **where):
    """Absolute entries of a matrix, stacked along the dim `entry`."""
    letter = "B" if "feature" in dims else "E"

    def stack(values: xr.DataArray) -> xr.DataArray:
        chosen = [dict(zip(dims, place, strict=True)) for place in places]
        each = [abs(values.isel(place, drop=True)) for place in chosen]
        names = [f"$|{letter}_{{{j + 1}{k + 1}}}|$" for j, k in places]
        return xr.concat(each, "entry", coords="minimal").assign_coords(entry=names)

    return every(variable, **where).map(stack, variable)


_PAIRS = [(0, 0), (0, 1), (1, 0), (1, 1)]
_ENTRIES = _entries("head", ("neuron", "other_neuron"), _PAIRS[1:3], variant="by strength")


def _strengths(name: str) -> Quantity:
    return _entries("strength", ("neuron", "feature"), _PAIRS, method_name=name).of("toy")


def _correlations(of: str, variable: str, names: dict[str, str], dim: str) -> Quantity:
    """|Correlations| of all pairs of neurons, by head."""

    def read(data: xr.Dataset) -> xr.DataArray:
        matrix = abs(data[variable].isel(step=-1).sel({dim: list(names)}))
        width = int(np.isfinite(matrix.isel({dim: 0, "seed": 0, "neuron": 0})).sum())
        rows, columns = np.triu_indices(width, 1)
        pick = {"neuron": xr.DataArray(rows, dims="pair"),
                "other_neuron": xr.DataArray(columns, dims="pair")}  # fmt: skip
        return matrix.isel(pick).assign_coords({dim: list(names.values())}).rename({dim: "head"})

    return computed("|correlation|", read, of)


def _outcomes(variable: str, *words: str) -> Quantity:
    """The share of runs with each outcome, along the dim `outcome`."""

    def read(data) -> xr.DataArray:
        found = [q.ends(word, variable).read(data) for word in words]
        return xr.concat(found, "outcome").assign_coords(outcome=list(words))

    return Quantity("share of runs", read)


def _named(quantity: Quantity, dim: str) -> Quantity:
    """Labels in lines that fit below a bar."""

    def short(values: xr.DataArray) -> xr.DataArray:
        names = [str(name).replace("-g", "-\ng").replace(" ", "\n") for name in values[dim].values]
        return values.assign_coords({dim: names})

    return quantity.map(short, "{}")


def _formula(axes: Axes, data) -> None:
    ratios = np.linspace(1, 4, 100)
    line = [q.chance(ex.WEAK * r) for r in ratios]
    over(q.ends(ALL_STRONG), "alpha", x=data["no_head"].alpha.values / ex.WEAK)(axes, data)
    axes.plot(ratios, line, color=COLOURS[3],
              label="$(\\frac{2}{\\pi} \\arctan (\\alpha_1/\\alpha_2)^{3/2})^2$")  # fmt: skip
    axes.set(xlabel="$\\alpha_1/\\alpha_2$", ylabel="P(both neurons learn the strong feature)")


def _ratio(**more):
    def relative(values: xr.DataArray) -> xr.DataArray:
        return values.assign_coords(alpha=values.alpha / ex.WEAK)

    return [heat(q.ends(word).map(relative, word), "ratio", "alpha", "share of starts", vmin=0,
                 vmax=1, title=word, xlabel="$\\eta_E/\\eta$", ylabel="$\\alpha_1/\\alpha_2$")
            for word in (ALL, ALL_STRONG, UNSETTLED)]  # fmt: skip


def _times(data: xr.Dataset) -> xr.DataArray:
    """T1, T2 - T1, T3,1 - T2 and T4 - T3 over d^2."""
    kept = {1: "$T_1$", 2: "$T_2 - T_1$", 3: "$T_{3,1} - T_2$", 5: "$T_4 - T_3$"}
    times = data.elapsed.isel(step=list(kept), drop=True).rename(step="phase")
    return times.drop_vars("event").assign_coords(phase=list(kept.values())).reset_coords(drop=True)


def _path(dim: float):
    """Overlaps and the head's entry along a flow."""

    def draw(axes: Axes, data) -> None:
        run = data["paths"].sel(dim=dim).isel(seed=0)
        t = _clock(run)
        for index, (j, k) in enumerate(((0, 0), (1, 1), (1, 0))):
            axes.plot(t, abs(run.strength.isel(neuron=j, feature=k))[1:], color=COLOURS[index],
                      linestyle=STYLES[index], label=f"$|B_{{{j + 1}{k + 1}}}|$")  # fmt: skip
        entry = abs(run["head"].isel(neuron=1, other_neuron=0))[1:]
        axes.plot(t, 5 * entry, color=COLOURS[3], linestyle=STYLES[3], label="$5 |E_{21}|$")
        axes.set(xscale="log", xlabel="time (steps × η)", ylim=(0, 1.5), title=f"d = {dim:g}",
                 xlim=(1e-5 * dim**2, 1e3 * dim**1.75), ylabel="size")  # fmt: skip

    return draw


def _clock(run: xr.Dataset) -> np.ndarray:
    """The ends of a flow's steps."""
    first, last, k = float(run["rule.first"]), float(run["rule.horizon"]), run.step.values[1:]
    return first * (last / first) ** ((k - 1) / (k[-1] - 1))


def _effect(title: str, place: tuple[int, int], names: dict[str, str]):
    """Terms of the gradient along the flow at d = 1000."""

    def draw(axes: Axes, data) -> None:
        run = data["paths"].sel(dim=1e3).isel(seed=0)
        with jax.enable_x64(True):
            law = jax.tree.map(lambda x: jnp.asarray(x, float), theory.Law.of(ex.model()))
            head = run["head"].values + np.eye(2)[None]
            along = map(jnp.asarray, (run.strength.values, run.noise_gram.values, head))
            terms = jax.vmap(theory.gradient_terms, (None, 0, 0, 0))(law, *along)
        of = "head" if "substitution" in names else "strength"
        sign = np.sign(run[of].values[:, *place])
        for index, (name, label) in enumerate(names.items()):
            values = np.asarray(getattr(terms, name))[:, *place] * sign
            axes.plot(_clock(run), values[1:], color=COLOURS[index], linestyle=STYLES[index],
                      label=label)  # fmt: skip
        axes.set_yscale("symlog", linthresh=1e-7)
        axes.set(xscale="log", title=title, xlabel="time (steps × η)", xlim=(10, 1e6),
                 ylabel="term, away from 0 upwards")  # fmt: skip

    return draw


_OF_HEAD = {"substitution": "substitution", "fading": "fading", "noise": "noise"}
_OF_WEAK = {"growth": "own growth", "acceleration": "acceleration", "borrowed": "borrowed",
            "competition": "competition"}  # fmt: skip
_MANY = {ex.size_name(kind, *size): (kind, f"{size[0]} neurons,\n{size[1]} features")
         for size in ex.WIDTHS for kind in (HEAD, BARE)}  # fmt: skip


def _by_size(data: xr.Dataset) -> xr.DataArray:
    sizes = list(dict.fromkeys(size for _, size in _MANY.values()))
    found = q.covered().read({"many": data})
    rows = [found.sel(setting=[n for n, (k, _) in _MANY.items() if k == kind])
            .assign_coords(setting=sizes) for kind in (HEAD, BARE)]  # fmt: skip
    return xr.concat(rows, "head").assign_coords(head=[HEAD, BARE])


FIGURES = {
    "figure7": figure(
        "Features learnt with and without a head", ("toy", "trajectories"),
        [[steps(_strengths(HEAD), "entry", title="(a) with a prediction head", ylim=(0, None)),
          steps(_strengths(BARE), "entry", title="(b) without", ylim=(0, None)),
          steps(_ENTRIES.of("trajectories"), "entry", title="(c) the head's off-diagonal")]],
        _SEEDS),
    "figure1": figure(
        "Correlations of neurons", ("toy", "many"),
        [histogram(_correlations("toy", "correlation", {HEAD: HEAD, BARE: BARE}, "method_name"),
                   "head", np.linspace(0, 1, 21), title="2 neurons trained on batches",
                   xlabel="|correlation| of two neurons", ylabel="density"),
         histogram(_correlations("many", "population_correlation", {
             ex.size_name(kind, 16, 4): kind for kind in (HEAD, BARE)}, "setting"), "head",
             np.linspace(0, 1, 21), title="16 neurons, 4 features, population",
             xlabel="|correlation| of two neurons", ylabel="density")], size=(8, 3.4)),
    "figure3": figure(
        "The head's off-diagonal and its asymmetry", "trajectories",
        [steps("head_norm", "variant", title="(a) rise and fall", ylabel=NORM),
         steps("head_asymmetry", "variant", title="(b) asymmetry", ylabel=SKEW, ylim=(0, 2.05),
               levels={"√2: one entry only": 2**0.5})], _SEEDS, (8.4, 3.8)),
    "figure4": figure(
        "Trajectories of the head over runs", "trajectories",
        [[steps("head_norm", "variant", where={"variant": [name]}, ylabel=NORM)
          for name in ex.VARIANTS]], _SEEDS, (9.8, 3.2)),
    "ablations": figure(
        "What each part is needed for", "toy",
        [bars(_named(_outcomes("share", ALL, ALL_STRONG, UNSETTLED), "method_name"), "method_name",
              "outcome", ylabel="share of runs", ylim=(0, 1.3))], size=(11, 3.8)),
    "diagram": figure("Success over strengths and rates", "diagram", [_ratio()],
                      lambda data: f"d = 1000, {data.sizes['seed']} starts a cell", (11.5, 3.6)),
    "dimensions": figure(
        "Success over the dimension", ("dimensions", "growing"),
        [[over(q.ends(word).of(of), "dim", "head_kind", xscale="log", ylim=(-0.02, 1.02),
               title=f"{word}, $\\alpha_1/\\alpha_2$ = {ratio}", xlabel="dimension d",
               ylabel="share of starts")
          for of, ratio in (("dimensions", "2"), ("growing", "log d"))
          for word in (ALL, ALL_STRONG)]], size=(12.5, 3.4)),
    "no_head": figure("Collapse without a head, and the arctan formula", "no_head", [_formula]),
    "phases": figure("The four phases", "paths", [[_path(1e3), _path(1e6)]], size=(8, 3.4)),
    "times": figure(
        "How long the phases take", "phases",
        [over(computed("time", _times), "dim", "phase", xscale="log", yscale="log",
              xlabel="dimension d", ylabel="time (steps × η)")],
        "The phases take $d^2$, $d^{1.5}$, $d^{1.625}$ and no time"),
    "effects": figure(
        "Substitution and acceleration as terms of the gradient", "paths",
        [[_effect("$-\\partial L/\\partial E_{21}$: substitution", (1, 0), _OF_HEAD),
          _effect("$-\\partial L/\\partial B_{22}$: acceleration", (1, 1), _OF_WEAK),
          _effect("$-\\partial L/\\partial B_{21}$: the strong feature", (1, 0), _OF_WEAK)]],
        "d = 1000, $\\eta_E/\\eta$ = 0.05", (11.5, 3.8)),
    "many": figure("More neurons and features", "many", [bars(
        computed("share of features learnt", _by_size), "setting", "head", ylim=(0, 1.2),
        ylabel="share of features learnt")]),
}  # fmt: skip
