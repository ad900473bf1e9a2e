"""Figures 1 to 5 on images: the paper's sentence above our curves."""

import functools
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from learnscope import figures
from learnscope.evidence import Quantity, experiment_of, last
from learnscope.figures import COLOURS, bars, steps
from learnscope.images import Images
from learnscope.nets import Projection
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.papers.pred_head.real import BATCH, HEADS, WAYS

figure = functools.partial(figures.figure, titled=True)
NORM, SKEW = "$\\|\\mathrm{offdiag}(E)\\|_F$", "$\\|E - E^T\\|_F$"


def _described(data: xr.Dataset, *_: xr.Dataset) -> str:
    """The training in a line."""
    experiment = experiment_of(data, str(data.method_name.values[0]))
    images, net = experiment.data, experiment.net
    assert isinstance(images, Images) and isinstance(net, Projection)
    body = type(net.body).__name__
    width = getattr(net.body, "width", getattr(net.body, "filters", ""))
    return f"{images.name}, {body}({width}), {experiment.steps} steps, {data.sizes['seed']} runs"


def _binned(of: str, way: str, name: str, title: str):
    """Shares of pairs of neurons by their correlation, with and without a head."""

    def draw(axes: Axes, data) -> None:
        edges = np.linspace(-1, 1, data[of].sizes["correlation_bin"] + 1)
        for index, arm in enumerate((HEAD, BARE)):
            end = data[of].sel(method_name=arm + way).isel(step=-1)
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


def _compared(name: str, label: str):
    """A variable by way and head, and the untrained network's."""
    inner = bars(_by_head(name), "way", "head", ylabel=label, possible=(0, 1))

    def draw(axes: Axes, data) -> None:
        inner(axes, data)
        start = data["images"][name].isel(step=0, method_name=0)
        axes.axhline(float(start.mean()), color="0.3", linestyle=":", label="untrained")

    return draw


def _preferred(of: str, way: str, arm: str):
    """Images that excite each of the first outputs most, of the first run."""

    def draw(axes: Axes, data) -> None:
        end = data[of].sel(method_name=arm + way).isel(step=-1)
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


def _paper(sentence: str):
    """The paper's sentence, and the training, as a heading."""
    return lambda data, *_: f"Paper: {sentence}\n{_described(data)}"


def _runs(axes: Axes, data) -> None:
    """The norm in every run, their mean, and the band that holds all of them (Figure 4)."""
    norm = data["images"].head_norm.sel(method_name=f"{HEAD}, {BATCH}").transpose("seed", "step")
    axes.fill_between(norm.step, norm.min("seed"), norm.max("seed"), color=COLOURS[0], alpha=0.25,
                      linewidth=0, label="least to largest")  # fmt: skip
    axes.plot(norm.step, norm.T, color="0.5", linewidth=0.7)
    axes.plot(norm.step, norm.mean("seed"), color=COLOURS[0], label="mean")
    axes.set(xlabel="step", ylabel=NORM, ylim=(0, None))


_ROW = {"images": f", {BATCH}", "digits": ""}  # sweeps, and how their arms are named
_WITH: dict[str, Any] = {"method_name": [f"{HEAD}, {BATCH}"]}
_SIZE = "mean |correlation| of outputs"
_ALONG = {"head_norm": NORM, "correlation_size": _SIZE,
          "probe_accuracy": "accuracy of a linear probe"}  # fmt: skip
_PROBES = {"probe_accuracy": "linear probe on features", "output_probe_accuracy": "on outputs",
           "correlation_size": _SIZE}  # fmt: skip
REAL_FIGURES = {
    "figure1_real": figure(
        "Figure 1: correlations of outputs, and of features below the projection",
        tuple(_ROW),
        [[_binned(of, way, "correlation", "(a) outputs"),
          _binned(of, way, "feature_correlation", "(b) features below the projection"),
          steps("correlation_size", "method_name", of, ylabel=_SIZE, ylim=(0, 1.05),
                where={"method_name": [HEAD + way, BARE + way]}, title="along training")]
         for of, way in _ROW.items()],
        'Paper: without a head "extremely correlated neurons"; the encoder is affected "milder"',
        (11.5, 6.4)),
    "figure2_real": figure(
        "Figure 2: linear probes by head, normalisation and target", "images",
        [[_compared(name, label) for name, label in _PROBES.items()]],
        _paper("an identity-initialised head is comparable to linear and MLP heads, and without a "
               "trained head accuracy is significantly worse"), (11, 4), 5),
    "figure3_real": figure(
        "Figure 3: the head's off-diagonal and its asymmetry", "images",
        [steps("head_norm", "method_name", ylabel=NORM, where=_WITH, ylim=(0, None)),
         steps("head_asymmetry", "method_name", where=_WITH, ylim=(0, 2),
               ylabel=f"{SKEW} / {NORM}")],
        _paper("the off-diagonal rises and falls; it is not symmetric")),
    "figure4_real": figure(
        "Figure 4: the head's off-diagonal in every run", "images", [_runs],
        _paper("a consistent rise and fall (3 runs)"), legend=2),
    "fading": figure(
        "Whether the head falls again on the digits, by normalisation inside the projection",
        "fading",
        [[steps(name, "method_name", ylabel=label) for name, label in _ALONG.items()]],
        _described, (11, 3.8), 4),
    "figure5": figure(
        "Figure 5: images that excite neurons most", tuple(_ROW),
        [[_preferred(of, way, arm) for arm in (HEAD, BARE)] for of, way in _ROW.items()],
        'Paper: with a head "obviously more variety". First run; features, and outputs on digits',
        (8.5, 6.8)),
}  # fmt: skip
