"""The figure of a collapse report: correlations, spectrum, and the units' correlation matrix."""

import json
import math
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from learnscope.evidence.output import Output
from learnscope.figures.style import COLOURS, style
from learnscope.tools import CollapseReport
from learnscope.views.scores import short

_SHARPEST = 1024  # most units on a side of the heat map
_MOST_WRITTEN = 512  # most units for a correlation matrix in the JSON (5 MB)
_LOWEST = 1e-12  # least fraction of the variance that is drawn


def collapse_figure(report: CollapseReport, name: str = "representations") -> Figure:
    """Three panels; the title states the verdict."""
    with style():
        figure, panels = plt.subplots(1, 3, figsize=(11.5, 3.7), width_ratios=(1, 1, 1.05))
        _correlations(panels[0], report)
        _spectrum(panels[1], report)
        _matrix(panels[2], report)
        size = f"{report.examples} examples x {report.units} units"
        title = f"{short(name, 40)}: {size}, {report.verdict}"
        figure.suptitle(title, parse_math=False, fontsize=10)
    return figure


def write_report(output: Output, report: CollapseReport, source: str) -> list[Path]:
    """The figure, and all numbers as JSON; without the correlation matrix if it is large."""
    # A file may be called anything, whatever its bytes are.
    name = Path(source).name.encode("utf-8", "backslashreplace").decode()
    contents = {"source": name} | report.to_dict(report.units <= _MOST_WRITTEN)
    return [
        output.text("report.json", json.dumps(contents, allow_nan=False) + "\n"),
        *output.figure("collapse", collapse_figure(report, Path(name).stem)),
    ]


def order_of_units(report: CollapseReport) -> np.ndarray:
    """An order with copies side by side: start at the unit that correlates most with all others,
    follow the strongest correlation, dead units last."""
    strength = np.abs(report.correlation)
    np.fill_diagonal(strength, 0)
    left = np.ones(report.units, bool)
    left[list(report.dead)] = False
    order, along = [], strength.sum(axis=1)
    while left.any():
        at = int(np.argmax(np.where(left, along, -1)))
        order.append(at)
        left[at], along = False, strength[at]
    return np.array([*order, *report.dead], int)


def _correlations(panel: Axes, report: CollapseReport) -> None:
    histogram = report.signed_histogram
    total = max(int(histogram.counts.sum()), 1)
    look = {"align": "edge", "color": COLOURS[0], "edgecolor": "white", "linewidth": 0.4}
    shares, widths = 100 * histogram.counts / total, np.diff(histogram.edges)
    panel.bar(histogram.edges[:-1], shares, widths, **look)
    panel.set_xlim(-1, 1)
    panel.set_ylim(0, None if histogram.counts.any() else 100)
    panel.set_xlabel("correlation of two units")
    panel.set_ylabel("pairs of units (%)")
    mean = report.mean_correlation
    shown = "fewer than two units vary" if mean is None else f"mean |correlation| {mean:.3g}"
    panel.set_title(shown, parse_math=False)


def _spectrum(panel: Axes, report: CollapseReport) -> None:
    shares = report.variance_shares
    positive = shares > _LOWEST
    panel.set_title(f"effective rank {report.effective_rank:.4g} of {report.units}")
    panel.set_xlabel("principal direction")
    panel.set_ylabel("share of variance")
    if not positive.any():
        panel.text(0.5, 0.5, "no variance", ha="center", transform=panel.transAxes)
        panel.set(xticks=[], yticks=[])
        return
    at = np.arange(1, len(shares) + 1)
    marker = "o" if len(shares) <= 100 else ""
    look = {"marker": marker, "markersize": 3, "color": COLOURS[0], "zorder": 3}
    panel.plot(at[positive], shares[positive], **look)
    rank, label = report.effective_rank, "effective rank (variances)"
    panel.axvline(rank, color=COLOURS[3], linestyle="--", label=label)
    ratio, label = report.participation_ratio, "participation ratio"
    panel.axvline(ratio, color=COLOURS[2], linestyle=":", label=label)
    panel.set_yscale("log")
    # Do not zoom in so far that noise looks like structure.
    panel.set_ylim(bottom=min(float(shares[positive].min()) / 2, 1e-3), top=1.5)
    panel.set_xlim(0, max(report.units, 2) + 1)
    panel.legend(loc="upper right", fontsize=7.5)


def _matrix(panel: Axes, report: CollapseReport) -> None:
    order = order_of_units(report)
    step = math.ceil(report.units / _SHARPEST)
    some = order[::step]
    values = report.correlation[np.ix_(some, some)]
    dead = np.isin(some, report.dead)
    hidden = np.ma.masked_where(dead[:, None] | dead[None, :], values)
    colours = mpl.colormaps["RdBu_r"].with_extremes(bad="0.8")
    mesh = panel.imshow(hidden, cmap=colours, vmin=-1, vmax=1, interpolation="nearest")
    panel.figure.colorbar(mesh, ax=panel, shrink=0.85, label="correlation")
    panel.grid(False)
    panel.set_title("correlation, copies together" + (", dead units grey" if dead.any() else ""))
    panel.set_xlabel("unit")
    # Label rows by unit number, as many as are legible: the order has no other meaning.
    ticks = np.arange(0, len(some), max(1, math.ceil(len(some) / 24)))
    panel.set(xticks=[], yticks=[])
    if len(some) <= 128:
        panel.set_yticks(ticks, [str(unit) for unit in some[ticks]], fontsize=6)
