"""The influence score: what the covariance of a class owes to each of its images."""

from typing import Any

import numpy as np
from jaxtyping import Float

from learnscope.data.classes import MEMORY, Centred, Classes, blocks, check_memory

_FEWEST = 3  # images of a class: without one of them there must still be a covariance


def influence_scores(images: Any, labels: Any, *, memory: float = MEMORY) -> Float[np.ndarray, "n"]:
    r"""How much each image adds to the squared norm of its class's covariance, in float64.

    Xu, Chen (2025), *Rethinking Benign Overfitting in Two-Layer Neural Networks*, eq. (10):

    $$\mathrm{inf}(x) = \|\hat\Sigma(S_y)\|_F^2 - \|\hat\Sigma(S_y \setminus \{x\})\|_F^2$$

    with the sample covariance $\hat\Sigma$ (divided by one less than the number of images, as in
    the paper's footnote 5). High scores are atypical images, negative ones lie where their class
    hardly varies; scores of classes of different spread do not compare.

    All scores of a class come at once. Let $x_i$ be its $n$ centred images, $\nu = n - 1$, $M =
    \sum_i x_i x_i^T$ and $F = \|M\|_F^2$. Without image $i$ the matrix is $M - \frac{n}{\nu} x_i
    x_i^T$, so that with $q_i = \|x_i\|^2$ and $h_i = x_i^T M x_i$, whose mean is $\bar h = F/n$,

    $$\mathrm{inf}_i = \frac{1}{(\nu-1)^2} \Big[ \frac{2n}{\nu} (h_i - \bar h) + \frac{F}{\nu^2}
    - \frac{n^2}{\nu^2} q_i^2 \Big],$$

    in which the two large and nearly equal norms of the definition no longer occur. The $h_i$
    come from tiles of $M$ (d x d), or of the images' inner products, $h_i = \sum_j (x_i^T x_j)^2$
    (n x n), whichever is less work. Beside the input this takes about `memory` bytes (and a few
    rows, where those are larger), whatever the number and size of images.

    | symbol | here |
    |---|---|
    | $S_y$ | the `images` whose label in `labels` is $y$ |
    | $x$ | one of them, flattened |
    | $n$ | how many images a class has |
    | $d$ | how many numbers an image has |

    `images` are numbers of any real type and of any shape (image, ...), memory-mapped if large;
    `labels` are whole numbers or text. A class of fewer than three images has no covariance when
    one is left out: its scores are NaN. Images that are all equal have the score 0.

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
    """The q and h of every image, from tiles of M."""
    count, room = len(centred), centred.memory / 8 / 6  # numbers in each of six arrays
    side = min(centred.dim, room**0.5)
    squares, weighted = np.zeros(count), np.zeros(count)
    tiles = list(blocks(centred.dim, side))
    for a, left in enumerate(tiles):
        for right in tiles[a:]:
            moment = np.zeros((left.stop - left.start, right.stop - right.start))
            for rows in blocks(count, room / side):
                x = centred.block(rows, left)
                y = x if right is left else centred.block(rows, right)
                moment += x.T @ y
            for rows in blocks(count, room / side):
                x = centred.block(rows, left)
                y = x if right is left else centred.block(rows, right)
                found = np.einsum("ij,ij->i", x @ moment, y)
                weighted[rows] += found if right is left else 2 * found
                if right is left:
                    squares[rows] += np.einsum("ij,ij->i", x, x)
    return squares, weighted


def _by_products(centred: Centred) -> tuple[np.ndarray, np.ndarray]:
    """The same, from tiles of the matrix of inner products."""
    count, room = len(centred), centred.memory / 8 / 6
    side = min(count, room**0.5)
    squares, weighted = np.zeros(count), np.zeros(count)
    tiles = list(blocks(count, side))
    for a, left in enumerate(tiles):
        for right in tiles[a:]:
            products = np.zeros((left.stop - left.start, right.stop - right.start))
            for columns in blocks(centred.dim, room / side):
                x = centred.block(left, columns)
                y = x if right is left else centred.block(right, columns)
                products += x @ y.T
            if right is left:
                squares[left] = np.diagonal(products)
            np.square(products, out=products)
            weighted[left] += products.sum(axis=1)
            if right is not left:
                weighted[right] += products.sum(axis=0)
    return squares, weighted
