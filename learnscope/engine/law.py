"""Whether a data model draws the same law in compressed coordinates as in ambient ones, by moments
of inner products over many draws."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from learnscope.data import AbstractData, Problem, Samples
from learnscope.engine.draw import frame_of, key_of, traced
from learnscope.engine.experiment import Experiment, Keyed, Room, room
from learnscope.engine.program import computed
from learnscope.part.canonical import hashable
from learnscope.space import Columns, one_array, padded

_CLOSE = 1e-9
_DRAWS = 400
# Standard errors. Of a model that is right, a moment of 400 draws differs by so much less than once
# in 10^14; one that draws in a wrong dimension is off by hundreds.
_FAR = 8.0


def other_law(small: Experiment) -> str | None:
    """What a data model draws of another law in compressed coordinates, or None."""
    return differing(Keyed((*hashable(small.data), room(small, "compressed")), small))


@functools.lru_cache(maxsize=1024)
def differing(trial: Keyed) -> str | None:
    small, drawn = trial.experiment, trial.key[-1]

    def moments(data: AbstractData, held: Room | None, seeds: np.ndarray) -> Any:
        draw = lambda seed: data.sample(key_of(seed, "data"), frame_of(data, held))  # noqa: E731
        products = jax.vmap(lambda seed: _products(draw(seed)))(seeds)
        powers = {name: jnp.concatenate([v, v**2], 1) for name, v in products.items()}
        return {name: (v.mean(0), v.std(0) / np.sqrt(_DRAWS)) for name, v in powers.items()}

    laws = []
    for first, coordinates in ((0, "compressed"), (_DRAWS, "ambient")):
        data = traced(small, "float64", coordinates).data
        seeds = np.arange(first, first + _DRAWS, dtype=np.uint32)
        held = drawn if coordinates == "compressed" else None
        laws.append(computed(functools.partial(moments, data, held, seeds)))
    for name, (mean, error) in laws[0].items():
        there, spread = laws[1][name]
        rounding = _CLOSE * np.abs(there).max(initial=0)
        if np.any(np.abs(mean - there) > _FAR * np.hypot(error, spread) + rounding):
            return name
    return None


def _products(problem: Problem) -> dict[str, Array]:
    """Labels, and inner products of training vectors, directions and test vectors (not of test
    vectors with themselves: only their components along the others are drawn)."""
    rank = problem.frame.rank

    def patches(samples: Samples) -> Array:
        """Patches first, examples second, in both forms of inputs."""
        whole = one_array(jax.tree.leaves(Columns.undone(samples).x), rank)
        return jnp.moveaxis(whole, 1, 0).reshape(-1, rank)

    directions = [padded(v, rank).reshape(-1, rank) for v in jax.tree.leaves(problem.directions)]
    held = [] if problem.validation is None else [patches(problem.validation)]
    along = jnp.concatenate([*directions, patches(problem.train), *held])
    labels = jnp.concatenate([problem.train.y, problem.test.y]).reshape(-1)
    return {
        "labels": labels.astype(float),
        "training vectors": (along @ along.T).reshape(-1),
        "test vectors": (patches(problem.test) @ along.T).reshape(-1),
    }
