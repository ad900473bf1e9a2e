"""Figures 1 to 5 on images."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.evidence import experiment_of, half_width
from learnscope.figures import COLOURS, band, legend_below, styled
from learnscope.images import Images
from learnscope.nets import Projection
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.papers.pred_head.real import HEADS, WAYS


def _described(data: xr.Dataset, arm: str) -> str:
    """The training in a line."""
    experiment = experiment_of(data, arm)
    images, net = experiment.data, experiment.net
    assert isinstance(images, Images) and isinstance(net, Projection)
    body = type(net.body).__name__
    width = getattr(net.body, "width", getattr(net.body, "filters", ""))
    return f"{images.name}, {body}({width}), {experiment.steps} steps, {data.sizes['seed']} runs"


def figure1(images: xr.Dataset, digits: xr.Dataset) -> Drawing:
    """Histograms of correlations, of outputs and of features."""
    panels = (
        ("correlation_share", "correlation_size", "(a) outputs of the projection"),
        ("feature_correlation_share", "feature_correlation_size", "(b) features below it"),
    )
    figure, grid = plt.subplots(2, 2, figsize=(8.5, 6))
    for row, data in zip(grid, (images, digits), strict=True):
        edges = np.linspace(-1, 1, data.sizes["correlation_bin"] + 1)
        for axes, (name, size, title) in zip(row, panels, strict=True):
            for index, arm in enumerate((HEAD, BARE)):
                last = data.sel(method_name=arm).isel(step=-1)
                text = f"{arm}: mean |·| {float(last[size].mean()):.2f}"
                axes.stairs(last[name].mean("seed").values, edges, fill=True, alpha=0.55,
                            color=COLOURS[index], label=text)  # fmt: skip
            axes.set(title=f"{title}\n{_described(data, HEAD)}", xlim=(-1, 1),
                     xlabel="correlation of two neurons", ylabel="share of pairs")  # fmt: skip
            axes.title.set_fontsize(8)
            beside = "upper center" if name == "correlation_share" else "upper left"
            axes.set_ylim(0, 1.25 * axes.get_ylim()[1])  # room for the legend
            axes.legend(fontsize=7.5, loc=beside)
    return figure


def figure2(data: xr.Dataset) -> Drawing:
    """Linear probes and correlations by head, normalisation and target."""
    ways = [way for way in WAYS if f"{HEAD}, {way}" in data.method_name.values]
    panels = (
        ("probe_accuracy", "accuracy of a linear probe on features"),
        ("output_probe_accuracy", "the same on outputs"),
        ("correlation_size", "mean |correlation| of two outputs"),
    )
    figure, grid = plt.subplots(1, 3, figsize=(11, 3.3))
    for axes, (name, title) in zip(grid, panels, strict=True):
        for index, head in enumerate(HEADS):
            for row, way in enumerate(ways):
                if f"{head}, {way}" not in data.method_name.values:
                    continue
                values = data[name].sel(method_name=f"{head}, {way}").isel(step=-1).values
                axes.bar(row + 0.2 * index, values.mean(), 0.19, color=COLOURS[index],
                         yerr=half_width(values), capsize=2,
                         label=head if row == 0 else None)  # fmt: skip
        axes.set_xticks(np.arange(len(ways)) + 0.3, [w.replace(", ", ",\n") for w in ways])
        axes.set(ylabel=title, ylim=(0, 1.05 if name == "correlation_size" else None))
    legend_below(figure, grid[:1], 4, fontsize=7.5)
    text = _described(data, f"{HEAD}, {ways[0]}")
    figure.suptitle(f"{text}; 95 % intervals over runs; no bar: not run", fontsize=8)
    return figure


def _trajectory(axes: Axes, data: xr.Dataset, arm: str, index: int) -> None:
    run = data.sel(method_name=arm)
    head = run["head"]
    turned = head.rename(neuron="other_neuron", other_neuron="neuron")
    skew = ((head - turned) ** 2).sum(("neuron", "other_neuron")) ** 0.5
    band(axes, data.step.values, run.head_norm, index, "$\\|\\mathrm{offdiag}(E)\\|_F$")
    band(axes, data.step.values, skew, index + 1, "$\\|E - E^T\\|_F$")


def figure3(images: xr.Dataset, fading: xr.Dataset) -> Drawing:
    """Figures 3 and 4: the head's off-diagonal and its asymmetry, with bands over runs."""
    arms = fading.method_name.values.tolist()
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.3))
    for axes, data, arm in ((left, images, HEAD), (middle, fading, arms[0])):
        _trajectory(axes, data, arm, 0)
        axes.set(title=_described(data, arm), xlabel="step", ylabel="norm", ylim=(0, None))
        axes.title.set_fontsize(8)
        axes.legend(fontsize=7.5)
    for index, (data, arm) in enumerate(((images, HEAD), (fading, arms[0]))):
        name = _described(data, arm).partition(",")[0]
        share = data.step.values[1:] / float(data.step[-1])
        values = data.head_asymmetry.sel(method_name=arm).isel(step=slice(1, None))
        band(right, share, values, index, name)
    right.set(title="asymmetry", xlabel="part of training", ylim=(0, 1.5),
              ylabel="$\\|E - E^T\\|_F / \\|\\mathrm{offdiag}(E)\\|_F$")  # fmt: skip
    right.legend(fontsize=7.5)
    figure.suptitle("mean of runs; bands: least to largest", fontsize=8)
    return figure


