"""Figures of results: curves, heat maps, boundaries, scores."""

from learnscope.figures.curves import probe_curves
from learnscope.figures.diagram import draw_boundary, draw_heat_map, draw_line, predicted
from learnscope.figures.limits import with_limit
from learnscope.figures.panels import (
    bars,
    boundary_panel,
    figure,
    heat,
    histogram,
    over,
    panel,
    steps,
)
from learnscope.figures.phase import boundary_figure, has_map, heat_map
from learnscope.figures.setting import number, ran
from learnscope.figures.style import COLOURS, STYLES, band, curves, legend_below, style, styled
from learnscope.figures.words import brief

__all__ = [
    "COLOURS", "STYLES", "band", "bars", "boundary_figure", "boundary_panel", "brief", "curves",
    "draw_boundary", "draw_heat_map", "draw_line", "figure", "has_map", "heat", "heat_map",
    "histogram", "legend_below", "number", "over", "panel", "predicted", "probe_curves", "ran",
    "steps", "style", "styled", "with_limit",
]  # fmt: skip
