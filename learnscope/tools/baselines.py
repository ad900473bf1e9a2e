"""Simpler measures of how atypical an image is, for comparison with influence scores."""

import operator
from typing import Any

import numpy as np
from jaxtyping import Float

from learnscope.errors import refuse_value
from learnscope.images.classes import MEMORY, Centred, Classes, blocks, check_memory


def distance_to_class_mean(
    images: Any, labels: Any, *, memory: float = MEMORY
) -> Float[np.ndarray, "n"]:
    r"""The distance $\|x - \bar x_y\|$ of each image to the mean of its class.

    The mean includes the image itself. Arguments are those of `influence_scores`.

    >>> distance_to_class_mean([[0, 0], [6, 8], [1, 1]], ["a", "a", "b"])
    array([5., 5., 0.])
    """
    memory = check_memory(memory)
    classes = Classes.check(images, labels, memory)
    distances = np.zeros(len(classes.rows))
    for members in classes.members():
        centred = Centred(classes.rows, [members], memory)
        for rows in blocks(len(centred), memory / 32 / centred.dim):
            for columns in blocks(centred.dim, memory / 32):
                x = centred.block(rows, columns)
                distances[members[rows]] += np.einsum("ij,ij->i", x, x)
        distances[members] = np.ldexp(np.sqrt(distances[members]), centred.exponent)
    return distances


def nearest_neighbour_disagreement(
    images: Any, labels: Any, neighbours: int = 10, *, memory: float = MEMORY
) -> Float[np.ndarray, "n"]:
    r"""The fraction of each image's nearest neighbours that have another label.

    The distance is Euclidean, and no image is its own neighbour. Several images at the distance of
    the last neighbour count in equal fractions, so that the result does not depend on the order of
    images. Other arguments are those of `influence_scores`; the work grows with the square of the
    number of images.

    >>> images = [[0], [1], [2], [9], [10]]
    >>> nearest_neighbour_disagreement(images, [0, 0, 1, 1, 1], neighbours=1).tolist()
    [0.0, 0.5, 1.0, 0.0, 0.0]
    """
    memory = check_memory(memory)
    classes = Classes.check(images, labels, memory)
    count, dim = classes.rows.shape
    try:
        wanted = operator.index(neighbours)
    except TypeError:
        wanted = 0
    if isinstance(neighbours, bool) or not 1 <= wanted < count:
        must = f"it must be a whole number of at least 1, less than the number of images, {count}"
        refuse_value("neighbours", neighbours, must)
    # All images as one class, since a shift does not change distances. Without subtraction of the
    # mean, integers stay integers, and their distances are exact.
    every = Centred(classes.rows, [np.arange(count)], memory)
    every.means[:] = 0
    norms = np.zeros(count)
    room = memory / 8 / 6
    for rows in blocks(count, room / dim):
        for columns in blocks(dim, room):
            x = every.block(rows, columns)
            norms[rows] += np.einsum("ij,ij->i", x, x)
    disagreement = np.empty(count)
    for rows in blocks(count, room / count):
        distances = norms[rows, None] + norms[None, :]
        for columns in blocks(dim, room / count):
            x, y = every.block(rows, columns), every.block(slice(0, count), columns)
            distances -= 2 * (x @ y.T)
        here = np.arange(rows.start, rows.stop)
        distances[here - rows.start, here] = np.inf
        last = np.partition(distances, wanted - 1, axis=1)[:, wanted - 1, None]
        other = classes.of[rows, None] != classes.of[None, :]
        closer, level = distances < last, distances == last
        inside = closer.sum(axis=1)
        fraction = (level & other).sum(axis=1) / level.sum(axis=1)
        others = (closer & other).sum(axis=1) + (wanted - inside) * fraction
        disagreement[rows] = others / wanted
    return disagreement
