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
    sweeps = []
    for other in folder.family(name.partition("-")[0]):
        with contextlib.suppress(BadInput):  # damaged or newer: it is left alone
            sweeps += _reuse(folder.stored(other), plan, values) if other != name else []
    return sweeps


def _reuse(stored: Stored, plan: Plan, values: dict[str, identity.Values] | None) -> list[Reuse]:
    manifest, ours, texts = stored.manifest, values or identity.axis_values(plan), identity.unpacked
    if manifest["id"] != stored.name or manifest["variables"] != list(plan.variables):
        return []
    finished, theirs, lead = stored.finished(), manifest["values"], len(plan.shape)
    data, dims = stored.dataset(), [axis.dim for axis in plan.axes]
    positions = {dim: _positions(texts(theirs[dim]), texts(ours[dim])) for dim in dims}
    positions["seed"] = _positions(data["seed"].values.tolist(), list(plan.seeds))
    shapes = ((data[n].shape[lead:], v.shape[lead:]) for n, v in plan.variables.items())
    if any(a != b for a, b in shapes) or not np.array_equal(data["step"], plan.steps):
        return []
    there = np.ix_(*(each >= 0 for each in positions.values()))
    held = np.zeros(plan.shape, bool)
    held[there] = finished[np.ix_(*(each[each >= 0] for each in positions.values()))]
    return [Reuse(stored, data, held, positions)] if held.any() else []


def _positions(theirs: list[Any], ours: list[Any]) -> np.ndarray:
    """The position of each of our values among theirs; -1 if there is none."""
    at = {value: i for i, value in enumerate(theirs)}
    return np.array([at.get(value, -1) for value in ours])
