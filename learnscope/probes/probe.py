"""What is watched: the interface of a probe."""

import dataclasses
from abc import abstractmethod
from typing import ClassVar

from jaxtyping import Array

from learnscope.data import Problem
from learnscope.part import AbstractPart
from learnscope.rules import State


@dataclasses.dataclass(frozen=True)
class Output:
    """A variable that a probe records: what it is, its unit, and its own dims (beside step)."""

    long_name: str
    unit: str = "1"
    dims: tuple[str, ...] = ()


class AbstractProbe(AbstractPart):
    """A function of (state, problem) that never changes a run.

    `outputs` names the variables; a call returns one array, or a dict by those names.
    """

    outputs: ClassVar[dict[str, Output]]

    @abstractmethod
    def __call__(self, state: State, problem: Problem) -> Array | dict[str, Array]: ...
