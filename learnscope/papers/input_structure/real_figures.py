"""Figures on images: maps of weights and filters, early gradients, students, loss against width."""

import json
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from learnscope.evidence import Figure, experiment_of, last
from learnscope.figures import COLOURS, band, bars, figure, over, ran, styled
from learnscope.papers.input_structure.cluster_claims import CORE, table7
from learnscope.papers.input_structure.clusters import best_number, clusters, cosines, plane
from learnscope.papers.input_structure.real import (
    ALONE,
    EPOCHS,
    GAUSSIAN,
    NAMES,
    SHARES,
    SHUFFLED,
    SLOW,
    TRUE,
)

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
    runs: Any = experiment_of(data, other or next(iter(json.loads(data.attrs["experiment"]))))
    if other is not None:
        return runs.data.other
    data = getattr(runs.data, "data", runs.data)  # inside random labels
    return getattr(data, "images", data)


def _scatter(axes: Axes, matrix: np.ndarray, label: np.ndarray) -> None:
    """Directions on a plane, coloured by their final cluster (grey: outside every core)."""
    colours = ["0.75" if k < 0 else COLOURS[k % len(COLOURS)] for k in label]
    axes.scatter(*plane(matrix).T, c=colours, s=14, edgecolors="0.3", linewidths=0.3)
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal", xticks=[], yticks=[])


def _weight_maps(title: str, on: str, name: str) -> Figure:
    """Four maps of the weights along training, from both sizes of initial weights, and on random
    labels."""
    main, early = f"weights_{name}", f"early_{name}"
    rows = {f"initial weights × {NAMES[-1]}": (NAMES[-1], TRUE),
            f"initial weights × {NAMES[0]}": (NAMES[0], TRUE),
            f"random labels, × {NAMES[-1]}": (NAMES[-1], SHUFFLED)}  # fmt: skip
    columns = ((early, 0), (early, -1), (main, 1), (main, -1))

    def one(words: str, start: str, labels: str, place: int) -> Any:
        def draw(axes: Axes, data: Any) -> None:
            ordered = sorted(columns, key=lambda column: int(data[column[0]].step[column[1]]))
            sweep, record = ordered[place]
            run, trained = (data[n].isel(seed=0).sel(start=start, labels=labels)
                            for n in (sweep, main))  # fmt: skip
            matrix = cosines(run.isel(step=record))
            _scatter(axes, matrix, best_number(cosines(trained.isel(step=-1))).label)
            score = best_number(matrix).silhouette
            axes.set_title(f"step {int(run.step[record])}, cosine gap {score:.2f}")
            axes.set_ylabel("" if place else words)

        return draw

    grid = [[one(words, *where, k) for k in range(len(columns))] for words, where in rows.items()]

    def gap(run: xr.Dataset, record: int, start: str, labels: str) -> str:
        one = run.sel(start=start, labels=labels).isel(seed=0, step=record)
        return f"{best_number(cosines(one)).silhouette:.2f}"

    def heading(one: xr.Dataset, before: xr.Dataset) -> str:
        where = f"{_named(_images(one).name)} {'/'.join(map(str, _images(one).classes))}"
        large = gap(before, 0, NAMES[-1], TRUE), gap(one, -1, NAMES[-1], TRUE)
        return (f"{title}, {where}: clusters' cosine gap goes from {large[0]} to {large[1]}; with "
                f"random labels, to {gap(one, -1, NAMES[-1], SHUFFLED)}\n"
                f"({ran(one, 'net.width')} neurons by final cluster, seed 0; gap: mean cosine to "
                "own minus nearest other cluster)")  # fmt: skip

    return figure(f"{title}, {on}: weights", (main, early), grid, heading, (9.2, 7.2))


def _filter_maps(data: xr.Dataset) -> Drawing:
    """Maps at epochs 0, 3 and the last of each net; one row per residual block."""
    columns = [(str(net), step) for net in data.net.values for step in (0, 1, -1)]
    size = (2.05 * len(columns) + 0.4, 2.3 * data.sizes["layer"] + 0.9)
    drawing, grid = plt.subplots(data.sizes["layer"], len(columns), figsize=size, squeeze=False)
    for (block, column), axes in np.ndenumerate(grid):
        net, step = columns[column]
        one = data.sel(net=net).isel(seed=0)
        matrix = cosines(one.isel(step=step), block)
        _scatter(axes, matrix, clusters(cosines(one.isel(step=-1), block), 2, CORE).label)
        two = clusters(matrix, 2, CORE)
        text = f"cores {two.inside:.2f}, centres {two.between:.2f}"
        epoch = EPOCHS * range(data.sizes["step"])[step]
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

    return sweep, where, draw


