"""Figures on images: maps of weights and filters, early gradients, students, loss against width."""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.evidence import Figure, experiment_of, last
from learnscope.figures import COLOURS, band, bars, figure, over, ran, styled
from learnscope.lab.origin import origins
from learnscope.papers.input_structure.clusters import best_number, clusters, cosines, plane
from learnscope.papers.input_structure.real import GAUSSIAN, NAMES, SLOW
from learnscope.papers.input_structure.real_claims import CORE, table7

# Table 7, ResNet(128) and ResNet(256): cosines of v1, v2, v3 to their mean, and of the pairs.
REPORTED = {
    "ResNet(128)": (0.9727, 0.8655, 0.6549, 0.7454, 0.5083, 0.6533),
    "ResNet(256)": (0.8646, 0.9665, 0.9121, 0.7087, 0.6919, 0.9135),
}
SIX = ("v₁, v̄", "v₂, v̄", "v₃, v̄", "v₁, v₂", "v₁, v₃", "v₂, v₃")
_WORDS = {"mnist": "MNIST", "cifar10": "CIFAR-10", "svhn": "SVHN", "omniglot": "Omniglot"}
_PARTS = {"images, in the mixture": "real_accuracy", "other inputs": "other_accuracy",
          "the mixture": "mixture_accuracy"}  # fmt: skip


def _named(name: str) -> str:
    return _WORDS.get(name, name)


def _images(data: xr.Dataset, other: str | None = None) -> Any:
    """The images of a sweep's runs, or the other inputs of an arm."""
    runs: Any = experiment_of(data, other or next(iter(origins(data.attrs))))
    if other is not None:
        return runs.data.other
    return getattr(runs.data, "images", runs.data)


def _scatter(axes: Axes, matrix: np.ndarray, label: np.ndarray) -> None:
    """Directions on a plane, coloured by their final cluster (grey: outside every core)."""
    colours = ["0.75" if k < 0 else COLOURS[k % len(COLOURS)] for k in label]
    axes.scatter(*plane(matrix).T, c=colours, s=14, edgecolors="0.3", linewidths=0.3)
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal", xticks=[], yticks=[])


def _weight_maps(title: str, on: str, sweep: str) -> Figure:
    """Four maps of the weights along training, one row per size of initial weights."""

    def one(name: str, part: float) -> Callable[[Axes, Any], None]:
        def draw(axes: Axes, data: Any) -> None:
            run = data[sweep].isel(seed=0).sel(start=name)
            step = int(part * (run.sizes["step"] - 1))
            matrix = cosines(run.isel(step=step))
            _scatter(axes, matrix, best_number(cosines(run.isel(step=-1))).label)
            score = best_number(matrix).silhouette
            axes.set_title(f"step {int(run.step[step])}, cosine gap {score:.2f}")
            axes.set_ylabel(f"initial weights × {name}" if part == 0 else "")

        return draw

    rows = [[one(name, part) for part in (0.0, 0.05, 0.25, 1.0)] for name in NAMES]

    def heading(data: xr.Dataset) -> str:
        where = f"{_named(ran(data, 'data.name'))} {'/'.join(map(str, _images(data).classes))}"
        return (f"{title}, {where}: do {ran(data, 'net.width')} neurons' directions form clusters? "
                "(classical scaling, seed 0;\ncolours: clusters at the end; gap: mean cosine to "
                "own minus nearest other cluster)")  # fmt: skip

    return figure(f"{title}, {on}: weights", sweep, rows, heading, (9.2, 8.4))


def _filter_maps(data: xr.Dataset) -> Drawing:
    """Maps at epochs 0, 3 and the last of each net; one row per residual block."""
    middle = min(3, data.sizes["step"] - 2)
    columns = [(str(net), step) for net in data.net.values for step in (0, middle, -1)]
    size = (2.05 * len(columns) + 0.4, 2.3 * data.sizes["layer"] + 0.9)
    drawing, grid = plt.subplots(data.sizes["layer"], len(columns), figsize=size, squeeze=False)
    for (block, column), axes in np.ndenumerate(grid):
        net, step = columns[column]
        one = data.sel(net=net).isel(seed=0)
        matrix = cosines(one.isel(step=step), block)
        _scatter(axes, matrix, clusters(cosines(one.isel(step=-1), block), 2, CORE).label)
        two = clusters(matrix, 2, CORE)
        text = f"cores {two.inside:.2f}, centres {two.between:.2f}"
        epoch = range(data.sizes["step"])[step]
        axes.set_title(f"{net}\nepoch {epoch}\n{text}" if block == 0 else text, fontsize=7.5)
        axes.set_ylabel("" if column else f"residual block {block + 1}")
    drawing.suptitle("Figures 20 and 21: directions of filters on two classes, seed 0; colours: "
                     "cores of two clusters at the last epoch")  # fmt: skip
    return drawing


