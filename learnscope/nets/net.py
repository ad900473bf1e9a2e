"""What learns: the interface of a net, and of nets that see inputs only through inner products."""

from abc import abstractmethod

import jax
from jaxtyping import Array, Float, Key, PyTree

from learnscope.data import Problem
from learnscope.part import AbstractPart

Params = PyTree[Float[Array, "..."]]


class AbstractNet(AbstractPart):
    """`init` draws parameters, a call maps a batch of inputs to outputs.

    Outputs are one number an example for two classes (labels +1 and -1), else one a class
    (labels 0, 1, ...).
    """

    @abstractmethod
    def init(self, key: Key[Array, ""], problem: Problem) -> Params:
        """Initial parameters, in the problem's frame."""

    @abstractmethod
    def __call__(self, params: Params, x: PyTree[Float[Array, "n ..."]]) -> Float[Array, "n ..."]:
        """Outputs for a batch of inputs."""


class AbstractInnerProductNet(AbstractNet):
    """A net whose inputs meet the parameters only as <filter, patch>.

    That is what allows compressed coordinates, and cheap per-example gradients: example i sees of the
    filters only the pre-activations z_i = <w, x_i>, and a step along its own gradient moves them by
    the Gram matrix of its own patches.
    """

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many filters there are: coordinates that the initial weights take up."""

    @abstractmethod
    def read(self, params: Params, seen: tuple[Float[Array, "n *patch filter"], ...]) -> Array:
        """Outputs from the pre-activations of every group of patches."""

    def __call__(self, params: Params, x: PyTree[Float[Array, "n *patch dim"]]) -> Array:
        return self.read(params, inner(params["filters"], x))

    def project(self, params: Params, onto: Float[Array, "rank dim"]) -> Params:
        """The same parameters in the coordinates of a basis."""
        return {**params, "filters": params["filters"] @ onto.T}


def inner(
    filters: Float[Array, "filter dim"], x: PyTree[Float[Array, "n *patch width"]]
) -> tuple[Float[Array, "n *patch filter"], ...]:
    """<filter, patch> for every group of patches; groups may be cut after their last coordinate."""
    return tuple(leaf @ filters[:, : leaf.shape[-1]].T for leaf in jax.tree.leaves(x))
