"""What probes of several classes share.

Filters of class k are rows k m to (k + 1) m - 1 of `params["filters"]`, as `PatchCNN` has them.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import AbstractFactors, Problem, Samples
from learnscope.errors import BadInput
from learnscope.nets import Params, inner
from learnscope.probes.probe import AbstractProbe
from learnscope.rules import State


def outputs_of(probe: AbstractProbe, state: State, params: Params, samples: Samples) -> Array:
    outputs = state.net(params, samples.x)
    if outputs.ndim != 2:
        raise BadInput(f"the probe {type(probe).__name__} needs a net with one output a class.")
    return outputs


def factors_of(probe: AbstractProbe, problem: Problem) -> tuple[AbstractFactors, int]:
    """The matrices behind the noise, and how many classes there are."""
    if problem.factors is None:
        raise BadInput(
            f"the probe {type(probe).__name__} needs a data model with noise of each class's own "
            "(ClassNoise, MatrixNoise)."
        )
    return problem.factors, problem.directions["features"].shape[0]


def by_patch(seen: tuple[Array, ...]) -> list[Float[Array, "filter n"]]:
    """Pre-activations a patch, whether patches are groups of their own or an axis of one."""
    return [
        part
        for group in seen
        for part in (
            [group] if group.ndim == 2 else [group[:, :, i] for i in range(group.shape[2])]
        )
    ]


def noise_seen(params: Params, samples: Samples) -> Float[Array, "filter n"]:
    """<w, xi>: the noise stands in the last patch."""
    return by_patch(inner(params["filters"], samples.x))[-1]


def own(seen: Float[Array, "filter n"], samples: Samples, classes: int) -> Float[Array, "n m"]:
    """Of every example, what the neurons of its own class see."""
    by_class = seen.reshape(classes, -1, samples.size)
    return jnp.take_along_axis(by_class, samples.y[None, None, :], axis=0)[0].T


def mean_by_class(values: Float[Array, " n"], labels: Array, classes: int) -> Array:
    """Mean of every class; labels outside of 0, ..., classes - 1 belong to none."""
    mine = jax.nn.one_hot(labels, classes, dtype=values.dtype)
    return jnp.where(mine > 0, values[:, None], 0).sum(0) / mine.sum(0)
