"""Statistics of images without training: maps, influence scores, the noise of classes."""

import jax
import numpy as np
import xarray as xr

from learnscope.images import Images, influence_scores
from learnscope.tools import (
    distance_to_class_mean,
    nearest_neighbour_disagreement,
    noise_correlation,
    noise_correlation_ratio,
    tsne,
)

TOP = 8  # images shown per class and end
TENTH = 0.1  # share of a class that counts as high (or low) scores
ENDS = ("high", "low")


def _drawn(name: str, train: int | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training images and their labels, chosen as an experiment would choose them."""
    data = Images(name=name, train=train)
    index = np.asarray(data.chosen(jax.random.key(seed)))
    images, labels = data.source.train
    return images[index], labels[index]


def likeness(rows: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    r"""How alike the shapes of two classes' noise are, and those of two halves of one class.

    The mean cosine of covariances, $\mathrm{tr}(\Sigma_i \Sigma_j) / (\|\Sigma_i\|_F
    \|\Sigma_j\|_F)$. If noise had one shape for all, up to its strength, both would be the same.
    """
    half = np.zeros(len(labels), int)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        half[members] = np.arange(len(members)) % 2
    table = noise_correlation(rows, 2 * labels + half).values
    norm = np.sqrt(np.diagonal(table))
    cosine = table / (norm[:, None] * norm[None])
    of = np.arange(len(table)) // 2
    same = (of[:, None] == of[None]) & ~np.eye(len(table), dtype=bool)
    other = of[:, None] != of[None]
    return float(cosine[other].mean()), float(cosine[same].mean())


def tsne_map(name: str, train: int, steps: int, seeds: int) -> xr.Dataset:
    """Figure 1: t-SNE maps, and the likeness of classes in the maps and in pixels."""
    places, marks, measured = [], [], []
    for seed in range(seeds):
        images, labels = _drawn(name, train, seed)
        rows = images.reshape(len(images), -1).astype(float)
        places.append(tsne(rows, perplexity=min(30, train / 10), steps=steps))
        marks.append(labels)
        measured.append([likeness(rows, labels), likeness(places[-1], labels)])
    return xr.Dataset(
        {
            "place": (("seed", "image", "axis"), np.array(places)),
            "label": (("seed", "image"), np.array(marks)),
            "likeness": (("seed", "space", "pair"), np.array(measured)),
        },
        {"space": ["pixels", "map"], "pair": ["two classes", "halves of one"]},
        {"name": name},
    )


def scored(name: str, train: int, seeds: int) -> xr.Dataset:
    """Figure 5: images at both ends of the scores (of seed 0), the disagreement with their nearest
    images, and their distance from the class mean."""
    shown, confused = [], np.zeros((seeds, len(ENDS)))
    away, usual = np.zeros((seeds, len(ENDS))), np.zeros(seeds)
    for seed in range(seeds):
        images, labels = _drawn(name, train, seed)
        scores = influence_scores(images, labels)
        wrong = nearest_neighbour_disagreement(images, labels)
        far = distance_to_class_mean(images, labels)
        usual[seed] = wrong.mean()
        ends = {end: [] for end in ENDS}
        for label in np.unique(labels):
            members = np.flatnonzero(labels == label)
            order = members[np.argsort(scores[members], kind="stable")]
            few = max(TOP, round(TENTH * len(order)))
            ends["low"].append(order[:few])
            ends["high"].append(order[::-1][:few])
        for position, end in enumerate(ENDS):
            confused[seed, position] = np.mean([wrong[part].mean() for part in ends[end]])
            away[seed, position] = np.mean([far[part].mean() for part in ends[end]]) / far.mean()
        if seed == 0:
            shown = [[images[part[:TOP]] for part in ends[end]] for end in ENDS]
    pictures = np.array(shown)
    colour = ("colour",) if pictures.ndim == 6 else ()
    return xr.Dataset(
        {
            "picture": (("end", "class", "place", "row", "column", *colour), pictures),
            "disagreement": (("seed", "end"), confused),
            "disagreement_of_all": ("seed", usual),
            "distance": (("seed", "end"), away),
        },
        {"end": list(ENDS)},
        {"name": name, "images": train},
    )


def class_noise(name: str, train: int | None, seeds: int) -> xr.Dataset:
    """Figure 6: tr(Sigma_i Sigma_j), with pixels from 0 to 1, and the noise correlation ratios; the
    same for classes whose labels are shuffled, as a control."""
    tables = []
    for seed in range(1 if train is None else seeds):
        images, labels = _drawn(name, train, seed)
        mixed = np.random.default_rng(seed).permutation(labels)
        noise = [noise_correlation(images / images.max(), each) for each in (labels, mixed)]
        tables.append([noise[0], *map(noise_correlation_ratio, noise)])
    names = ("correlation", "ratio", "ratio_shuffled")
    dims = ("seed", "class", "other")
    found = {n: (dims, np.array([row[i].values for row in tables])) for i, n in enumerate(names)}
    coords = {dim: tables[0][0][dim].values for dim in ("class", "other")}
    return xr.Dataset(found, coords, {"name": name})
