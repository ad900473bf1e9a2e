"""The claims of sections E.4 and E.5 about images.

Directions form *clusters* if, for the number of clusters with the best silhouette, their mean
cosine to their own cluster's centre is at least 0.7 and the silhouette is above that of the initial
weights, which are random directions. *Similar* is within 5 points. Accuracies on mixtures are by
the teacher's labels, at the end. What is said of trained networks counts where they have learnt
and training is over. Settings are those of the scale `laptop`; `paper` has the whole sets and the
paper's nets.
"""

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from learnscope import evidence as ev
from learnscope.evidence import Quantity, Unanswered, Verb, above, at_least, below, last, within
from learnscope.papers.input_structure import real
from learnscope.papers.input_structure.clusters import Clusters, best_number, clusters, cosines
from learnscope.papers.input_structure.real import ALONE, FOUND, GAUSSIAN, NAMES, SMALL
from learnscope.probes import chunk_alignment

INSIDE, PAIR, SIMILAR, EVEN = 0.7, 0.5, 0.05, 0.2  # the least pair of Table 7 is 0.508
CORE = 0.5  # share of a cluster that stands for the paper's picking by hand
_OPEN = "reading: rates and initial weights are not in the paper"
_MIXED = "reading: optimiser, weight of R and moments of U are not in the paper"
_RATES = {  # by the first word of a sweep's name
    "weights": "chosen: 0.01, momentum 0.95, for every start; the paper has no rate",
    "resnet": f"chosen: {real.DEEP_RATE}, for every net; the paper has none",
    "mixture": "chosen: Adam, 0.001, for teachers and students; the paper has none",
}
_FIRST_STEPS = ("resnet_early", "balance")  # sweeps of a few steps, and of none


def _claim(id: str, statement: str, where: str, reported: str, setting: str, needs: Any,
           verb: Verb, scope: str, **more: Any) -> ev.Claim:  # fmt: skip
    """A claim on images; of trained networks, by the protocol."""
    sweeps = (needs,) if isinstance(needs, str) else needs
    if not set(sweeps) & set(_FIRST_STEPS):
        accuracy = "real_accuracy" if sweeps[0].startswith("mixture") else "test_accuracy"
        verb = ev.converged(verb.given(ev.learnt(accuracy)))
    rates = _RATES.get(sweeps[0].partition("_")[0], _RATES["mixture"])
    return ev.Claim(id, statement, where, reported, setting, needs, verb, scope=scope, rates=rates,
                    draws=5, **more)  # fmt: skip


# E.4: features that emerge


def _found(text: str, step: int, of: Callable[[Clusters], float]) -> Quantity:
    """Of the clusters of the weights that started smallest."""

    def read(data: xr.Dataset) -> xr.DataArray:
        one = data.sel(start=NAMES[-1]).isel(step=step)
        runs = (best_number(cosines(one.isel(seed=i))) for i in range(data.sizes["seed"]))
        return xr.DataArray([of(found) for found in runs], dims="seed")

    return ev.computed(text, read)


_START, _EARLY, _END = (_found(f"silhouette at record {step}", step, lambda c: c.silhouette)
                        for step in (0, 1, -1))  # fmt: skip
_CLUSTERED = at_least(_found("cosine to own centre", -1, lambda c: c.inside), INSIDE)
_CLUSTERED &= above(_END, _START)
_NUMBER = _found("number of clusters", -1, lambda found: len(set(found.label.tolist())))
_PART = ((_EARLY - _START) / (_END - _START)).named(
    "part of the final silhouette after a twentieth of the steps"
)


