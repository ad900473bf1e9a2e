"""Emerging features: neurons' weights relative to patterns and to the truth behind labels."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.part import Number, count, number
from learnscope.probes.probe import AbstractProbe, Output, filters_of, hidden
from learnscope.rules import AbstractState


def _lengths(rows: Float[Array, "neuron dim"]) -> Float[Array, " neuron"]:
    """The rows' norms, without underflow of squares."""
    scale = jnp.max(jnp.abs(rows), axis=1)
    safe = jnp.where(scale > 0, scale, 1.0)
    return scale * jnp.linalg.norm(rows / safe[:, None], axis=1)


def unit(rows: Float[Array, "neuron dim"]) -> Float[Array, "neuron dim"]:
    """Rows of length 1; zero rows stay zero."""
    lengths = _lengths(rows)[:, None]
    return rows / jnp.where(lengths > 0, lengths, 1.0)


def histogram(values: Float[Array, " n"], bins: int, weights: Array | float) -> Array:
    """The total weight of values in each of `bins` equal parts of [-1, 1]."""
    place = jnp.clip(((values + 1) / 2 * bins).astype(int), 0, bins - 1)
    return jnp.zeros(bins, values.dtype).at[place].add(weights)


def pair_mean(square: Float[Array, "n n"]) -> Float[Array, ""]:
    """The mean off-diagonal entry."""
    n = square.shape[0]
    return (square.sum() - jnp.trace(square)) / max(1, n * (n - 1))


def cosines(
    state: AbstractState, problem: Problem, probe: AbstractProbe
) -> Float[Array, " neuron"]:
    """cos(w_i, truth) of every neuron."""
    return unit(filters_of(probe, state)) @ hidden(probe, problem.directions, "truth")


class Alignment(AbstractProbe):
    r"""The cosines between weights and the ground truth $\sum_{j \in A} M_j$ (Shi, Wei, Liang 2022,
    Tables 1 to 5): the largest, the mean and the median of their sizes, and a histogram in `bins`
    equal parts of [-1, 1] (as shares of neurons)."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "cosine_max": Output("largest cosine to the truth", low=-1, high=1),
        "cosine_mean": Output("mean |cosine| to the truth", low=0, high=1),
        "cosine_median": Output("median |cosine| to the truth", low=0, high=1),
        "cosine_share": Output("share of neurons by cosine", dims=("bin",), low=0, high=1),
    }

    bins: int = count(40)

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        to_truth = cosines(state, problem, self)
        sizes = jnp.abs(to_truth)
        return {
            "cosine_max": to_truth.max(),
            "cosine_mean": sizes.mean(),
            "cosine_median": jnp.median(sizes),
            "cosine_share": histogram(to_truth, self.bins, 1 / to_truth.shape[0]),
        }


class Clusters(AbstractProbe):
    """Clusters of the weights: the share of neurons whose cosine to the truth is above `above`, the
    share near the opposite of the truth, and the mean size of the cosine of two neurons."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "near_truth": Output("share of neurons near the truth", low=0, high=1),
        "near_opposite": Output("share of neurons near its opposite", low=0, high=1),
        "pair_cosine": Output("mean |cosine| of two neurons", low=0, high=1),
    }

    above: Number = number(0.9, low=0, high=1)

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        to_truth = cosines(state, problem, self)
        units = unit(filters_of(self, state))
        return {
            "near_truth": (to_truth > self.above).astype(to_truth.dtype).mean(),
            "near_opposite": (to_truth < -self.above).astype(to_truth.dtype).mean(),
            "pair_cosine": pair_mean(jnp.abs(units @ units.T)),
        }


