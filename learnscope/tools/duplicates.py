"""Units that are copies of one another."""

import dataclasses
from typing import Any

import numpy as np

MOST_SHOWN = 12  # units on a line


@dataclasses.dataclass(frozen=True)
class Duplicates:
    """Units that are copies of one another.

    `signs` are relative to the first of `units`; `least` is the smallest |correlation| of any two
    of them (below the threshold where copies of copies make a chain).
    """

    units: tuple[int, ...]
    signs: tuple[int, ...]
    least: float

    def __str__(self) -> str:
        both = list(zip(self.units, self.signs, strict=True))
        shown = " = ".join(f"{'-' if sign < 0 else ''}{unit}" for unit, sign in both[:MOST_SHOWN])
        return shown + (f" = ... ({len(both)} units)" if len(both) > MOST_SHOWN else "")

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"units": list(self.units), "signs": list(self.signs), "least": self.least}


def duplicate_groups(correlation: np.ndarray, threshold: float) -> tuple[Duplicates, ...]:
    """Connected units, found from the first unit of each group outwards; large groups first."""
    # Rounding may leave two equal units a little below a correlation of 1.
    near = np.abs(correlation) >= threshold - 1e-12
    left = near.sum(axis=1) > 1
    found = []
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
        found.append(Duplicates(tuple(which.tolist()), tuple(signs[which].tolist()), least))
    return tuple(sorted(found, key=lambda group: (-len(group.units), group.units)))
