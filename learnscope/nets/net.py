"""The interface of nets, and of nets that see inputs only through inner products."""

import dataclasses
from abc import abstractmethod
from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any, ClassVar, Self

import equinox as eqx
import jax
from jaxtyping import Array, Float, Key, PyTree

from learnscope.data import Problem
from learnscope.part import AbstractPart
from learnscope.space import AbstractTurn, Columns, FreshPatches, SparsePatches

Params = PyTree[Float[Array, "..."]]


class Weights(eqx.Module):
    """The parameters of a net that sees inputs through inner products with its filters.

    Parameters that a net does not have are None. `weights["filters"]` is `weights.filters`.

    >>> import jax.numpy as jnp
    >>> weights = Weights(jnp.ones((3, 5)))
    >>> weights.replace(filters=weights["filters"][:2]).filters.shape
    (2, 5)
    """

    # The fields' order is that of the stored leaves.
    bias: Float[Array, " filter"] | None
    filters: Float[Array, "filter dim"]
    second: Float[Array, " filter"] | None

    def __init__(self, filters: Any, bias: Any = None, second: Any = None):
        self.bias, self.filters, self.second = bias, filters, second

    def __getitem__(self, name: str) -> Array:
        return vars(self)[name]

    def replace(self, **changes: Any) -> Self:
        """The weights with some fields changed."""
        return dataclasses.replace(self, **changes)


def filters_of(params: Params) -> Float[Array, "filter dim"]:
    """The filters of `Weights`, or of a dict, which a user's own net may have instead."""
    return params["filters"]


def replaced(params: Params, **changes: Any) -> Params:
    """`Weights` (or a dict of parameters) with some entries changed."""
    return params.replace(**changes) if isinstance(params, Weights) else {**params, **changes}


class AbstractNet(AbstractPart):
    """A net: `init` draws parameters, a call maps a batch of inputs to outputs.

    An example has one output for two classes (labels +1 and -1), otherwise one per class (labels
    0, 1, ...). `readout` names the parameters of the last layer, which rules with frozen features
    train alone: outputs are a linear function of them (none: there are no such parameters).
    """

    readout: ClassVar[str | None] = None
    # Whether runs are vmapped: computed together, as a batch axis of one program.
    vmapped: ClassVar[bool] = True
    # About how often a step passes over its parameters and inputs.
    passes: ClassVar[int] = 1

    @abstractmethod
    def init(self, key: Key[Array, ""], problem: Problem) -> Params:
        """Initial parameters, in the problem's frame."""

    @abstractmethod
    def __call__(self, params: Params, x: PyTree[Float[Array, "n ..."]]) -> Float[Array, "n ..."]:
        """Outputs for a batch of inputs."""

    def evaluate(self, params: Params, x: PyTree[Float[Array, "n ..."]]) -> Float[Array, "n ..."]:
        """Outputs for many inputs, without gradients."""
        return self(params, x)


class AbstractInnerProductNet(AbstractNet):
    """A net that sees inputs only through the inner products <filter, patch>.

    This allows compressed coordinates and cheap per-example gradients: example i depends on the
    filters only through its pre-activations z_i = <w, x_i>, and a step along its gradient moves
    them by the Gram matrix of its patches.
    """

    @property
    @abstractmethod
    def rows(self) -> int:
        """The number of filters: the coordinates that the initial weights need."""

    @property
    def moving(self) -> int:
        """The number of filters after a step: twins share a row at the start only."""
        return self.rows

    @property
    @abstractmethod
    def isotropic(self) -> bool:
        """Whether initial filters are Gaussian: only then can they be drawn compressed."""

    @abstractmethod
    def read(self, params: Params, seen: tuple[Float[Array, "filter n *patch"], ...]) -> Array:
        """Outputs (example first) from the pre-activations (filter first) of each patch array."""

    def __call__(self, params: Params, x: PyTree[Float[Array, "n *patch dim"]]) -> Array:
        return self.read(params, inner(filters_of(params), x))

    def vectors(self, params: Params) -> Float[Array, "filter dim"]:
        """The parameters that are vectors of the input space, as rows."""
        return filters_of(params)

    def project(self, params: Params, onto: AbstractTurn) -> Params:
        """The same parameters in other coordinates."""
        return replaced(params, filters=onto(filters_of(params)))


def summed(arrays: Iterable[Float[Array, "filter n *patch"]]) -> Float[Array, "filter n"]:
    """The sum over all patches of all arrays."""
    return reduce(add, (z if z.ndim == 2 else z.sum(tuple(range(2, z.ndim))) for z in arrays))


@jax.custom_jvp
def over_filters(z: Float[Array, "filter n"]) -> Float[Array, " n"]:
    """The sum over filters, in pairs. XLA computes it together with what is summed, many examples
    at a time; its own sum takes twice as long, and so does the derivative of pairs."""
    half = len(z) // 2
    if half == 0:
        return z[0]
    pairs = over_filters(z[:half] + z[half : 2 * half])
    return pairs + z[-1] if len(z) % 2 else pairs


@over_filters.defjvp
def _over_filters_jvp(z: tuple[Array], change: tuple[Array]) -> tuple[Array, Array]:
    return over_filters(*z), change[0].sum(0)


def inner(
    filters: Float[Array, "filter dim"],
    x: PyTree[Float[Array, "n *patch width"] | Columns | FreshPatches | SparsePatches],
) -> tuple[Float[Array, "filter n *patch"], ...]:
    """<filter, patch> for every array of patches, which may be cut after its last coordinate.

    Filters are the first axis: this product and its derivative by the filters are then plain matrix
    products, which XLA computes faster than transposed ones.
    """

    def product(leaf) -> Float[Array, "filter n *patch"]:
        if isinstance(leaf, FreshPatches | SparsePatches):
            return leaf.inner(filters)
        if isinstance(leaf, Columns):
            width, *shape = leaf.values.shape
            columns = leaf.values.reshape(width, -1)
        else:
            *shape, width = leaf.shape
            columns = leaf.reshape(-1, width).T
        product = filters[:, :1] * columns if width == 1 else filters[:, :width] @ columns
        return product.reshape(-1, *shape)

    own = Columns | FreshPatches | SparsePatches
    arrays = jax.tree.leaves(x, is_leaf=lambda node: isinstance(node, own))
    return tuple(product(patches) for patches in arrays)
