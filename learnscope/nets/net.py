"""What learns: the interface of a net, and of nets that see inputs only through inner products."""

from abc import abstractmethod
from typing import ClassVar

import jax
from jaxtyping import Array, Float, Key, PyTree

from learnscope.data import AbstractTurn, Columns, FreshPatches, Problem
from learnscope.part import AbstractPart

Params = PyTree[Float[Array, "..."]]


class AbstractNet(AbstractPart):
    """`init` draws parameters, a call maps a batch of inputs to outputs.

    Outputs are one number an example for two classes (labels +1 and -1), else one a class
    (labels 0, 1, ...). `readout` names the parameters of which outputs are a linear function, where
    there are such: the last layer, which rules with frozen features train alone.
    """

    readout: ClassVar[str | None] = None
    # Whether runs with different weights are computed together, as a batch axis of one program.
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
        """Outputs for many inputs, of which no gradient is taken."""
        return self(params, x)


class AbstractInnerProductNet(AbstractNet):
    """A net whose inputs meet the parameters only as <filter, patch>.

    That is what allows compressed coordinates, and cheap per-example gradients: example i sees of
    the filters only the pre-activations z_i = <w, x_i>, and a step along its own gradient moves
    them by the Gram matrix of its own patches.
    """

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many filters there are: coordinates that the initial weights take up."""

    @property
    @abstractmethod
    def isotropic(self) -> bool:
        """Whether initial filters are Gaussian: only then can they be drawn compressed."""

    @abstractmethod
    def read(self, params: Params, seen: tuple[Float[Array, "filter n *patch"], ...]) -> Array:
        """Outputs (example first) from the pre-activations (filter first) of every patch group."""

    def __call__(self, params: Params, x: PyTree[Float[Array, "n *patch dim"]]) -> Array:
        return self.read(params, inner(params["filters"], x))

    def project(self, params: Params, onto: AbstractTurn) -> Params:
        """The same parameters in other coordinates."""
        return {**params, "filters": onto(params["filters"])}


def inner(
    filters: Float[Array, "filter dim"],
    x: PyTree[Float[Array, "n *patch width"] | Columns | FreshPatches],
) -> tuple[Float[Array, "filter n *patch"], ...]:
    """<filter, patch> for every group of patches; groups may be cut after their last coordinate.

    Filters come first: then both this product and its derivative with respect to the filters are
    plain matrix products, which XLA computes faster than transposed ones.
    """

    def product(leaf) -> Float[Array, "filter n *patch"]:
        if isinstance(leaf, FreshPatches):
            return leaf.inner(filters)
        if isinstance(leaf, Columns):
            width, *shape = leaf.values.shape
            columns = leaf.values.reshape(width, -1)
        else:
            *shape, width = leaf.shape
            columns = leaf.reshape(-1, width).T
        return (filters[:, :width] @ columns).reshape(-1, *shape)

    groups = jax.tree.leaves(x, is_leaf=lambda node: isinstance(node, Columns | FreshPatches))
    return tuple(product(group) for group in groups)
