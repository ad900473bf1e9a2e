"""The claims of section E.4: filters that form clusters on images, and their first gradients.

Directions form *clusters* if, for the number of clusters with the best silhouette, their mean
cosine to their own cluster's centre is at least 0.7 and the silhouette is above that of the initial
weights, which are random directions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from learnscope import evidence as ev
from learnscope.evidence import (
    UNTRAINED,
    Datasets,
    Finding,
    Null,
    Quantity,
    Unanswered,
    Verb,
    above,
    at_least,
    below,
    last,
)
from learnscope.papers.input_structure import real
from learnscope.papers.input_structure.clusters import Clusters, best_number, clusters, cosines
from learnscope.papers.input_structure.real import FEW, NAMES, NOISE, SHUFFLED, SLOW, SMALL, TRUE
from learnscope.papers.input_structure.real_claims import PAPER, claim, part_of, trained
from learnscope.probes import chunk_alignment

INSIDE, PAIR = 0.7, 0.5  # the least pair of Table 7 is 0.508
MARGIN = 0.05  # beyond the untrained net, of cosines of a ResNet's clusters
LEARNT = 0.05  # accuracy beyond the untrained net after a few steps
CORE = 0.5  # share of a cluster that stands for the paper's picking by hand
OPEN = "reading: rates and initial weights are not in the paper"
_DEEP = "ResNet(8), 1000 images, 21 epochs (the paper: ResNet(128), ResNet(256), 10000, 20 epochs)"


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
    effective = part_of(above(accuracy, ev.first("test_accuracy"), by=LEARNT), early, **_AT)
    verb = at_least(part, 0.5) & ev.at_most(part, 1.0) & effective
    return verb.given(part_of(trained(_CLUSTERED), main, **_AT))


def _on_pairs(name: str, words: str, where: str, number: int, images: str) -> list[ev.Claim]:
    main, early = f"weights_{name}", f"early_{name}"
    setting = f"{words}, {images} images, m = 50, ReLU, momentum 0.95, 4000 steps of 64; initial " \
              "weights × {}"  # fmt: skip
    most = ev.most_seeds((abs(_NUMBER - number) < 0.5).named(f"{number} clusters"), 0.5)
    on = part_of(trained(_CLUSTERED), main, **_AT)
    usual = part_of(trained(_CLUSTERED), main, **_AT | {"start": NAMES[0]})
    form, small = "The neurons' weights gradually form clusters", setting.format("0.01")
    return [
        claim(f"{id}_{name}", statement, where, reported, given, needs, verb, scope,
               nulls=_CONTROLS)
        for id, statement, reported, given, needs, verb, scope in (
            ("clusters", form, "clusters", small, main, on, f"{OPEN}; small start"),
            ("clusters_usual", form, "clusters", setting.format("1 (PyTorch's)"), main, usual,
             f"{OPEN}; PyTorch's start"),
            ("cluster_number", f"There are {number} of them", f"{number}", small, main,
             part_of(trained(most.given(_CLUSTERED)), main, **_AT), f"{OPEN}; small start"),
            ("early", "Effective features emerge after a few steps, then get improved",
             "after a few steps", small, (early, main), _early(main, early),
             f"{OPEN}; small start"),
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
        return trained(verb).judge({"resnet": one.sel(net=_nets(one, *endings)[0], drop=True)})

    return Verb(trained(verb).text, judge)


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


_ROWS: tuple[Any, ...] = (
    ("resnet_clusters", "Filters gradually form two clusters in all residual blocks",
     "Figures 20 and 21", "picked by hand: cosine to own centre 0.43 to 0.74, of two centres −0.51 "
     "to −0.97", f"CIFAR-10 airplane/automobile; {_DEEP}; He's initial weights; the half of each "
     "cluster nearest to its centre", "resnet", _one_net(_two_clusters()), OPEN, _DEEP_CONTROLS),
    ("resnet_clusters_small", "The same from small initial weights", "Figures 20 and 21",
     "as above", f"{_DEEP}; initial weights of deviation 0.01", "resnet",
     _one_net(_two_clusters(), SMALL), f"{OPEN}; small start", _DEEP_CONTROLS),
    ("resnet_early", "Filters change more in epochs 0 to 3 than later", "E.4.1",
     "much more (3 of 20 epochs)", f"{_DEEP}; change of the cosines between filters", "resnet",
     _one_net(above(_turned(0, 1, "in epochs 0 to 3"), _turned(1, -1, "later"))), OPEN, None),
    ("table7", "Gradients of the first 30 steps point in similar directions", "Table 7",
     "pairs 0.51 to 0.91", f"{_DEEP}; of 8 filters of the last block, the nearest to its cluster's "
     "centre", ("resnet_early", "resnet"), _agree(False), OPEN, _DEEP_CONTROLS),
    ("table7_slow", "The same at a rate of 0.003, at which filters hardly turn", "Table 7",
     "as above (the rate is not stated)", _DEEP, ("resnet_early", "resnet"), _agree(True),
     f"{OPEN}; slow", _DEEP_CONTROLS),
)  # fmt: skip
CLUSTER_CLAIMS = (
    *_on_pairs("mnist", "MNIST 0/1", "Figures 3 and 17", 2, "3000"),
    *_on_pairs("cifar10", "CIFAR-10 airplane/automobile", "Figure 18", 2, "3000"),
    *_on_pairs("svhn", "SVHN 0/1", "Figure 19", 4, "1500"),
    *(claim(*row, nulls=nulls) for *row, nulls in _ROWS),
    ev.Claim(
        "resnet_width", "Clustering is more significant in ResNet(256) than in ResNet(128)",
        "E.4.1, width", "block 4: 0.74, 0.68 against 0.56, 0.57", "CIFAR-10, 20 epochs",
        reason=PAPER, scope="as stated",
    ),
)  # fmt: skip