def _on_pairs(name: str, words: str, where: str, number: int, images: str) -> list[ev.Claim]:
    setting = f"{words}, {images} images, m = 50, ReLU, momentum 0.95, 400 steps of 64; initial " \
              "weights × 0.01"  # fmt: skip
    most = ev.most_seeds((abs(_NUMBER - number) < 0.5).named(f"{number} clusters"), 0.5)
    return [
        _claim(f"{id}_{name}", statement, where, reported, setting, f"weights_{name}", verb, _OPEN)
        for id, statement, reported, verb in (
            ("clusters", "The neurons' weights gradually form clusters", "clusters", _CLUSTERED),
            ("cluster_number", f"There are {number} of them", f"{number}", most.given(_CLUSTERED)),
            ("early", "Effective features emerge after a few steps, then get improved",
             "after a few steps",
             (at_least(_PART, 0.5) & ev.at_most(_PART, 1.0)).given(_CLUSTERED)),
        )
    ]  # fmt: skip


def _cores(text: str, step: int, small: bool, of: Callable[[Clusters], float]) -> Quantity:
    """Of the cores of two clusters in every block of the first net."""

    def read(data: xr.Dataset) -> xr.DataArray:
        (name, *_) = [n for n in data.net.values if str(n).endswith(SMALL) == small]
        one = data.sel(net=name).isel(step=step)
        found = np.zeros((data.sizes["seed"], data.sizes["layer"]))
        for seed, block in np.ndindex(found.shape):
            found[seed, block] = of(clusters(cosines(one.isel(seed=seed), block), 2, CORE))
        return xr.DataArray(found, dims=("seed", "layer"))

    return ev.computed(text, read)


def _two_clusters(small: bool) -> Verb:
    start, end = (_cores(f"cosine to own centre at record {s}", s, small, lambda c: c.inside)
                  for s in (0, -1))  # fmt: skip
    apart = _cores("cosine of centres", -1, small, lambda c: c.between)
    return above(end, start) & below(apart, 0.0)


def _turned(first: int, second: int) -> Quantity:
    def read(data: xr.Dataset) -> xr.DataArray:
        if data.sizes["step"] < 5:
            raise Unanswered("fewer than four epochs were run")
        moved = data.filter_cosine.isel(step=second) - data.filter_cosine.isel(step=first)
        return (moved**2).sum(("layer", "filter", "other_filter")) ** 0.5

    return ev.computed(f"turn from epoch {first} to {second}", read)


def gradients(data: xr.Dataset, rate: float = real.DEEP_RATE) -> xr.DataArray:
    """Gradients g from the weights of descent with momentum: u = m u + g, w = w - rate u."""
    moved = -data.filter_weight.diff("step") / rate
    before = moved.shift(step=1, fill_value=0.0)
    return (moved - real.DEEP_MOMENTUM * before).rename(weight="coordinate")


def _chosen_filter(trained: xr.Dataset) -> int:
    """The filter of the last block nearest to the centre of its larger cluster at the end."""
    matrix = cosines(trained.isel(step=-1), -1)
    label = clusters(matrix, 2, CORE).label
    return int(np.where(label == 0, matrix[:, label == 0].mean(1), -np.inf).argmax())


def table7(early: xr.Dataset, trained: xr.Dataset, slow: bool = False) -> xr.DataArray:
    """The six cosines of Table 7, of the chosen filter and of the median one, by net and seed. At
    the slow rate the filter is that of the usual one."""
    names = [str(n) for n in early.net.values if str(n).endswith(real.SLOW) == slow]
    rows = []
    for name in names:
        given, usual = early.sel(net=name), trained.sel(net=name.removesuffix(real.SLOW))
        for seed in range(early.sizes["seed"]):
            rate = real.SLOW_RATE if slow else real.DEEP_RATE
            one = chunk_alignment(gradients(given.isel(seed=seed), rate))
            pairs = [one.pairs.sel(chunk=a, other_chunk=b) for a, b in ((1, 2), (1, 3), (2, 3))]
            six = np.stack([*one.to_mean.values, *(pair.values for pair in pairs)])
            chosen = six[:, _chosen_filter(usual.isel(seed=seed))]
            rows.append([chosen, np.nanmedian(six, axis=1)])
    shape = (len(names), early.sizes["seed"], 2, 6)
    return xr.DataArray(np.reshape(rows, shape), dims=("net", "seed", "filter", "pair"),
                        coords={"net": names, "filter": ["chosen", "median"]})  # fmt: skip


