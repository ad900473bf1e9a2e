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
from learnscope.evidence import (
    UNTRAINED,
    Finding,
    Null,
    Quantity,
    Unanswered,
    Verb,
    above,
    at_least,
    below,
    last,
    within,
)
from learnscope.evidence.quantity import Datasets
from learnscope.papers.input_structure import real
from learnscope.papers.input_structure.clusters import Clusters, best_number, clusters, cosines
from learnscope.papers.input_structure.real import (
    ALONE,
    FEW,
    FOUND,
    GAUSSIAN,
    NAMES,
    NOISE,
    SHUFFLED,
    SLOW,
    SMALL,
    TRUE,
)
from learnscope.probes import chunk_alignment

INSIDE, PAIR, SIMILAR, EVEN = 0.7, 0.5, 0.05, 0.2  # the least pair of Table 7 is 0.508
MARGIN = 0.05  # beyond the untrained net, of cosines of a ResNet's clusters
LEARNT = 0.05  # accuracy beyond the untrained net after a few steps
CORE = 0.5  # share of a cluster that stands for the paper's picking by hand
_OPEN = "reading: rates and initial weights are not in the paper"
_MIXED = "reading: optimiser, weight of R and moments of U are not in the paper"
_RATES = {  # by the first word of a sweep's name
    "weights": "chosen: 0.01, momentum 0.95, for every start; the paper has no rate",
    "early": "chosen: 0.01, momentum 0.95, for every start; the paper has no rate",
    "resnet": f"chosen: {real.DEEP_RATE}, momentum 0.95, for every net; the paper has no rate",
    "mixture": "chosen: Adam, 0.001, for teachers and students; the paper has none",
}


def _claim(id: str, statement: str, where: str, reported: str, setting: str, needs: Any,
           verb: Verb, scope: str, **more: Any) -> ev.Claim:  # fmt: skip
    sweeps = (needs,) if isinstance(needs, str) else needs
    rates = _RATES.get(sweeps[0].partition("_")[0], _RATES["mixture"])
    return ev.Claim(id, statement, where, reported, setting, needs, verb, scope=scope, rates=rates,
                    draws=5, **more)  # fmt: skip


def _trained(verb: Verb, accuracy: str = "test_accuracy") -> Verb:
    """A verb on networks that have learnt, and whose training is over."""
    return ev.converged(verb.given(ev.learnt(accuracy)))


def _on(verb: Verb, sweep: str, **where: Any) -> Verb:
    """A verb on a part of one sweep."""

    def judge(data: Datasets) -> Finding:
        return verb.judge({sweep: data[sweep].sel(where, drop=True)})

    return Verb(verb.text, judge)


# E.4: features that emerge


_OTHER_LABELS = "random labels"  # the name of a control
_AT = {"labels": TRUE, "start": NAMES[-1]}  # true labels, smallest initial weights


def _found(text: str, step: int, of: Callable[[Clusters], float], *sweep: str) -> Quantity:
    """Of the clusters of weights."""

    def read(data: xr.Dataset) -> xr.DataArray:
        one = (data.sel(_AT) if sweep else data).isel(step=step)
        runs = (best_number(cosines(one.isel(seed=i))) for i in range(data.sizes["seed"]))
        return xr.DataArray([of(found) for found in runs], dims="seed")

    return ev.computed(text, read, *sweep)


def _silhouette(text: str, step: int, *sweep: str) -> Quantity:
    return _found(f"silhouette {text}", step, lambda c: c.silhouette, *sweep)


_CLUSTERED = at_least(_found("cosine to own centre", -1, lambda c: c.inside), INSIDE)
_CLUSTERED &= above(_silhouette("at the end", -1), _silhouette("untrained", 0))
_NUMBER = _found("number of clusters", -1, lambda found: len(set(found.label.tolist())))


def _labels_at_random(data: xr.Dataset) -> xr.Dataset | None:
    """Weights that were trained on random labels in place of those on true ones."""
    if "labels" not in data.dims or "filter_cosine" not in data:
        return None
    other = data.filter_cosine.sel(labels=SHUFFLED, drop=True)
    return data.assign(filter_cosine=xr.zeros_like(data.filter_cosine) + other)


