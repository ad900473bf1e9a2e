"""Figures 1, 3, 4 and 7 on the toy, ablations, phases, and where the head succeeds."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from learnscope import figures
from learnscope.evidence import Quantity, computed, every
from learnscope.figures import COLOURS, STYLES, bars, heat, histogram, over, steps
from learnscope.papers.pred_head import experiments as ex
from learnscope.papers.pred_head import quantities as q
from learnscope.papers.pred_head import theory
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.papers.pred_head.quantities import ALL, ALL_STRONG, UNSETTLED
from learnscope.papers.pred_head.real_figures import NORM, REAL_FIGURES, SKEW

figure = functools.partial(figures.figure, titled=True)
_SEEDS = "median and 10-90 % of runs"


def _entries(variable: str, dims: tuple[str, str], places: list[str], **where) -> Quantity:
    """Absolute entries of a matrix, stacked along the dim `entry`; a place is "B12" or "E21"."""

    def stack(values: xr.DataArray) -> xr.DataArray:
        each = [abs(values.isel({dims[0]: int(j) - 1, dims[1]: int(k) - 1}, drop=True))
                for _, j, k in places]  # fmt: skip
        names = [f"$|{letter}_{{{j}{k}}}|$" for letter, j, k in places]
        return xr.concat(each, "entry", coords="minimal").assign_coords(entry=names)

    return every(variable, **where).map(stack, variable)


def _strengths(name: str) -> Quantity:
    places = ["B11", "B12", "B21", "B22"]
    return _entries("strength", ("neuron", "feature"), places, method_name=name).of("toy")


def _learnt(toy: xr.Dataset, *_: xr.Dataset) -> str:
    """How many runs end as the title says."""
    both, strong = (
        int(q.ends(word, "share", method_name=arm).read({"toy": toy}).sum())
        for word, arm in ((ALL, HEAD), (ALL_STRONG, BARE))
    )
    runs = toy.sizes["seed"]
    return (f"With a head {both} of {runs} runs learn both features; without one, both neurons "
            f"learn the strong feature in {strong} of {runs}\n({_SEEDS}; features: 1 is strong, "
            "2 is weak)")  # fmt: skip


def _one_entry(data: xr.Dataset) -> str:
    """How high the off-diagonal rises, where it ends, and how asymmetric it is at its height."""
    one = data.sel(variant="by strength")
    norm = one.head_norm.median("seed")
    skew = (one.head_norm * one.head_asymmetry).median("seed")
    return (f"By strength, the head's off-diagonal rises to {float(norm.max()):.2f} and ends at "
            f"{float(norm.isel(step=-1)):.3f};\nits asymmetry peaks at "
            f"{float(skew.max() / norm.max()):.2f} times that height (√2: one entry alone moves); "
            f"{_SEEDS}")  # fmt: skip


_ENTRIES = _entries("head", ("neuron", "other_neuron"), ["E12", "E21"], variant="by strength")


def _correlations(of: str, variable: str, names: dict[str, str], dim: str, title: str):
    """|Correlations| of all pairs of neurons, by head; `names` are heads by arm."""

    def read(data: xr.Dataset) -> xr.DataArray:
        matrix = abs(data[variable].isel(step=-1).sel({dim: list(names)}))
        width = int(np.isfinite(matrix.isel({dim: 0, "seed": 0, "neuron": 0})).sum())
        pair = [xr.DataArray(side, dims="pair") for side in np.triu_indices(width, 1)]
        pairs = matrix.isel(neuron=pair[0], other_neuron=pair[1])
        return pairs.assign_coords({dim: list(names.values())}).rename({dim: "head"})

    return histogram(computed("|correlation|", read, of), "head", np.linspace(0, 1, 21),
                     title=title, xlabel="|correlation| of two neurons",
                     ylabel="density")  # fmt: skip


def _outcomes(*words: str) -> Quantity:
    """The share of runs with each outcome, along the dim `outcome`."""

    def read(data) -> xr.DataArray:
        found = [q.ends(word, "share").read(data) for word in words]
        return xr.concat(found, "outcome").assign_coords(outcome=list(words))

    return Quantity("share of runs", read)


def _formula(axes: Axes, data) -> None:
    ratios = np.linspace(1, 4, 100)
    ratio = data["no_head"].alpha.values / ex.WEAK
    over(q.ends(ALL_STRONG), "alpha", x=ratio, possible=(0, 1))(axes, data)
    axes.lines[0].set_linestyle("")  # between points there is the formula
    axes.plot(ratios, [q.chance(ex.WEAK * r) for r in ratios], color=COLOURS[3],
              label="$(\\frac{2}{\\pi} \\arctan((\\alpha_1/\\alpha_2)^{3/2}))^2$")  # fmt: skip
    axes.set(xlabel="$\\alpha_1/\\alpha_2$", ylabel="P(both neurons learn the strong feature)")


def _success(word: str):
    """The share of starts with an outcome over rates and relative strengths."""
    relative = q.ends(word).map(lambda v: v.assign_coords(alpha=v.alpha / ex.WEAK), word)
    return heat(relative, "ratio", "alpha", "share of starts", vmin=0, vmax=1, title=word,
                xlabel="$\\eta_E/\\eta$", ylabel="$\\alpha_1/\\alpha_2$")  # fmt: skip


def _times(data: xr.Dataset) -> xr.DataArray:
    """T1, T2 - T1, T3,1 - T2 and T4 - T3."""
    kept = {1: "$T_1$", 2: "$T_2 - T_1$", 3: "$T_{3,1} - T_2$", 5: "$T_4 - T_3$"}
    times = data.elapsed.isel(step=list(kept), drop=True).rename(step="phase")
    return times.drop_vars("event").assign_coords(phase=list(kept.values())).reset_coords(drop=True)


def _along(axes: Axes, run: xr.Dataset, lines: dict[str, np.ndarray], **look) -> None:
    """Lines by label along a flow, over the ends of its steps in units of d^2 (Lemma 5.1)."""
    first, end, k = float(run["rule.first"]), float(run["rule.horizon"]), run.step.values[1:]
    clock = first * (end / first) ** ((k - 1) / (k[-1] - 1))
    for index, (label, values) in enumerate(lines.items()):
        axes.plot(clock / float(run["dim"]) ** 2, values[1:], color=COLOURS[index],
                  linestyle=STYLES[index], label=label)  # fmt: skip
    axes.set(xscale="log", xlabel="time (steps × η) / d²", xlim=(1e-5, 1.0), **look)


def _path(dim: float):
    """Overlaps and the head's entry along a flow."""

    def draw(axes: Axes, data) -> None:
        run = data["paths"].sel(dim=dim).isel(seed=0)
        strength, entry = abs(run.strength), abs(run["head"].isel(neuron=1, other_neuron=0))
        places = {"$|B_{11}|$": (0, 0), "$|B_{22}|$": (1, 1), "$|B_{21}|$": (1, 0)}
        lines = {label: strength.isel(neuron=j, feature=k) for label, (j, k) in places.items()}
        _along(axes, run, {**lines, "$5 |E_{21}|$": 5 * entry}, title=f"d = {figures.number(dim)}",
               ylabel="size", ylim=(-0.15, 1.5))  # fmt: skip

    return draw


