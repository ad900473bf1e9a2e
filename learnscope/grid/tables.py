"""The cross-paper grid as a page with a table, and as tables in other formats."""

import itertools
import json
import math
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from learnscope.evidence.output import Output
from learnscope.evidence.statistics import Interval, student
from learnscope.grid.run import MEASURES, untrained
from learnscope.part import text_table
from learnscope.part.template import filled

_LOW = {"test_accuracy": 0.5}  # chance; shares start at 0
_COLOURS = {"signal_learnt": "0 158 115", "noise_memorised": "213 94 0",
            "test_accuracy": "0 114 178"}  # fmt: skip
_MARKS = {"meaningless": "∅", "not built": "×", "fails": "!"}
_WORDS = {"meaningless": "the question has no answer", "not built": "the pair is not built",
          "fails": "a part fails"}  # fmt: skip


def grid_html(found: xr.Dataset) -> str:
    """A page with one table. A cell has three means over seeds, in brackets if they do not differ
    from the untrained network's; hovering shows intervals, controls, net and rate."""
    names = [str(name) for name in found["data"].values]
    rows = [(str(rule), [_cell(found.sel(rule=rule, data=name)) for name in names])
            for rule in found["rule"].values]  # fmt: skip
    measures = [(words, _colour(measure, 0.8)) for measure, words in MEASURES.items()]
    return filled(__package__, "page.html", names=names, rows=rows, measures=measures,
                  seeds=found.sizes["seed"], marks=_marks())  # fmt: skip


def _cell(cell: xr.Dataset) -> dict[str, Any]:
    """What the page shows of a pair: a mark and the reason, or means in their colours."""
    why = str(cell.reason.values)
    if why:
        return {"title": why, "mark": _mark(why)}
    parts, lines = [], [f"{cell.rule.values} on {cell.data.values}"]
    for measure, words in MEASURES.items():
        mean = float(cell[measure].mean("seed"))
        parts.append((_short(cell, measure), _colour(measure, mean)))
        if not math.isnan(mean):
            before = float(cell[untrained(measure)].mean("seed"))
            lines.append(f"{words} {mean:.3f}, untrained {before:.3f}, gain {_gain(cell, measure)}")
    lines.append(f"accuracy of the net {cell.judged.values}, {cell.net.values}")
    lines.append(f"{float(cell.factor):g} times the standard rate, {cell.sizes['seed']} seeds, "
                 f"{int(cell.diverged)} diverged")  # fmt: skip
    return {"title": "\n".join(lines), "parts": parts}


def _colour(measure: str, mean: float) -> str:
    low = _LOW.get(measure, 0.0)
    opacity = 0.0 if math.isnan(mean) else 0.6 * max(0.0, (mean - low) / (1 - low))
    return f"rgb({_COLOURS[measure]} / {opacity:.2f})"


def _marks() -> str:
    return "; ".join(f"{mark}: {_WORDS[kind]}" for kind, mark in _MARKS.items())


def _mark(why: str) -> str:
    return _MARKS.get(why.partition(":")[0], "×")


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
    return gain.low > 0 or gain.high < 0


def _gain(cell: xr.Dataset, measure: str) -> Interval:
    """Trained less untrained, over the seeds that did not diverge."""
    both = (cell[measure] - cell[untrained(measure)]).values
    return student(both[np.isfinite(both)])


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
        cells = [_mark(why) if (why := str(cell.reason.values)) else
                 " / ".join(_short(cell, name) for name in MEASURES) for cell in row]  # fmt: skip
        lines.append(f"| {rule} | " + " | ".join(cells) + " |")
    listed = [f"- {pairs}: {why}." for why, pairs in reasons(found).items()]
    if listed:
        lines += ["", f"{_marks()}.", "", *listed]
    return "\n".join(lines) + "\n"


def grid_text(found: xr.Dataset) -> str:
    """The same for a terminal: one line for each rule, percentages."""
    names, rules = ([str(name) for name in found[dim].values] for dim in ("data", "rule"))

    def shown(cell: xr.Dataset) -> str:
        if why := str(cell.reason.values):
            return _mark(why)
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
            values = cell[measure].values
            some = np.isfinite(values).any()
            row[measure] = float(values[np.isfinite(values)].mean()) if some else None
            row[untrained(measure)] = float(cell[untrained(measure)].mean()) if some else None
            row[f"{measure}_gain"] = _gain(cell, measure).middle if some else None
            row[f"{measure}_told_apart"] = told_apart(cell, measure) if some else None
        row |= {"diverged": int(cell.diverged), "factor": float(cell.factor)}
        cells.append(row | {"seeds": cell.sizes["seed"]})
    return cells


def write_grid(output: Output, found: xr.Dataset, name: str = "grid") -> list[str]:
    """Write tables and dataset into a folder; return the lines to print."""
    writers = {"html": grid_html, "md": grid_markdown, "json": grid_json, "csv": grid_csv}
    paths = [output.dataset(name, found)]
    paths += [output.text(f"{name}.{kind}", write(found)) for kind, write in writers.items()]
    listed = [f"{_mark(why)} {pairs}: {why}" for why, pairs in reasons(found).items()]
    return [grid_text(found), *listed, *(f"wrote {path}" for path in paths)]


def grid_json(found: xr.Dataset) -> str:
    return json.dumps(grid_cells(found), indent=1, allow_nan=False) + "\n"


def grid_csv(found: xr.Dataset) -> str:
    """One line for each pair."""
    return pd.DataFrame(grid_cells(found), dtype=object).to_csv(index=False)
