"""Where a sweep's values go while it runs: arrays in memory, or (see `store`) on disk."""

import abc
from typing import Any

import numpy as np
import xarray as xr

from learnscope.lab.plan import Box, Plan


class AbstractResults(abc.ABC):
    """Space for all runs of a plan, filled a box at a time. `name` is how it can be found again."""

    plan: Plan
    name: str | None

    @abc.abstractmethod
    def missing(self) -> list[Box]:
        """Boxes that are not there yet, in the order in which to compute them."""

    @abc.abstractmethod
    def has(self, box: Box) -> bool:
        """Whether a box is there by now."""

    @abc.abstractmethod
    def known(self, box: Box) -> dict[str, np.ndarray] | None:
        """Values of a box that need not be computed: full arrays, and `known`, a mask of runs."""

    @abc.abstractmethod
    def checkpoint(self, box: Box) -> str | None:
        """A file in which to keep the box while it is computed, if there can be one."""

    @abc.abstractmethod
    def put(self, box: Box, values: dict[str, np.ndarray], seconds: float) -> None:
        """Store a box wholly."""

    @abc.abstractmethod
    def log(self, session: dict[str, Any]) -> None:
        """Note what a session did, where there is a place for it."""

    @abc.abstractmethod
    def dataset(self) -> xr.Dataset:
        """What is there, labelled."""


class InMemory(AbstractResults):
    """Results in this process's memory."""

    name = None

    def __init__(self, plan: Plan):
        self.plan = plan
        self._arrays = {
            name: np.full(variable.shape, np.nan, variable.dtype)
            for name, variable in plan.variables.items()
        }

    def missing(self) -> list[Box]:
        return list(self.plan.boxes)

    def has(self, box: Box) -> bool:
        return False

    def known(self, box: Box) -> dict[str, np.ndarray] | None:
        return None

    def checkpoint(self, box: Box) -> str | None:
        return None

    def put(self, box: Box, values: dict[str, np.ndarray], seconds: float) -> None:
        for name, array in values.items():
            self._arrays[name][box.region] = array

    def log(self, session: dict[str, Any]) -> None:
        pass

    def dataset(self) -> xr.Dataset:
        found = {
            name: (variable.dims, self._arrays[name], variable.attributes)
            for name, variable in self.plan.variables.items()
        }
        return self.plan.coords().assign(found)