def _effect(title: str, of: str, place: tuple[int, int], names: dict[str, str]):
    """Terms of the gradient by the head or the strengths, along the flow at `ex.DIM`."""

    def draw(axes: Axes, data) -> None:
        run = data["paths"].sel(dim=ex.DIM).isel(seed=0)
        axes.set_yscale("symlog", linthresh=1e-7)
        _along(axes, run, _terms(run, of, place, names), title=title,
               ylabel="term; positive: away from 0")  # fmt: skip

    return draw


def _terms(
    run: xr.Dataset, of: str, place: tuple[int, int], names: dict[str, str]
) -> dict[str, np.ndarray]:
    """Terms of the gradient by label, at every record; positive ones lead away from 0."""
    with jax.enable_x64(True):
        law = jax.tree.map(lambda x: jnp.asarray(x, float), theory.Law.of(ex.model()))
        head = run["head"].values + np.eye(2)[None]
        along = map(jnp.asarray, (run.strength.values, run.noise_gram.values, head))
        terms = jax.vmap(theory.gradient_terms, (None, 0, 0, 0))(law, *along)
    sign = np.sign(run[of].values[:, *place])
    return {label: np.asarray(getattr(terms, name))[:, *place] * sign
            for name, label in names.items()}  # fmt: skip


def _accelerated(data: xr.Dataset) -> str:
    """How far acceleration exceeds own growth, at its largest."""
    run = data.sel(dim=ex.DIM).isel(seed=0)
    terms = _terms(run, "strength", (1, 1), _OF_WEAK)
    at = int(np.argmax(terms["acceleration"]))
    before = slice(at + 1)  # until then the weak feature is small
    most = float(np.max(terms["acceleration"][before] / terms["own growth"][before]))
    return (f"The weak feature's acceleration reaches {figures.number(float(f'{most:.2g}'))} "
            f"times its own growth\n(d = {ex.DIM:,}, $\\eta_E/\\eta$ = {ex.RATIO:g})")  # fmt: skip


_OF_HEAD = {"substitution": "substitution", "fading": "fading", "noise": "noise"}
_OF_WEAK = {"growth": "own growth", "acceleration": "acceleration", "borrowed": "borrowed",
            "competition": "competition"}  # fmt: skip


