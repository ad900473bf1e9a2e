"""What self-supervised rules do: the loss of pairs, the prediction head, how neurons correlate."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.part import count
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.rules import Siamese, State
from learnscope.rules.heads import off_diagonal

_KEY = 0  # of the test examples' views: the same at every recorded step


def siamese(probe: AbstractProbe, state: State) -> Siamese:
    """The memory of a rule with a prediction head, or word that there is none."""
    if not isinstance(state.memory, Siamese):
        raise BadInput(
            f"the probe {type(probe).__name__} needs a rule with a prediction head, such as "
            "NonContrastive."
        )
    return state.memory


class PairLoss(AbstractProbe):
    """Half the mean squared distance between the two normalised views of the test examples: what
    `NonContrastive` descends along, without noise of batches."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {"pair_loss": Output("loss of positive pairs", low=0)}

    def __call__(self, state: State, problem: Problem) -> Array:
        one, other = problem.viewed(problem.test, jax.random.key(_KEY))
        return siamese(self, state).loss(state.net, state.params, one, other)


class HeadOffDiagonal(AbstractProbe):
    r"""The off-diagonal of a linear prediction head $E$: its entries, its Frobenius norm and its
    asymmetry $\|E - E^T\|_F / \|\text{offdiag}(E)\|_F$ (Wen and Li 2022, Figure 3), 0 where the
    off-diagonal is 0 (and at most 2)."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {
        "head": Output("off-diagonal of the head", dims=("neuron", "other_neuron")),
        "head_norm": Output("norm of the head's off-diagonal", low=0),
        "head_asymmetry": Output("asymmetry of the head's off-diagonal", low=0, high=2),
    }

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        head = siamese(self, state).head
        if "matrix" not in head:
            raise BadInput(f"the probe {type(self).__name__} needs a linear head, not an mlp.")
        outside = off_diagonal(head["matrix"])
        norm = jnp.linalg.norm(outside)
        skew = jnp.linalg.norm(outside - outside.T)
        return {
            "head": outside,
            "head_norm": norm,
            "head_asymmetry": jnp.minimum(skew / jnp.where(norm > 0, norm, 1.0), 2.0),
        }


def correlations(covariance: Float[Array, "neuron neuron"]) -> Float[Array, "neuron neuron"]:
    """The correlation matrix; a neuron that does not vary has none with others, and 0 stands for
    that."""
    spread = jnp.sqrt(jnp.maximum(jnp.diag(covariance), 0.0))
    scale = jnp.where(spread > 0, 1 / jnp.where(spread > 0, spread, 1.0), 0.0)
    return jnp.clip(covariance * scale[:, None] * scale[None], -1.0, 1.0)


def effective_rank(covariance: Float[Array, "neuron neuron"]) -> Float[Array, ""]:
    r"""$\exp(-\sum_i p_i \log p_i)$ with $p_i$ the shares of variance along the principal axes (Roy
    and Vetterli 2007): 1 if all neurons are multiples of one, 0 if nothing varies."""
    values = jnp.maximum(jnp.linalg.eigvalsh(covariance), 0.0)
    total = values.sum()
    shares = values / jnp.where(total > 0, total, 1.0)
    entropy = -jnp.where(shares > 0, shares * jnp.log(jnp.where(shares > 0, shares, 1.0)), 0).sum()
    return jnp.where(total > 0, jnp.exp(entropy), 0.0)


class Correlations(NamedTuple):
    """How neurons correlate: the matrix, shares of pairs by size, mean size, effective rank."""

    matrix: Float[Array, "neuron neuron"]
    share: Float[Array, " bin"]
    size: Float[Array, ""]
    rank: Float[Array, ""]


def correlation_summary(values: Float[Array, "n neuron"], bins: int) -> Correlations:
    """Correlations of neurons over examples; shares are of pairs, in equal parts of [-1, 1]."""
    centred = values - values.mean(0, keepdims=True)
    found = correlations(centred.T @ centred / values.shape[0])
    n = found.shape[0]
    apart = ~jnp.eye(n, dtype=bool)
    pairs = max(1, n * (n - 1))
    place = jnp.clip(((found + 1) / 2 * bins).astype(int), 0, bins - 1)
    weight = jnp.where(apart, 1 / pairs, 0.0).astype(found.dtype)
    share = jnp.zeros(bins, found.dtype).at[place.ravel()].add(weight.ravel())
    return Correlations(found, share, (jnp.abs(found) * weight).sum(), effective_rank(found))


class NeuronCorrelation(AbstractProbe):
    """How the encoder's outputs correlate on the test examples (Wen and Li 2022, Figure 1): the
    matrix, a histogram of its off-diagonal in `bins` equal parts of [-1, 1] (as shares of pairs),
    the mean size, and the effective rank of outputs that are scaled to variance 1."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {
        "correlation": Output("correlation", dims=("neuron", "other_neuron"), low=-1, high=1),
        "correlation_share": Output("share of pairs", dims=("correlation_bin",), low=0, high=1),
        "correlation_size": Output("mean |correlation| of two neurons", low=0, high=1),
        "effective_rank": Output("effective rank of the outputs", low=0),
    }

    bins: int = count(40)

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        values = state(problem.test.x)
        if values.ndim != 2:
            raise BadInput(
                f"the probe {type(self).__name__} needs a net with several outputs, such as "
                "PatchEncoder."
            )
        found = correlation_summary(values, self.bins)
        return {
            "correlation": found.matrix,
            "correlation_share": found.share,
            "correlation_size": found.size,
            "effective_rank": found.rank,
        }
