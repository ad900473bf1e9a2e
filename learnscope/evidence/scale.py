"""Scales as a table: smoke, laptop and paper are its columns."""

from types import SimpleNamespace
from typing import Any

from learnscope.errors import BadInput, unknown

SCALES = ("smoke", "laptop", "paper")


class Scale:
    """The sizes of a study at every scale; one value stands for all three.

    >>> SIZES = Scale(seeds=(2, 10, 100), steps=(200, 3000, 3000), width=10)
    >>> SIZES["laptop"].seeds, SIZES["smoke"].width
    (10, 10)
    """

    def __init__(self, **rows: Any):
        for name, row in rows.items():
            if isinstance(row, tuple) and len(row) != len(SCALES):
                raise BadInput(f"{name} = {row!r} must have a value for {', '.join(SCALES)}.")
        self._rows = rows

    def __getitem__(self, scale: str) -> SimpleNamespace:
        if scale not in SCALES:
            raise unknown("scale", scale, SCALES)
        column = SCALES.index(scale)
        chosen = {n: r[column] if isinstance(r, tuple) else r for n, r in self._rows.items()}
        return SimpleNamespace(**chosen)