def _by_size(data: xr.Dataset) -> xr.DataArray:
    """The share of features learnt, by numbers of neurons and features, and by head."""
    found, sizes = q.covered().read({"many": data}), [f"{m} neurons,\n{n} features"
                                                      for m, n in ex.WIDTHS]  # fmt: skip
    rows = [found.sel(setting=[ex.size_name(kind, *size) for size in ex.WIDTHS])
            .assign_coords(setting=sizes) for kind in (HEAD, BARE)]  # fmt: skip
    return xr.concat(rows, "head").assign_coords(head=[HEAD, BARE])


FIGURES = {
    "figure7": figure(
        "With a head the slower neuron learns the weak feature; without one both learn the strong",
        ("toy", "trajectories"),
        [[steps(_strengths(HEAD), "entry", title="(a) with a prediction head", ylim=(0, 1.3),
                ylabel="overlap of neuron j with feature l, $|B_{jl}|$"),
          steps(_strengths(BARE), "entry", title="(b) without", ylim=(0, 1.3)),
          steps(_ENTRIES.of("trajectories"), "entry", title="(c) the head's off-diagonal",
                ylim=(0, None), ylabel="$|E_{jk}|$")]],
        _learnt, (10.5, 3.8), titled=False),
    "figure1": figure(
        "Without a head two neurons are copies; from random starts not all of many are",
        ("toy", "many"),
        [_correlations("toy", "correlation", {HEAD: HEAD, BARE: BARE}, "method_name",
                       "2 neurons trained on batches"),
         _correlations("many", "population_correlation", {
             ex.size_name(kind, 16, 4): kind for kind in (HEAD, BARE)}, "setting",
             "16 neurons, 4 features, population")], size=(8, 3.4)),
    "figure3": figure(
        "The head's off-diagonal rises and falls, and one of its two entries does nearly all of it",
        "trajectories",
        [steps("head_norm", "variant", title="(a) rise and fall", ylabel=NORM),
         steps(every("head_norm") * every("head_asymmetry"), "variant", ylabel=SKEW,
               title="(b) asymmetry")],
        _one_entry, (9.4, 3.8), titled=False, sharey=True),
    "figure4": figure(
        "The head rises and falls in nearly every run, to different heights", "trajectories",
        [[steps("head_norm", "variant", where={"variant": [name]}, ylabel=NORM)
          for name in ex.VARIANTS]], _SEEDS, (9.8, 3.2), sharey=True),
    "ablations": figure(
        "Without a head or stop-gradient neurons collapse, EMA or not", "toy",
        [bars(_outcomes(ALL, ALL_STRONG, UNSETTLED), "method_name", "outcome",
              ylabel="share of runs", possible=(0, 1))], size=(11, 4.2), legend=3),
    "diagram": figure(
        "Which features are learnt, by the strengths and the rate of the head", "diagram",
        [[_success(word) for word in (ALL, ALL_STRONG, UNSETTLED)]],
        lambda data: f"d = {figures.ran(data, 'data.dim')}, {data.sizes['seed']} starts per cell",
        (11.5, 3.6)),
    "dimensions": figure(
        "Success with a head, and collapse without one, over the dimension",
        ("dimensions", "growing"),
        [[over(q.ends(word).of(of), "dim", "head_kind", xscale="log", possible=(0, 1),
               title=f"{word}, $\\alpha_1/\\alpha_2$ = {ratio}", xlabel="dimension d",
               ylabel="share of starts")
          for of, ratio in (("dimensions", "2"), ("growing", "log d"))
          for word in (ALL, ALL_STRONG)]], size=(12.5, 3.4), sharey=True),
    "no_head": figure("Without a head, the arctan formula says how often neurons collapse",
                      "no_head", [_formula]),
    "phases": figure(
        "The strong feature, then the head, then the weak feature; then the head fades", "paths",
        [[_path(1e3), _path(1e6)]], size=(9.5, 3.6), sharey=True),
    "times": figure(
        "The phases take $d^2$, $d^{1.5}$, $d^{1.625}$ and no time", "phases",
        [over(computed("time", _times), "dim", "phase", xscale="log", yscale="log",
              xlabel="dimension d", ylabel="time (steps × η)")]),
    "effects": figure(
        "Substitution moves the head, and acceleration the weak feature", "paths",
        [[_effect("$-\\partial L/\\partial E_{21}$: substitution", "head", (1, 0), _OF_HEAD),
          _effect("$-\\partial L/\\partial B_{22}$: acceleration", "strength", (1, 1), _OF_WEAK),
          _effect("$-\\partial L/\\partial B_{21}$: the strong feature", "strength", (1, 0),
                  _OF_WEAK)]],
        _accelerated, (11.5, 3.9), titled=False, sharey=True),
    "many": figure("With a head more features are learnt, for more neurons and features", "many",
                   [bars(computed("share of features learnt", _by_size), "setting", "head",
                         possible=(0, 1), ylabel="share of features learnt")], legend=2),
    **REAL_FIGURES,
}  # fmt: skip
