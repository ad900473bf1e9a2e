"""Directions of a layer's filters, in nets of any depth."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.probes.patterns import unit
from learnscope.probes.probe import AbstractProbe, Output
from learnscope.rules import State


def _names(given: Any) -> Any:
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def rows_of(probe: AbstractProbe, params: Any, layer: str) -> Float[Array, "filter weight"]:
    """The filters of a layer, each as a row: `filters` of two-layer nets, or the columns of a
    layer's weights, such as `hidden` or `stage1_2.conv2`."""
    found = params
    for name in str(layer).split("."):
        if not isinstance(found, dict) or name not in found:
            have = ", ".join(sorted(found)) if isinstance(found, dict) else "none"
            raise BadInput(
                f"the probe {type(probe).__name__} finds no layer {layer!r}: after "
                f"{layer.rpartition('.')[0] or 'the net'} there are {have}."
            )
        found = found[name]
    if isinstance(found, dict) and "weight" in found:
        weight = found["weight"]
        return weight.reshape(-1, weight.shape[-1]).T
    if isinstance(found, dict):
        raise BadInput(
            f"the probe {type(probe).__name__} needs a layer with weights; {layer!r} holds "
            f"{', '.join(sorted(found))}."
        )
    return found.reshape(-1, found.shape[-1])


class FilterCosines(AbstractProbe):
    """Cosines between all filters of each of some layers, from which clusters and maps follow (Shi,
    Wei and Liang 2022, Figures 17 to 21). Layers with fewer filters than the largest are filled up
    with zeros; a filter has cosine 1 with itself."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {
        "filter_cosine": Output(
            "cosine of two filters", dims=("layer", "filter", "other_filter"), low=-1, high=1
        )
    }

    layers: tuple[str, ...] = eqx.field(static=True, default=("filters",), converter=_names)

    def __call__(self, state: State, problem: Problem) -> Array:
        found = []
        for layer in self.layers:
            rows = unit(rows_of(self, state.params, layer))
            found.append(jnp.clip(rows @ rows.T, -1, 1))
        most = max(len(each) for each in found)
        return jnp.stack([jnp.pad(each, (0, most - len(each))) for each in found])


class Filters(AbstractProbe):
    """The weights of a layer, a row a filter: differences between steps of plain gradient descent,
    over the rate, are the sums of its gradients (Shi, Wei and Liang 2022, Table 7)."""

    papers: ClassVar = ("shi2022theoretical",)
    outputs: ClassVar = {"filter_weight": Output("weight", dims=("filter", "weight"))}

    layer: str = eqx.field(static=True, default="filters")

    def __call__(self, state: State, problem: Problem) -> Array:
        return rows_of(self, state.params, self.layer)
