"""Reuse: runs that other stored sweeps of the same family hold.

A sweep with more seeds or axis values than a stored one copies the runs that both have.
"""

import contextlib
import dataclasses
from typing import Any

import numpy as np

from learnscope.errors import BadInput
from learnscope.lab.blocks import Block, KnownRuns, Plan
from learnscope.lab.store import identity
from learnscope.lab.store.folder import Folder, Stored


@dataclasses.dataclass(frozen=True)
class Reuse:
    """A sweep of the same family: which of our runs it holds, and at which of its positions."""

    stored: Stored
    finished: np.ndarray
    held: np.ndarray
    positions: tuple[np.ndarray, ...]

    def fill(self, block: Block, known: KnownRuns) -> None:
        """Add the values of a block that this sweep holds and that are not known yet."""
        held = self.held[block.region] & ~known.mask
        if not held.any():
            return
        # Along every dim, the positions at which anything is held.
        ours = [np.unique(positions) for positions in np.nonzero(held)]
        theirs = tuple(
            positions[side][index]
            for positions, side, index in zip(self.positions, block.region, ours, strict=True)
        )
        wanted = held[np.ix_(*ours)]
        with self.stored.readable():
            for name, array in known.values.items():
                values = np.asarray(self.stored.array(name, self.finished).oindex[theirs])
                array[held] = values[wanted]
        known.mask[held] = True


def reusable(
    folder: Folder, plan: Plan, name: str, values: dict[str, identity.Values] | None = None
) -> list[Reuse]:
    """Stored sweeps that hold some of a plan's runs: same family, other values or seeds."""
    sweeps = []
    for other in folder.family(name.partition("-")[0]):
        with contextlib.suppress(BadInput):  # damaged or newer: it is left alone
            sweeps += _reuse(folder.stored(other), plan, values) if other != name else []
    return sweeps


def _reuse(stored: Stored, plan: Plan, values: dict[str, identity.Values] | None) -> list[Reuse]:
    manifest, ours, lead = stored.manifest, values or identity.axis_values(plan), len(plan.shape)
    finished = stored.finished()
    stored.check_whole(finished)
    theirs, texts = manifest["values"], identity.unpacked
    positions = [_positions(texts(theirs[a.dim]), texts(ours[a.dim])) for a in plan.axes]
    positions.append(_positions(np.asarray(stored.array("seed")[...]).tolist(), list(plan.seeds)))
    if (
        manifest["id"] != stored.name
        or manifest["variables"] != list(plan.variables)
        or any(stored.array(n).shape[lead:] != v.shape[lead:] for n, v in plan.variables.items())
        or not np.array_equal(np.asarray(stored.array("step")[...]), plan.steps)
    ):
        return []
    there = np.ix_(*(each >= 0 for each in positions))
    held = np.zeros(plan.shape, bool)
    held[there] = finished[np.ix_(*(each[each >= 0] for each in positions))]
    return [Reuse(stored, finished, held, tuple(positions))] if held.any() else []


def _positions(theirs: list[Any], ours: list[Any]) -> np.ndarray:
    """The position of each of our values among theirs; -1 if there is none."""
    at = {value: i for i, value in enumerate(theirs)}
    return np.array([at.get(value, -1) for value in ours])
