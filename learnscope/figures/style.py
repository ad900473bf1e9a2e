"""What the studies' figures share: a style, and curves with bands over seeds."""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, StrMethodFormatter
from scipy.optimize import isotonic_regression

from learnscope import evidence
from learnscope.figures.setting import number

# Okabe and Ito's palette, distinguishable with any colour vision; line styles repeat the
# distinction.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
_BAND = (0.1, 0.5, 0.9)
_LETTERS = 11  # to an inch of a title
_MOST_LABELS, _LONGEST_LABEL, _LABEL_GAP = 7, 26, 0.08  # at lines' ends; letters; of the height
_SAME = 0.004  # of a panel: lines nearer to each other than this are one
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))


@contextmanager
def style() -> Iterator[None]:
    """Legible at the width of a page, editable as PDF, drawn without a screen."""
    settings: dict[Any, Any] = {
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "pdf.fonttype": 42,
        "figure.constrained_layout.use": True,
    }
    with mpl.rc_context(settings):
        yield


def columns_of(panels: int) -> int:
    """How many panels stand side by side."""
    return 2 if panels in (2, 4) else min(3, panels)


def headline(figure: Figure, *lines: str) -> None:
    """A figure's title, in lines no wider than it; a name stays with its value."""
    wide = int(_LETTERS * figure.get_figwidth())
    whole = [line.replace(" = ", "\u00a0=\u00a0") for line in lines]
    text = "\n".join(part for line in whole for part in _balanced(line, wide))
    figure.suptitle(text, parse_math=text.count("$") > 1)


def _balanced(line: str, wide: int) -> list[str]:
    """As few lines as fit, as equally long as they can be: no word stands alone.

    >>> _balanced("the boundary rises as d", 20)
    ['the boundary', 'rises as d']
    """
    fewest = len(textwrap.wrap(line, wide))
    widths = range(max(1, len(line) // max(1, fewest)), wide + 1)
    return next((w for width in widths if len(w := textwrap.wrap(line, width)) == fewest), [])


def styled(title: str, needs: tuple[str, ...], draw: Callable[..., Figure]) -> evidence.Figure:
    """A figure of a study, drawn in this style."""
    return evidence.Figure(title, needs, style()(draw))


def curves(axes: Axes, data: xr.DataArray, hue: str, label: str = "{}", runs: bool = False) -> None:
    """Median over seeds for each value of `hue`, and a band from the 10th to 90th percentile; or
    every run as a thin line."""
    for position, value in enumerate(data[hue].values):
        one = data.sel({hue: value}).dropna("step", how="all")
        every = one.transpose("seed", "step").values
        low, middle, high = quantiles(every)
        colour = COLOURS[position % len(COLOURS)]
        text = label.format(number(value) if isinstance(value, float | np.number) else value)
        axes.plot(one.step, middle, color=colour, linestyle=STYLES[position % 6], label=text)
        if not runs:
            axes.fill_between(one.step, low, high, color=colour, alpha=0.18, linewidth=0)
        elif len(every) > 1:
            axes.plot(one.step, every.T, color=colour, linewidth=0.6, alpha=0.4)


def quantiles(values: np.ndarray) -> np.ndarray:
    """Quantiles (10, 50, 90 %) over finite seeds; NaN at steps that have none."""
    finite = np.isfinite(values)
    if finite.all():
        return np.quantile(values, _BAND, axis=0)
    there = finite.any(0)
    found = np.full((len(_BAND), values.shape[1]), np.nan)
    kept = np.where(finite, values, np.nan)[:, there]
    found[:, there] = np.nanquantile(kept, _BAND, axis=0) if there.any() else 0
    return found


def floor_line(axes: Axes, floor: xr.DataArray) -> None:
    """The rounding error of a variable against the step, at its largest, as one dotted line."""
    if bool((floor > 0).any()):
        most = floor.max([dim for dim in floor.dims if dim != "step"])
        axes.plot(most.step, most, color="0.6", linestyle=":", linewidth=1, zorder=0)


def band(
    axes: Axes, x: Any, values: xr.DataArray, index: int, label: str, alpha: float = 0.15
) -> None:
    """The mean over seeds with a band from the lowest to the highest."""
    axes.plot(x, values.mean("seed"), color=COLOURS[index], linestyle=STYLES[index], label=label)
    axes.fill_between(x, values.min("seed"), values.max("seed"), color=COLOURS[index], alpha=alpha,
                      linewidth=0)  # fmt: skip


def label_lines(axes: Axes, below: bool = True) -> bool:
    """Every line's label beside its end, in its colour, moved apart from the others, with a thin
    line to it where it was moved; lines that coincide share one. `below` the panel (or nowhere)
    where that does not do: bars, maps, many or long labels, and a line alone. Whether it did."""
    handles, texts = axes.get_legend_handles_labels()
    lines = [(line, t) for h, t in zip(handles, texts, strict=True) if (line := _line(h))]
    mapped = any(isinstance(each, QuadMesh) for each in axes.collections)
    few = 1 < len(lines) <= _MOST_LABELS and max(map(_length, texts)) <= _LONGEST_LABEL
    if not few or mapped or len(lines) < len(handles):
        if handles and below:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize=7, ncols=2)
        return not handles
    ends = sorted(_ends(axes, lines), key=lambda end: -end[1])
    if not ends:
        return False
    gaps = _LABEL_GAP * np.arange(len(ends))
    # As near to the ends as the gaps allow, between the lowest and the highest point.
    near = isotonic_regression(np.array([at for _, at, *_ in ends]) + gaps, increasing=False).x
    for place, (x, at, text, colour) in zip(np.clip(near, gaps[-1], 1) - gaps, ends, strict=True):
        moved = abs(place - at) > _LABEL_GAP / 4 or x < 1 - _LABEL_GAP
        axes.annotate(
            text, (x, at), (1.03, float(place)), "axes fraction", "axes fraction",
            color=colour, fontsize=7, va="center", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6,
                        "shrinkA": 0, "shrinkB": 1} if moved else None,
        )  # fmt: skip
    return True


