"""Views of results: terminal, report, explorer, notebook."""

from learnscope.figures.curves import probe_curves
from learnscope.figures.phase import boundary_figure, heat_map

__all__ = ["boundary_figure", "heat_map", "probe_curves"]
