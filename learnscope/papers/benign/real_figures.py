"""Figures 1, 5, 6 and 7: maps and extreme scores of images, class noise, accuracy after removal."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.evidence import Figure, computed, experiment_of, student
from learnscope.figures import brief, figure, heat, over, styled
from learnscope.papers.benign.real import ORDERS, WHOLE

_WORDS = {"mnist": "MNIST", "cifar10": "CIFAR-10", "digits": "digits"}


def _titled(data: xr.Dataset) -> str:
    return _WORDS.get(str(data.attrs["name"]), str(data.attrs["name"]))


def _show(axes: Axes, pictures: xr.DataArray, title: str) -> None:
    """Images side by side, with a line between them: one row per class, one column per rank."""
    values = pictures.values
    gap = [(0, 0), (0, 0), (1, 1), (1, 1)] + [(0, 0)] * (values.ndim - 4)
    framed = np.pad(values, gap, constant_values=values.max())
    rows = [np.concatenate(list(row), axis=1) for row in framed]
    axes.imshow(np.concatenate(rows, axis=0), cmap="gray", interpolation="nearest")
    axes.grid(False)
    classes = pictures.sizes["class"]
    names = [str(k) for k in range(classes)]
    axes.set_yticks((pictures.sizes["row"] + 2) * (np.arange(classes) + 0.5), names)
    axes.set(xticks=[], ylabel="class", title=title)


def figure1(mapped: xr.Dataset, scores: xr.Dataset) -> Drawing:
    """The images of the highest scores (left) and the map (right)."""
    drawing, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8))
    _show(left, scores.picture.sel(end="high"), f"{_titled(scores)}: highest influence scores")
    place, label = mapped.place.isel(seed=0).values, mapped.label.isel(seed=0).values
    right.plot(*place.T, linestyle="")  # sets the limits
    for (x, y), k in zip(place, label, strict=True):
        # Digits as markers need no legend and no colour vision.
        shade = plt.get_cmap("tab10")(int(k))
        right.text(x, y, str(k), color=shade, fontsize=5, ha="center", va="center")
    right.set(xlabel="first coordinate of the map", ylabel="second coordinate of the map",
              title=f"t-SNE of {len(label)} images (numbers: classes)")  # fmt: skip
    drawing.suptitle("Figure 1: atypical images, and the shapes of classes")
    return drawing


def figure5(*sets: xr.Dataset) -> Drawing:
    drawing, grid = plt.subplots(2, 2, figsize=(8.4, 9.6))
    for row, data in zip(grid, sets, strict=True):
        for axes, end in zip(row, ("high", "low"), strict=True):
            _show(axes, data.picture.sel(end=end), f"{_titled(data)}: {end}est scores")
    counted = " and ".join(f"{data.attrs['images']}" for data in sets)
    drawing.suptitle(f"Figure 5: images at both ends of the influence scores, of {counted}")
    return drawing


def remaining(data: xr.Dataset) -> xr.DataArray:
    """Accuracy after removal in every order; share 0 is all images."""
    last = data.test_accuracy.isel(step=-1, drop=True)
    orders = last.sel(by=[by for by in ORDERS if by in data.by])
    return orders.where(orders.removed > 0, last.sel(by=WHOLE, removed=0.0, drop=True))


def _removal(sweep: str):
    quantity = computed("test accuracy", remaining, sweep)
    curves = over(quantity, "removed", "by", label="{} scores", possible=(0, 1),
                  xlabel="share of training images removed", ylabel="test accuracy")  # fmt: skip

    def draw(axes: Axes, data: Any) -> None:
        curves(axes, data)
        run: Any = experiment_of(data[sweep], WHOLE)
        name = run.data.data.name
        axes.set_title(f"{type(run.net).__name__} on {_WORDS.get(name, name)}")

    return draw


def _lost(data: xr.Dataset) -> str:
    """What removal costs at the largest share, beside the paper's sentence."""
    end = remaining(data).isel(removed=-1)
    apart = student(end.sel(by="low") - end.sel(by="high"))
    return (f"Removing high scores costs {brief(apart)} more accuracy than removing low ones\n"
            f"(Figure 7: {float(end.removed):.0%} of the images; 95 % interval, "
            f"{data.sizes['seed']} seeds; dots: runs)")  # fmt: skip


def _noise(name: str, bar: str):
    quantity = computed(bar, lambda data: data[name])
    return heat(quantity, "other", "class", bar, vmin=0, xlabel="class j", ylabel="class i",
                xticks=range(10), yticks=range(10))  # fmt: skip


REAL_FIGURES: dict[str, Figure] = {
    "figure1": styled("Atypical images and t-SNE", ("map", "scores_mnist"), figure1),
    "figure5": styled("Highest and lowest scores", ("scores_mnist", "scores_cifar"), figure5),
    "figure6": figure(
        "Noise correlation of real classes", "classes",
        [_noise("correlation", "‖AᵢᵀAⱼ‖² = tr(ΣᵢΣⱼ), pixels 0 to 1"), _noise("ratio", "Γ")],
        lambda data: f"Figure 6: how alike the noise of two classes of {_titled(data)} is, mean "
        f"of {data.sizes['seed']} draws", (9.4, 4.2)),
    **{name: figure(
        f"Figure 7: accuracy after removal, {words}", name, [_removal(name)], _lost,
        (7.8, 4.6)) for name, words in (
            ("pruned_mnist", "MNIST"), ("pruned_together", "MNIST, classes ranked together"),
            ("pruned_cifar", "CIFAR-10"))},
}  # fmt: skip
