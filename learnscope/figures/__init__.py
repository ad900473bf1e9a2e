"""Figures of results: curves, heat maps, boundaries, scores."""

from learnscope.figures.curves import probe_curves
from learnscope.figures.diagram import draw_boundary, draw_heat_map, draw_line, predicted
from learnscope.figures.phase import boundary_figure, has_map, heat_map
from learnscope.figures.style import (
    COLOURS,
    STYLES,
    band,
    curves,
    interval,
    legend_below,
    style,
    styled,
)

__all__ = [
    "COLOURS", "STYLES", "band", "boundary_figure", "curves", "draw_boundary", "draw_heat_map",
    "draw_line", "has_map", "heat_map", "interval", "legend_below", "predicted", "probe_curves",
    "style", "styled",
]  # fmt: skip