def _mixture(title: str, on: str, *panels: Any) -> Figure:
    """`on` is what the paper's images are; what the runs' are, panels say."""
    needs = tuple(dict.fromkeys(sweep for sweep, *_ in panels))
    draws = [draw for *_, draw in panels]
    columns, size = (3, None) if len(panels) > 1 else (2, (7, 5))

    def heading(*datasets: xr.Dataset) -> str:
        data = dict(zip(needs, datasets, strict=True))
        ends = [data[sweep].isel(step=-1).sel(where) for sweep, where, _ in panels]
        apart = [f"{float((end.real_accuracy - end.other_accuracy).mean()):.2f}" for end in ends]
        words = "Accuracy on images minus that on other inputs, at the end"
        return f"{title}\n{words}: {', '.join(apart)}"

    return figure(f"{title}, on {on}", needs, draws, heading, size, legend=columns, sharey=True)


_COLOURS = {"cifar10": "svhn", "svhn": "cifar10"}  # with the images that are mixed in


def _teachers(data: Any) -> str:
    train, name = (ran(data["double_descent"], path) for path in ("data.train", "data.name"))
    return f"teachers on {train} images of {_named(name)}"


_ALONE = {"other": ALONE}
REAL_FIGURES: dict[str, Figure] = {
    "figure17": _weight_maps("Figures 3 and 17", "MNIST 0/1", "mnist"),
    "figure18": _weight_maps("Figure 18", "CIFAR-10 airplane/automobile", "cifar10"),
    "figure19": _weight_maps("Figure 19", "SVHN 0/1", "svhn"),
    "figure20": styled("Figures 20 and 21: filters of a ResNet", ("resnet",), _filter_maps),
    "table7": styled("Table 7: early gradients", ("resnet_early", "resnet"), _early_gradients),
    "figure22": _mixture(
        "Figures 4a and 22a: FC(9) on images and Gaussian inputs, α = 0.5", "MNIST",
        _part("mixture", alone=_ALONE, other=GAUSSIAN)),
    "figure22_colour": _mixture(
        "Figures 4b, 4c, 22b and 22c: α = 0.5", "CIFAR-10 and SVHN",
        *(_part(f"mixture_{name}", alone=_ALONE, other=GAUSSIAN) for name in _COLOURS)),
    "figure23": _mixture(
        "Figure 23: images of other sets as other inputs, α = 0.5", "MNIST",
        *(_part("mixture_images", other=kind) for kind in (GAUSSIAN, "omniglot", "cifar10"))),
    "figure23_colour": _mixture(
        "Figure 23: images of other sets as other inputs, α = 0.5", "CIFAR-10 and SVHN",
        *(_part(f"mixture_{name}_images", other=kind)
          for name, image in _COLOURS.items() for kind in (GAUSSIAN, image))),
    "figure24": _mixture(
        "Figure 24: shares α of Gaussian inputs", "CIFAR-10",
        _part("mixture_shares", "α = 0.25", other=GAUSSIAN, share=SHARES[0]),
        _part("mixture_cifar10", "α = 0.5", other=GAUSSIAN),
        _part("mixture_shares", "α = 0.75", other=GAUSSIAN, share=SHARES[1])),
    "figure25": _mixture("Figure 25: FC(m) on images and Gaussian inputs, α = 0.5", "MNIST",
                         _part("mixture", "m = 9", other=GAUSSIAN),
                         _part("mixture_wide", "m = 50", other=GAUSSIAN)),
    "figure26a": figure(
        "Figure 26a: loss of teachers against width", "double_descent",
        [over(last("test_loss"), "width", xscale="log", ylabel="test loss",
              xlabel="hidden neurons m")],
        lambda data: f"Figure 26a: teachers on {ran(data, 'data.train')} images of "
        f"{_named(ran(data, 'data.name'))}", (6, 3.9)),
    "figure26": figure(
        "Figure 26: loss against width", "capacity",
        [over(last("test_loss"), "width", "labels", xscale="log", xlabel="hidden neurons m",
              ylabel="test loss")],
        lambda data: f"Figure 26: loss against width, of teachers on {_images(data).train} images "
        f"of {_named(_images(data).name)},\nand of students on Gaussian inputs with teachers' "
        "labels", (7, 3.9)),
    "balance": figure(
        "Eqs. (291) to (293): balanced labels", "balance",
        [bars(last("commonest_label"), "other", "weight", levels={"all equally common": 0.1},
              xlabel="other inputs", ylabel="share of the commonest label")],
        lambda data: "Eqs. (291) to (293): labels that a teacher of "
        f"{_named(_images(data).name)}\ngives other inputs, by weight of R"),
}  # fmt: skip