def _random_directions(data: xr.Dataset) -> xr.Dataset | None:
    """At the end, random combinations of the training inputs in place of weights."""
    if "input_cosine" not in data:
        return None
    names = {"direction": "filter", "other_direction": "other_filter"}
    other, last_step = data.input_cosine.rename(names), data.step == data.step[-1]
    return data.assign(filter_cosine=data.filter_cosine.where(~last_step, other))


_CONTROLS = (UNTRAINED, Null("random directions in the inputs' span", _random_directions),
             Null(_OTHER_LABELS, _labels_at_random))  # fmt: skip


def _early(main: str, early: str) -> Verb:
    """Half of the final silhouette, and accuracy, are there after a few steps."""
    start, few = (_silhouette(when, step, early)
                  for when, step in (("untrained", 0), (f"at step {FEW}", -1)))  # fmt: skip
    part = ((few - start) / (_silhouette("at the end", -1, main) - start)).named(
        f"part of the final silhouette at step {FEW}"
    )
    accuracy = last("test_accuracy").named(f"test accuracy at step {FEW}")
    effective = _on(above(accuracy, ev.first("test_accuracy"), by=LEARNT), early, **_AT)
    verb = at_least(part, 0.5) & ev.at_most(part, 1.0) & effective
    return verb.given(_on(_trained(_CLUSTERED), main, **_AT))


def _on_pairs(name: str, words: str, where: str, number: int, images: str) -> list[ev.Claim]:
    main, early = f"weights_{name}", f"early_{name}"
    setting = f"{words}, {images} images, m = 50, ReLU, momentum 0.95, 4000 steps of 64; initial " \
              "weights × {}"  # fmt: skip
    most = ev.most_seeds((abs(_NUMBER - number) < 0.5).named(f"{number} clusters"), 0.5)
    on = _on(_trained(_CLUSTERED), main, **_AT)
    usual = _on(_trained(_CLUSTERED), main, **_AT | {"start": NAMES[0]})
    form, small = "The neurons' weights gradually form clusters", setting.format("0.01")
    return [
        _claim(f"{id}_{name}", statement, where, reported, given, needs, verb, scope,
               nulls=_CONTROLS)
        for id, statement, reported, given, needs, verb, scope in (
            ("clusters", form, "clusters", small, main, on, f"{_OPEN}; small start"),
            ("clusters_usual", form, "clusters", setting.format("1 (PyTorch's)"), main, usual,
             f"{_OPEN}; PyTorch's start"),
            ("cluster_number", f"There are {number} of them", f"{number}", small, main,
             _on(_trained(most.given(_CLUSTERED)), main, **_AT), f"{_OPEN}; small start"),
            ("early", "Effective features emerge after a few steps, then get improved",
             "after a few steps", small, (early, main), _early(main, early),
             f"{_OPEN}; small start"),
        )
    ]  # fmt: skip


def _nets(data: xr.Dataset, *endings: str) -> list[str]:
    """The nets whose names end so: after the size, SMALL, NOISE and SLOW."""
    return [n for n in map(str, data.net.values) if n.partition(")")[2] == "".join(endings)]


def _cores(text: str, step: int, of: Callable[[Clusters], float]) -> Quantity:
    """Of the cores of two clusters in every block of a net."""

    def read(data: xr.Dataset) -> xr.DataArray:
        one = data.isel(step=step)
        found = np.zeros((data.sizes["seed"], data.sizes["layer"]))
        for seed, block in np.ndindex(found.shape):
            found[seed, block] = of(clusters(cosines(one.isel(seed=seed), block), 2, CORE))
        return xr.DataArray(found, dims=("seed", "layer"))

    return ev.computed(text, read)


def _one_net(verb: Verb, *endings: str) -> Verb:
    """A verb on the first net with these endings, where it has learnt and training is over."""

    def judge(data: Datasets) -> Finding:
        one = data["resnet"]
        return _trained(verb).judge({"resnet": one.sel(net=_nets(one, *endings)[0], drop=True)})

    return Verb(_trained(verb).text, judge)


