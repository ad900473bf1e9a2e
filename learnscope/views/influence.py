"""Figures of influence scores (a contact sheet) and noise correlations (a heat map)."""

import math

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from learnscope.figures.style import COLOURS, style
from learnscope.tools import Labelled, noise_correlation_ratio
from learnscope.tools.correlation import MOST_CLASSES
from learnscope.views.scores import short

_MOST_CLASSES = 20  # on a contact sheet
_MOST_NUMBERS = 20  # classes whose heat map has numbers in its cells
_WIDE = 3.0  # a range beyond which colours are logarithmic
_SHARPEST = 128  # pixels of a side on a contact sheet


def contact_sheet(data: Labelled, scores: np.ndarray, top: int = 5) -> Figure:
    """The images of highest and lowest influence in every class (of many classes, the first), with
    scores. Rows that are no images become a box plot of scores by class."""
    names, of = np.unique(data.labels, return_inverse=True)
    defined = [k for k in range(len(names)) if np.isfinite(scores[of == k]).all()]
    kept = defined[:_MOST_CLASSES]
    shape = picture_shape(data.images.shape[1:])
    texts = [short(str(names[k])) for k in kept]
    note = f", first {len(kept)} of {len(defined)} classes" if len(kept) < len(defined) else ""
    with style():
        if shape is None:
            return _boxes([scores[of == k] for k in kept], texts, note)
        orders = []
        for k in kept:
            which = np.flatnonzero(of == k)
            orders.append(which[np.argsort(-scores[which], kind="stable")])
        highest = [order[: min(top, -(-len(order) // 2))] for order in orders]
        lowest = [order[::-1][: min(top, len(order) // 2)] for order in orders]
        columns = max(len(order) for order in highest)
        high, wide = shape[:2]
        # Width of a picture in inches: room for a score, unless the figure becomes a poster.
        cell = max(0.62, min(0.5 * wide / high, 9 / columns))
        cell = max(0.3, min(cell, 40 / len(kept) * wide / high))
        size = (2 * columns * cell + 1.6, len(kept) * (cell * high / wide + 0.17) + 0.8)
        figure, panels = plt.subplots(1, 2, figsize=(max(size[0], 4.5), max(size[1], 1.8)))
        figure.set_layout_engine("constrained", wspace=0.06)
        limits = _limits(data.images, [*highest, *lowest])
        for panel, chosen, end in ((panels[0], highest, "highest"), (panels[1], lowest, "lowest")):
            _sheet(panel, data.images, chosen, columns, shape, limits, scores)
            panel.set_title(f"{end} influence")
            panel.set_yticks((np.arange(len(kept)) + 0.5) / len(kept), texts, parse_math=False)
        panels[0].set_ylabel("class")
        panels[1].tick_params(labelleft=False)
        words = f"influence of images on the covariance of their class{note}"
        figure.suptitle(f"{short(data.name, 40)}: {words}", parse_math=False, fontsize=9)
    return figure


def has_correlation_map(data: Labelled) -> bool:
    """Whether some class has a covariance, and the classes are few enough to draw."""
    _, counts = np.unique(data.labels, return_counts=True)
    return counts.max() > 1 and len(counts) <= MOST_CLASSES


def correlation_map(correlation: xr.DataArray) -> Figure:
    """The noise correlation of every two classes and its ratio, as heat maps with numbers."""
    ratio = noise_correlation_ratio(correlation)
    count = correlation.sizes["class"]
    side = min(max(0.42 * min(count, _MOST_NUMBERS) + 1.2, 3.0), 9.6)
    largest = float(np.nanmax(correlation.values)) if correlation.notnull().any() else 0.0
    power = math.floor(math.log10(largest)) if largest > 0 else 0
    power = 0 if -1 <= power < 3 else power - 1
    unit = f" / $10^{{{power}}}$" if power else ""
    with style():
        figure, panels = plt.subplots(1, 2, figsize=(2 * side + 1.4, side + 0.5))
        _map(panels[0], correlation.values / 10.0**power, correlation["class"].values)
        panels[0].set_title(r"noise correlation $\mathrm{tr}(\Sigma_k \Sigma_j)$" + unit)
        _map(panels[1], ratio.values, correlation["class"].values)
        panels[1].set_title(r"noise correlation ratio $\Gamma_{k,j}$")
        plt.setp(panels, xlabel="class j", ylabel="class k")
        figure.suptitle(_most_unlike(ratio), parse_math=False)
    return figure


def _most_unlike(ratio: xr.DataArray) -> str:
    """The two classes whose noise has least in common, in words."""
    values = np.where(np.isfinite(ratio.values), ratio.values, -np.inf)
    if not np.isfinite(values).any():
        return "Noise of classes: how much two of them share"
    k, j = np.unravel_index(values.argmax(), values.shape)
    names = [short(str(ratio["class"].values[i])) for i in (k, j)]
    return (f"Noise of class {names[0]} is least like that of class {names[1]}: a ratio of "
            f"{_number(float(values[k, j]))}")  # fmt: skip


def picture_shape(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """How to draw images of a shape: (height, width) or (height, width, 3); None if not at all. A
    row of numbers is a square if it can be one; no picture is a strip of more than 8 : 1.

    >>> picture_shape((28, 28)), picture_shape((3, 32, 32)), picture_shape((784,))
    ((28, 28), (32, 32, 3), (28, 28))
    >>> picture_shape((10,)), picture_shape((4, 4, 7)), picture_shape((2, 1000))
    (None, None, None)
    """
    if len(shape) == 1:
        side = math.isqrt(shape[0])
        return (side, side) if side > 1 and side * side == shape[0] else None
    if len(shape) == 3 and shape[2] in (1, 3):
        shape = shape[:2] if shape[2] == 1 else shape
    elif len(shape) == 3 and shape[0] in (1, 3):
        shape = shape[1:] if shape[0] == 1 else (*shape[1:], 3)
    elif len(shape) != 2:
        return None
    return shape if min(shape[:2]) > 1 and max(shape[:2]) <= 8 * min(shape[:2]) else None


def _picture(image: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """An image as it is drawn, with fewer pixels if it has very many."""
    channels_first = image.ndim == 3 and len(shape) == 3 and image.shape[2] != 3
    picture = (np.moveaxis(image, 0, -1) if channels_first else image).reshape(shape)
    step = max(1, math.ceil(max(shape[:2]) / _SHARPEST))
    return picture[::step, ::step]


def _limits(images: np.ndarray, chosen: list[np.ndarray]) -> tuple[float, float]:
    """The darkest and the lightest pixel that are shown."""
    shown = np.concatenate(chosen)
    low = min(float(images[i].min()) for i in shown)
    high = max(float(images[i].max()) for i in shown)
    return low, (high if high > low else low + 1)


def _sheet(
    panel: Axes, images: np.ndarray, chosen: list[np.ndarray], columns: int,
    shape: tuple[int, ...], limits: tuple[float, float], scores: np.ndarray,
) -> None:  # fmt: skip
    """Rows of images in one panel, whose axes go from 0 to 1; a score stands below each."""
    margin, below = 0.05, 0.2  # fractions of a cell
    low, high = limits
    look = {"cmap": "gray" if len(shape) == 2 else None, "vmin": 0, "vmax": 1, "aspect": "auto",
            "interpolation": "nearest"}  # fmt: skip
    words = {"ha": "center", "va": "top", "fontsize": 6, "in_layout": False}
    for row, which in enumerate(chosen):
        for column, i in enumerate(which):
            picture = (_picture(np.asarray(images[i]), shape).astype(float) - low) / (high - low)
            top, left = (row + margin) / len(chosen), (column + margin) / columns
            bottom = (row + 1 - below) / len(chosen)
            extent = (left, (column + 1 - margin) / columns, bottom, top)
            panel.imshow(np.clip(picture, 0, 1), extent=extent, **look)
            at = ((column + 0.5) / columns, bottom + 0.02 / len(chosen))
            panel.text(*at, _number(float(scores[i])), **words)
    panel.set(xlim=(0, 1), ylim=(1, 0), xticks=[])
    panel.grid(False)
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)


def _boxes(scores: list[np.ndarray], texts: list[str], note: str) -> Figure:
    """One box per class, for rows that are no images."""
    figure, panel = plt.subplots(figsize=(6.4, 1.2 + 0.34 * len(scores)))
    outliers, median = {"markersize": 2, "markeredgecolor": COLOURS[0]}, {"color": COLOURS[3]}
    panel.boxplot(scores, orientation="horizontal", flierprops=outliers, medianprops=median)
    panel.set_yticks(np.arange(len(texts)) + 1, texts, parse_math=False)
    panel.invert_yaxis()
    panel.set_xlabel(r"influence ($\mathrm{pixel}^4$)")
    panel.set_ylabel("class")
    panel.set_title(f"influence of rows on the covariance of their class{note}")
    return figure


def _map(panel: Axes, values: np.ndarray, names: np.ndarray) -> None:
    count = len(names)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    norm = (LogNorm if high > _WIDE * low > 0 else Normalize)(low, high)
    mesh = panel.imshow(values, cmap="viridis", norm=norm, interpolation="nearest")
    bar = panel.figure.colorbar(mesh, ax=panel, shrink=0.85)
    if isinstance(norm, LogNorm):
        bar.locator = LogLocator(subs=(1, 2, 5))
        bar.formatter = FuncFormatter(lambda value, _: _number(value))
        bar.minorlocator = NullLocator()
    panel.grid(False)
    step = max(1, math.ceil(count / 25))
    ticks = np.arange(0, count, step)
    texts = [short(str(name)) for name in names[::step]]
    turn = 90 if max(len(text) for text in texts) > 3 else 0
    panel.set_xticks(ticks, texts, rotation=turn, parse_math=False)
    panel.set_yticks(ticks, texts, parse_math=False)
    if count > _MOST_NUMBERS:
        return
    look = {"ha": "center", "va": "center", "fontsize": 6.5, "in_layout": False}
    for (row, column), value in np.ndenumerate(values):
        colour = "black" if not np.isfinite(value) or norm(value) > 0.6 else "white"
        text = "-" if np.isnan(value) else _number(value)
        panel.text(column, row, text, color=colour, **look)


def _number(value: float) -> str:
    """Three digits, short.

    >>> _number(1234.5), _number(0.01234), _number(-56789.0), _number(1e-7), _number(0.0)
    ('1.23e3', '0.0123', '-5.68e4', '1e-7', '0')
    """
    if value == 0 or 1e-2 <= abs(value) < 1e3 or not math.isfinite(value):
        return f"{value:.3g}"
    digits, power = f"{value:.2e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
