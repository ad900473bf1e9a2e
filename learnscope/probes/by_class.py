"""Functions for probes of several classes.

The filters of class k are rows k m to (k + 1) m - 1 of `params.filters`, as in `PatchCNN`.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import AbstractFactors, Problem, Samples
from learnscope.nets import Params, filters_of, inner
from learnscope.probes.probe import AbstractProbe, refuse
from learnscope.rules import AbstractState


def outputs_of(
    probe: AbstractProbe, state: AbstractState, params: Params, samples: Samples
) -> Array:
    """The outputs of a net that has one per class."""
    outputs = state.net(params, samples.x)
    if outputs.ndim != 2:
        refuse(probe, "a net with one output per class")
    return outputs


def factors_of(probe: AbstractProbe, problem: Problem) -> tuple[AbstractFactors, int]:
    """The matrices A_k of the classes' noise, and the number of classes."""
    if problem.factors is None:
        refuse(probe, "a data model with noise of each class's own (ClassNoise, MatrixNoise)")
    return problem.factors, problem.directions["features"].shape[0]


def by_patch(seen: tuple[Array, ...]) -> list[Float[Array, "filter n"]]:
    """The pre-activations of each patch; patches are arrays of their own, or an axis of one."""
    arrays = [array[:, :, None] if array.ndim == 2 else array for array in seen]
    return [array[:, :, i] for array in arrays for i in range(array.shape[2])]


def noise_seen(params: Params, samples: Samples) -> Float[Array, "filter n"]:
    """<w, xi> of every filter and example: the noise is the last patch."""
    return by_patch(inner(filters_of(params), samples.x))[-1]


def own(seen: Float[Array, "filter n"], samples: Samples, classes: int) -> Float[Array, "n m"]:
    """The pre-activations of each example's own class: those of the neurons of its label."""
    by_class = seen.reshape(classes, -1, samples.size)
    return jnp.take_along_axis(by_class, samples.y[None, None, :], axis=0)[0].T


def mean_by_class(values: Float[Array, " n"], labels: Array, classes: int) -> Array:
    """The mean over each class; labels outside 0, ..., classes - 1 belong to no class."""
    mine = jax.nn.one_hot(labels, classes, dtype=values.dtype)
    return jnp.where(mine > 0, values[:, None], 0).sum(0) / mine.sum(0)
