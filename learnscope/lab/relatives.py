"""Relatives: stored sweeps of one family, which hold some of each other's runs.

A sweep with more seeds or axis values than one that is stored takes from it what is there.
"""

import dataclasses
from typing import Any

import numpy as np

from learnscope.errors import BadInput
from learnscope.lab import identity
from learnscope.lab.plan import Box, Plan
from learnscope.lab.store import Folder, Stored


@dataclasses.dataclass(frozen=True)
class Relative:
    """A sweep of the same family: which of our runs it holds, and where."""

    plan: Plan
    stored: Stored
    held: np.ndarray
    places: tuple[np.ndarray, ...]

    def fill(self, box: Box, found: dict[str, np.ndarray] | None) -> dict[str, np.ndarray] | None:
        """Values of a box that this sweep holds, where they were not found before."""
        held = self.held[box.region]
        if found is not None:
            held = held & ~found["known"]
        if not held.any():
            return found
        if found is None:
            found = {"known": np.zeros(box.shape, bool)}
            for name, v in self.plan.variables.items():
                inner = v.shape[len(self.plan.shape) :]
                found[name] = np.full((*box.shape, *inner), np.nan, v.dtype)
        rows = tuple(
            np.flatnonzero(held.any(tuple(j for j in range(held.ndim) if j != i)))
            for i in range(held.ndim)
        )
        theirs = tuple(
            place[part][row] for place, part, row in zip(self.places, box.region, rows, strict=True)
        )
        inside = held[np.ix_(*rows)]
        with self.stored.readable():
            for name in self.plan.variables:
                values = np.asarray(self.stored.array(name).oindex[theirs])
                part = found[name][np.ix_(*rows)]
                part[inside] = values[inside]
                found[name][np.ix_(*rows)] = part
        found["known"] |= held
        return found


def relatives(folder: Folder, plan: Plan, name: str) -> list[Relative]:
    """Stored sweeps that hold some of a plan's runs: same family, other values or seeds."""
    family = name.partition("-")[0]
    found = []
    for other in folder.ids():
        if other == name or not other.startswith(f"{family}-"):
            continue
        try:
            stored = folder.stored(other)
            relative = _relative(stored, plan)
        except BadInput:  # damaged or newer: its own business
            continue
        if relative is not None:
            found.append(relative)
    return found


def _relative(stored: Stored, plan: Plan) -> Relative | None:
    manifest, ours = stored.manifest, identity.axis_values(plan)
    finished = stored.finished()
    stored.check_whole(finished)
    places = [_positions(manifest["values"][axis.dim], ours[axis.dim]) for axis in plan.axes] + [
        _positions(np.asarray(stored.array("seed")[...]).tolist(), list(plan.seeds))
    ]
    if manifest["variables"] != list(plan.variables) or any((p < 0).all() for p in places):
        return None
    lead = len(plan.shape)
    if any(stored.array(n).shape[lead:] != v.shape[lead:] for n, v in plan.variables.items()):
        return None
    if not np.array_equal(np.asarray(stored.array("step")[...]), plan.steps):
        return None
    held = finished[np.ix_(*places)]
    for i, place in enumerate(places):
        held &= (place >= 0).reshape([-1 if j == i else 1 for j in range(lead)])
    return Relative(plan, stored, held, tuple(places)) if held.any() else None


def _positions(theirs: list[Any], ours: list[Any]) -> np.ndarray:
    """Where each of our values stands among theirs; -1 if nowhere."""
    at = {value: i for i, value in enumerate(theirs)}
    return np.array([at.get(value, -1) for value in ours])
