"""The quadrature nodes of every neuron that matter, in batches."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from learnscope.papers.input_structure.theory.characteristic import envelope
from learnscope.papers.input_structure.theory.law import ExactLaw
from learnscope.papers.input_structure.theory.quadrature import Nodes

_POINTS = 4096  # per batch, to fit a core's cache
_BYTES = 1e8  # and what they may take
_NOTHING = 1e-17  # largest omission from an expectation


class Points(NamedTuple):
    """Quadrature points, neuron by neuron: the neuron, the node and its weights."""

    neuron: Int[np.ndarray, " point"]
    at: Float[np.ndarray, " point"]
    slope: Float[np.ndarray, " point"]
    value: Float[np.ndarray, " point"]

    @property
    def first(self) -> Int[np.ndarray, " some"]:
        """The first point of every neuron that has any."""
        return np.flatnonzero(np.diff(self.neuron, prepend=-1))

    def add_up(self, values: Float[np.ndarray, "*shape point"]) -> Float[np.ndarray, "*shape some"]:
        """Sums over the points of each of these neurons."""
        return np.add.reduceat(values, self.first, axis=-1)


def points(
    law: ExactLaw, turn: Float[np.ndarray, "neuron pattern"], rule: Nodes
) -> Iterator[Points]:
    """All points but those whose characteristic function is negligible: for a hundred patterns it
    is a product of a hundred factors below 1."""
    k, groups = law.relevant, len(law.background)
    numbers = (groups + 2) * law.patterns + (k + 1) ** 2 + 4 * (k + 1)
    most = max(1, min(_POINTS, int(_BYTES / (16 * numbers))))
    some = max(1, 4 * most // len(rule.at))
    weight = np.maximum(abs(rule.slope), abs(rule.value)) * len(rule.at)
    for start in range(0, len(turn), some):
        size = envelope(turn[start : start + some, k:], rule.at, law.background)
        neuron, node = np.nonzero(weight * size > _NOTHING)
        for first in range(0, len(neuron), most):
            part = slice(first, first + most)
            weights = (each[node[part]] for each in (rule.at, rule.slope, rule.value))
            yield Points(neuron[part] + start, *weights)
