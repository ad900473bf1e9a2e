"""How results are looked at."""

from learnscope.views.curves import probe_curves
from learnscope.views.phase import boundary_figure, heat_map

__all__ = ["boundary_figure", "heat_map", "probe_curves"]
