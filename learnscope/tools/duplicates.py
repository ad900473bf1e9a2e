"""Groups of units that are copies of each other."""

import dataclasses

import numpy as np

MOST_SHOWN = 12  # units on one line


@dataclasses.dataclass(frozen=True)
class Duplicates:
    """Units that are copies of each other, their signs relative to the first, and the smallest
    |correlation| of any two (copies of copies may be below the threshold)."""

    units: tuple[int, ...]
    signs: tuple[int, ...]
    least: float

    def __str__(self) -> str:
        both = list(zip(self.units, self.signs, strict=True))
        shown = " = ".join(f"{'-' if sign < 0 else ''}{unit}" for unit, sign in both[:MOST_SHOWN])
        return shown + (f" = ... ({len(both)} units)" if len(both) > MOST_SHOWN else "")


def duplicate_groups(correlation: np.ndarray, threshold: float) -> tuple[Duplicates, ...]:
    """The connected groups of units with |correlation| above a threshold, large groups first."""
    # Rounding may put the correlation of equal units slightly below 1.
    near = np.abs(correlation) >= threshold - 1e-12
    left = near.sum(axis=1) > 1
    groups = []
    for first in np.flatnonzero(left):
        if not left[first]:
            continue
        signs = np.zeros(len(left), np.int8)
        signs[first], left[first] = 1, False
        queue = [first]
        for unit in queue:
            others = np.flatnonzero(near[unit] & left)
            left[others] = False
            signs[others] = signs[unit] * np.sign(correlation[unit, others])
            queue.extend(others)
        which = np.sort(queue)
        least = float(np.abs(correlation[np.ix_(which, which)]).min())
        groups.append(Duplicates(tuple(which.tolist()), tuple(signs[which].tolist()), least))
    return tuple(sorted(groups, key=lambda group: (-len(group.units), group.units)))
