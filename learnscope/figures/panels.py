"""Five panels that most figures of papers are made of, and `figure`, which lays them out.

A panel draws a quantity of the datasets by name: `over` an axis with its 95 % interval, `curves`
over steps, a `heat` map, `bars` beside reported numbers, a `histogram`. Keywords beyond a panel's
own are those of `Axes.set`: title, xlabel, yscale, ...
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from learnscope import evidence
from learnscope.evidence import Quantity, every, student
from learnscope.evidence.statistics import estimate
from learnscope.figures.diagram import draw_boundary, draw_heat_map, draw_line
from learnscope.figures.setting import number
from learnscope.figures.style import (
    COLOURS,
    STYLES,
    columns_of,
    curves,
    floor_line,
    headline,
    label_lines,
    legend_below,
    plain_ticks,
    styled,
)

Data = Mapping[str, xr.Dataset]
Panel = Callable[[Axes, Data], Any]
Line = Callable[[Data], tuple[Any, Any]]
_SHARES = ("accuracy", "test error", "training error")
FEWEST = 10  # runs from which on an interval is drawn in place of dots
_MOST_LETTERS = 40  # of the names below bars, before they are slanted
_SLANTED: dict[str, Any] = {"rotation": 25, "ha": "right", "fontsize": 7}


def figure(
    title: str, needs: str | Sequence[str], panels: Sequence[Panel] | Sequence[Sequence[Panel]],
    heading: str | Callable[..., str] = "", size: tuple[float, float] | None = None,
    legend: int = 0, titled: bool = False, **shared: Any,
) -> evidence.Figure:  # fmt: skip
    """A figure of a study: panels in rows (a plain list is laid out), under a heading.

    `heading` says the finding, and may be a function of the datasets. If it is the title that says
    it, the figure is `titled`: the title stands above the heading. `legend` is the number of
    columns of one legend for all panels, below them; without it lines are labelled at their ends.
    `shared` is sharex or sharey.
    """
    needs = (needs,) if isinstance(needs, str) else tuple(needs)
    rows = _rows(panels)

    def draw(*datasets: xr.Dataset) -> Figure:
        data = dict(zip(needs, datasets, strict=True))
        across = max(map(len, rows))
        default = (6, 4.2) if len(rows) == across == 1 else (3.4 * across, 2.8 * len(rows) + 0.8)
        drawing, grid = plt.subplots(
            len(rows), across, figsize=size or default, squeeze=False, **shared
        )
        for axes, panel in zip(grid, rows, strict=True):
            for one, draw_panel in zip(axes, panel, strict=False):
                draw_panel(one, data)
            for one in axes[len(panel) :]:
                one.set_axis_off()
        if legend:
            legend_below(drawing, list(grid.flat), legend)
        for one in grid.flat:  # when limits that panels share are final
            plain_ticks(one)
            if not legend:
                label_lines(one)
        _said_once(grid)
        words = heading if isinstance(heading, str) else heading(*datasets)
        lines = [title, words] if titled or not words else [words]
        headline(drawing, *"\n".join(lines).strip().split("\n"))
        return drawing

    return styled(title, needs, draw)


def _said_once(grid: np.ndarray) -> None:
    """Take away the labels of axes whose ticks have no numbers: a neighbour shares them."""
    for (row, column), one in np.ndenumerate(grid):
        below, left = grid[row + 1 :, column], grid[row, :column]
        if any(one.get_shared_x_axes().joined(one, other) and other.axison for other in below):
            one.set_xlabel("")
        if any(
            one.get_shared_y_axes().joined(one, other) and other.get_ylabel() == one.get_ylabel()
            for other in left
        ):
            one.set_ylabel("")


def _rows(panels: Sequence[Any]) -> list[list[Panel]]:
    if panels and not callable(panels[0]):
        return [list(row) for row in panels]
    across = columns_of(len(panels))
    return [list(panels[i : i + across]) for i in range(0, len(panels), across)]


def panel(draw: Callable[..., Panel]) -> Callable[..., Panel]:
    """A panel whose keywords beyond its own are given to `Axes.set`, with vertical lines at `marks`
    and horizontal ones at `levels` (numbers by label). A function among them is called with the
    datasets: a title may say what was run."""
    own = draw.__code__.co_varnames[: draw.__code__.co_argcount + draw.__code__.co_kwonlyargcount]

    @functools.wraps(draw)
    def made(*args: Any, marks: Any = (), levels: Any = None, **settings: Any) -> Panel:
        inner = draw(*args, **{k: v for k, v in settings.items() if k in own})

        def drawn(axes: Axes, data: Data) -> None:
            inner(axes, data)
            places: Any = marks(data) if callable(marks) else marks
            for step in places:
                axes.axvline(step, color="0.4", linewidth=0.8, linestyle=":")
            for i, (label, level) in enumerate((levels or {}).items()):
                axes.axhline(level, color=COLOURS[2 + i % 4], linestyle=STYLES[1 + i % 5],
                             linewidth=1, label=label)  # fmt: skip
            more = {k: v(data) if callable(v) else v for k, v in settings.items() if k not in own}
            axes.set(**more)

        return drawn

    return made


@panel
def steps(
    variable: str | Quantity, hue: str, of: str | None = None, label: str = "{}",
    where: Mapping[str, Any] | None = None, floor: float | None = None,
) -> Panel:  # fmt: skip
    """A variable or quantity against the step: the median over seeds for each value of `hue` and a
    band from the 10th to the 90th percentile; values below `floor` are drawn there. The rounding
    error that a probe records beside a variable is a dotted line.
    """
    quantity = every(variable, **(where or {})) if isinstance(variable, str) else variable
    quantity = quantity.of(of) if of else quantity

    def draw(axes: Axes, data: Data) -> None:
        values = quantity.read(data)
        curves(axes, values.clip(min=floor) if floor is not None else values, hue, label)
        if isinstance(variable, str) and (error := _error_of(variable, data, of)) is not None:
            floor_line(axes, error.sel(**(where or {})).read(data))
        last = values.isel(step=-1).transpose(hue, "seed").values
        gone = dict(zip(values[hue].values, (~np.isfinite(last)).sum(1), strict=True))
        lost = [f"{_text(name)} diverges in {n}/{last.shape[1]}" for name, n in gone.items() if n]
        if lost:
            axes.text(0.5, 0.5, "\n".join(lost), transform=axes.transAxes, ha="center",
                      fontsize=7, bbox={"facecolor": "white", "edgecolor": "0.8"})  # fmt: skip
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.set_xlabel("step")

    return draw


def _error_of(variable: str, data: Data, of: str | None) -> Quantity | None:
    """The rounding error that is recorded beside a variable, if there is one."""
    dataset = data[of] if of else next(iter(data.values()))
    name = str(dataset[variable].attrs.get("floor"))
    found = every(name) if name in dataset else None
    return found.of(of) if found and of else found


@panel
def over(
    quantity: Quantity, axis: str, hue: str | None = None, x: Sequence[float] | None = None,
    label: str = "{}", possible: tuple[float, float] | None = None,
) -> Panel:  # fmt: skip
    """The mean of a quantity over an axis, a line for each value of `hue`, with its 95 % interval
    (inside what is `possible`; an accuracy is at most 1), or a dot for every run if there are few.
    """

    def draw(axes: Axes, data: Data) -> None:
        values = quantity.read(data)
        inside = possible or _possible(quantity, values)
        for i, name in enumerate(values[hue].values if hue else [""]):
            one = values.sel({hue: name}) if hue else values
            places = np.asarray(one[axis].values if x is None else x)
            text = label.format(_text(name)) if hue else _spread(one)
            axes.plot(places, one.mean("seed"), color=COLOURS[i % 6], linestyle=STYLES[i % 6],
                      marker="o", markersize=3, label=text)  # fmt: skip
            _runs(axes, places, one.transpose(axis, "seed").values, inside, COLOURS[i % 6])
        axes.set_xlabel(axis)

    return draw


def _possible(quantity: Quantity, values: xr.DataArray) -> tuple[float, float]:
    """The values that a quantity can have, by its name."""
    named = any(word in quantity.text for word in _SHARES)
    share = named and values.min() >= 0 and values.max() <= 1
    return (0, 1) if share else (-np.inf, np.inf)


def _spread(values: xr.DataArray) -> str:
    """What `_runs` draws beside a mean."""
    return "mean; dots: runs" if values.sizes["seed"] < FEWEST else "mean and 95 % interval"


def _runs(
    axes: Axes, places: np.ndarray, values: np.ndarray, possible: tuple[float, float], colour: str
) -> None:
    """The 95 % interval at every place, or a dot for every run if there are few; values have the
    dims place and seed."""
    if values.shape[1] < FEWEST:
        axes.plot(places, values, ".", color=colour, markersize=4, alpha=0.6)
        return
    found = [student(each) for each in values]
    ends = [np.clip((f.low, f.high), *possible) for f in found if np.isfinite(f.low)]
    there = [place for place, f in zip(places, found, strict=True) if np.isfinite(f.low)]
    if there:
        middle = np.mean(ends, 1)
        axes.errorbar(there, middle, np.ptp(ends, 1) / 2, fmt="none", color=colour, capsize=2)


@panel
def heat(
    quantity: Quantity, x: str, y: str, bar: str = "", vmin: float | None = None,
    vmax: float | None = None, contour: float | None = None,
    lines: Mapping[str, Line] | None = None, one_bar: bool = False,
) -> Panel:  # fmt: skip
    """The mean of a quantity over two axes, with the theory's lines; maps side by side that have
    one scale (vmin and vmax) may have `one_bar` at the end of their row."""

    def draw(axes: Axes, data: Data) -> None:
        values = quantity.read(data).mean("seed")
        mesh = draw_heat_map(axes, values, x, y, vmin=vmin, vmax=vmax)
        row = _row(axes) if one_bar else [axes]
        if axes is row[-1]:
            axes.figure.colorbar(mesh, ax=row, label=bar or quantity.text)
        if contour is not None:
            axes.contour(values[x], values[y], values.transpose(y, x), [contour], colors="white")
            axes.plot([], [], color="white", label=f"contour at {contour:g}",
                      path_effects=[withStroke(linewidth=3, foreground="0.3")])  # fmt: skip
        for i, (label, line) in enumerate((lines or {}).items()):
            draw_line(axes, *line(data), label, color=COLOURS[3 + i % 3], linestyle=STYLES[i % 6])

    return draw


def _row(axes: Axes) -> list[Axes]:
    """The panels of a figure beside one, from left to right, with it."""
    place: Any = axes.get_subplotspec()
    pairs = [(one.get_subplotspec(), one) for one in axes.figure.axes]
    return [one for spec, one in pairs if spec is not None and spec.rowspan == place.rowspan]


@panel
def bars(
    quantity: Quantity, axis: str, hue: str | None = None,
    reported: Mapping[Any, float] | None = None, possible: tuple[float, float] | None = None,
) -> Panel:  # fmt: skip
    """The mean of a quantity as bars, with intervals or runs as in `over`, beside what the paper
    reports."""

    def draw(axes: Axes, data: Data) -> None:
        values = quantity.read(data)
        inside, names = possible or _possible(quantity, values), list(values[axis].values)
        groups = list(values[hue].values) if hue else [None]
        width = 0.8 / len(groups)
        for i, name in enumerate(groups):
            one = values if hue is None else values.sel({hue: name})
            places = np.arange(len(names)) + width * (i - (len(groups) - 1) / 2)
            axes.bar(
                places,
                one.mean("seed"),
                0.9 * width,
                color=COLOURS[i % 6],
                alpha=0.75,
                label=_text(name) if name is not None else "here" if reported else None,
            )
            _runs(axes, places, one.transpose(axis, "seed").values, inside, "black")
            for place, each in zip(places, names, strict=True):
                paper = (reported or {}).get(each if name is None else (each, name))
                if paper is not None:
                    axes.plot([place - width / 2, place + width / 2], [paper, paper], "k--",
                              label="paper" if place == places[0] and i == 0 else None)  # fmt: skip
        texts = [_text(name) for name in names]
        crowded = sum(map(len, texts)) > _MOST_LETTERS
        axes.set_xticks(range(len(names)), texts, **_SLANTED if crowded else {})

    return draw


@panel
def histogram(quantity: Quantity, hue: str | None = None, bins: Any = 30) -> Panel:
    """How a quantity is distributed over all its draws and axes, for each value of `hue`."""

    def draw(axes: Axes, data: Data) -> None:
        values = quantity.read(data)
        for i, name in enumerate(values[hue].values if hue else [None]):
            one = values if name is None else values.sel({hue: name})
            axes.hist(one.values[np.isfinite(one.values)], bins, color=COLOURS[i % 6], alpha=0.6,
                      density=True, label=None if name is None else _text(name))  # fmt: skip

    return draw


@panel
def boundary_panel(of: str) -> Panel:
    """A boundary with its band, the fitted exponent and the theory's line."""

    def draw(axes: Axes, data: Data) -> None:
        found = data[of]
        draw_boundary(axes, found)
        dim, (exponent, error) = found.boundary.dims[0], _exponent(found)
        fit = f"fit: ${dim[0]}^{{{exponent:.3f} \\pm {error:.3f}}}$"
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True):
            if not isinstance(handle, Line2D):
                handle.set_label("_band")
            elif text.startswith("fit"):
                handle.set_label(fit)
            elif handle.get_marker() == "o":
                handle.set_label("found, with 95 % band")
        axes.set_xlabel(str(dim))

    return draw


def _exponent(found: xr.Dataset) -> tuple[float, float]:
    """The exponent of a boundary, and half of its 95 % interval."""
    slope = found.attrs["exponent"]
    known = estimate(slope, found.attrs["exponent_error"], found.attrs["seeds"])
    return slope, known.high - slope


def _text(value: Any) -> str:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number(value) if is_number else str(value)
