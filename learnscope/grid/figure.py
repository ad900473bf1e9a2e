"""The cross-paper grid as a figure and as tables."""

import csv
import io
import itertools
import json
import math
import textwrap
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.special import stdtrit

from learnscope.evidence.output import Output
from learnscope.figures.style import style
from learnscope.grid.run import MEASURES, untrained
from learnscope.part import text_table

_LOW = {"test_accuracy": 0.5}  # chance; fractions start at 0
_COLOURS = {"signal_learnt": "Greens", "noise_memorised": "Oranges", "test_accuracy": "Blues"}
_MARK = "×"


def grid_figure(found: xr.Dataset) -> Figure:
    """One heat map for each measure: means over seeds. Pairs that do not fit are hatched, those
    without a known truth (or with no example to memorise) have a dash; brackets mark what does not
    differ from the untrained network of the same seeds."""
    rows, columns = found.sizes["rule"], found.sizes["data"]
    with style():
        figure, panels = plt.subplots(
            1, len(MEASURES), sharey=True,
            figsize=(2.2 + len(MEASURES) * max(1.9, 0.36 * columns), 1.9 + 0.26 * rows),
        )  # fmt: skip
        for panel, measure in zip(panels, MEASURES, strict=True):
            _panel(panel, found, measure)
        panels[0].set_yticks(range(rows), list(found["rule"].values))
        seeds = found.sizes["seed"]
        words = (
            "Signal and noise: shares of the learnt filters' response to training examples. "
            f"Means over {seeds} seed{'s' * (seeds > 1)}. In brackets: no clear difference from "
            "the untrained network of the same seeds. Hatched: the pair does not fit. –: no truth "
            "is known, or no example is seen twice."
        )
        width = int(13 * figure.get_figwidth())
        figure.supxlabel("\n".join(textwrap.wrap(words, width)), fontsize=8)
    return figure


def _panel(panel: Axes, found: xr.Dataset, measure: str) -> None:
    means = found[measure].mean("seed").values
    low = _LOW.get(measure, 0.0)
    colours = plt.get_cmap(_COLOURS[measure]).with_extremes(bad="white")
    panel.imshow(
        np.ma.masked_invalid(means), cmap=colours, vmin=low, vmax=1 + 0.35 * (1 - low),
        aspect="auto", interpolation="none",
    )  # fmt: skip
    panel.grid(False)
    panel.spines[:].set_visible(False)
    panel.set_title(MEASURES[measure])
    names = list(found["data"].values)
    panel.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    panel.set_xticks(np.arange(found.sizes["data"] + 1) - 0.5, minor=True)
    panel.set_yticks(np.arange(found.sizes["rule"] + 1) - 0.5, minor=True)
    panel.grid(True, which="minor", color="white", linewidth=1, alpha=1)
    panel.tick_params(which="both", length=0)
    for i, j in np.ndindex(means.shape):
        cell = found.isel(rule=i, data=j)
        if str(cell.reason.values):
            look = {"facecolor": "0.88", "edgecolor": "0.6", "hatch": "////", "linewidth": 0}
            panel.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, **look))
            continue
        panel.text(j, i, _short(cell, measure), ha="center", va="center", fontsize=6.5)


def _short(cell: xr.Dataset, measure: str) -> str:
    """A mean in two digits, in brackets if it does not differ from the control."""
    mean = float(cell[measure].mean("seed"))
    if math.isnan(mean):
        return "div." if int(cell.diverged) else "–"
    text = f"{mean:.2f}".removeprefix("0") if mean < 0.995 else "1"
    return text if told_apart(cell, measure) else f"({text})"


def told_apart(cell: xr.Dataset, measure: str) -> bool:
    """Whether the 95 % interval of the paired difference to the untrained network leaves out 0;
    never with one seed, and with any difference where all seeds agree."""
    gain = _gain(cell, measure)
    if gain.size < 2:
        return False
    error = gain.std(ddof=1) / math.sqrt(gain.size)
    return bool(abs(gain.mean()) > stdtrit(gain.size - 1, 0.975) * error)


def _gain(cell: xr.Dataset, measure: str) -> np.ndarray:
    """Trained less untrained, of every seed that did not diverge."""
    both = cell[measure] - cell[untrained(measure)]
    return both.values[np.isfinite(both.values)]


