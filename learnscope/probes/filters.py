"""The filters of a layer, in nets of any depth."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.nets import Weights
from learnscope.part import count
from learnscope.probes.patterns import unit
from learnscope.probes.probe import AbstractProbe, Output, refuse
from learnscope.rules import AbstractState
from learnscope.space.random import normal


def _names(given: Any) -> Any:
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def rows_of(probe: AbstractProbe, params: Any, layer: str) -> Float[Array, "filter weight"]:
    """The filters of a layer as rows: `filters` of a two-layer net, or the columns of the weights
    of a deep net's layer, such as `hidden` or `stage1_2.conv2`."""
    node = vars(params) if isinstance(params, Weights) else params
    for name in str(layer).split("."):
        inside = node if isinstance(node, dict) else {}
        if inside.get(name) is None:
            raise BadInput(
                f"the probe {type(probe).__name__} finds no layer {layer!r}: after "
                f"{layer.rpartition('.')[0] or 'the net'} there are {_listed(inside) or 'none'}."
            )
        node = inside[name]
    if not isinstance(node, dict):
        return node.reshape(-1, node.shape[-1])
    if "weight" not in node:
        refuse(probe, f"a layer with weights; {layer!r} holds {_listed(node)}")
    return node["weight"].reshape(-1, node["weight"].shape[-1]).T


def _listed(layers: dict[str, Any]) -> str:
    return ", ".join(sorted(name for name, held in layers.items() if held is not None))


class FilterCosines(AbstractProbe):
    """The cosines between all filters of a layer, for some layers (Shi, Wei and Liang 2022, Figures
    17 to 21). Layers with fewer filters than the largest are padded with zeros."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "filter_cosine": Output(
            "cosine of two filters", dims=("layer", "filter", "other_filter"), low=-1, high=1
        )
    }

    layers: tuple[str, ...] = eqx.field(static=True, default=("filters",), converter=_names)

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        units = [unit(rows_of(self, state.params, layer)) for layer in self.layers]
        most = max(len(rows) for rows in units)
        cosines = [jnp.clip(rows @ rows.T, -1, 1) for rows in units]
        return jnp.stack([jnp.pad(each, (0, most - len(each))) for each in cosines])


class InputDirections(AbstractProbe):
    """The cosines between random combinations of the training inputs, with standard normal weights:
    a control for clusters of filters. Where a few inputs' directions are strong, random directions
    in their span cluster, too, and so do filters that no label has moved."""

    outputs: ClassVar = {
        "input_cosine": Output(
            "cosine of two random combinations of inputs", dims=("direction", "other_direction"),
            low=-1, high=1,
        )
    }  # fmt: skip

    directions: int = count(50, low=2)

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        x = problem.train.x
        if isinstance(x, tuple):
            refuse(self, "inputs as one array: images, or ambient coordinates")
        rows = x.reshape(x.shape[0], -1)
        weights = normal(jax.random.key(0), (self.directions, rows.shape[0]))
        units = unit(weights @ rows)
        return jnp.clip(units @ units.T, -1, 1)


class Filters(AbstractProbe):
    """The weights of a layer, one row per filter. Under plain gradient descent, the difference
    between two steps divided by the rate is minus the sum of the gradients between them (Shi, Wei
    and Liang 2022, Table 7). `first` keeps the first so many filters (none: all)."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {"filter_weight": Output("weight", dims=("filter", "weight"))}

    layer: str = eqx.field(static=True, default="filters")
    first: int | None = count(None, optional=True)

    def __call__(self, state: AbstractState, problem: Problem) -> Array:
        return rows_of(self, state.params, self.layer)[: self.first]
