"""Figures of section E.5: students on mixtures, and loss against width."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.figures import COLOURS, band, interval, legend_below, styled
from learnscope.papers.input_structure.real_sizes import GAUSSIAN

ACCURACY = "test accuracy, by the teacher's labels"


def _curve(axes: Axes, values: xr.DataArray, index: int, label: str) -> None:
    band(axes, values.step, values, index, label, alpha=0.18)


def _parts(
    axes: Axes, one: xr.Dataset, alone: xr.DataArray | None, title: str, other: str = "other inputs"
) -> None:
    """The images' part, the other part, the mixture, and images alone."""
    _curve(axes, one.real_accuracy, 0, "images, in the mixture")
    _curve(axes, one.other_accuracy, 3, other)
    _curve(axes, one.mixture_accuracy, 2, "the mixture")
    if alone is not None:
        _curve(axes, alone, 1, "images, trained on alone")
    chance = float(one.commonest_label.mean())
    axes.axhline(chance, color="black", linewidth=0.8, linestyle=":",
                 label="other inputs' commonest label")  # fmt: skip
    axes.set(title=title, xlabel="step", ylim=(0, 1.02))


Panel = tuple[xr.Dataset, xr.DataArray | None, str]


def _panels(panels: Sequence[Panel], title: str, columns: int = 0) -> Drawing:
    columns = columns or len(panels)
    rows = -(-len(panels) // columns)
    size = (3.3 * columns + 0.6, 3.2 * rows + 0.9)
    figure, grid = plt.subplots(rows, columns, figsize=size, sharey=True, squeeze=False)
    for axes, (one, alone, words) in zip(grid.ravel(), panels, strict=True):
        _parts(axes, one, alone, words)
    plt.setp(grid[:, 0], ylabel=ACCURACY)
    legend_below(figure, grid.ravel(), 3)
    figure.suptitle(title)
    return figure


def shares(data: xr.Dataset) -> Drawing:
    """Figures 22a and 24: MNIST with Gaussian inputs at three shares."""
    one = data.sel(other=GAUSSIAN)
    alone = one.real_accuracy.sel(share=0.0)
    panels = [(one.sel(share=a), alone, f"share of Gaussian inputs α = {a:g}")
              for a in data.share.values if a > 0]  # fmt: skip
    return _panels(panels, "Figures 4, 22a and 24: FC(9) on MNIST and Gaussian inputs")


def wide(narrow: xr.Dataset, data: xr.Dataset) -> Drawing:
    """Figure 25."""
    panels: list[Panel] = [
        (narrow.sel(other=GAUSSIAN, share=0.5), None, "m = 9"),
        (data.sel(other=GAUSSIAN), None, "m = 50"),
    ]
    return _panels(panels, "Figure 25: FC(m) on MNIST and Gaussian inputs, α = 0.5")


def other_images(data: xr.Dataset) -> Drawing:
    """Figure 23, for MNIST."""
    panels: list[Panel] = [
        (data.sel(other=o), None, f"other inputs: {o}") for o in data.other.values
    ]
    return _panels(panels, "Figure 23, on MNIST: images of other sets as other inputs, α = 0.5")


def colour(cifar10: xr.Dataset, svhn: xr.Dataset) -> Drawing:
    """Figures 22b, 22c and 23."""
    panels: list[Panel] = []
    for name, data in (("CIFAR-10", cifar10), ("SVHN", svhn)):
        alone = data.real_accuracy.sel(other="none")
        panels += [(data.sel(other=o), alone, f"{name}, other inputs: {o}")
                   for o in data.other.values if o != "none"]  # fmt: skip
    return _panels(panels, "Figures 22b, 22c and 23: α = 0.5", 2)


def curves(few: xr.Dataset, many: xr.Dataset) -> Drawing:
    """Figure 26: test loss against width."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.9))
    interval(left, few.width, few.test_loss.isel(step=-1, labels=0), 0, "test loss")
    twin = left.twinx()
    twin.grid(False)
    twin.spines["right"].set_visible(True)
    error = 1 - few.train_accuracy.isel(step=-1, labels=0)
    interval(twin, few.width, error, 1, "training error")
    twin.set_ylabel("training error")
    left.set_title("teachers FC(m) on a few MNIST images")
    handles = [axes.get_legend_handles_labels() for axes in (left, twin)]
    left.legend(handles[0][0] + handles[1][0], handles[0][1] + handles[1][1])
    for index, name in enumerate(many.labels.values):
        last = many.sel(labels=name).isel(step=-1)
        loss = last.test_loss if name == "images" else last.other_loss
        words = "MNIST images" if name == "images" else f"Gaussian inputs, {name}"
        interval(right, many.width, loss / loss.mean("seed").min("width"), index, words)
    right.axvline(9, color="black", linewidth=0.8, linestyle=":", label="the paper's minimum")
    right.set(title="many inputs", ylabel="test loss over its least mean")
    right.legend()
    left.set_ylabel("test loss (nat)")
    for axes, widths in ((left, few.width.values), (right, many.width.values)):
        axes.set_xscale("log")
        axes.set_xticks(widths, [str(int(width)) for width in widths])
        axes.minorticks_off()
        axes.set_xlabel("hidden neurons m")
    figure.suptitle("Figure 26: loss against width, of teachers and of students on their labels")
    return figure


def balance(data: xr.Dataset) -> Drawing:
    """The commonest label with and without the regulariser."""
    figure, axes = plt.subplots(figsize=(5.2, 3.4))
    x = list(range(data.sizes["other"]))
    for index, weight in enumerate(data.weight.values):
        values = data.commonest_label.isel(step=-1).sel(weight=weight)
        axes.bar([v + 0.38 * (index - 0.5) for v in x], values.mean("seed"), 0.36,
                 color=COLOURS[index], label=f"weight of R: {float(weight):g}")  # fmt: skip
        for seed in range(values.sizes["seed"]):
            axes.plot([v + 0.38 * (index - 0.5) for v in x], values.isel(seed=seed), "k.",
                      markersize=4)  # fmt: skip
    axes.axhline(0.1, color="black", linewidth=0.8, linestyle=":", label="all equally common")
    axes.set_xticks(x, [str(o) for o in data.other.values])
    axes.set(xlabel="other inputs", ylabel="share of the commonest label", ylim=(0, None))
    axes.legend()
    figure.suptitle("Eqs. (291) to (293): labels that a teacher\nof MNIST gives to other inputs")
    return figure


MIXTURE_FIGURES = {
    "figure22": styled("Figures 4, 22a and 24: MNIST and Gaussian inputs", ("mixture",), shares),
    "figure23": styled("Figure 23: MNIST and other images", ("mixture_images",), other_images),
    "figure22_colour": styled(
        "Figures 22b, 22c and 23: CIFAR-10 and SVHN", ("mixture_cifar10", "mixture_svhn"), colour
    ),
    "figure25": styled("Figure 25: a wider student", ("mixture", "mixture_wide"), wide),
    "figure26": styled("Figure 26: loss against width", ("double_descent", "capacity"), curves),
    "balance": styled("Eqs. (291) to (293): balanced labels", ("balance",), balance),
}