def reasons(found: xr.Dataset) -> dict[str, str]:
    """Pairs that do not fit, as `rules on data models`, by reason."""
    by_reason: dict[str, dict[str, list[str]]] = {}
    for rule, data in itertools.product(found["rule"].values, found["data"].values):
        why = str(found.reason.sel(rule=rule, data=data).values)
        if why:
            by_reason.setdefault(why, {}).setdefault(str(rule), []).append(str(data))
    pairs = {}
    for why, by_rule in by_reason.items():
        # Rules with this reason on the same data models are named together.
        groups: dict[tuple[str, ...], list[str]] = {}
        for rule, data in by_rule.items():
            groups.setdefault(tuple(data), []).append(rule)
        pairs[why] = "; ".join(f"{', '.join(r)} on {', '.join(d)}" for d, r in groups.items())
    return pairs


def grid_markdown(found: xr.Dataset) -> str:
    """One table with `signal learnt / noise memorised / test accuracy` of each pair; reasons."""
    names = [str(name) for name in found["data"].values]
    lines = ["| signal / noise / accuracy | " + " | ".join(names) + " |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for rule in found["rule"].values:
        row = [found.sel(rule=rule, data=name) for name in names]
        cells = [_MARK if str(cell.reason.values) else
                 " / ".join(_short(cell, name) for name in MEASURES) for cell in row]  # fmt: skip
        lines.append(f"| {rule} | " + " | ".join(cells) + " |")
    listed = [f"- {pairs}: {why}." for why, pairs in reasons(found).items()]
    if listed:
        lines += ["", f"{_MARK}: the pair does not fit.", "", *listed]
    return "\n".join(lines) + "\n"


def grid_text(found: xr.Dataset) -> str:
    """The same for a terminal: one line for each rule, percentages."""
    names, rules = ([str(name) for name in found[dim].values] for dim in ("data", "rule"))

    def shown(cell: xr.Dataset) -> str:
        if str(cell.reason.values):
            return _MARK
        means = [float(cell[measure].mean("seed")) for measure in MEASURES]
        return "/".join("-" if math.isnan(mean) else f"{100 * mean:.0f}" for mean in means)

    head = ["signal/noise/accuracy %", *(f"{name:>11}" for name in names)]
    rows = [[rule, *(shown(found.sel(rule=rule, data=name)) for name in names)] for rule in rules]
    return text_table([head, *rows], "<" + ">" * len(names))


def grid_cells(found: xr.Dataset) -> list[dict[str, Any]]:
    """Every pair by itself, as plain data: means, controls, or the reason."""
    cells = []
    for rule, data in itertools.product(found["rule"].values, found["data"].values):
        cell = found.sel(rule=rule, data=data)
        row: dict[str, Any] = {"rule": str(rule), "data": str(data)}
        if str(cell.reason.values):
            cells.append(row | {"reason": str(cell.reason.values)})
            continue
        row |= {"net": str(cell.net.values), "judged": str(cell.judged.values)}
        for measure in MEASURES:
            values, gain = cell[measure].values, _gain(cell, measure)
            some = np.isfinite(values).any()
            row[measure] = float(values[np.isfinite(values)].mean()) if some else None
            row[f"{measure}_gain"] = float(gain.mean()) if some else None
            row[f"{measure}_told_apart"] = told_apart(cell, measure) if some else None
        cells.append(row | {"diverged": int(cell.diverged), "seeds": cell.sizes["seed"]})
    return cells


def write_grid(output: Output, found: xr.Dataset, name: str = "grid") -> list[str]:
    """Write figure, tables and dataset into a folder; return the lines to print."""
    writers = {"md": grid_markdown, "json": grid_json, "csv": grid_csv}
    paths = [output.dataset(name, found)]
    paths += [output.text(f"{name}.{kind}", write(found)) for kind, write in writers.items()]
    paths += output.figure(name, grid_figure(found))
    listed = [f"{_MARK} {pairs}: {why}" for why, pairs in reasons(found).items()]
    return [grid_text(found), *listed, *(f"wrote {path}" for path in paths)]


def grid_json(found: xr.Dataset) -> str:
    return json.dumps(grid_cells(found), indent=1, allow_nan=False) + "\n"


def grid_csv(found: xr.Dataset) -> str:
    """One line for each pair."""
    cells = grid_cells(found)
    names = list(dict.fromkeys(name for cell in cells for name in cell))
    text = io.StringIO()
    lines = csv.DictWriter(text, names, lineterminator="\n")
    lines.writeheader()
    lines.writerows(cells)
    return text.getvalue()
