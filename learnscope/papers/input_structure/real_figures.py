"""Figures of section E.4: maps of weights and filters, and the agreement of early gradients."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.figures import COLOURS, legend_below, styled
from learnscope.papers.input_structure.clusters import best_number, clusters, plane
from learnscope.papers.input_structure.real_checks import CORE, cosines, table7
from learnscope.papers.input_structure.real_sizes import NAMES

# Table 7, ResNet(128) and ResNet(256): cosines of v1, v2, v3 to their mean, and of the pairs.
REPORTED = {
    "ResNet(128)": (0.9727, 0.8655, 0.6549, 0.7454, 0.5083, 0.6533),
    "ResNet(256)": (0.8646, 0.9665, 0.9121, 0.7087, 0.6919, 0.9135),
}
SIX = ("v₁, v̄", "v₂, v̄", "v₃, v̄", "v₁, v₂", "v₁, v₃", "v₂, v₃")


def _map(axes: Axes, matrix: np.ndarray, label: np.ndarray) -> None:
    """Directions on a plane, coloured by their final cluster (grey: outside every core)."""
    points = plane(matrix)
    colours = ["0.75" if k < 0 else COLOURS[k % len(COLOURS)] for k in label]
    axes.scatter(*points.T, c=colours, s=14, edgecolors="0.3", linewidths=0.3)
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal", xticks=[], yticks=[])


def weight_maps(title: str) -> Callable[[xr.Dataset], Drawing]:
    """Four maps of the weights along training, one row per size of initial weights."""

    def draw(data: xr.Dataset) -> Drawing:
        last = data.sizes["step"] - 1
        columns = (0, 1, last // 4, last)
        size = (9.2, 2.55 * len(NAMES) + 0.7)
        figure, grid = plt.subplots(len(NAMES), len(columns), figsize=size, squeeze=False)
        for row, name in enumerate(NAMES):
            one = data.isel(images=0, seed=0).sel(start=name)
            label = best_number(cosines(one.isel(step=-1))).label
            for column, step in enumerate(columns):
                matrix = cosines(one.isel(step=step))
                axes, score = grid[row, column], best_number(matrix).silhouette
                _map(axes, matrix, label)
                axes.set_title(f"step {int(data.step[step])}, silhouette {score:.2f}")
            grid[row, 0].set_ylabel(f"initial weights × {name}")
        figure.suptitle(
            f"{title}: directions of 50 neurons' weights, classical scaling, seed 0;\n"
            "colours: clusters at the last step"
        )
        return figure

    return draw


def filter_maps(data: xr.Dataset) -> Drawing:
    """Maps at epochs 0, 3 and the last of each net; one row per residual block."""
    middle = min(3, data.sizes["step"] - 2)
    columns = [(str(net), step) for net in data.net.values for step in (0, middle, -1)]
    blocks = data.sizes["layer"]
    size = (2.05 * len(columns) + 0.4, 2.3 * blocks + 0.9)
    figure, grid = plt.subplots(blocks, len(columns), figsize=size, squeeze=False)
    for (column, (net, step)), block in (
        (each, block) for each in enumerate(columns) for block in range(blocks)
    ):
        one = data.sel(net=net).isel(seed=0)
        ends = clusters(cosines(one.isel(step=-1), block), 2, CORE)
        matrix, axes = cosines(one.isel(step=step), block), grid[block, column]
        _map(axes, matrix, ends.label)
        two = clusters(matrix, 2, CORE)
        text = f"cores {two.inside:.2f}, centres {two.between:.2f}"
        epoch = range(data.sizes["step"])[step]
        axes.set_title(f"{net}\nepoch {epoch}\n{text}" if block == 0 else text, fontsize=7.5)
        if column == 0:
            axes.set_ylabel(f"residual block {block + 1}")
    figure.suptitle(
        "Figures 20 and 21: directions of filters on two classes, seed 0; colours: cores of "
        "two clusters at the last epoch"
    )
    return figure


def early_gradients(early: xr.Dataset, trained: xr.Dataset) -> Drawing:
    """Table 7: the chosen filter in each seed, the median filter, and the paper's."""
    tables = table7(early, trained)
    size = (3.4 * len(tables) + 0.6, 3.8)
    figure, grid = plt.subplots(1, len(tables), figsize=size, sharey=True, squeeze=False)
    x = np.arange(len(SIX))
    for axes, (name, both) in zip(grid[0], tables.items(), strict=True):
        for row, values in enumerate(both["chosen"]):
            words = "chosen filter, each seed" if row == 0 else None
            axes.plot(x, values, "o", color=COLOURS[0], markersize=4, label=words)
        axes.plot(x, both["median"].mean(0), "_", color=COLOURS[2], markersize=14,
                  label="median over filters")  # fmt: skip
        for index, (paper, values) in enumerate(REPORTED.items()):
            axes.plot(x, values, "x+"[index], color=COLOURS[3], label=f"paper, {paper}")
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xticks(x, SIX, rotation=35)
        axes.set_title(name)
    grid[0, 0].set_ylabel("cosine of mean gradients")
    legend_below(figure, [grid[0, 0]], 4)
    figure.suptitle("Table 7: gradients of steps 1-10, 11-20 and 21-30, last residual block")
    return figure


REAL_FIGURES = {
    **{
        name: styled(f"{title}: weights, {words}", (sweep,), weight_maps(f"{title}, {words}"))
        for name, title, words, sweep in (
            ("figure17", "Figures 3 and 17", "MNIST 0/1", "weights_mnist"),
            ("figure18", "Figure 18", "CIFAR-10 airplane/automobile", "weights_cifar10"),
            ("figure19", "Figure 19", "SVHN 0/1", "weights_svhn"),
        )
    },
    "figure20": styled("Figures 20 and 21: filters of a ResNet", ("resnet",), filter_maps),
    "table7": styled("Table 7: early gradients", ("resnet_early", "resnet"), early_gradients),
}
