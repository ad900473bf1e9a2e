"""Self-supervised rules: the loss of pairs, the prediction head, the correlations of neurons."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Problem
from learnscope.part import count
from learnscope.probes.patterns import histogram
from learnscope.probes.probe import AbstractProbe, Output, refuse
from learnscope.rules import AbstractState, Siamese
from learnscope.rules.heads import off_diagonal

_KEY = 0  # of the test examples' views, which are the same at every recorded step


def siamese(probe: AbstractProbe, state: AbstractState) -> Siamese:
    """The memory of a rule with a prediction head."""
    if not isinstance(state.memory, Siamese):
        refuse(probe, "a rule with a prediction head, such as NonContrastive")
    return state.memory


class PairLoss(AbstractProbe):
    """Half the mean squared distance between the two normalised views of the test examples: the
    loss of `NonContrastive`, without the noise of mini-batches."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {"pair_loss": Output("loss of positive pairs", low=0)}

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
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

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        head = siamese(self, state).head
        if "matrix" not in head:
            refuse(self, "a linear head, not an mlp")
        outside = off_diagonal(head["matrix"])
        norm, skew = jnp.linalg.norm(outside), jnp.linalg.norm(outside - outside.T)
        asymmetry = jnp.minimum(skew / jnp.where(norm > 0, norm, 1.0), 2.0)
        return {"head": outside, "head_norm": norm, "head_asymmetry": asymmetry}


def correlations(covariance: Float[Array, "neuron neuron"]) -> Float[Array, "neuron neuron"]:
    """The correlation matrix, with 0 for neurons that do not vary."""
    spread = jnp.sqrt(jnp.maximum(jnp.diag(covariance), 0.0))
    scale = jnp.where(spread > 0, 1 / jnp.where(spread > 0, spread, 1.0), 0.0)
    return jnp.clip(covariance * scale[:, None] * scale[None], -1.0, 1.0)


def effective_rank(covariance: Float[Array, "neuron neuron"]) -> Float[Array, ""]:
    r"""$\exp(-\sum_i p_i \log p_i)$, where $p_i$ is the share of variance along principal axis i
    (Roy and Vetterli 2007): 1 if all neurons are multiples of one, 0 if nothing varies."""
    values = jnp.maximum(jnp.linalg.eigvalsh(covariance), 0.0)
    total = values.sum()
    shares = values / jnp.where(total > 0, total, 1.0)
    entropy = -jnp.where(shares > 0, shares * jnp.log(jnp.where(shares > 0, shares, 1.0)), 0).sum()
    return jnp.where(total > 0, jnp.exp(entropy), 0.0)


class Correlations(NamedTuple):
    """Correlations of neurons: the matrix, the share of pairs in each bin, the mean size, and the
    effective rank."""

    matrix: Float[Array, "neuron neuron"]
    share: Float[Array, " bin"]
    size: Float[Array, ""]
    rank: Float[Array, ""]


def correlation_summary(values: Float[Array, "n neuron"], bins: int) -> Correlations:
    """The correlations of neurons over examples; bins are equal parts of [-1, 1]."""
    centred = values - values.mean(0, keepdims=True)
    matrix = correlations(centred.T @ centred / values.shape[0])
    n = matrix.shape[0]
    weight = jnp.where(~jnp.eye(n, dtype=bool), 1 / max(1, n * (n - 1)), 0.0).astype(matrix.dtype)
    share = histogram(matrix.ravel(), bins, weight.ravel())
    return Correlations(matrix, share, (jnp.abs(matrix) * weight).sum(), effective_rank(matrix))


class NeuronCorrelation(AbstractProbe):
    """The correlations of the encoder's outputs on the test examples (Wen and Li 2022, Figure 1):
    the matrix, a histogram of its off-diagonal in `bins` equal parts of [-1, 1] (as shares of
    pairs), the mean size, and the effective rank of the outputs scaled to variance 1."""

    papers: ClassVar = ("wen2022mechanism",)
    outputs: ClassVar = {
        "correlation": Output("correlation", dims=("neuron", "other_neuron"), low=-1, high=1),
        "correlation_share": Output("share of pairs", dims=("correlation_bin",), low=0, high=1),
        "correlation_size": Output("mean |correlation| of two neurons", low=0, high=1),
        "effective_rank": Output("effective rank of the outputs", low=0),
    }

    bins: int = count(40)

    def __call__(self, state: AbstractState, problem: Problem) -> dict[str, Array]:
        values = state(problem.test.x)
        if values.ndim != 2:
            refuse(self, "a net with several outputs, such as PatchEncoder")
        return dict(zip(self.outputs, correlation_summary(values, self.bins), strict=True))
