"""Reuse: runs that other stored sweeps of the same family hold.

A sweep with more seeds or axis values than a stored one copies the runs that both have.
"""

import contextlib
import dataclasses
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.lab.blocks import Block, KnownRuns, Plan
from learnscope.lab.store import identity
from learnscope.lab.store.folder import Folder, Stored


@dataclasses.dataclass(frozen=True)
class Reuse:
    """A sweep of the same family: which of our runs it holds, and at which of its positions."""

    stored: Stored
    data: xr.Dataset
    held: np.ndarray
    positions: dict[str, np.ndarray]

    def fill(self, block: Block, known: KnownRuns) -> None:
        """Add the values of a block that this sweep holds and that are not known yet."""
        held = self.held[block.region] & ~known.mask
        sides = zip(self.positions.items(), block.region, np.nonzero(held), strict=True)
        theirs = {dim: xr.Variable("run", at[side][ours]) for (dim, at), side, ours in sides}
        with self.stored.readable():
            for name, array in known.values.items() if held.any() else ():
                array[held] = self.data[name].variable.isel(theirs).values
        known.mask[held] = True


def reusable(
    folder: Folder, plan: Plan, name: str, values: dict[str, identity.Values] | None = None
) -> list[Reuse]:
    """Stored sweeps that hold some of a plan's runs: same family, other values or seeds."""
    others = [other for other in folder.family(name.partition("-")[0]) if other != name]
    ours = values or identity.axis_values(plan) if others else {}
    texts, lead, found = identity.unpacked, len(plan.shape), []
    for other in others:
        with contextlib.suppress(BadInput):  # damaged or newer: it is left alone
            stored = folder.stored(other)
            manifest, theirs = stored.manifest, stored.manifest["values"]
            if (manifest["id"], manifest["variables"]) != (other, list(plan.variables)):
                continue
            finished, data = stored.finished(), stored.dataset()
            positions = {dim: _positions(texts(theirs[dim]), texts(ours[dim])) for dim in ours}
            positions["seed"] = _positions(data["seed"].values.tolist(), list(plan.seeds))
            shapes = ((data[n].shape[lead:], v.shape[lead:]) for n, v in plan.variables.items())
            if any(a != b for a, b in shapes) or not np.array_equal(data["step"], plan.steps):
                continue
            there = np.ix_(*(each >= 0 for each in positions.values()))
            held = np.zeros(plan.shape, bool)
            held[there] = finished[np.ix_(*(each[each >= 0] for each in positions.values()))]
            found += [Reuse(stored, data, held, positions)] if held.any() else []
    return found


def _positions(theirs: list[Any], ours: list[Any]) -> np.ndarray:
    """The position of each of our values among theirs; -1 if there is none."""
    at = {value: i for i, value in enumerate(theirs)}
    return np.array([at.get(value, -1) for value in ours])
