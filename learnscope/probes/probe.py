"""What is watched: the interface of a probe."""

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from jaxtyping import Array

from learnscope.data import Problem
from learnscope.errors import BadInput
from learnscope.part import AbstractPart
from learnscope.rules import State


@dataclasses.dataclass(frozen=True)
class Output:
    """A variable that a probe records: what it is, its unit, its own dims (beside step), and the
    limits between which it can lie."""

    long_name: str
    unit: str = "1"
    dims: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf


def hidden(probe: "AbstractProbe", known: Mapping[str, Array], name: str) -> Array:
    """A hidden vector of the problem, or word that its data model has none of that name."""
    if name not in known:
        have = ", ".join(sorted(known)) or "none"
        raise BadInput(
            f"the probe {type(probe).__name__} needs the data model's '{name}', which has {have}."
        )
    return known[name]


def filters_of(probe: "AbstractProbe", state: State) -> Array:
    """The filters of a net, or word that it has none."""
    if not isinstance(state.params, dict) or "filters" not in state.params:
        raise BadInput(
            f"the probe {type(probe).__name__} needs a net with filters, such as PatchCNN, "
            f"not {type(state.net).__name__}."
        )
    return state.params["filters"]


class AbstractProbe(AbstractPart):
    """A function of (state, problem) that never changes a run.

    `outputs` names the variables; a call returns one array, or a dict by those names.
    """

    outputs: ClassVar[dict[str, Output]]

    @abstractmethod
    def __call__(self, state: State, problem: Problem) -> Array | dict[str, Array]: ...
