"""Figures 1 to 5 on images."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from learnscope.evidence import Quantity, every, experiment_of, last
from learnscope.figures import COLOURS, bars, figure, steps
from learnscope.images import Images
from learnscope.nets import Projection
from learnscope.papers.pred_head.experiments import BARE, HEAD
from learnscope.papers.pred_head.figures import NORM, SKEW
from learnscope.papers.pred_head.real import HEADS, WAYS


def _described(data: xr.Dataset, *_: xr.Dataset) -> str:
    """The training in a line."""
    experiment = experiment_of(data, str(data.method_name.values[0]))
    images, net = experiment.data, experiment.net
    assert isinstance(images, Images) and isinstance(net, Projection)
    body = type(net.body).__name__
    width = getattr(net.body, "width", getattr(net.body, "filters", ""))
    return f"{images.name}, {body}({width}), {experiment.steps} steps, {data.sizes['seed']} runs"


def _correlations(of: str, name: str, title: str):
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


def _table(name: str) -> Quantity:
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


_WITH = {"method_name": [HEAD]}
_SIZE = "mean |correlation| of two outputs"
_ALONG = {"head_norm": NORM, "correlation_size": _SIZE,
          "effective_rank": "effective rank of the outputs"}  # fmt: skip
_PROBES = {"probe_accuracy": "linear probe on features", "output_probe_accuracy": "on outputs",
           "correlation_size": _SIZE}  # fmt: skip
REAL_FIGURES = {
    "figure1_real": figure(
        "Without a head outputs correlate, and features below the projection do less",
        ("images", "digits"),
        [[_correlations(of, "correlation", "(a) outputs"),
          _correlations(of, "feature_correlation", "(b) features below the projection")]
         for of in ("images", "digits")], size=(8.5, 6.4)),
    "figure2_real": figure(
        "Linear probes by head, normalisation and target", "heads",
        [[bars(_table(name), "way", "head", ylabel=label, possible=(0, 1))
          for name, label in _PROBES.items()]], _described, (11, 3.8), 4),
    "figure3_real": figure(
        "The head's off-diagonal and its asymmetry on images", "images",
        [steps("head_norm", "method_name", ylabel=NORM, where=_WITH),
         steps(every("head_norm", **_WITH) * every("head_asymmetry", **_WITH), "method_name",
               ylabel=SKEW)], _described, sharey=True),
    "fading": figure(
        "Whether the head falls again is decided by normalisation in the projection", "fading",
        [[steps(name, "method_name", ylabel=label, ylim=(0, None))
          for name, label in _ALONG.items()]], _described, (11, 3.8), 4),
    "figure5": figure(
        "With a head, the images that excite neurons most are more varied", ("images", "digits"),
        [[_preferred(of, arm) for arm in (HEAD, BARE)] for of in ("images", "digits")],
        "images that excite each of 12 outputs most, in the first run", (8.5, 6.8)),
}  # fmt: skip
