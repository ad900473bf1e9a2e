"""The interface of a probe, and what several probes ask of a state."""

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, NoReturn

import jax.numpy as jnp
from jaxtyping import Array

from learnscope import nets
from learnscope.data import Problem, Samples
from learnscope.errors import BadInput
from learnscope.part import AbstractPart
from learnscope.rules import AbstractState

RESERVED = ("diverged_at", "seconds", "seed", "step")  # names that datasets and stores add


@dataclasses.dataclass(frozen=True)
class Output:
    """A variable that a probe records: its name on an axis, its unit, its dims beside `step`, its
    limits, and the variable that is its rounding `floor`: smaller values are rounding errors."""

    long_name: str
    unit: str = "1"
    dims: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    floor: str | None = None

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes of the variable in a dataset."""
        floor = {} if self.floor is None else {"floor": self.floor}
        return {"long_name": self.long_name, "units": self.unit, **floor}


def refuse(probe: "AbstractProbe", needs: str) -> NoReturn:
    """Say what a probe needs and does not get."""
    raise BadInput(f"the probe {type(probe).__name__} needs {needs}.") from None


def hidden(probe: "AbstractProbe", known: Mapping[str, Array], name: str) -> Array:
    """A hidden vector of the problem, by name."""
    if name not in known:
        have = ", ".join(sorted(known)) or "none"
        refuse(probe, f"the data model's '{name}'; the model has {have}")
    return known[name]


def filters_of(probe: "AbstractProbe", state: AbstractState) -> Array:
    """The current filters."""
    try:
        return nets.filters_of(state.params)
    except (KeyError, TypeError):
        net = type(state.net).__name__
        refuse(probe, f"a net with filters, such as PatchCNN, not {net}")


def overlap(probe: "AbstractProbe", state: AbstractState, problem: Problem, name: str) -> Array:
    """The inner products of the filters with a direction of the problem, by name."""
    filters_of(probe, state)
    return state.overlap(name, hidden(probe, problem.directions, name))


def hidden_of(probe: "AbstractProbe", state: AbstractState, samples: Samples, name: str) -> Array:
    """The inner products of the filters with the examples' hidden vectors, by name."""
    filters_of(probe, state)
    hidden(probe, samples.vectors, name)
    return state.hidden(samples, name)


def floor_of(state: AbstractState, samples: Samples, name: str) -> Array:
    """The rounding error of `hidden_of`: 0 where the state steps it, and keeps every digit."""
    return state.rounding(samples, name) * jnp.linalg.norm(samples.vectors[name], axis=-1).max()


def two_class_net(probe: "AbstractProbe", state: AbstractState) -> nets.PatchCNN:
    """The net, for a probe that is defined for two classes only."""
    if not isinstance(state.net, nets.PatchCNN) or state.net.classes != 2:
        refuse(probe, "a PatchCNN with two classes")
    return state.net


class AbstractProbe(AbstractPart):
    """A function of (state, problem) that never changes a run.

    `outputs` are its variables by name. A call returns a dict of arrays by these names, or the
    array itself if there is one.
    """

    outputs: ClassVar[dict[str, Output]]

    def __check_init__(self):
        for name in (*self.outputs, *(dim for each in self.outputs.values() for dim in each.dims)):
            if name in RESERVED or not name.isidentifier():
                raise BadInput(
                    f"the probe {type(self).__name__} records '{name}', which is not allowed: an "
                    f"output or dim must be a Python name other than {', '.join(RESERVED)}."
                )

    @abstractmethod
    def __call__(self, state: AbstractState, problem: Problem) -> Array | dict[str, Array]: ...