def fading(data: xr.Dataset) -> Drawing:
    """The norm along training, with the correlation and rank of the outputs."""
    arms = data.method_name.values.tolist()
    panels = (
        ("head_norm", "$\\|\\mathrm{offdiag}(E)\\|_F$"),
        ("correlation_size", "mean |correlation| of two outputs"),
        ("effective_rank", "effective rank of the outputs"),
    )
    figure, grid = plt.subplots(1, 3, figsize=(11, 3.3))
    for axes, (name, label) in zip(grid, panels, strict=True):
        for index, arm in enumerate(arms):
            band(axes, data.step.values, data[name].sel(method_name=arm), index, arm)
        axes.set(xlabel="step", ylabel=label, ylim=(0, None))
    legend_below(figure, grid[:1], 4, fontsize=7.5)
    text = _described(data, arms[0])
    figure.suptitle(f"{text}: mean of runs; bands: least to largest", fontsize=8)
    return figure


def _pictures(axes: Axes, images: np.ndarray, columns: int) -> None:
    """Images in rows, each with its own lightest and darkest values."""
    side = round((images.shape[1] / 3) ** 0.5)
    colours = 3 if 3 * side**2 == images.shape[1] else 1
    side = side if colours == 3 else round(images.shape[1] ** 0.5)
    shaped = images.reshape(-1, side, side, colours)
    low, high = (f(shaped, axis=(1, 2, 3), keepdims=True) for f in (np.min, np.max))
    shaped = (shaped - low) / np.maximum(high - low, 1e-9)
    framed = np.pad(shaped, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=1.0)
    missing = -len(framed) % columns
    framed = np.concatenate([framed, np.ones((missing, *framed.shape[1:]))])
    rows = [np.concatenate(list(framed[i : i + columns]), 1)
            for i in range(0, len(framed), columns)]  # fmt: skip
    axes.imshow(np.concatenate(rows, 0).squeeze(), cmap="gray", interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def figure5(images: xr.Dataset, digits: xr.Dataset) -> Drawing:
    """Images that excite each of the first outputs most, of the first run."""
    figure, grid = plt.subplots(2, 2, figsize=(8.5, 6.6))
    for row, data in zip(grid, (images, digits), strict=True):
        for axes, arm in zip(row, (HEAD, BARE), strict=True):
            last = data.sel(method_name=arm).isel(step=-1)
            shown = last.preferred.isel(seed=0).transpose("preferring", "pixel").values
            _pictures(axes, shown[~np.isnan(shown).any(1)], 4)
            alike = float(last.preferred_alike.mean())
            axes.set(title=f"{arm}: mean |cosine| of two {alike:.2f}", xlabel=_described(data, arm))
    figure.suptitle("images that excite each of 12 outputs most, in the first run", fontsize=8)
    return figure


REAL_FIGURES = {
    "figure1_real": styled("Correlations of outputs and features on images", ("images", "digits"),
                           figure1),
    "figure2_real": styled("Linear probes by head, normalisation and target", ("heads",), figure2),
    "figure3_real": styled("The head's off-diagonal on images, over runs", ("images", "fading"),
                           figure3),
    "fading": styled("What decides whether the head falls again", ("fading",), fading),
    "figure5": styled("Images that excite neurons most", ("images", "digits"), figure5),
}  # fmt: skip