def _line(handle: Any) -> Line2D | None:
    """The line of a legend's entry: itself, or that through an interval's means."""
    if isinstance(handle, ErrorbarContainer):
        handle = handle.lines[0]
    return handle if isinstance(handle, Line2D) else None


def _length(text: str) -> int:
    """About how many letters a label is wide: a formula's commands are none."""
    return len(re.sub(r"\\\w+|[${}^_]", "", text))


def _ends(axes: Axes, lines: Any) -> list[tuple[float, float, str, Any]]:
    """Where lines are last seen, as shares of the panel, with label and colour."""
    axes.autoscale_view()  # limits follow the data only when they are asked for
    found: list[tuple[np.ndarray, str, Any]] = []
    for line, text in lines:
        own = line.get_transform().transform(np.asarray(line.get_xydata(), float))
        points = axes.transAxes.inverted().transform(own)
        points = points[np.isfinite(points).all(1)]
        if not len(points):
            continue
        same = (i for i, (other, name, _) in enumerate(found) if other.shape == points.shape
                and np.abs(other - points).max() < _SAME
                and _length(name + text) <= _LONGEST_LABEL + 8)  # fmt: skip
        if (i := next(same, None)) is not None:
            found[i] = (points, f"{found[i][1]} = {text}", line.get_color())
        else:
            found.append((points, text, line.get_color()))
    return [(*_last_seen(points), text, colour) for points, text, colour in found]


def _last_seen(points: np.ndarray) -> tuple[float, float]:
    """The last point within the panel; the nearest place in it, if there is none."""
    seen = points[((points > -_SAME) & (points < 1 + _SAME)).all(1)]
    x, y = np.clip(seen[-1] if len(seen) else points[-1], 0, 1)
    return float(x), float(y)


def plain_ticks(axes: Axes) -> None:
    """Ticks at 1, 2 and 5 (or where they were set) as plain numbers, on logarithmic axes of less
    than two decades."""
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axis.get_scale() == "log" and high < 100 * low:
            if not isinstance(axis.get_major_locator(), FixedLocator):
                axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.set_minor_formatter(NullFormatter())


def legend_below(
    place: Figure | Axes, panels: Iterable[Axes], columns: int, **settings: Any
) -> None:
    """One legend for several panels, below them (or in one of them); each label once."""
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(str(text), handle)
    settings = {"loc": "outside lower center", "ncols": columns} | settings
    place.legend(list(handles.values()), list(handles), **settings)
