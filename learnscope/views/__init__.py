"""Views of results: terminal, report, explorer, notebook.

Names are imported when first used: a run does not draw, and loads no Matplotlib.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from learnscope.figures import boundary_figure, heat_map, probe_curves

__all__ = ["boundary_figure", "heat_map", "probe_curves"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'learnscope.views' has no attribute '{name}'")
    from learnscope import figures

    return getattr(figures, name)