def _two_clusters() -> Verb:
    start, end = (_cores(f"cosine to own centre {when}", step, lambda c: c.inside)
                  for when, step in (("untrained", 0), ("at the end", -1)))  # fmt: skip
    before, apart = (_cores(f"cosine of centres {when}", step, lambda c: c.between)
                     for when, step in (("untrained", 0), ("at the end", -1)))  # fmt: skip
    return above(end, start, by=MARGIN) & below(apart, before, by=MARGIN) & below(apart, 0.0)


def _nets_at_random(data: xr.Dataset) -> xr.Dataset:
    """What nets show that were trained on random labels, in place of the others."""
    names = [n if NOISE in n else _with_noise(n) for n in map(str, data.net.values)]
    read = [n for n in ("filter_cosine", "filter_weight") if n in data]
    other = data[read].sel(net=names).assign_coords(net=data.net.values)
    return data.assign({n: other[n] for n in read})


def _with_noise(name: str) -> str:
    return name.removesuffix(SLOW) + NOISE + SLOW * name.endswith(SLOW)


_DEEP_CONTROLS = (UNTRAINED, Null(_OTHER_LABELS, _nets_at_random))


def _turned(first: int, second: int, words: str) -> Quantity:
    def read(data: xr.Dataset) -> xr.DataArray:
        if data.sizes["step"] < 4:
            raise Unanswered("too few epochs were recorded")
        moved = data.filter_cosine.isel(step=second) - data.filter_cosine.isel(step=first)
        return (moved**2).sum(("layer", "filter", "other_filter")) ** 0.5

    return ev.computed(f"change of cosines {words}", read)


def gradients(data: xr.Dataset, rate: float = real.DEEP_RATE) -> xr.DataArray:
    """Gradients g from the weights of descent with momentum: u = m u + g, w = w - rate u."""
    moved = -data.filter_weight.diff("step") / rate
    before = moved.shift(step=1, fill_value=0.0)
    return (moved - real.DEEP_MOMENTUM * before).rename(weight="coordinate")


def _chosen_filter(trained: xr.Dataset, among: int) -> int:
    """The filter of the last block (among the first ones, whose early weights were recorded)
    nearest to the centre of the larger cluster at the end."""
    matrix = cosines(trained.isel(step=-1), -1)
    label = clusters(matrix, 2, CORE).label
    return int(matrix[:among, label == 0].mean(1).argmax())


def table7(early: xr.Dataset, trained: xr.Dataset, slow: bool = False) -> xr.DataArray:
    """The six cosines of Table 7, of the chosen filter and of the median one, by net and seed. At
    the slow rate the filter is that of the usual one."""
    names = [n for n in map(str, early.net.values) if n.endswith(SLOW) == slow and NOISE not in n]
    rows = []
    for name in names:
        given, usual = early.sel(net=name), trained.sel(net=name.removesuffix(SLOW))
        for seed in range(early.sizes["seed"]):
            rate = real.SLOW_RATE if slow else real.DEEP_RATE
            one = chunk_alignment(gradients(given.isel(seed=seed), rate))
            pairs = [one.pairs.sel(chunk=a, other_chunk=b) for a, b in ((1, 2), (1, 3), (2, 3))]
            six = np.stack([*one.to_mean.values, *(pair.values for pair in pairs)])
            chosen = six[:, _chosen_filter(usual.isel(seed=seed), six.shape[1])]
            rows.append([chosen, np.nanmedian(six, axis=1)])
    shape = (len(names), early.sizes["seed"], 2, 6)
    return xr.DataArray(np.reshape(rows, shape), dims=("net", "seed", "filter", "pair"),
                        coords={"net": names, "filter": ["chosen", "median"]})  # fmt: skip


def _agree(slow: bool) -> Verb:
    def pairs(early: xr.Dataset, trained: xr.Dataset) -> xr.DataArray:
        six = table7(early, trained, slow).sel(filter="chosen", drop=True)
        usual = [n for n in map(str, six.net.values) if SMALL not in n]
        return six.sel(net=usual).isel(pair=[3, 4, 5])

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
    return ev.every(variable, other=GAUSSIAN).map(gained, words)


