"""Figures 1, 5, 6 and 7: maps and extreme scores of images, class noise, accuracy after removal."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.evidence import Figure, experiment_of, half_width
from learnscope.figures import COLOURS, STYLES, draw_heat_map, styled
from learnscope.papers.benign.real import ORDERS, TOGETHER, WHOLE

_WORDS = {"mnist": "MNIST", "cifar10": "CIFAR-10", "digits": "digits"}


def _titled(data: xr.Dataset) -> str:
    return _WORDS.get(str(data.attrs["name"]), str(data.attrs["name"]))


def _sheet(pictures: xr.DataArray) -> np.ndarray:
    """Images side by side, with a line between them: one row per class, one column per rank."""
    values = pictures.values
    gap = [(0, 0), (0, 0), (1, 1), (1, 1)] + [(0, 0)] * (values.ndim - 4)
    framed = np.pad(values, gap, constant_values=values.max())
    rows = [np.concatenate(list(row), axis=1) for row in framed]
    return np.concatenate(rows, axis=0)


def _show(axes: Axes, pictures: xr.DataArray, title: str) -> None:
    axes.imshow(_sheet(pictures), cmap="gray", interpolation="nearest")
    axes.grid(False)
    axes.set_xticks([])
    side = pictures.sizes["row"] + 2
    axes.set_yticks(
        side * (np.arange(pictures.sizes["class"]) + 0.5),
        list("0123456789")[: pictures.sizes["class"]],
    )
    axes.set(ylabel="class", title=title)


def figure1(mapped: xr.Dataset, scores: xr.Dataset) -> Drawing:
    """The images of the highest scores (left) and the map (right)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8))
    _show(left, scores.picture.sel(end="high"), f"{_titled(scores)}: highest influence scores")
    place, label = mapped.place.isel(seed=0).values, mapped.label.isel(seed=0).values
    shades = plt.get_cmap("tab10")
    for k in np.unique(label):
        # Digits as markers need no legend and no colour vision.
        for x, y in place[label == k]:
            right.text(x, y, str(k), color=shades(int(k)), fontsize=5, ha="center", va="center")
    right.set_xlim(*_limits(place[:, 0]))
    right.set_ylim(*_limits(place[:, 1]))
    right.set(xlabel="first coordinate of the map", ylabel="second coordinate of the map")
    right.set_title(f"t-SNE of {len(label)} images (numbers: classes)")
    figure.suptitle("Figure 1: atypical images, and the shapes of classes")
    return figure


def _limits(values: np.ndarray) -> tuple[float, float]:
    margin = 0.04 * (values.max() - values.min())
    return float(values.min() - margin), float(values.max() + margin)


def figure5(*sets: xr.Dataset) -> Drawing:
    figure, grid = plt.subplots(2, 2, figsize=(8.4, 9.6))
    for row, data in zip(grid, sets, strict=True):
        for axes, end in zip(row, ("high", "low"), strict=True):
            words = "highest" if end == "high" else "lowest"
            _show(axes, data.picture.sel(end=end), f"{_titled(data)}: {words} scores")
    counted = " and ".join(f"{data.attrs['images']}" for data in sets)
    figure.suptitle(f"Figure 5: images at both ends of the influence scores, of {counted}")
    return figure


def figure6(data: xr.Dataset) -> Drawing:
    figure, grid = plt.subplots(1, 2, figsize=(9.4, 4.2))
    panels = {"correlation": "‖AᵢᵀAⱼ‖² = tr(ΣᵢΣⱼ), pixels 0 to 1", "ratio": "Γ between classes"}
    for axes, (name, title) in zip(grid, panels.items(), strict=True):
        table = data[name].mean("seed")
        mesh = draw_heat_map(axes, table, "other", "class", vmin=0, vmax=float(table.max()))
        figure.colorbar(mesh, ax=axes, label="Γ" if name == "ratio" else "tr(ΣᵢΣⱼ), pixel⁴")
        axes.set_xticks(range(10))
        axes.set_yticks(range(10))
        axes.set(xlabel="class j", ylabel="class i", title=title)
    figure.suptitle(f"Figure 6: noise of the classes of {_titled(data)}, mean of "
                    f"{data.sizes['seed']} draws")  # fmt: skip
    return figure


def remaining(data: xr.Dataset, by: str) -> xr.DataArray:
    """Accuracy after removal in one order, over the shares that were run; share 0 is all images."""
    last = data.test_accuracy.isel(step=-1)
    one = last.sel(by=by).dropna("removed", how="all")
    there = [data.removed.values.tolist().index(share) for share in one.removed.values]
    accuracy = last.sel(by=by).isel(removed=[0, *there]).copy()
    accuracy[{"removed": 0}] = last.sel(by=WHOLE, removed=0.0)
    return accuracy


def _net_of(data: xr.Dataset) -> str:
    table = experiment_of(data, WHOLE).to_dict()
    name = table["data"]["data"]["name"]
    filters = table["net"].get("filters")
    net = table["net"]["kind"] + (f"({filters})" if filters else "")
    return f"{net} on {_WORDS.get(name, name)}"


def figure7(*sets: xr.Dataset) -> Drawing:
    titles = [_net_of(data) for data in sets]
    figure, grid = plt.subplots(1, 2, figsize=(9.4, 3.9))
    for axes, title, data in zip(grid, titles, sets, strict=True):
        for index, by in enumerate(ORDERS):
            one = remaining(data, by)
            spread = [half_width(one.sel(removed=share).values) for share in one.removed]
            words = "at random" if by == "random" else f"{by} scores removed"
            axes.errorbar(100 * one.removed, one.mean("seed"), spread, color=COLOURS[index],
                          linestyle=STYLES[index], marker="o", markersize=3, capsize=2,
                          label=words)  # fmt: skip
        for index, by in enumerate(("high", "low")):
            if f"{by}, {TOGETHER}" not in data.by:
                continue
            one = remaining(data, f"{by}, {TOGETHER}").isel(removed=slice(1, None))
            axes.plot(100 * one.removed, one.mean("seed"), linestyle="", marker="x",
                      color=COLOURS[index], label=f"{by}, {TOGETHER}")  # fmt: skip
        axes.set(xlabel="training images removed (%)", ylabel="test accuracy", title=title)
    grid[0].legend(fontsize=7)
    seeds = sets[0].sizes["seed"]
    figure.suptitle(f"Figure 7: accuracy after removal, mean and 95 % of {seeds} seeds")
    return figure


REAL_FIGURES: dict[str, Figure] = {
    "figure1": styled("Atypical images and t-SNE", ("map", "scores_mnist"), figure1),
    "figure5": styled("Highest and lowest scores", ("scores_mnist", "scores_cifar"), figure5),
    "figure6": styled("Noise correlation of real classes", ("classes",), figure6),
    "figure7": styled("Accuracy after removal", ("pruned_mnist", "pruned_cifar"), figure7),
}
