"""How the claims of section E.4, features that emerge on images, are checked.

Directions form *clusters* if, for the number of clusters with the best silhouette, their mean
cosine to their own cluster's centre is at least 0.7 and the silhouette is above that of the initial
weights, the control, in every seed. One is *above* another if it is so in every seed and by a mean
difference whose 95 % interval leaves out 0.
"""

import numpy as np
import xarray as xr

from learnscope.evidence import Finding, is_positive, judged, mean, share
from learnscope.papers.input_structure import real_sizes as real
from learnscope.papers.input_structure.clusters import Clusters, best_number, clusters
from learnscope.probes import chunk_alignment

INSIDE = 0.7
PAIR = 0.5  # the least cosine of two chunks of gradients in Table 7 is 0.508
CORE = 0.5  # share of a cluster that stands for the paper's picking by hand


def better(one: xr.DataArray, other: xr.DataArray) -> tuple[str, bool]:
    """The difference in words, and whether `one` is above `other`."""
    apart = np.asarray(one - other, float).ravel()
    good = bool((apart > 0).all()) and is_positive(apart)
    return f"difference {mean(apart)}, positive in {share(apart > 0)} seeds", good


def cosines(data: xr.Dataset, layer: int = 0) -> np.ndarray:
    """The cosines of a layer's filters in one run at one step, without padding."""
    matrix = data.filter_cosine.isel(layer=layer).values
    there = np.diagonal(matrix) > 0.5
    return matrix[np.ix_(there, there)]


def by_seed(data: xr.Dataset, step: int) -> list[Clusters]:
    return [best_number(cosines(data.isel(seed=i, step=step))) for i in range(data.sizes["seed"])]


def weights_cluster(data: xr.Dataset) -> Finding:
    """Clusters at the end, for each size of initial weights; the verdict is for the smallest."""
    parts, good = [], False
    control = by_seed(data.isel(images=0, start=0), 0)
    parts.append(
        f"untrained: cosine to own centre {mean([c.inside for c in control])}, silhouette "
        f"{mean([c.silhouette for c in control])}"
    )
    for name in real.NAMES:
        trained = by_seed(data.isel(images=0).sel(start=name), -1)
        inside, score = [c.inside for c in trained], [c.silhouette for c in trained]
        accuracy = data.test_accuracy.isel(images=0, step=-1).sel(start=name)
        parts.append(
            f"trained from weights × {name}: {mean(inside)}, {mean(score)} (accuracy "
            f"{mean(accuracy)})"
        )
        above = [s > c.silhouette for s, c in zip(score, control, strict=True)]
        good = min(inside) >= INSIDE and all(above)
    early = by_seed(data.isel(images=0).sel(start=real.NAMES[-1]), 1)
    parts.append(f"there after {int(data.step[1])} steps {mean([c.inside for c in early])}, "
                f"{mean([c.silhouette for c in early])}")  # fmt: skip
    why = "in some seed directions lie further from the centres of clusters than a cosine of 0.7"
    return judged("; ".join(parts), good, why)


def cluster_number(data: xr.Dataset, number: int) -> Finding:
    """The number of clusters with the best silhouette, from the smallest weights."""
    one = data.isel(images=0).sel(start=real.NAMES[-1])
    best = [len(set(c.label.tolist())) for c in by_seed(one, -1)]
    scores = [
        f"{k}: {mean([clusters(cosines(one.isel(seed=i, step=-1)), k).silhouette for i in range(len(best))])}"  # noqa: E501
        for k in range(2, 7)
    ]
    text = f"{', '.join(map(str, best))} in the seeds (silhouette by number: {'; '.join(scores)})"
    return judged(text, best.count(number) > len(best) / 2, f"not {number} in most seeds")


def emerge_early(data: xr.Dataset) -> Finding:
    """The part of the final silhouette that is reached after a twentieth of the steps."""
    one = data.isel(images=0).sel(start=real.NAMES[-1])
    start, early, end = ([c.silhouette for c in by_seed(one, step)] for step in (0, 1, -1))
    part = (np.array(early) - start) / (np.array(end) - start)
    text = (
        f"silhouette {mean(start)}, {mean(early)} and {mean(end)} after 0, {int(data.step[1])} and "
        f"{int(data.step[-1])} steps"
    )
    if part.min() <= 0.5:
        return judged(text, False, "less than half of it comes early")
    return judged(text, part.mean() <= 1, "they emerge early, and are looser in the end")


def _nets(data: xr.Dataset, small: bool) -> list[str]:
    return [str(n) for n in data.net.values if str(n).endswith(real.SMALL) == small]


