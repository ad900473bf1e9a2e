"""The noise correlation of classes: the overlap of their covariances."""

from typing import Any

import numpy as np
import xarray as xr

from learnscope import data
from learnscope.errors import BadInput
from learnscope.images.classes import MEMORY, Centred, Classes, blocks, check_memory, tiles

MOST_CLASSES = 4096


def noise_correlation(images: Any, labels: Any, *, memory: float = MEMORY) -> xr.DataArray:
    r"""The noise correlation of every two classes: a matrix, classes by classes.

    Xu, Chen (2025), *Rethinking Benign Overfitting in Two-Layer Neural Networks*, Figure 6: the
    squared Frobenius norm $\|A_i^T A_j\|_F^2$, where an image of class $i$ is a feature of the
    class plus noise $A_i \zeta$ with uncorrelated $\zeta$ of variance one. The covariance of the
    class is then $\Sigma_i = A_i A_i^T$, and

    $$\|A_i^T A_j\|_F^2 = \mathrm{tr}(\Sigma_i \Sigma_j),$$

    estimated with sample covariances. (The text above the figure omits the square; its caption and
    Theorem 1 have it.) The diagonal is the $\|\hat\Sigma(S_i)\|_F^2$ of
    `influence_scores`.

    | symbol | here |
    |---|---|
    | $A_i A_i^T$ | the covariance of the `images` whose label in `labels` is $i$ |
    | $\|S_i\|$ | the coordinate `samples`: the number of these images |

    `images`, `labels` and `memory` are as in `influence_scores`; one mean image per class is held
    in addition. Classes of one image have no covariance: their rows and columns are NaN.

    >>> images = [[0, 0], [2, 0], [0, 0], [1, 1], [2, 2]]
    >>> noise_correlation(images, ["a", "a", "b", "b", "b"]).values
    array([[4., 2.],
           [2., 4.]])
    """
    memory = check_memory(memory)
    classes = Classes.check(images, labels, memory)
    if len(classes.names) > MOST_CLASSES:
        given = f"labels have {len(classes.names)} different values"
        raise BadInput(f"{given}: noise_correlation takes at most {MOST_CLASSES} classes.")
    members = classes.members()
    counts = np.array([len(each) for each in members])
    several = np.flatnonzero(counts > 1)
    correlation = np.full((len(counts), len(counts)), np.nan)
    if len(several):
        centred = Centred(classes.rows, [members[k] for k in several], memory)
        count, dim = len(centred), centred.dim
        by_moment = (count + len(several) ** 2) * dim < count**2
        sums = _by_moments(centred) if by_moment else _by_products(centred)
        freedom = counts[several] - 1.0
        sums /= freedom[:, None] * freedom[None, :]
        correlation[np.ix_(several, several)] = centred.fourth_power(sums, "noise correlations")
    samples = ("class", counts, {"long_name": "images of the class"})
    coords = {"class": classes.names, "other": classes.names, "samples": samples}
    attrs = {"long_name": "tr(Σ_i Σ_j)", "units": "pixel^4"}
    return xr.DataArray(correlation, coords, ("class", "other"), "noise_correlation", attrs)


def noise_correlation_ratio(correlation: xr.DataArray) -> xr.DataArray:
    r"""The noise correlation ratio of every two classes, from the result of `noise_correlation`.

    It is the exponent of Theorem 1 (2b) in the same paper: atypical images of class $k$ are benign
    if it is large for every other class $j$.

    $$\Gamma_{k,j} = \frac{|S_k| \|A_k^T A_k\|_F^2}{|S_j| \|A_k^T A_j\|_F^2}.$$

    | symbol | here |
    |---|---|
    | $k, j$ | the dims `class` and `other` |

    >>> images = [[0, 0], [2, 0], [0, 0], [1, 1], [2, 2]]
    >>> correlation = noise_correlation(images, ["a", "a", "b", "b", "b"])
    >>> noise_correlation_ratio(correlation).values.round(2).tolist()
    [[1.0, 1.33], [3.0, 1.0]]
    """
    ratio = data.noise_correlation_ratio(correlation.values, correlation["samples"].values)
    named = correlation.copy(data=ratio).rename("noise_correlation_ratio")
    return named.assign_attrs(long_name="Γ_kj", units="1")


def _by_moments(centred: Centred) -> np.ndarray:
    """The traces of the products of every two classes' moments, from tiles of the moments."""
    classes, room = len(centred.ends), centred.memory / 8 / 4
    side = min(centred.dim, (room / classes) ** 0.5)
    starts = np.concatenate([[0], centred.ends[:-1]])
    traces = np.zeros((classes, classes))
    for left, right in tiles(centred.dim, side):
        moments = np.zeros((classes, left.stop - left.start, right.stop - right.start))
        for k, (start, end) in enumerate(zip(starts, centred.ends, strict=True)):
            for cut in blocks(end - start, room / max(side, 1)):
                x, y = centred.pair(slice(start + cut.start, start + cut.stop), left, right)
                moments[k] += x.T @ y
        flat = moments.reshape(classes, -1)
        traces += (1 if right is left else 2) * (flat @ flat.T)
    return traces


def _by_products(centred: Centred) -> np.ndarray:
    """The same traces, as sums of squared inner products of the images of the two classes."""
    of = np.searchsorted(centred.ends, np.arange(len(centred)), side="right")
    traces = np.zeros((len(centred.ends), len(centred.ends)))
    for left, right, products in centred.products():
        np.square(products, out=products)
        classes, starts = np.unique(of[left], return_index=True)
        others, other_starts = np.unique(of[right], return_index=True)
        sums = np.add.reduceat(products, starts, axis=0)
        sums = np.add.reduceat(sums, other_starts, axis=1)
        traces[np.ix_(classes, others)] += sums
        if right is not left:
            traces[np.ix_(others, classes)] += sums.T
    return traces