def _images_help(*others: str) -> Verb:
    """The part of other images is above the Gaussian part (by itself, and by what it has over the
    best constant answer), and below the original images."""
    constant, gaussian = (last(n, other=GAUSSIAN) for n in ("commonest_label", "other_accuracy"))
    verbs = []
    for other in others:
        images, part = _parts(other=other)
        gain = part - last("commonest_label", other=other)
        verbs += [above(part, gaussian), above(gain, gaussian - constant), above(images, part)]
    return functools.reduce(operator.and_, verbs)


def _on_labels(verb: Verb, teacher: float) -> Verb:
    """A verb on students that have learnt, of teachers that have."""
    return _trained(verb.given(at_least(last("teacher_accuracy"), teacher)), "real_accuracy")


def _two_sweeps(verb: Verb, **teachers: float) -> Verb:
    """The same of students in several sweeps."""

    def judge(data: Datasets) -> Finding:
        knows = [at_least(last("teacher_accuracy").of(n), least) for n, least in teachers.items()]
        return _trained(verb.given(*knows), "real_accuracy").judge(data)

    return Verb(_trained(verb, "real_accuracy").text, judge)


_HALF, _ALONE = {"other": GAUSSIAN}, {"other": ALONE}
_REAL, _PART = _parts(**_HALF)
_WIDE, _WIDE_OTHER = (part.of("mixture_wide") for part in (_REAL, _PART))
_GAP = (_REAL - _PART).of("mixture").named("gap of the parts, MNIST")
_GAP_COLOUR = (_REAL - _PART).of("mixture_cifar10").named("gap of the parts, CIFAR-10")


def _better(sweep: str) -> Verb:
    return above(_REAL.of(sweep), _PART.of(sweep))


_FASTER = above(_speed("real_accuracy"), _speed("other_accuracy"))
_COMMON = last("commonest_label", weight=0.5)
_ONE, _SMALL, _MIDDLE, _LARGE = (last("test_loss", width=width) for width in (1, 2, 4, 200))
MNIST_TEACHER, COLOUR_TEACHER = 0.8, 0.2  # least accuracies of teachers; chance is 0.1


def _best(labels: str) -> Quantity:
    """log of the width of the first local minimum of the loss (the classical regime's), on the
    inputs of that arm."""

    def read(data: xr.Dataset) -> xr.DataArray:
        if labels not in data.labels:
            raise Unanswered(f"the scale that was run has no {labels}")
        name = "test_loss" if labels == "images" else "other_loss"
        loss = data[name].sel(labels=labels, drop=True).isel(step=-1, drop=True)
        loss = loss.transpose("seed", "width").sortby("width")
        rises = loss.values[:, 1:] > loss.values[:, :-1]
        place = rises.argmax(1)
        if not rises.any(1).all() or (place == 0).any():
            text = f"{labels}: {(~rises.any(1)).sum()} of {len(place)} curves never rise"
            raise Unanswered(f"{text}, {(rises.any(1) & (place == 0)).sum()} rise from the start")
        return xr.DataArray(np.log(loss.width.values[place].astype(float)), dims="seed")

    return ev.computed(f"log of the width of the first minimum, {labels}", read)


def _on_colour(name: str, words: str, panel: str, other: str) -> list[ev.Claim]:
    images, part = _parts(**_HALF)
    alone = last("real_accuracy", **_ALONE)
    size, main, mixed = _INPUTS[name], f"mixture_{name}", f"mixture_{name}_images"
    setting = f"{words}, {{}} inputs; {_TEACHER} (the paper: ResNet; `--scale paper` runs it)"
    rows = (
        ("real_part", "a student learns the images' part better than the Gaussian part", panel,
         "clearly better", main, above(images, part)),
        ("real_part_faster", "it learns slower on the Gaussian part", panel, "slower", main,
         _FASTER.given(above(part, last("commonest_label", **_HALF)))),
        ("real_part_similar", "it is as accurate on the images' part as trained on images alone",
         panel, "similar", main, within(images, alone, by=SIMILAR)),
        ("mixture_lower", "accuracy on the mixture is lower than that on images alone", panel,
         "lower", main, below(last("mixture_accuracy", **_HALF), alone)),
        ("mixture_images", f"other images ({other}) are learnt better than Gaussian inputs, "
         "though not as well as the original ones", "Figure 23", "between (Tiny ImageNet)", mixed,
         _images_help(other)),
    )  # fmt: skip
    return [
        _claim(f"{id}_{name}", f"On {words} {statement}", where, reported,
               setting.format(6000 if needs == mixed else size), needs,
               _on_labels(verb, COLOUR_TEACHER), f"{_MIXED}; FC(9) in place of ResNet")
        for id, statement, where, reported, needs, verb in rows
    ]  # fmt: skip


