"""Clusters of directions, from the cosines between them."""

import functools
import math
from typing import NamedTuple

import numpy as np
import xarray as xr

from learnscope.evidence import Unanswered

_ROUNDS = 50
_MOST = 6  # clusters that are looked for


class Clusters(NamedTuple):
    """Cluster `label`s (-1: outside every core), the `silhouette`, the mean cosine to the own
    centre (`inside`), and the largest cosine of two centres (`between`)."""

    label: np.ndarray
    silhouette: float
    inside: float
    between: float


def cosines(data: xr.Dataset, layer: int = 0) -> np.ndarray:
    """The cosines of a layer's filters in one run at one step, without padding."""
    matrix = np.clip(data.filter_cosine.isel(layer=layer).values, -1, 1)
    there = np.diagonal(matrix) > 0.5
    return matrix[np.ix_(there, there)]


def embedded(cosines: np.ndarray) -> np.ndarray:
    """Unit vectors with these cosines, in coordinates sorted by variance."""
    values, vectors = np.linalg.eigh((cosines + cosines.T) / 2)
    return (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1]


def plane(cosines: np.ndarray) -> np.ndarray:
    """Classical scaling to two dimensions (Torgerson 1952), for maps of weights."""
    points = embedded(cosines)
    apart = points - points.mean(0)
    left, size, _ = np.linalg.svd(apart, full_matrices=False)
    return left[:, :2] * size[:2]


def clusters(cosines: np.ndarray, number: int, core: float = 1.0) -> Clusters:
    """Spherical k-means (Dhillon and Modha 2001) from farthest-first starts, the best of them.

    With `core` < 1 a centre is the mean of that share of its cluster's directions that are nearest
    to it, and the rest are left out: what a hand would pick on a map.

    >>> import numpy as np
    >>> two = clusters(np.kron(np.array([[1, -1.0], [-1, 1]]), np.ones((3, 3))), 2)
    >>> two.label.tolist(), round(two.silhouette, 6), round(two.between, 6)
    ([0, 0, 0, 1, 1, 1], 2.0, -1.0)
    """
    if len(cosines) <= number:
        raise Unanswered(f"{len(cosines)} directions make no {number} clusters")
    return _clusters(cosines.tobytes(), cosines.dtype.str, number, core)


# Claims and their nulls ask for the clusters of the same weights several times.
@functools.lru_cache(maxsize=1024)
def _clusters(held: bytes, dtype: str, number: int, core: float) -> Clusters:
    flat = np.frombuffer(held, dtype)
    cosines = flat.reshape(math.isqrt(len(flat)), -1)
    points = embedded(cosines)
    firsts = range(0, len(points), max(1, len(points) // 10))
    centres = np.stack([_starts(points, cosines, number, first) for first in firsts])
    for _ in range(_ROUNDS):  # of all starts at once
        moved = _centres(points, _label(points @ centres.swapaxes(1, 2), core), centres)
        if np.allclose(moved, centres):
            break
        centres = moved
    near = points @ centres.swapaxes(1, 2)
    label = _label(near, core)
    fits = np.where(label >= 0, near.max(2), 0).sum(1) / (label >= 0).sum(1)
    best = int(fits.argmax())
    chosen, centre = _in_order(label[best], centres[best])
    chosen.flags.writeable = False  # it is shared
    apart = (centre @ centre.T)[np.triu_indices(number, 1)]
    return Clusters(chosen, silhouette(cosines, chosen), float(fits[best]), float(apart.max()))


def best_number(cosines: np.ndarray) -> Clusters:
    """The number of clusters, from 2 to 6, with the largest silhouette."""
    numbers = range(2, max(2, min(_MOST, len(cosines) - 1)) + 1)
    return max((clusters(cosines, k) for k in numbers), key=lambda c: c.silhouette)


def silhouette(cosines: np.ndarray, label: np.ndarray) -> float:
    """The mean cosine to the own cluster's other members minus that to the nearest other cluster,
    averaged over directions; 0 for a cluster of one.

    Rousseeuw (1987) divides by the larger distance; without that, far clusters count for more.
    """
    kept = label >= 0
    matrix, label = cosines[np.ix_(kept, kept)], label[kept]
    member = label[:, None] == np.unique(label)
    sums, sizes = matrix @ member, member.sum(0)
    if len(sizes) < 2:
        return 0.0
    own = (sums[member] - np.diagonal(matrix)) / np.maximum(sizes[member.argmax(1)] - 1, 1)
    other = np.where(member, -np.inf, sums / sizes).max(1)
    return float(np.where(sizes[member.argmax(1)] > 1, own - other, 0.0).mean())


def _starts(points: np.ndarray, cosines: np.ndarray, number: int, first: int) -> np.ndarray:
    """A first direction, then always the one that is farthest from those taken."""
    taken = [first]
    while len(taken) < number:
        taken.append(int(cosines[:, taken].max(1).argmin()))
    return points[taken]


def _label(near: np.ndarray, core: float) -> np.ndarray:
    """The nearest centre of each direction (last but one axis), or -1 outside its core."""
    label = near.argmax(-1)
    if core < 1:
        for name in range(near.shape[-1]):
            member = label == name
            kept = np.maximum(2, np.round(core * member.sum(-1, keepdims=True)))
            order = np.argsort(-np.where(member, near[..., name], -np.inf), axis=-1, kind="stable")
            label[member & (np.argsort(order, axis=-1) >= kept)] = -1
    return label


def _centres(points: np.ndarray, label: np.ndarray, old: np.ndarray) -> np.ndarray:
    member = label[:, None, :] == np.arange(old.shape[1])[:, None]
    new = np.where(member.any(2, keepdims=True), member @ points, old)
    return new / np.maximum(np.linalg.norm(new, axis=2, keepdims=True), 1e-30)


def _in_order(label: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Relabel the clusters, the largest first."""
    order = np.argsort([-(label == k).sum() for k in range(len(centres))], kind="stable")
    place = np.empty(len(centres), int)
    place[order] = np.arange(len(centres))
    return np.where(label >= 0, place[label], -1), centres[order]
