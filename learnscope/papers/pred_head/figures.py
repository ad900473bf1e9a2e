"""Figures 1, 3, 4 and 7 on the toy, ablations, phases, where the head succeeds, and images."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from learnscope import figures
from learnscope.evidence import Quantity, computed, every, experiment_of, last
from learnscope.figures import COLOURS, STYLES, bars, heat, histogram, over, steps
from learnscope.images import Images
from learnscope.nets import Projection
from learnscope.papers.pred_head import experiments as ex
from learnscope.papers.pred_head import quantities as q
from learnscope.papers.pred_head import theory
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.papers.pred_head.quantities import ALL, ALL_STRONG, UNSETTLED
from learnscope.papers.pred_head.real import HEADS, WAYS

figure = functools.partial(figures.figure, titled=True)
NORM, SKEW = "$\\|\\mathrm{offdiag}(E)\\|_F$", "$\\|E - E^T\\|_F$"
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
        with jax.enable_x64(True):
            law = jax.tree.map(lambda x: jnp.asarray(x, float), theory.Law.of(ex.model()))
            head = run["head"].values + np.eye(2)[None]
            along = map(jnp.asarray, (run.strength.values, run.noise_gram.values, head))
            terms = jax.vmap(theory.gradient_terms, (None, 0, 0, 0))(law, *along)
        sign = np.sign(run[of].values[:, *place])
        lines = {label: np.asarray(getattr(terms, name))[:, *place] * sign
                 for name, label in names.items()}  # fmt: skip
        axes.set_yscale("symlog", linthresh=1e-7)
        _along(axes, run, lines, title=title, ylabel="term; positive: away from 0")

    return draw


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


# Images


def _described(data: xr.Dataset, *_: xr.Dataset) -> str:
    """The training in a line."""
    experiment = experiment_of(data, str(data.method_name.values[0]))
    images, net = experiment.data, experiment.net
    assert isinstance(images, Images) and isinstance(net, Projection)
    body = type(net.body).__name__
    width = getattr(net.body, "width", getattr(net.body, "filters", ""))
    return f"{images.name}, {body}({width}), {experiment.steps} steps, {data.sizes['seed']} runs"


def _binned(of: str, name: str, title: str):
    """Shares of pairs of neurons by their correlation, with and without a head."""

    def draw(axes: Axes, data) -> None:
        edges = np.linspace(-1, 1, data[of].sizes["correlation_bin"] + 1)
        for index, arm in enumerate((HEAD, BARE)):
            end = data[of].sel(method_name=arm).isel(step=-1)
            text = f"{arm}: mean |·| {float(end[f'{name}_size'].mean()):.2f}"
            axes.stairs(end[f"{name}_share"].mean("seed").values, edges, fill=True, alpha=0.55,
                        color=COLOURS[index], label=text)  # fmt: skip
        axes.set_title(f"{title}\n{_described(data[of])}", fontsize=8)
        axes.set(xlim=(-1, 1), ylim=(0, 1.25 * axes.get_ylim()[1]), ylabel="share of pairs",
                 xlabel="correlation of two neurons")  # fmt: skip

    return draw


def _by_head(name: str) -> Quantity:
    """A variable by way and head; NaN where it was not run."""

    def split(values: xr.DataArray) -> xr.DataArray:
        arms = list(values.method_name.values)
        ways = [way for way in WAYS if f"{HEAD}, {way}" in arms]
        wanted = [[f"{head}, {way}" for way in ways] for head in HEADS]
        rows = [values.reindex(method_name=row).assign_coords(method_name=ways) for row in wanted]
        return xr.concat(rows, "head").assign_coords(head=list(HEADS)).rename(method_name="way")

    return last(name).map(split, name)


def _preferred(of: str, arm: str):
    """Images that excite each of the first outputs most, of the first run."""

    def draw(axes: Axes, data) -> None:
        end = data[of].sel(method_name=arm).isel(step=-1)
        shown = end.preferred.isel(seed=0).transpose("preferring", "pixel").values
        _pictures(axes, shown[~np.isnan(shown).any(1)], 4)
        alike = float(end.preferred_alike.mean())
        axes.set(title=f"{arm}: mean |cosine| of two {alike:.2f}", xlabel=_described(data[of]))

    return draw


def _pictures(axes: Axes, images: np.ndarray, columns: int) -> None:
    """Images in rows, each with its own lightest and darkest values."""
    colours = 3 if round((images.shape[1] / 3) ** 0.5) ** 2 * 3 == images.shape[1] else 1
    side = round((images.shape[1] / colours) ** 0.5)
    shaped = images.reshape(-1, side, side, colours)
    low, high = (f(shaped, axis=(1, 2, 3), keepdims=True) for f in (np.min, np.max))
    shaped = (shaped - low) / np.maximum(high - low, 1e-9)
    missing = -len(shaped) % columns
    framed = np.pad(shaped, ((0, missing), (1, 1), (1, 1), (0, 0)), constant_values=1.0)
    rows = framed.reshape(-1, columns, side + 2, side + 2, colours).swapaxes(1, 2)
    sheet = rows.reshape(-1, columns * (side + 2), colours).squeeze()
    axes.imshow(sheet, cmap="gray", interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


_WITH: dict[str, Any] = {"method_name": [HEAD]}
_SIZE = "mean |correlation| of two outputs"
_ALONG = {"head_norm": NORM, "correlation_size": _SIZE,
          "effective_rank": "effective rank of the outputs"}  # fmt: skip
_PROBES = {"probe_accuracy": "linear probe on features", "output_probe_accuracy": "on outputs",
           "correlation_size": _SIZE}  # fmt: skip
REAL_FIGURES = {
    "figure1_real": figure(
        "Correlations of outputs, and of features below the projection, on images",
        ("images", "digits"),
        [[_binned(of, "correlation", "(a) outputs"),
          _binned(of, "feature_correlation", "(b) features below the projection")]
         for of in ("images", "digits")], size=(8.5, 6.4)),
    "figure2_real": figure(
        "Linear probes by head, normalisation and target", "heads",
        [[bars(_by_head(name), "way", "head", ylabel=label, possible=(0, 1))
          for name, label in _PROBES.items()]], _described, (11, 3.8), 4),
    "figure3_real": figure(
        "The head's off-diagonal and its asymmetry on images", "images",
        [steps("head_norm", "method_name", ylabel=NORM, where=_WITH),
         steps(every("head_norm", **_WITH) * every("head_asymmetry", **_WITH), "method_name",
               ylabel=SKEW)], _described, sharey=True),
    "fading": figure(
        "Whether the head falls again, by rate, decay and normalisation", "fading",
        [[steps(name, "method_name", ylabel=label, ylim=(0, None))
          for name, label in _ALONG.items()]], _described, (11, 3.8), 4),
    "figure5": figure(
        "Images that excite neurons most, with and without a head", ("images", "digits"),
        [[_preferred(of, arm) for arm in (HEAD, BARE)] for of in ("images", "digits")],
        "images that excite each of the first outputs most, in the first run", (8.5, 6.8)),
}  # fmt: skip
FIGURES = {
    "figure7": figure(
        "With a head the slower neuron learns the weak feature; without one both learn the strong",
        ("toy", "trajectories"),
        [[steps(_strengths(HEAD), "entry", title="(a) with a prediction head", ylim=(0, 1.3)),
          steps(_strengths(BARE), "entry", title="(b) without", ylim=(0, 1.3)),
          steps(_ENTRIES.of("trajectories"), "entry", title="(c) the head's off-diagonal",
                ylim=(0, None))]],
        _SEEDS, (10.5, 3.6)),
    "figure1": figure(
        "Without a head two neurons are copies; from random starts not all of many are",
        ("toy", "many"),
        [_correlations("toy", "correlation", {HEAD: HEAD, BARE: BARE}, "method_name",
                       "2 neurons trained on batches"),
         _correlations("many", "population_correlation", {
             ex.size_name(kind, 16, 4): kind for kind in (HEAD, BARE)}, "setting",
             "16 neurons, 4 features, population")], size=(8, 3.4)),
    "figure3": figure(
        "The head's off-diagonal rises and falls, and is one entry only meanwhile", "trajectories",
        [steps("head_norm", "variant", title="(a) rise and fall", ylabel=NORM),
         steps(every("head_norm") * every("head_asymmetry"), "variant", ylabel=SKEW,
               title="(b) asymmetry: √2 times (a) if one entry moves")],
        _SEEDS, (9.4, 3.8), sharey=True),
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
        f"d = {ex.DIM:,}, $\\eta_E/\\eta$ = {ex.RATIO:g}", (11.5, 3.8), sharey=True),
    "many": figure("With a head more features are learnt, for more neurons and features", "many",
                   [bars(computed("share of features learnt", _by_size), "setting", "head",
                         possible=(0, 1), ylabel="share of features learnt")], legend=2),
    **REAL_FIGURES,
}  # fmt: skip
