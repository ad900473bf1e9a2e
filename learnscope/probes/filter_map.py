"""Filters among the directions of the problem: what a map of both is made of."""

from collections.abc import Mapping
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Problem
from learnscope.probes.patterns import unit
from learnscope.probes.probe import AbstractProbe, Output, filters_of, refuse
from learnscope.rules import AbstractState

_MOST = 12  # directions of one name; more than these would hide a map


def landmarks(directions: Mapping[str, Any]) -> dict[str, Any]:
    """The directions (or their shapes) that a map shows, in the order of their names.

    >>> import numpy as np
    >>> list(landmarks({"signal": np.zeros(9), "background": np.zeros((400, 9))}))
    ['signal']
    """
    return {name: directions[name] for name in sorted(directions)
            if directions[name].ndim == 1 or len(directions[name]) <= _MOST}  # fmt: skip


class FilterMap(AbstractProbe):
    """The cosines between all filters, between filters and the directions of the problem, and
    between directions. Names with many directions (a dictionary's) are left out."""

    outputs: ClassVar = {
        "map_cosine": Output(
            "cosine of two filters", dims=("filter", "other_filter"), low=-1, high=1
        ),
        "landmark_cosine": Output(
            "cosine of a filter and a direction", dims=("filter", "landmark"), low=-1, high=1
        ),
        "between_landmarks": Output(
            "cosine of two directions", dims=("landmark", "other_landmark"), low=-1, high=1
        ),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        filters = filters_of(self, state)
        filters = filters.reshape(-1, filters.shape[-1])
        rows = [jnp.atleast_2d(each) for each in landmarks(problem.directions).values()]
        if not rows or rows[0].shape[-1] != filters.shape[-1]:
            refuse(self, "a problem with a few true directions, in the filters' space")
        one, other = unit(filters), unit(jnp.concatenate(rows))
        found = (one @ one.T, one @ other.T, other @ other.T)
        return {name: jnp.clip(c, -1, 1) for name, c in zip(self.outputs, found, strict=True)}