def _early_gradients(early: xr.Dataset, trained: xr.Dataset) -> Drawing:
    """Table 7: the chosen filter in each seed, the median filter, and the paper's."""
    found = xr.concat([table7(early, trained, slow) for slow in (False, True)], "net")
    size = (3.4 * found.sizes["net"] + 0.6, 3.8)
    drawing, grid = plt.subplots(1, found.sizes["net"], figsize=size, sharey=True, squeeze=False)
    x = np.arange(len(SIX))
    for axes, name in zip(grid[0], found.net.values, strict=True):
        one = found.sel(net=name).transpose("pair", "seed", "filter")
        axes.plot(x, one.sel(filter="chosen"), "o", color=COLOURS[0], markersize=4)
        axes.plot(x, one.sel(filter="median").mean("seed"), "_", color=COLOURS[2], markersize=14)
        for marker, values in zip("x+", REPORTED.values(), strict=True):
            axes.plot(x, values, marker, color=COLOURS[3])
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xticks(x, SIX, rotation=35)
        axes.set_title(str(name).replace(SLOW, ", slow rate").replace(",, ", ", "))
    grid[0, 0].set_ylabel("cosine of mean gradients")
    drawing.suptitle("Table 7: gradients of steps 1-10, 11-20 and 21-30, last residual block; ○ "
                     "the chosen filter, — the median one, × and + the paper's")  # fmt: skip
    return drawing


def _part(sweep: str, title: str = "", alone: dict[str, Any] | None = None, **where: Any) -> Any:
    """The parts of a mixture by step, and images alone; with the sweep's name. Without a title it
    says what the other inputs are."""

    def draw(axes: Axes, data: Any) -> None:
        one = data[sweep].sel(where)
        shown = {label: one[name] for label, name in _PARTS.items()}
        if alone is not None:
            shown["images, trained on alone"] = data[sweep].sel(alone).real_accuracy
        for i, (label, values) in enumerate(shown.items()):
            band(axes, one.step, values, i, label, alpha=0.18)
        axes.axhline(float(one.commonest_label.mean()), color="black", linewidth=0.8,
                     linestyle=":", label="other inputs' commonest label")  # fmt: skip
        other = _images(data[sweep], where["other"])
        words = title or (GAUSSIAN if other is None else _named(other.name)) + " as other inputs"
        axes.set(xlabel="step", ylim=(0, 1.02), ylabel="accuracy, teacher's labels",
                 title=f"{_named(_images(data[sweep]).name)}: {words}")  # fmt: skip

    return sweep, draw


def _mixture(title: str, on: str, *panels: Any) -> Figure:
    """`on` is what the paper's images are; what the runs' are, panels say."""
    needs = tuple(dict.fromkeys(sweep for sweep, _ in panels))
    draws = [draw for _, draw in panels]
    return figure(f"{title}, on {on}", needs, draws, title, legend=3, sharey=True)


def _colour(name: str, other: str) -> list[Any]:
    return [_part(f"mixture_{name}", alone={"other": "none"}, other=kind)
            for kind in (GAUSSIAN, other)]  # fmt: skip


def _teachers(data: Any) -> str:
    train, name = (ran(data["double_descent"], path) for path in ("data.train", "data.name"))
    return f"teachers on {train} images of {_named(name)}"


_MNIST = {"other": GAUSSIAN, "share": 0.0}
REAL_FIGURES: dict[str, Figure] = {
    "figure17": _weight_maps("Figures 3 and 17", "MNIST 0/1", "weights_mnist"),
    "figure18": _weight_maps("Figure 18", "CIFAR-10 airplane/automobile", "weights_cifar10"),
    "figure19": _weight_maps("Figure 19", "SVHN 0/1", "weights_svhn"),
    "figure20": styled("Figures 20 and 21: filters of a ResNet", ("resnet",), _filter_maps),
    "table7": styled("Table 7: early gradients", ("resnet_early", "resnet"), _early_gradients),
    "figure22": _mixture(
        "Figures 4, 22a and 24: FC(9) on images and Gaussian inputs", "MNIST",
        *(_part("mixture", f"share of Gaussian inputs α = {a:g}", _MNIST, other=GAUSSIAN, share=a)
          for a in (0.25, 0.5, 0.75))),
    "figure23": _mixture(
        "Figure 23: images of other sets as other inputs, α = 0.5", "MNIST",
        *(_part("mixture_images", other=kind) for kind in (GAUSSIAN, "omniglot", "cifar10"))),
    "figure22_colour": _mixture("Figures 22b, 22c and 23: α = 0.5", "CIFAR-10 and SVHN",
                                *_colour("cifar10", "svhn"),
                                *_colour("svhn", "cifar10")),
    "figure25": _mixture("Figure 25: FC(m) on images and Gaussian inputs, α = 0.5", "MNIST",
                         _part("mixture", "m = 9", other=GAUSSIAN, share=0.5),
                         _part("mixture_wide", "m = 50", other=GAUSSIAN)),
    "figure26": figure(
        "Figure 26: loss against width", ("double_descent", "capacity"),
        [[over(last("test_loss").of("double_descent"), "width", xscale="log", ylabel="test loss",
               xlabel="hidden neurons m", title=_teachers),
          over(last("test_loss").of("capacity"), "width", "labels", xscale="log",
               xlabel="hidden neurons m", ylabel="test loss", title="many inputs")]],
        "Figure 26: loss against width, of teachers and of students on their labels", (9, 3.9)),
    "balance": figure(
        "Eqs. (291) to (293): balanced labels", "balance",
        [bars(last("commonest_label"), "other", "weight", levels={"all equally common": 0.1},
              xlabel="other inputs", ylabel="share of the commonest label")],
        lambda data: "Eqs. (291) to (293): labels that a teacher of "
        f"{_named(_images(data).name)}\ngives other inputs, by weight of R"),
}  # fmt: skip
