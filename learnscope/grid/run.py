"""Running the grid: every pair that fits, as one dataset."""

import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import refuse_value, unknown
from learnscope.evidence.study import check_scale
from learnscope.grid.columns import Column, all_data, column
from learnscope.grid.rows import all_rules, experiment, rates, reason
from learnscope.lab import Experiment
from learnscope.lab.blocks import Plan, Plans
from learnscope.lab.cluster import opened
from learnscope.lab.run import report_of, run
from learnscope.lab.sweep import Over, seed_list, zipped

SCALES = ("smoke", "laptop")
SEEDS = {"smoke": 2, "laptop": 5}
# Factors of the standard rates, those near 1 first, and the seeds of the draws that choose one.
FACTORS = (1.0, 0.2, 5.0, 0.04, 25.0)
TUNING_SEEDS = tuple(range(1000, 1003))
# The measures of every pair.
MEASURES = {name: name.replace("_", " ") for name in
            ("signal_learnt", "noise_memorised", "test_accuracy")}  # fmt: skip
_ACCURACIES = {"test_accuracy": "as it is", "adapted_test_accuracy": "after adapting",
               "probe_accuracy": "linear readout"}  # fmt: skip
_UNTRAINED = {"signal_learnt": "untrained_signal", "noise_memorised": "untrained_noise"}


def run_grid(
    rules: Iterable[str] | None = None,
    data: Iterable[str] | None = None,
    seeds: int | None = None,
    scale: str = "laptop",
    store: str | None = None,
    cluster: Any = None,
    say: Callable[[str], None] = lambda text: None,
    ask: Callable[[Plans], None] = lambda plans: None,
) -> xr.Dataset:
    """The grid of rules and data models (none: all) as a dataset over `rule`, `data` and `seed`.

    Of each of `MEASURES` there is the value after training and `untrained_...`, that of the same
    seed before. Where a pair does not fit, `reason` says why; where the truth of a data model is
    not known, the first two are NaN; diverged runs are NaN and counted in `diverged`. `factor` is
    that of the standard rates (`tuned`; 1 at smoke scale). A pair is a stored sweep like any other,
    and is not run again. `say` receives the progress, `ask` the plans before anything runs.

    >>> found = run_grid(["GradientDescent"], ["LinearTasks"], seeds=1, scale="smoke")
    >>> found.test_accuracy.dims, str(found.net.values[0, 0])
    (('rule', 'data', 'seed'), 'Linear')
    """
    check_scale(scale, SCALES)
    if seeds is not None and (isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1):
        refuse_value("seeds", seeds, "it must be a whole number at least 1")
    chosen = _chosen("rule of the grid", rules, all_rules())
    listed = _chosen("data model of the grid", data, all_data())
    smoke = scale == "smoke"
    count = len(seed_list(SEEDS[scale] if seeds is None else seeds))
    found = _empty(chosen, listed, count)
    made = {}
    for pair in [(rule, name) for name in listed for rule in chosen]:
        found.reason.loc[pair] = reason(*pair, smoke) or ""
        if not found.reason.loc[pair]:
            made[pair] = experiment(*pair, smoke)
            found.net.loc[pair] = type(made[pair].net).__name__
    # A seed's draw is the same for all rules only in the same coordinates.
    plans: list[Any] = [(each, None, count) for each in made.values()]
    if not smoke:
        plans += [(e, _axis(e), TUNING_SEEDS) for e in made.values() if rates(e.rule)]
    ask([(Plan.of(each, over, seeds, "ambient"), 1) for each, over, seeds in plans])
    with opened(cluster) as shared:
        settings = {"store": store, "cluster": shared, "progress": False}

        def one(pair: tuple[str, str]) -> tuple[float, xr.Dataset]:
            each, factor = made[pair], 1.0 if smoke else tuned(made[pair], **settings)
            result = run(each, _axis(each, [factor]), count, "ambient", **settings)
            return factor, result

        # Pairs are small: with workers, several are on their way at a time.
        threads = ThreadPoolExecutor(4 if shared is not None else 1)
        try:
            results = zip(made, threads.map(one, made), strict=True)
            for done, (pair, (factor, result)) in enumerate(results, 1):
                found.factor.loc[pair] = factor
                _enter(found, pair[0], pair[1], column(pair[1], smoke), result)
                say(f"{done}/{len(made)} {' on '.join(pair)}: {report_of(result)}")
        finally:
            patient = not isinstance(sys.exception(), KeyboardInterrupt)
            threads.shutdown(wait=patient, cancel_futures=True)
    return found