def _agree(slow: bool) -> Verb:
    def pairs(early: xr.Dataset, trained: xr.Dataset) -> xr.DataArray:
        return table7(early, trained, slow).sel(filter="chosen", drop=True).isel(pair=[3, 4, 5])

    return at_least(ev.computed("pairs of chunks", pairs, "resnet_early", "resnet"), PAIR)


# E.5: the effect of inputs


def _parts(**where) -> tuple[Quantity, Quantity]:
    return last("real_accuracy", **where), last("other_accuracy", **where)


def _speed(variable: str) -> Quantity:
    """The mean over steps of the part of the final gain that is reached."""

    def gained(values: xr.DataArray) -> xr.DataArray:
        start = values.isel(step=0, drop=True)
        return ((values - start) / (values.isel(step=-1, drop=True) - start)).mean("step")

    words = f"mean part of the final gain, {variable.replace('_', ' ')}"
    return ev.every(variable, other=GAUSSIAN, share=0.5).map(gained, words)


def _images_help(*others: str) -> Verb:
    """The part of other images is above the Gaussian part and below the original images."""
    verbs = []
    for other in others:
        images, part = _parts(other=other)
        verbs += [above(part, last("other_accuracy", other=GAUSSIAN)), above(images, part)]
    return functools.reduce(operator.and_, verbs)


def _against_alone(mixed: dict, alone: dict) -> tuple[Verb, Verb]:
    """Beside a student on images alone: as accurate on images, less so on the whole mixture."""
    images = last("real_accuracy", **alone)
    same = within(last("real_accuracy", **mixed), images, by=SIMILAR)
    return same, below(last("mixture_accuracy", **mixed), images)


_HALF = {"other": GAUSSIAN, "share": 0.5}
_SAME, _WHOLE = _against_alone(_HALF, {"other": GAUSSIAN, "share": 0.0})
_REAL, _OTHER = _parts(other=GAUSSIAN, share=[0.25, 0.5, 0.75])
_WIDE, _WIDE_OTHER = (part.of("mixture_wide") for part in _parts(other=GAUSSIAN))
_SPLIT = [part.of("mixture") for part in _parts(**_HALF)]
_COLOUR_SPLIT = [part.of("mixture_cifar10") for part in _parts(other=GAUSSIAN)]
_GAP, _GAP_COLOUR = ((a - b).named("gap of the parts") for a, b in (_SPLIT, _COLOUR_SPLIT))
_COMMON = last("commonest_label", weight=0.5)
_SMALL, _MIDDLE, _LARGE = (last("test_loss", width=width) for width in (2, 4, 200))


def _best(labels: str) -> Quantity:
    """log of the width of the least loss, on the inputs of that arm."""

    def read(data: xr.Dataset) -> xr.DataArray:
        if labels not in data.labels:
            raise Unanswered(f"the scale that was run has no {labels}")
        name = "test_loss" if labels == "images" else "other_loss"
        last_loss = data[name].sel(labels=labels, drop=True).isel(step=-1, drop=True)
        best = last_loss.idxmin("width", skipna=False)
        return best.copy(data=np.log(best))

    return ev.computed(f"log of the best width, {labels}", read)


