"""Results in memory: where a sweep's values go while it runs, unless they are stored."""

import math
from typing import Any

import numpy as np
import xarray as xr

from learnscope.engine.size import machine_memory
from learnscope.errors import BadInput
from learnscope.lab.blocks import Block, KnownRuns, Plan
from learnscope.lab.progress import amount

_BLOCK = 1000  # bytes that a block itself takes


def check_fits(plan: Plan, there: float, where: str) -> None:
    """Refuse a sweep that does not fit this machine, before anything is allocated."""
    blocks = math.prod(-(-n // b) for n, b in zip(plan.shape, plan.block_shape, strict=True))
    if (needed := max(plan.bytes, blocks * _BLOCK)) > there:
        raise BadInput(
            f"the results of {plan.runs:,} runs take {amount(needed)}, and there are "
            f"{amount(there)} in {where}."
        )


class MemoryResults:
    """Room for all runs of a plan in this process's memory, filled block by block.

    `StoredResults` has the same methods; `name` is how to find results again.
    """

    name: str | None = None
    made = ""

    def __init__(self, plan: Plan):
        check_fits(plan, machine_memory(), "memory")
        self.plan = plan
        self._arrays = {
            name: np.full(variable.shape, np.nan, variable.dtype)
            for name, variable in plan.variables.items()
        }

    def missing(self) -> list[Block]:
        """The blocks that are not there yet, in the order in which to compute them."""
        return list(self.plan.blocks)

    def known(self, block: Block) -> KnownRuns | None:
        """The runs of a block that need not be computed; None if all of it is there by now."""
        return self.plan.blank(block)

    def take(self, block: Block) -> bool:
        """Whether a block is ours to compute: no other process is at it."""
        return True

    def give(self, block: Block) -> None:
        """Say that a block is no longer being computed here."""

    def checkpoint(self, block: Block) -> str | None:
        """The file for checkpoints of a block, if there can be one."""

    def put(self, block: Block, values: dict[str, np.ndarray], seconds: float) -> None:
        """Store a whole block, which took so many seconds."""
        for name, array in values.items():
            self._arrays[name][block.region] = array

    def tidy(self) -> None:
        """Clean up after a run, and after earlier ones that were killed."""

    def log(self, session: dict[str, Any]) -> None:
        """Note what a session did; memory keeps no log."""

    def dataset(self) -> xr.Dataset:
        """The labelled arrays."""
        variables = self.plan.variables.items()
        return self.plan.coords().assign(
            {name: (v.dims, self._arrays[name], v.attributes) for name, v in variables}
        )
