"""The matrices A_k that colour the noise of each class: xi = A_y zeta."""

from abc import abstractmethod
from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from learnscope.part import Number
from learnscope.space.frame import AbstractTurn


class AbstractFactors(eqx.Module):
    """One matrix per class, in the cheapest form, in the coordinates of a problem."""

    @abstractmethod
    def colour(self, zeta: Float[Array, "n dim"], labels: Int[Array, " n"]) -> Array:
        """A_y zeta for every row zeta and its label y."""

    @abstractmethod
    def seen(self, weights: Float[Array, "class m rank"]) -> Float[Array, "class m any"]:
        """W_k A_k, which maps zeta to pre-activations of class k, up to a rotation of zeta."""

    @abstractmethod
    def strength(self, weights: Float[Array, "n rank"], labels: Int[Array, " n"]) -> Array:
        """||A_y^T w|| for every row w and its label y."""

    @abstractmethod
    def project(self, onto: AbstractTurn) -> "AbstractFactors":
        """The same in other coordinates."""


class SpikeFactors(AbstractFactors):
    r"""$A_k = b (P - V_k V_k^T) + s V_k V_k^T$, where $P$ projects off the features.

    The rows of `spikes` are the columns of $V_1, V_2, \dots$: as many for every class.
    """

    features: Float[Array, "class rank"]
    spikes: Float[Array, "spike rank"]
    bulk: Number
    spike: Number

    def colour(self, zeta: Float[Array, "n dim"], labels: Int[Array, " n"]) -> Array:
        along = (zeta @ self.spikes.T).reshape(len(zeta), len(self.features), -1)
        own = labels[:, None, None] == jnp.arange(len(self.features))[None, :, None]
        added = jnp.where(own, along, 0).reshape(len(zeta), -1) @ self.spikes
        return self.bulk * self._flat(zeta) + (self.spike - self.bulk) * added

    def seen(self, weights: Float[Array, "class m rank"]) -> Float[Array, "class m rank"]:
        own = self.spikes.reshape(len(weights), -1, self.spikes.shape[1])
        added = jnp.einsum("kmr,kpr,kps->kms", weights, own, own)
        return self.bulk * self._flat(weights) + (self.spike - self.bulk) * added

    def strength(self, weights: Float[Array, "n rank"], labels: Int[Array, " n"]) -> Array:
        return jnp.linalg.norm(self.colour(weights, labels), axis=1)

    def project(self, onto: AbstractTurn) -> "SpikeFactors":
        return SpikeFactors(onto(self.features), onto(self.spikes), self.bulk, self.spike)

    def _flat(self, vectors: Float[Array, "*shape rank"]) -> Float[Array, "*shape rank"]:
        return vectors - (vectors @ self.features.T) @ self.features


class MatrixFactors(AbstractFactors):
    """Any matrices. A change of coordinates acts on their left side only: zeta stays as it was."""

    matrices: Float[Array, "class rank dim"]

    def colour(self, zeta: Float[Array, "n dim"], labels: Int[Array, " n"]) -> Array:
        each = jnp.einsum("nd,krd->nkr", zeta, self.matrices)
        return jnp.take_along_axis(each, labels[:, None, None], axis=1)[:, 0]

    def seen(self, weights: Float[Array, "class m rank"]) -> Float[Array, "class m dim"]:
        return weights @ self.matrices

    def strength(self, weights: Float[Array, "n rank"], labels: Int[Array, " n"]) -> Array:
        each = jnp.linalg.norm(jnp.einsum("nr,krd->nkd", weights, self.matrices), axis=2)
        return jnp.take_along_axis(each, labels[:, None], axis=1)[:, 0]

    def project(self, onto: AbstractTurn) -> "MatrixFactors":
        return MatrixFactors(jnp.swapaxes(onto(jnp.swapaxes(self.matrices, 1, 2)), 1, 2))


def overlaps(matrices: Float[np.ndarray, "class dim any"]) -> Float[np.ndarray, "class class"]:
    r"""$\|A_k^T A_j\|_F^2$ for all pairs of classes, in float64."""
    matrices = np.asarray(matrices, np.float64)
    # ||A_k^T A_j||_F^2 = <A_k A_k^T, A_j A_j^T>: K products instead of K^2.
    outer = np.stack([matrix @ matrix.T for matrix in matrices]).reshape(len(matrices), -1)
    return outer @ outer.T


def noise_correlation_ratio(
    squares: Float[np.ndarray, "class class"], sizes: Sequence[float] | np.ndarray | None = None
) -> Float[np.ndarray, "class class"]:
    r"""$\Gamma_{k,j} = |S_k| \|A_k^T A_k\|_F^2 / (|S_j| \|A_k^T A_j\|_F^2)$ (Theorem 1, 2b).

    `squares` are the `overlaps` of the classes, `sizes` the sizes of the classes (none: equal). The
    ratio of two classes without common noise is infinite.

    >>> noise_correlation_ratio(overlaps([[[1.0, 0], [0, 2]], [[2.0, 0], [0, 1]]]))
    array([[1.   , 2.125],
           [2.125, 1.   ]])
    """
    squares = np.asarray(squares, np.float64)
    counts = np.ones(len(squares)) if sizes is None else np.asarray(sizes, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return counts[:, None] * np.diag(squares)[:, None] / (counts[None, :] * squares)
