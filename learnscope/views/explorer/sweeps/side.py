"""An axis of a stored sweep, as the side of a map."""

import dataclasses
from typing import Any

import numpy as np
import xarray as xr

from learnscope.figures.diagram import is_geometric, label

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
        values = np.asarray(data[dim].values)
        texts, title = texts_of(data, dim), label(data, dim)
        number = np.issubdtype(values.dtype, np.number) and np.isfinite(values).all()
        if dim == "seed" or not number or (np.diff(values.astype(float)) <= 0).any():
            at = np.arange(len(values), dtype=float)
            return Side(title, texts, at, _edges(at), "place")
        at = values.astype(float)
        if is_geometric(at):
            return Side(title, texts, at, np.exp(_edges(np.log(at))), "log")
        return Side(title, texts, at, _edges(at), "linear")

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

    >>> short(0.79291), short(1339.0), short(1e9)
    ('0.793', '1339', '1e+09')
    """
    return f"{value:.4g}" if abs(value) >= 1000 else f"{value:.3g}"


def texts_of(data: xr.Dataset, dim: str) -> list[str]:
    """The values on an axis in words."""
    values = np.asarray(data[dim].values)
    floats = np.issubdtype(values.dtype, np.floating)
    return [f"{value:.6g}" if floats else str(value) for value in values]


def _edges(at: np.ndarray) -> np.ndarray:
    """Midpoints of neighbours, and as far beyond the first and the last."""
    if len(at) == 1:
        return at[0] + np.array([-0.5, 0.5])
    inner = (at[1:] + at[:-1]) / 2
    return np.concatenate([[2 * at[0] - inner[0]], inner, [2 * at[-1] - inner[-1]]])
