"""Which feature every neuron has learnt: strengths, shares of variance, and the phases."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope import nets
from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.papers.pred_head.parts.population_law import (
    Law,
    cross_covariance,
    model_of,
    parts,
    population_loss,
    within_covariance,
)
from learnscope.probes import (
    AbstractProbe,
    Output,
    correlations,
    effective_rank,
    filters_of,
    hidden,
    siamese,
)
from learnscope.rules import AbstractState, off_diagonal
from learnscope.space import Columns


def _parts(probe: AbstractProbe, state: AbstractState, problem: Problem) -> tuple[Array, Array]:
    """B and G: components along the features, and Gram matrix of the rest."""
    features = hidden(probe, problem.directions, "features").shape[0]
    return parts(filters_of(probe, state), features)


class FeatureStrengths(AbstractProbe):
    r"""$B_{jl} = \langle w_j, v_l \rangle$ of every neuron and feature, and norms and inner
    products of the rest of the $w_j$ (Wen and Li 2022, Figure 7)."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {
        "strength": Output("<w_j, v_l>", dims=("neuron", "feature")),
        "noise_norm": Output("norm of w_j outside the features", dims=("neuron",), low=0),
        "noise_gram": Output("inner products outside", dims=("neuron", "other_neuron")),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        overlaps, gram = _parts(self, state, problem)
        norms = jnp.sqrt(jnp.diag(gram))
        return {"strength": overlaps, "noise_norm": norms, "noise_gram": gram}


class FeatureShares(AbstractProbe):
    """The share of each neuron's variance that a feature accounts for, on the test examples: the
    variance of the output when all but that feature is taken out of the inputs."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {"share": Output("share of variance", dims=("neuron", "feature"), low=0)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        filters_of(self, state)
        features = hidden(self, problem.directions, "features").shape[0]
        total = jnp.var(state(problem.test.x), axis=0)
        each = [jnp.var(state(_only(problem.test.x, i)), axis=0) for i in range(features)]
        return jnp.stack(each, axis=1) / jnp.where(total > 0, total, 1.0)[:, None]


class Constancy(AbstractProbe):
    r"""$\|E[f/\|f\|]\|$ on the test examples: 1 if all outputs have one direction, which is a
    complete collapse for losses that normalise each output (Wen and Li 2022, Remark 4.5)."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {"constancy": Output("norm of the mean direction of outputs", low=0)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        filters_of(self, state)
        hidden(self, problem.directions, "features")
        outputs = state(problem.test.x)
        norms = jnp.linalg.norm(outputs, axis=1, keepdims=True)
        return jnp.linalg.norm(jnp.mean(outputs / jnp.where(norms > 0, norms, 1.0), axis=0))


def _only(x: Any, feature: int) -> Any:
    """Inputs with all coordinates zero but that of a feature (one of the first axes)."""
    if isinstance(x, tuple):
        return tuple(_only(group, feature) for group in x)
    if isinstance(x, Columns):
        kept = jnp.arange(x.values.shape[0]) == feature
        return Columns(jnp.where(kept[:, None, None], x.values, 0.0))
    return jnp.where((jnp.arange(x.shape[-1]) == feature)[None, None], x, 0.0)


class PopulationMoments(AbstractProbe):
    """The same without sampling noise, from closed forms for cubic neurons: the population loss,
    correlations of the neurons' outputs for one view, their effective rank, and the share of every
    feature in a neuron's variance."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {
        "population_loss": Output("population loss", low=0),
        "population_correlation": Output(
            "correlation", dims=("neuron", "other_neuron"), low=-1, high=1
        ),
        "population_rank": Output("effective rank of the outputs", low=0),
        "population_share": Output("share of variance", dims=("neuron", "feature"), low=0, high=1),
    }

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        law, memory = Law.of(model_of(problem)), siamese(self, state)
        _need_cubic(self, state)
        overlaps, gram = _parts(self, state, problem)
        within = within_covariance(law, overlaps, gram)
        theirs, other = overlaps, within
        if memory.target is not None:
            theirs, other_gram = parts(nets.filters_of(memory.target), law.features)
            other = within_covariance(law, theirs, other_gram)
        if "matrix" not in memory.head or memory.normalise == "l2":
            raise BadInput(
                f"the probe {type(self).__name__} needs a linear head and normalise = 'batch' or "
                "'none': other losses have no closed form."
            )
        across = cross_covariance(law, overlaps, theirs)
        loss = population_loss(across, within, other, memory.head["matrix"], memory.normalise)
        found = correlations(within)
        return {
            "population_loss": loss,
            "population_correlation": found,
            "population_rank": effective_rank(found),
            "population_share": _shares(law, overlaps, within),
        }


def _shares(law: Law, overlaps: Array, within: Array) -> Float[Array, "neuron feature"]:
    own = overlaps**6 * law.within[None]
    total = jnp.diag(within)
    return jnp.minimum(own / jnp.where(total > 0, total, 1.0)[:, None], 1.0)


def _need_cubic(probe: AbstractProbe, state: AbstractState) -> None:
    if getattr(state.net, "activation", None) != "cubic":
        raise BadInput(f"the probe {type(probe).__name__} needs a net with cubic neurons.")


class Phase(AbstractProbe):
    r"""Which of the four phases of section 5 a run is in, by triggers that work at any dimension.

    Neuron 1 is the one with most of the first feature, neuron 2 the other (of several, the one with
    most of the second feature). Phase 1 lasts until $|B_{11}| \ge \|w_1(0)\|/2$ (the strong feature
    is learnt), 2 until $C_1 \alpha_1^6 E_{21}^2 B_{11}^6 \ge 15 C_2 \sigma^6 R_2^3$ (the head's
    substitute for it exceeds neuron 2's noise), 3 until $|B_{22}| \ge |B_{11}|/2$ (the weak feature
    is learnt), and 4 is what follows. The paper's own triggers compare with powers of $\log d$ and
    fail at finite $d$: `theory.pred_head` has both."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {"phase": Output("phase of section 5", low=1, high=4)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        law = Law.of(model_of(problem))
        overlaps, gram = _parts(self, state, problem)
        if min(overlaps.shape) < 2:
            raise BadInput(
                f"the probe {type(self).__name__} needs at least two neurons and two features."
            )
        size = jnp.abs(overlaps)
        fast = jnp.argmax(size[:, 0])
        slow = jnp.argmax(jnp.where(jnp.arange(size.shape[0]) == fast, -1.0, size[:, 1]))
        head = siamese(self, state).head
        borrowed = off_diagonal(head["matrix"])[slow, fast] if "matrix" in head else 0.0
        start = jnp.linalg.norm(nets.filters_of(state.start)[fast])
        substitute = law.within[0] * borrowed**2 * size[fast, 0] ** 6
        noise = 15 * law.noise * gram[slow, slow] ** 3
        learnt = size[fast, 0] >= start / 2
        weak = learnt & (size[slow, 1] >= size[fast, 0] / 2)
        substituted = learnt & (substitute >= noise)
        phase = jnp.where(weak, 4, jnp.where(substituted, 3, jnp.where(learnt, 2, 1)))
        return phase.astype(overlaps.dtype)
