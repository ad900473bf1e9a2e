"""Running the grid: every pair that means something, as one dataset."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput, unknown
from learnscope.lab.cluster import opened
from learnscope.lab.files import check_scale
from learnscope.lab.run import Report, run_and_report
from learnscope.studies.grid.columns import COLUMNS, Column
from learnscope.studies.grid.pairs import experiment, reason
from learnscope.studies.grid.rows import ROWS

SCALES = ("smoke", "laptop")
SEEDS = {"smoke": 2, "laptop": 5}
# What is shown of every pair.
MEASURES = {
    "signal_learnt": "signal learnt",
    "noise_memorised": "noise memorised",
    "test_accuracy": "test accuracy",
}
_ACCURACIES = {
    "test_accuracy": "as it is",
    "adapted_test_accuracy": "after adapting",
    "probe_accuracy": "linear readout",
}
_UNTRAINED = {"signal_learnt": "untrained_signal", "noise_memorised": "untrained_noise"}


def run_grid(
    rules: Iterable[str] | None = None,
    data: Iterable[str] | None = None,
    seeds: int | None = None,
    scale: str = "laptop",
    store: str | None = None,
    cluster: Any = None,
    say: Callable[[str], None] = lambda text: None,
) -> xr.Dataset:
    """The grid of rules and data models (none: all) as a dataset over `rule`, `data` and `seed`.

    Of each of `MEASURES` there is the value after training and `untrained_...`, that of the same
    seed before. Where a pair means nothing, `reason` says why; where the truth of a data model is
    not known, the first two are NaN; diverged runs are NaN and counted in `diverged`. A pair is a
    stored sweep like any other, and is not run again. `say` is told what was done.

    >>> found = run_grid(["GradientDescent"], ["LinearTasks"], seeds=1, scale="smoke")
    >>> found.test_accuracy.dims, str(found.net.values[0, 0])
    (('rule', 'data', 'seed'), 'Linear')
    """
    check_scale(scale, SCALES)
    if seeds is not None and (isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1):
        raise BadInput(f"seeds = {seeds!r} is not allowed: it must be a whole number at least 1.")
    rows = _chosen("rule of the grid", rules, ROWS)
    columns = {
        name: COLUMNS[name](scale == "smoke")
        for name in _chosen("data model of the grid", data, COLUMNS)
    }
    count = SEEDS[scale] if seeds is None else seeds
    found = _empty(list(rows), list(columns), count)
    with opened(cluster) as shared:
        settings = {"store": store, "cluster": shared, "progress": False}

        def one(pair: tuple[str, str]) -> tuple[str, str, xr.Dataset, Report]:
            rule, data = pair
            made = experiment(rows[rule], columns[data], scale == "smoke")
            # A seed's draw is the same for all rules only in the same coordinates.
            return rule, data, *run_and_report(made, None, count, "ambient", **settings)

        pairs = []
        for name, column in columns.items():
            for rule, row in rows.items():
                why = reason(row, column)
                found.reason.loc[rule, name] = why or ""
                found.net.loc[rule, name] = "" if why else type(row.net(column)).__name__
                pairs += [] if why else [(rule, name)]
        # Pairs are small: with workers, several are on their way at a time.
        with ThreadPoolExecutor(4 if shared is not None else 1) as threads:
            for done, (rule, name, values, report) in enumerate(threads.map(one, pairs), 1):
                _enter(found, rule, name, columns[name], values)
                say(f"{done}/{len(pairs)} {rule} on {name}: {report}")
    return found


def _chosen(what: str, names: Iterable[str] | None, known: dict[str, Any]) -> dict[str, Any]:
    """Those of that name, in the order of the grid."""
    given = list(known) if names is None else list(names)
    for name in given:
        if name not in known:
            raise unknown(what, name, known)
    return {name: value for name, value in known.items() if name in given}


def _empty(rules: list[str], data: list[str], seeds: int) -> xr.Dataset:
    shape = (len(rules), len(data))
    coords = {"rule": rules, "data": data, "seed": np.arange(seeds)}
    numbers = [name for measure in MEASURES for name in (measure, _untrained(measure))]
    found = xr.Dataset(
        {n: (("rule", "data", "seed"), np.full((*shape, seeds), np.nan)) for n in numbers}
        | {n: (("rule", "data"), np.full(shape, "", object)) for n in ("reason", "net", "judged")}
        | {"diverged": (("rule", "data"), np.zeros(shape, int))},
        coords=coords,
    )
    for measure, words in MEASURES.items():
        found[measure].attrs["long_name"] = words
    return found


def _untrained(measure: str) -> str:
    return _UNTRAINED.get(measure, f"untrained_{measure}")


def _enter(found: xr.Dataset, rule: str, name: str, column: Column, values: xr.Dataset) -> None:
    """What a pair's sweep says, in its place."""
    at = {"rule": rule, "data": name}
    judged = next(accuracy for accuracy in _ACCURACIES if accuracy in values)
    found.judged.loc[at] = _ACCURACIES[judged]
    diverged = values.diverged_at.notnull().values
    found.diverged.loc[at] = int(diverged.sum())
    first, last = values.isel(step=0), values.isel(step=-1)
    found["untrained_test_accuracy"].loc[at] = first[judged].values
    found["test_accuracy"].loc[at] = np.where(diverged, np.nan, last[judged].values)
    if column.truth is None:
        return
    for measure, untrained in _UNTRAINED.items():
        if measure == "noise_memorised" and column.fresh:
            continue  # every example is seen once: there are none to memorise
        found[untrained].loc[at] = first[untrained].values
        found[measure].loc[at] = np.where(diverged, np.nan, last[measure].values)
