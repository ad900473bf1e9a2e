"""The distance of the learnt weights to the centroid of linear tasks."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from learnscope.data import Problem
from learnscope.probes import AbstractProbe, Output, filters_of, hidden
from learnscope.rules import AbstractState


class CentroidError(AbstractProbe):
    r"""$\|\hat w_0 - w_\star\|^2$ (Bai et al. 2021, Theorem 3)."""

    papers: ClassVar = ("bai2021split",)
    outputs: ClassVar = {"centroid_error": Output("squared distance to the centroid", low=0)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        return jnp.sum(
            (filters_of(self, state)[0] - hidden(self, problem.directions, "centroid")) ** 2
        )
