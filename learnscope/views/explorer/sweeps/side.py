"""An axis of a stored sweep, as the side of a map."""

import dataclasses
from typing import Any

import numpy as np
import xarray as xr

from learnscope.figures.diagram import Side as Cells
from learnscope.figures.words import is_number, label, text

_MOST_TICKS = 12


@dataclasses.dataclass(frozen=True)
class Side:
    """An axis of a map: positions and cell edges. Rising numbers lie at their values (`log`: on a
    logarithmic axis), anything else side by side."""

    title: str
    texts: list[str]
    at: np.ndarray
    edges: np.ndarray
    kind: str

    @staticmethod
    def of(data: xr.Dataset, dim: str) -> "Side":
        values, texts = data[dim], texts_of(data, dim)
        rising = is_number(values) and (np.diff(values.values.astype(float)) > 0).all()
        cells = Cells.of(values if rising and dim != "seed" else xr.DataArray(texts))
        return Side(label(data, dim), texts, cells.at, cells.edges, cells.kind)

    def layout(self) -> dict[str, Any]:
        ends = np.log10(self.edges[[0, -1]]) if self.kind == "log" else self.edges[[0, -1]]
        few = slice(None, None, -(-len(self.at) // _MOST_TICKS))
        texts = self.texts if self.kind == "place" else [short(value) for value in self.at]
        return {"title": {"text": self.title, "standoff": 10}, "range": ends.tolist(),
                "type": "log" if self.kind == "log" else "linear", "showgrid": False,
                "zeroline": False, "automargin": True,
                "tickvals": self.at[few].tolist(), "ticktext": texts[few]}  # fmt: skip


def short(value: float) -> str:
    """A number in few characters.

    >>> short(0.79291), short(1339.2), short(11133.3), short(1e9)
    ('0.793', '1339', '11133', '1e+09')
    """
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:.3g}"


def texts_of(data: xr.Dataset, dim: str) -> list[str]:
    """The values on an axis in words."""
    return [text(value) for value in data[dim].values]
