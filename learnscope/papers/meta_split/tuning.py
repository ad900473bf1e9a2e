"""Rates tuned for every rule by one procedure, on tasks that no verdict uses.

On Omniglot train-train, train-validation and Reptile are each trained with every pair of rates of a
grid of twelve: four inside, three outside (Reptile's outer rate is epsilon). All have the base
setting, the same number of steps and a seed that no verdict uses. They are judged by fresh tasks of
*validation* classes, which neither training nor any verdict uses. `best` is the pair with the
highest mean accuracy over these tasks at the end; the first one of the grid if there are several.
CIFAR-FS takes these rates over.

RainbowMNIST has the stated rates; only Reptile's epsilon, which the paper does not give, is tuned
there, in the same way: trained on 32 of the 40 observed combinations, judged by the other 8.
"""

from types import SimpleNamespace

import numpy as np
import xarray as xr

from learnscope.evidence import Sweep
from learnscope.lab import Record
from learnscope.papers.meta_split import real

SWEEPS = {"tuning_omniglot": "omniglot", "tuning_rainbow": "rainbow"}
RULES = (*real.SPLITS, real.REPTILE)
INNER = (0.03, 0.1, 0.3, 1.0)
OUTER = {rule: (0.1, 0.3, 1.0) if rule == real.REPTILE else (0.003, 0.01, 0.03) for rule in RULES}
SEEDS = {"smoke": [1000, 1001], "laptop": [1000], "paper": [1000]}
STEPS = {"smoke": 20, "laptop": 500, "paper": 500}
FRESH = {"held_out": "validation", "test_tasks": 100}


def label(rule: str, inner: float, outer: float) -> str:
    """The name of an arm."""
    return f"{rule}, {inner:g}, {outer:g}"


def tuning_sweeps(scale: str) -> dict[str, Sweep]:
    """One sweep per data set. Smoke has the bundled digits, without validation classes, and few
    rates; the paper scale is the laptop's."""
    smoke, sweeps = scale == "smoke", {}
    for sweep, name in SWEEPS.items():
        protocol = real.PROTOCOLS[name]["smoke" if smoke else "laptop"]
        data = protocol.data if smoke else protocol.data | FRESH
        arms = {}
        for rule, inner, outer in grid(name, 2 if smoke else 4):
            own = {"data": data, "rates": {rule: (inner, outer)}, "steps": STEPS[scale]}
            given = SimpleNamespace(**vars(protocol) | own)
            experiment = real.experiment(real.BASE, rule, given)
            recorded = experiment.replace("record", Record(every=STEPS[scale] // 4))
            arms[label(rule, inner, outer)] = recorded
        sweeps[sweep] = Sweep.of(arms, SEEDS[scale], dim="setting")
    return sweeps


def grid(name: str, most: int) -> list[tuple[str, float, float]]:
    """Every rule with its pairs of rates for a data set, of at most so many a side."""
    rainbow = name == "rainbow"
    rules = RULES[-1:] if rainbow else RULES
    inside = (real.RATES["rainbow"][real.REPTILE][0],) if rainbow else INNER
    return [(r, i, o) for r in rules for i in inside[:most] for o in OUTER[r][:most]]


def table(data: xr.Dataset, rule: str) -> xr.DataArray:
    """Accuracies in percent by inner and outer rate, for every seed."""
    ends = 100 * data.task_accuracy.isel(step=-1, drop=True).mean("task")
    there = {arm: tuple(map(float, arm.split(", ")[1:])) for arm in map(str, data.setting.values)
             if arm.startswith(f"{rule}, ")}  # fmt: skip
    inner, outer = (sorted({pair[side] for pair in there.values()}) for side in (0, 1))
    rows = [[ends.sel(setting=label(rule, i, o)).values for o in outer] for i in inner]
    return xr.DataArray(
        np.array(rows), {"inner": inner, "outer": outer, "seed": data.seed.values}
    )  # fmt: skip


def best(data: xr.Dataset, rule: str) -> tuple[float, float]:
    """The inner and the outer rate that tuning chooses."""
    found = table(data, rule).mean("seed").fillna(-np.inf).stack(pair=("inner", "outer"))
    inner, outer = found.pair.values[np.argmax(found.values)]
    return float(inner), float(outer)
