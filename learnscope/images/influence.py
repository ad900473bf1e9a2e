"""The influence score: how much each image adds to the covariance of its class."""

from typing import Any

import numpy as np
from jaxtyping import Float

from learnscope.images.classes import MEMORY, Centred, Classes, blocks, check_memory, tiles

_FEWEST = 3  # images per class: two must remain, for a covariance without one image


def influence_scores(images: Any, labels: Any, *, memory: float = MEMORY) -> Float[np.ndarray, "n"]:
    r"""How much each image adds to the squared norm of its class's covariance, in float64.

    Xu, Chen (2025), *Rethinking Benign Overfitting in Two-Layer Neural Networks*, eq. (10):

    $$\mathrm{inf}(x) = \|\hat\Sigma(S_y)\|_F^2 - \|\hat\Sigma(S_y \setminus \{x\})\|_F^2$$

    with the sample covariance $\hat\Sigma$ (divided by one less than the number of images, as in
    the paper's footnote 5). Atypical images have high scores; images along directions in which
    their class hardly varies have negative ones. Do not compare scores of classes of different
    spread.

    All scores of a class come together. Let $x_i$ be its $n$ centred images, $\nu = n - 1$,
    $M = \sum_i x_i x_i^T$ and $F = \|M\|_F^2$. Without image $i$ the matrix is
    $M - \frac{n}{\nu} x_i x_i^T$, so that with $q_i = \|x_i\|^2$ and $h_i = x_i^T M x_i$,
    whose mean is $\bar h = F/n$,

    $$\mathrm{inf}_i = \frac{1}{(\nu-1)^2} \Big[ \frac{2n}{\nu} (h_i - \bar h) + \frac{F}{\nu^2}
    - \frac{n^2}{\nu^2} q_i^2 \Big],$$

    without the two large and nearly equal norms of the definition. The $h_i$ come from tiles of
    $M$ (d x d), or of the images' inner products, $h_i = \sum_j (x_i^T x_j)^2$ (n x n), whichever
    is less work. This needs about `memory` bytes beside the input, for any number and size of
    images (or a few rows, if those are larger).

    | symbol | here |
    |---|---|
    | $S_y$ | the `images` whose label in `labels` is $y$ |
    | $x$ | one of them, flattened |
    | $n$ | the number of images of a class |
    | $d$ | the number of pixels of an image |

    `images` are numbers of any real type and of any shape (image, ...), memory-mapped if large;
    `labels` are whole numbers or text. A class of fewer than three images has no covariance without
    one of them: its scores are NaN. Images that are all equal have the score 0.

    >>> images = [[0, 0], [2, 0], [0, 2], [6, 6], [1, 1]]
    >>> influence_scores(images, ["a", "a", "a", "a", "b"]).round(2).tolist()
    [-64.89, -214.22, -214.22, 212.44, nan]
    """
    memory = check_memory(memory)
    classes = Classes.check(images, labels, memory)
    scores = np.full(len(classes.rows), np.nan)
    for name, members in zip(classes.names, classes.members(), strict=True):
        if len(members) >= _FEWEST:
            centred = Centred(classes.rows, [members], memory)
            scores[members] = centred.fourth_power(_scores(centred), f"scores of class {name}")
    return scores


def _scores(centred: Centred) -> np.ndarray:
    count = len(centred)
    by_moment = 2 * centred.dim < count
    squares, weighted = _by_moment(centred) if by_moment else _by_products(centred)
    freedom = count - 1
    rest = weighted.sum() / freedom**2 - (count / freedom * squares) ** 2
    return (2 * count / freedom * (weighted - weighted.mean()) + rest) / (freedom - 1) ** 2


def _by_moment(centred: Centred) -> tuple[np.ndarray, np.ndarray]:
    """The numbers q and h of every image, from tiles of M."""
    count, room = len(centred), centred.memory / 8 / 6  # numbers in each of six arrays
    side = min(centred.dim, room**0.5)
    squares, weighted = np.zeros(count), np.zeros(count)
    for left, right in tiles(centred.dim, side):
        moment = np.zeros((left.stop - left.start, right.stop - right.start))
        for rows in blocks(count, room / side):
            x, y = centred.pair(rows, left, right)
            moment += x.T @ y
        for rows in blocks(count, room / side):
            x, y = centred.pair(rows, left, right)
            terms = np.einsum("ij,ij->i", x @ moment, y)
            weighted[rows] += terms if right is left else 2 * terms
            if right is left:
                squares[rows] += np.einsum("ij,ij->i", x, x)
    return squares, weighted


def _by_products(centred: Centred) -> tuple[np.ndarray, np.ndarray]:
    """The numbers q and h of every image, from tiles of the matrix of inner products."""
    squares, weighted = np.zeros(len(centred)), np.zeros(len(centred))
    for left, right, products in centred.products():
        if right is left:
            squares[left] = np.diagonal(products)
        np.square(products, out=products)
        weighted[left] += products.sum(axis=1)
        if right is not left:
            weighted[right] += products.sum(axis=0)
    return squares, weighted