class WeightMap(AbstractProbe):
    """A map of the weights' directions in the plane, by classical scaling (Torgerson 1952) of the
    distances between unit vectors. Points are the neurons, then the truth and its opposite; the map
    is turned so that the truth lies to the right."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "map_position": Output("position on the map", dims=("point", "axis")),
        "truth_cosine": Output("cosine to the truth", dims=("point",), low=-1, high=1),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        truth = hidden(self, problem.directions, "truth")
        points = jnp.concatenate([unit(filters_of(self, state)), truth[None], -truth[None]])
        return {"map_position": _scaled(points), "truth_cosine": jnp.clip(points @ truth, -1, 1)}


def _scaled(points: Float[Array, "point dim"]) -> Float[Array, "point 2"]:
    """The two main axes of the doubly centred inner products."""
    centred = points - points.mean(0)[None]
    values, vectors = jnp.linalg.eigh(centred @ centred.T)
    flat = vectors[:, -1:-3:-1] * jnp.sqrt(jnp.maximum(values[-1:-3:-1], 0.0))[None]
    x, y = flat[-2]  # the truth
    length = jnp.hypot(x, y)
    cosine = jnp.where(length > 0, x / length, 1.0)
    sine = jnp.where(length > 0, y / length, 0.0)
    # Turn by the truth's angle, so that the truth lies on the first axis.
    return flat @ jnp.stack([jnp.stack([cosine, -sine]), jnp.stack([sine, cosine])])


class PatternComponents(AbstractProbe):
    r"""The components $\langle w_i, M_j \rangle$ of weights along patterns (after the first step
    $\eta^{(1)} a_i T_j$, with the $T_j$ of Lemma 6): for each neuron the mean over relevant
    patterns and the root mean square over background ones; and the relevant share of the squared
    norm of both, averaged over neurons."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "relevant_component": Output("mean <w, M_j>, j relevant", dims=("neuron",)),
        "background_component": Output("rms <w, M_j>, j background", dims=("neuron",), low=0),
        "relevant_share": Output("relevant part of the weights' squared norm", low=0, high=1),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        rows = filters_of(self, state)
        relevant = rows @ hidden(self, problem.directions, "relevant").T
        background = rows @ hidden(self, problem.directions, "background").T
        inside, outside = _lengths(relevant), _lengths(background)
        largest = jnp.maximum(jnp.maximum(inside, outside), jnp.finfo(rows.dtype).tiny)
        a, b = (inside / largest) ** 2, (outside / largest) ** 2
        return {
            "relevant_component": relevant.mean(1),
            "background_component": outside / background.shape[1] ** 0.5,
            "relevant_share": (a / jnp.maximum(a + b, jnp.finfo(rows.dtype).tiny)).mean(),
        }


class CentreCosines(AbstractProbe):
    """For each cluster's centre, the largest cosine to any neuron: near 1 if the centre is covered.
    For each neuron, the largest cosine to any centre: near 1 if the neuron lies at a centre, not
    between centres."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "centre_cosine": Output("largest cosine to a centre", dims=("centre",), low=-1, high=1),
        "neuron_cosine": Output(
            "cosine of a neuron to the nearest centre", dims=("neuron",), low=-1, high=1
        ),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        centres = unit(hidden(self, problem.directions, "centres"))
        to_centres = unit(filters_of(self, state)) @ centres.T
        return {"centre_cosine": to_centres.max(0), "neuron_cosine": to_centres.max(1)}


def chunk_alignment(gradients: xr.DataArray, chunks: int = 3) -> xr.Dataset:
    """The agreement of early gradients (Table 7). Recorded steps are cut into equal chunks, with
    mean gradients v_1, v_2, ...; for every neuron (and seed) the result has the cosines of these to
    their mean, and to each other.

    >>> import numpy as np, xarray as xr
    >>> steady = xr.DataArray(np.ones((6, 2, 5)), dims=("step", "neuron", "coordinate"))
    >>> chunk_alignment(steady).to_mean.values.round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    """
    size = gradients.sizes["step"] // chunks
    if size == 0:
        raise BadInput(f"{chunks} chunks need at least as many recorded steps.")
    means = xr.concat(
        [gradients.isel(step=slice(i * size, (i + 1) * size)).mean("step") for i in range(chunks)],
        dim="chunk",
    ).assign_coords(chunk=np.arange(1, chunks + 1))

    def cosine(a: xr.DataArray, b: xr.DataArray) -> xr.DataArray:
        def length(v: xr.DataArray) -> xr.DataArray:
            return (v**2).sum("coordinate") ** 0.5

        return (a * b).sum("coordinate") / (length(a) * length(b))

    other = means.rename(chunk="other_chunk")
    return xr.Dataset(
        {"to_mean": cosine(means, means.mean("chunk")), "pairs": cosine(means, other)}
    )
