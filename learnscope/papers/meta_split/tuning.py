"""Rates for the few-shot sets, tuned for every rule by one procedure, on tasks without a verdict.

Train-train, train-validation and Reptile are each trained with every pair of rates of a grid of
twelve: four inside, three outside (Reptile's outer rate is epsilon). All have the base setting, the
same number of steps and a seed that no verdict uses. They are judged by fresh tasks of *validation*
classes, which neither training nor any verdict uses. `best` is the pair with the highest mean
accuracy over these tasks at the end; the first one of the grid if there are several.
"""

from types import SimpleNamespace

import numpy as np
import xarray as xr

from learnscope.evidence import Sweep
from learnscope.papers.meta_split import real

SWEEPS = {"tuning_omniglot": "omniglot", "tuning_cifar_fs": "cifar-fs"}
RULES = (*real.SPLITS, real.REPTILE)
INNER = (0.03, 0.1, 0.3, 1.0)
OUTER = {rule: (0.1, 0.3, 1.0) if rule == real.REPTILE else (0.003, 0.01, 0.03) for rule in RULES}
SEEDS = {"smoke": [1000, 1001], "laptop": [1000], "paper": [1000]}
STEPS = {"smoke": 20, "laptop": 500, "paper": 500}
FRESH = {"test_tasks": 100, "held_out": "validation"}


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
        for rule in RULES:
            for inner in INNER[:2] if smoke else INNER:
                for outer in OUTER[rule][:2] if smoke else OUTER[rule]:
                    own = {"data": data, "rates": {rule: (inner, outer)}, "steps": STEPS[scale]}
                    given = SimpleNamespace(**vars(protocol) | own)
                    arms[label(rule, inner, outer)] = real.experiment(real.BASE, rule, given)
        sweeps[sweep] = Sweep.of(arms, SEEDS[scale], dim="setting")
    return sweeps


def table(data: xr.Dataset, rule: str) -> xr.DataArray:
    """Accuracies in percent by inner and outer rate, for every seed."""
    there = set(data.setting.values.tolist())
    axes = [[i for i in INNER if any(label(rule, i, o) in there for o in OUTER[rule])],
            [o for o in OUTER[rule] if any(label(rule, i, o) in there for i in INNER)]]  # fmt: skip
    ends = 100 * data.task_accuracy.isel(step=-1, drop=True).mean("task")
    rows = [[ends.sel(setting=label(rule, i, o)).values for o in axes[1]] for i in axes[0]]
    coords = {"inner": axes[0], "outer": axes[1], "seed": data.seed.values}
    return xr.DataArray(np.array(rows), coords)


def best(data: xr.Dataset, rule: str) -> tuple[float, float]:
    """The inner and the outer rate that tuning chooses."""
    found = table(data, rule).mean("seed").fillna(-np.inf).stack(pair=("inner", "outer"))
    inner, outer = found.pair.values[int(found.argmax())]
    return float(inner), float(outer)