_INPUTS = {"cifar10": 20_000, "svhn": 6000}
_TEACHER = "teacher and student FC(9) with quadratic activation, α = 0.5"
_MNIST = f"MNIST, 60000 inputs; {_TEACHER}"
_FEWER = f"MNIST, 20000 inputs; {_TEACHER}"
_DEEP = "ResNet(8), 1000 images, 21 epochs (the paper: ResNet(128), ResNet(256), 10000, 20 epochs)"
_MANY = "20000 Gaussian inputs, 8000 steps, students FC(3) to FC(200)"
_PAPER = "needs a GPU: `learnscope verify input_structure --scale paper --data DIR`"
_CIFAR = f"CIFAR-10, 20000 inputs; {_TEACHER} (the paper: ResNet; `--scale paper` runs it)"
_ON_MNIST = f"{_MIXED}; E.5.2 says no significant trend of the same curves"
_ROWS: tuple[Any, ...] = (
    ("resnet_clusters", "Filters gradually form two clusters in all residual blocks",
     "Figures 20 and 21", "picked by hand: cosine to own centre 0.43 to 0.74, of two centres −0.51 "
     "to −0.97", f"CIFAR-10 airplane/automobile; {_DEEP}; He's initial weights; the half of each "
     "cluster nearest to its centre", "resnet", _one_net(_two_clusters()), _OPEN, _DEEP_CONTROLS),
    ("resnet_clusters_small", "The same from small initial weights", "Figures 20 and 21",
     "as above", f"{_DEEP}; initial weights of deviation 0.01", "resnet",
     _one_net(_two_clusters(), SMALL), f"{_OPEN}; small start", _DEEP_CONTROLS),
    ("resnet_early", "Filters change more in epochs 0 to 3 than later", "E.4.1",
     "much more (3 of 20 epochs)", f"{_DEEP}; change of the cosines between filters", "resnet",
     _one_net(above(_turned(0, 1, "in epochs 0 to 3"), _turned(1, -1, "later"))), _OPEN, None),
    ("table7", "Gradients of the first 30 steps point in similar directions", "Table 7",
     "pairs 0.51 to 0.91", f"{_DEEP}; of 8 filters of the last block, the nearest to its cluster's "
     "centre", ("resnet_early", "resnet"), _agree(False), _OPEN, _DEEP_CONTROLS),
    ("table7_slow", "The same at a rate of 0.003, at which filters hardly turn", "Table 7",
     "as above (the rate is not stated)", _DEEP, ("resnet_early", "resnet"), _agree(True),
     f"{_OPEN}; slow", _DEEP_CONTROLS),
    ("mnist_trend", "On MNIST the trend is less significant than on CIFAR-10", "Figure 4a",
     "less significant", f"{_MNIST}; gap of the accuracies of the two parts",
     ("mixture", "mixture_cifar10"),
     _two_sweeps(below(_GAP, _GAP_COLOUR), mixture=MNIST_TEACHER, mixture_cifar10=COLOUR_TEACHER),
     f"{_MIXED}; FC(9) in place of ResNet on CIFAR-10", None),
    ("mnist_no_trend", "On MNIST there is no significant trend", "Figure 22a",
     "no significant trend", f"{_MNIST}; the accuracies of the two parts are within 5 points",
     "mixture", _on_labels(within(_REAL, _PART, by=SIMILAR), MNIST_TEACHER), _MIXED, None),
    ("mnist_part", "With m = 9 the images' part is learnt faster and better than the Gaussian part",
     "E.5.3", "faster and better", _MNIST, "mixture",
     _on_labels(above(_REAL, _PART) & _FASTER, MNIST_TEACHER), _ON_MNIST, None),
    ("mixture_shares", "For every share the images' part is learnt better", "Figure 24",
     "the same trend for α = 0.25, 0.5, 0.75", _CIFAR, ("mixture_shares", "mixture_cifar10"),
     _two_sweeps(_better("mixture_shares") & _better("mixture_cifar10"),
                 mixture_shares=COLOUR_TEACHER, mixture_cifar10=COLOUR_TEACHER),
     f"{_MIXED}; FC(9) in place of ResNet", None),
    ("mixture_wide", "With m = 50 the images' part is learnt faster and better than the Gaussian "
     "part, and the separation is more significant than with m = 9", "Figure 25",
     "more significant", f"{_MNIST}; the student has m = 50", ("mixture", "mixture_wide"),
     _two_sweeps(_better("mixture_wide") & above(_WIDE - _WIDE_OTHER, _GAP)
                 & above(_speed("real_accuracy").of("mixture_wide"),
                         _speed("other_accuracy").of("mixture_wide")),
                 mixture=MNIST_TEACHER, mixture_wide=MNIST_TEACHER), _MIXED, None),
    ("mixture_images", "Other images are learnt better than Gaussian inputs, though not as well as "
     "the original ones", "Figure 23", "between (Tiny ImageNet, on CIFAR-10 and SVHN)",
     f"Omniglot and grey CIFAR-10 in MNIST; {_FEWER}", "mixture_images",
     _on_labels(_images_help("omniglot", "cifar10"), MNIST_TEACHER), _MIXED, None),
    ("balanced_labels", "The regulariser makes all labels equally common on other inputs",
     "E.5.1, eqs. (291) to (293)", "guaranteed", "MNIST, teacher FC(9), weight 0.5, λ = 0.5; "
     "equally: none above 20 % of ten", "balance",
     (ev.at_most(_COMMON, EVEN) & below(_COMMON, last("commonest_label", weight=0.0))).given(
         at_least(last("teacher_accuracy", weight=0.5), MNIST_TEACHER)), _MIXED, None),
    ("double_descent", "The teacher's loss against its width falls, rises and falls again",
     "Figure 26a", "a U and a second descent",
     "MNIST, 2000 images, FC(1), FC(2), FC(4) and FC(200), 4000 steps", "double_descent",
     _trained(above(_ONE, _SMALL) & above(_MIDDLE, _SMALL) & above(_MIDDLE, _LARGE)), _MIXED, None),
    ("teacher_size", "Its minimum in the classical regime is at FC(9)", "Figure 26a", "9",
     "MNIST, 20000 images, FC(3) to FC(200), 8000 steps; the first local minimum", "capacity",
     _trained(within(_best("images"), math.log(FOUND), by=math.log(1.5))), _MIXED, None),
    ("student_minimum", "Students on Gaussian inputs with labels of FC(9) have their minimum at "
     "roughly the same width", "Figure 26b", "roughly 9", _MANY, "capacity",
     _trained(within(_best("teacher FC(9)"), _best("images"), by=math.log(2.5))), _MIXED, None),
    ("larger_teacher", "The minimum moves to larger widths for larger teachers", "Figure 26c",
     "teachers FC(9), FC(50)", _MANY, "capacity",
     _trained(above(_best("teacher FC(50)"), _best("teacher FC(9)"))), _MIXED, None),
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
    *_on_pairs("svhn", "SVHN 0/1", "Figure 19", 4, "1500"),
    *(_claim(*row, nulls=nulls, flags=_FLAGS.get(row[0], ())) for *row, nulls in _ROWS),
    *_on_colour("cifar10", "CIFAR-10", "Figures 4b and 22b", "svhn"),
    *_on_colour("svhn", "SVHN", "Figures 4c and 22c", "cifar10"),
    *(ev.Claim(*row, reason=reason, scope="as stated") for *row, reason in _NOT_RUN),
)  # fmt: skip