def resnet_clusters(data: xr.Dataset, small: bool) -> Finding:
    """Cores of two clusters in every block, at the start and at the end."""
    parts, good = [], True
    for name in _nets(data, small):
        words = []
        for block in range(data.sizes["layer"]):
            both = []
            for step in (0, -1):
                runs = [data.sel(net=name).isel(seed=i, step=step) for i in range(data.seed.size)]
                both.append([clusters(cosines(run, block), 2, CORE) for run in runs])
            first, last = ([c.inside for c in some] for some in both)
            between = [c.between for c in both[1]]
            _, is_above = better(xr.DataArray(last), xr.DataArray(first))
            words.append(
                f"block {block + 1}: {np.mean(first):.2f} → {mean(last)}, centres {mean(between)}"
            )
            good = good and is_above and float(np.mean(between)) < 0
        accuracy = data.test_accuracy.sel(net=name).isel(step=-1)
        parts.append(f"{name} (accuracy {mean(accuracy)}): {'; '.join(words)}")
    why = (
        "in some block no more than among random directions, or centres are not apart: filters "
        "that start as large as He's hardly turn in so few steps"
    )
    return judged("cosine to own centre, epoch 0 → last: " + "; ".join(parts), good, why)


def resnet_early(data: xr.Dataset) -> Finding:
    """The change of cosines between filters in the first half of the epochs and afterwards."""
    parts, good = [], True
    middle = min(3, data.sizes["step"] - 2)
    for name in data.net.values:
        one = data.filter_cosine.sel(net=name)
        dims = ("layer", "filter", "other_filter")
        before, after = (
            ((one.isel(step=b) - one.isel(step=a)) ** 2).sum(dims) ** 0.5
            for a, b in ((0, middle), (middle, -1))
        )
        _, faster = better(before, after)
        parts.append(f"{name}: {mean(before)} until epoch {middle}, {mean(after)} afterwards")
        good = good and faster
    return judged("; ".join(parts), good, "filters move as much later")


def gradients(data: xr.Dataset, rate: float = real.DEEP_RATE) -> xr.DataArray:
    """Gradients g from the weights of descent with momentum: u = m u + g, w = w - rate u."""
    moved = -data.filter_weight.diff("step") / rate
    before = moved.shift(step=1, fill_value=0.0)
    return (moved - real.DEEP_MOMENTUM * before).rename(weight="coordinate")


def chosen_filter(data: xr.Dataset, name: str, seed: int) -> int:
    """The filter of the last block nearest to the centre of its larger cluster at the end."""
    matrix = cosines(data.sel(net=name).isel(seed=seed, step=-1), -1)
    label = clusters(matrix, 2, CORE).label
    return int(np.where(label == 0, matrix[:, label == 0].mean(1), -np.inf).argmax())


def table7(early: xr.Dataset, trained: xr.Dataset) -> dict[str, dict[str, np.ndarray]]:
    """The six cosines of Table 7 by net: of the chosen filter (one row per seed; `SLOW` uses the
    filter of the usual rate), and the median over filters."""
    tables: dict[str, dict[str, np.ndarray]] = {}
    for name in map(str, early.net.values):
        rows, medians = [], []
        for seed in range(early.seed.size):
            rate = real.SLOW_RATE if name.endswith(real.SLOW) else real.DEEP_RATE
            one = chunk_alignment(gradients(early.sel(net=name).isel(seed=seed), rate))
            pairs = [one.pairs.sel(chunk=a, other_chunk=b) for a, b in ((1, 2), (1, 3), (2, 3))]
            all_six = np.stack([*one.to_mean.values, *(pair.values for pair in pairs)])
            rows.append(all_six[:, chosen_filter(trained, name.removesuffix(real.SLOW), seed)])
            medians.append(np.nanmedian(all_six, axis=1))
        tables[name] = {"chosen": np.array(rows), "median": np.array(medians)}
    return tables


def gradients_agree(early: xr.Dataset, trained: xr.Dataset, slow: bool) -> Finding:
    """Pairs of chunks of the chosen filter's gradients, at the usual or the slow rate."""
    parts, good = [], True
    for name, table in table7(early, trained).items():
        if name.endswith(real.SLOW) != slow:
            continue
        chosen, median = table["chosen"], table["median"]
        parts.append(
            f"{name}: to their mean {', '.join(mean(chosen[:, k]) for k in range(3))}; pairs "
            f"{', '.join(mean(chosen[:, k]) for k in range(3, 6))} (median filter: pairs "
            f"{', '.join(f'{v:.2f}' for v in median[:, 3:].mean(0))})"
        )
        good = good and bool((chosen[:, 3:].mean(0) >= PAIR).all())
    return judged("; ".join(parts), good, "a pair of chunks has a mean cosine below 0.5")