def tuned(experiment: Experiment, **settings: Any) -> float:
    """The factor of `FACTORS` by which all rates of the rule are multiplied: that of the highest
    mean test accuracy over draws which the grid does not show (a run that diverges counts as 0; the
    factor nearest to 1 wins a tie)."""
    if not rates(experiment.rule):
        return 1.0
    found = run(experiment, _axis(experiment), TUNING_SEEDS, "ambient", **settings)
    accuracy = found[_judged(found)].isel(step=-1).where(found.diverged_at.isnull(), 0.0)
    return FACTORS[int(accuracy.mean("seed").values.argmax())]


def _axis(experiment: Experiment, factors: Sequence[float] = FACTORS) -> Over:
    """The axis of a rule's rates; with one factor it runs by the program of all of them."""
    paths = rates(experiment.rule)
    values = {path: [rate * factor for factor in factors] for path, rate in paths.items()}
    return [zipped(values, "factor")] if paths else None


def _judged(found: xr.Dataset) -> str:
    return next(accuracy for accuracy in _ACCURACIES if accuracy in found)


def _chosen(what: str, names: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """The given names (none: all), in the order of the grid."""
    given = list(known) if names is None else list(names)
    for name in given:
        if name not in known:
            raise unknown(what, name, known)
    return [name for name in known if name in given]


def _empty(rules: list[str], data: list[str], seeds: int) -> xr.Dataset:
    shape = (len(rules), len(data))
    coords = {"rule": rules, "data": data, "seed": np.arange(seeds)}
    numbers = [name for measure in MEASURES for name in (measure, untrained(measure))]
    found = xr.Dataset(
        {n: (("rule", "data", "seed"), np.full((*shape, seeds), np.nan)) for n in numbers}
        | {n: (("rule", "data"), np.full(shape, "", object)) for n in ("reason", "net", "judged")}
        | {"diverged": (("rule", "data"), np.zeros(shape, int))}
        | {"factor": (("rule", "data"), np.ones(shape))},
        coords=coords,
    )
    for measure, words in MEASURES.items():
        found[measure].attrs["long_name"] = words
    return found


def untrained(measure: str) -> str:
    """The variable that holds a measure of the untrained network."""
    return _UNTRAINED.get(measure, f"untrained_{measure}")


def _enter(found: xr.Dataset, rule: str, name: str, column: Column, values: xr.Dataset) -> None:
    """Enter the results of a pair's sweep."""
    at = {"rule": rule, "data": name}
    judged = _judged(values)
    found.judged.loc[at] = _ACCURACIES[judged]
    diverged = values.diverged_at.notnull().values.ravel()
    found.diverged.loc[at] = int(diverged.sum())
    values = values.squeeze("factor") if "factor" in values.dims else values
    first, last = values.isel(step=0), values.isel(step=-1)
    found["untrained_test_accuracy"].loc[at] = first[judged].values
    found["test_accuracy"].loc[at] = np.where(diverged, np.nan, last[judged].values)
    if column.truth is None:
        return
    for measure, before in _UNTRAINED.items():
        if measure == "noise_memorised" and column.problem.batches.fresh:
            continue  # every example is seen once: there are none to memorise
        found[before].loc[at] = first[before].values
        found[measure].loc[at] = np.where(diverged, np.nan, last[measure].values)