def _on_colour(name: str, words: str, panel: str, other: str) -> list[ev.Claim]:
    images, part = _parts(other=GAUSSIAN)
    same, whole = _against_alone({"other": GAUSSIAN}, {"other": ALONE})
    setting = f"{words}, 5000 inputs; {_TEACHER} (the paper: ResNet; `--scale paper` runs it)"
    return [
        _claim(f"{id}_{name}", f"On {words} {statement}", where, reported, setting,
               f"mixture_{name}", verb, _MIXED)
        for id, statement, where, reported, verb in (
            ("real_part", "a student learns the images' part better than the Gaussian part", panel,
             "clearly better", above(images, part)),
            ("real_part_similar", "it is as accurate on the images' part as trained on images "
             "alone", panel, "similar", same),
            ("mixture_lower", "accuracy on the mixture is lower than that on images alone", panel,
             "lower", whole),
            ("mixture_images", f"other images ({other}) are learnt better than Gaussian inputs, "
             "though not as well as the original ones", "Figure 23", "between (Tiny ImageNet)",
             _images_help(other)),
        )
    ]  # fmt: skip


_TEACHER = "teacher and student FC(9) with quadratic activation, α = 0.5"
_MNIST = f"MNIST, 20000 inputs; {_TEACHER}"
_DEEP = "ResNet(8), 1000 images, 6 epochs (the paper: ResNet(128), ResNet(256), all, 20 epochs)"
_MANY = "20000 Gaussian inputs, 4000 steps, students FC(4) to FC(100)"
_PAPER = "needs a GPU: `learnscope verify input_structure --scale paper --data DIR`"
_ROWS: tuple[Any, ...] = (
    ("resnet_clusters", "Filters gradually form two clusters in all residual blocks",
     "Figures 20 and 21", "picked by hand: cosine to own centre 0.43 to 0.74, of two centres −0.51 "
     "to −0.97", f"CIFAR-10 airplane/automobile; {_DEEP}; He's initial weights; the half of each "
     "cluster nearest to its centre", "resnet", _two_clusters(False), _OPEN),
    ("resnet_clusters_small", "The same from small initial weights", "Figures 20 and 21",
     "as above", f"{_DEEP}; initial weights of deviation 0.01", "resnet", _two_clusters(True),
     f"{_OPEN}; small start"),
    ("resnet_early", "Filters change more in epochs 0 to 3 than later", "E.4.1",
     "much more (3 of 20 epochs)", f"{_DEEP}; change of the cosines between filters", "resnet",
     above(_turned(0, 3), _turned(3, -1)), _OPEN),
    ("table7", "Gradients of the first 30 steps point in similar directions", "Table 7",
     "pairs 0.51 to 0.91", f"{_DEEP}; the filter of the last block nearest to its cluster's centre",
     ("resnet_early", "resnet"), _agree(False), _OPEN),
    ("table7_slow", "The same at a rate of 0.003, at which filters hardly turn", "Table 7",
     "as above (the rate is not stated)", _DEEP, ("resnet_early", "resnet"), _agree(True),
     f"{_OPEN}; slow"),
    ("mnist_trend", "On MNIST the trend is less significant than on CIFAR-10",
     "Figures 4a and 22a", "no significant trend", _MNIST, ("mixture", "mixture_cifar10"),
     below(_GAP, _GAP_COLOUR), _MIXED),
    ("real_part_faster", "A student learns slower on the Gaussian part", "Figure 22", "slower",
     _MNIST, "mixture", above(_speed("real_accuracy"), _speed("other_accuracy")), _MIXED),
    ("real_part_similar", "On the images' part it is as accurate as trained on images alone",
     "Figure 22", "similar", _MNIST, "mixture", _SAME, _MIXED),
    ("mixture_lower", "Accuracy on the whole mixture is lower than that on images alone",
     "Figure 22", "lower", _MNIST, "mixture", _WHOLE, _MIXED),
    ("mixture_shares", "For every share the images' part is learnt better", "Figure 24",
     "the same trend for α = 0.25, 0.5, 0.75 (on CIFAR-10)", f"on MNIST; {_MNIST}", "mixture",
     above(_REAL, _OTHER), _MIXED),
    ("mixture_wide", "With m = 50 the images' part is learnt better than the Gaussian part, and "
     "the separation is more significant than with m = 9", "Figure 25", "more significant", _MNIST,
     ("mixture", "mixture_wide"), above(_WIDE, _WIDE_OTHER) & above(_WIDE - _WIDE_OTHER, _GAP),
     _MIXED),
    ("mixture_images", "Other images are learnt better than Gaussian inputs, though not as well as "
     "the original ones", "Figure 23", "between (Tiny ImageNet, on CIFAR-10 and SVHN)",
     f"Omniglot and grey CIFAR-10 in MNIST; {_MNIST}", "mixture_images",
     _images_help("omniglot", "cifar10"), _MIXED),
    ("balanced_labels", "The regulariser makes all labels equally common on other inputs",
     "E.5.1, eqs. (291) to (293)", "guaranteed", "MNIST, teacher FC(9), weight 0.5, λ = 0.5; "
     "equally: none above 20 % of ten", "balance",
     ev.at_most(_COMMON, EVEN) & below(_COMMON, last("commonest_label", weight=0.0)), _MIXED),
    ("double_descent", "The teacher's loss against its width falls, rises and falls again",
     "Figure 26a", "a U and a second descent", "MNIST, 2000 images, FC(2), FC(4) and FC(200)",
     "double_descent", above(_MIDDLE, _SMALL) & above(_MIDDLE, _LARGE), _MIXED),
    ("teacher_size", "Its minimum in the classical regime is at FC(9)", "Figure 26a", "9",
     "MNIST, 20000 images, FC(4) to FC(100), 4000 steps", "capacity",
     within(_best("images"), math.log(FOUND), by=math.log(1.5)), _MIXED),
    ("student_minimum", "Students on Gaussian inputs with labels of FC(9) have their minimum at "
     "roughly the same width", "Figure 26b", "roughly 9", _MANY, "capacity",
     within(_best("teacher FC(9)"), _best("images"), by=math.log(2.5)), _MIXED),
    ("larger_teacher", "The minimum moves to larger widths for larger teachers", "Figure 26c",
     "teachers FC(9), FC(50)", _MANY, "capacity",
     above(_best("teacher FC(50)"), _best("teacher FC(9)")), _MIXED),
)  # fmt: skip
_FLAGS = {"double_descent": ("added after looking: the widths",)}
_NOT_RUN: tuple[Any, ...] = (
    ("resnet_width", "Clustering is more significant in ResNet(256) than in ResNet(128)",
     "E.4.1, width", "block 4: 0.74, 0.68 against 0.56, 0.57", "CIFAR-10, 20 epochs", _PAPER),
    ("teacher_500", "The minimum moves further for a teacher FC(500)", "Figure 26d",
     "larger still", "MNIST, 60000 inputs", _PAPER),
    ("resnet_students", "The same with teachers ResNet(5), ResNet(2) and students ResNet(9), "
     "ResNet(8)", "Figures 22 to 24", "as above", "CIFAR-10, SVHN", _PAPER),
    ("tiny_imagenet", "Tiny ImageNet as other inputs", "Figure 23", "between", "CIFAR-10, SVHN",
     f"the set is not at hand, and it {_PAPER}"),
)  # fmt: skip
REAL_CLAIMS = (
    *_on_pairs("mnist", "MNIST 0/1", "Figures 3 and 17", 2, "3000"),
    *_on_pairs("cifar10", "CIFAR-10 airplane/automobile", "Figure 18", 2, "3000"),
    *_on_pairs("svhn", "SVHN 0/1", "Figure 19", 4, "1000"),
    *(_claim(*row, flags=_FLAGS.get(row[0], ())) for row in _ROWS),
    *_on_colour("cifar10", "CIFAR-10", "Figures 4b and 22b", "svhn"),
    *_on_colour("svhn", "SVHN", "Figures 4c and 22c", "cifar10"),
    *(ev.Claim(*row, reason=reason, scope="as stated") for *row, reason in _NOT_RUN),
)  # fmt: skip
