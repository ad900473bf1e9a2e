"""Finished sweeps from bundles (`learnscope runs export`), for a ledger that need not compute them.

A bundle's sweep takes the place of one of a study where experiment, axes, seeds and precision are
the same. Code and data files may be other ones: the row then says at which commit, when,
by which command and in how much time it was computed.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from learnscope.engine.experiment import Experiment
from learnscope.errors import BadInput
from learnscope.evidence.study import Arm, Sweep
from learnscope.lab.origin import origin
from learnscope.lab.store.bundle import read_bundle, whole
from learnscope.lab.store.checked import MARK
from learnscope.lab.store.folder import Stored
from learnscope.lab.sweep import seed_list
from learnscope.part.units import duration


def read_bundles(files: Iterable[str]) -> dict[str, list[xr.Dataset]]:
    """The sweeps of every bundle, each with how it was made (`Study.ledger` reads it)."""
    return {str(file): [*read_bundle(Path(file), _dataset).values()] for file in files}


def taken(
    bundles: Mapping[str, list[xr.Dataset]],
    sweeps: Mapping[tuple[str, str], Any],
    scale: str,
    precision: str | None = None,
) -> dict[tuple[str, str], xr.Dataset]:
    """The datasets of those sweeps of studies that bundles hold. Every bundle must hold one."""
    there = [(each, _experiment(each)) for some in bundles.values() for each in some]
    used, found = set[int](), {}
    for key, sweep in sweeps.items():
        if not isinstance(sweep, Sweep):
            continue
        wanted = precision or sweep.precision
        fits = [(data, made) for data, made in there if data.attrs["precision"] == wanted]
        runs = [next((data for data, made in fits if _is(data, made, arm, sweep.seeds)), None)
                for arm in sweep.arms]  # fmt: skip
        held = [run for run in runs if run is not None]
        if len(held) == len(runs):
            found[key] = sweep.stacked(held)
            found[key].encoding["made"] = _together([run.encoding["made"] for run in held])
            used |= set(map(id, held))
    for file, some in bundles.items():
        if not used & set(map(id, some)):
            studies = ", ".join(dict.fromkeys(study for study, _ in sweeps))
            raise BadInput(f"{file} holds no whole sweep of {studies} at the scale {scale}: its "
                           "experiments, axes or seeds differ from those of today.")  # fmt: skip
    return found


def _dataset(stored: Stored) -> xr.Dataset:
    """A stored sweep in memory, and how it was made."""
    data, sessions = whole(stored), stored.manifest["sessions"]
    sessions = [s for s in sessions if s["computed"]] or sessions
    made = {"date": [s["begun"][:10] for s in sessions],
            "commit": [s.get("at", "") for s in sessions],
            "command": [s["command"] for s in sessions if s.get("command")],
            "took": float(np.asarray(stored.array(MARK)[...]).sum())}  # fmt: skip
    data.encoding["made"] = made
    return data


def _together(made: list[dict[str, Any]]) -> dict[str, str]:
    """How several sweeps were made, as the columns of a row."""
    listed = {name: dict.fromkeys(v for each in made for v in each[name])
              for name in ("date", "commit", "command")}  # fmt: skip
    return {**{name: ", ".join(values) for name, values in listed.items()},
            "took": duration(sum(each["took"] for each in made))}  # fmt: skip


def _experiment(data: xr.Dataset) -> Experiment | None:
    try:
        return origin(data.attrs).experiment
    except BadInput:  # of parts that are no more
        return None


def _is(data: xr.Dataset, made: Experiment | None, arm: Arm, seeds: Any) -> bool:
    """Whether a stored sweep is that of an arm: all but code and data files."""
    over = {path: axis.labels(path) for axis in arm.axes for path in axis.fields}
    return (
        data.seed.values.tolist() == seed_list(seeds)
        and origin(data.attrs).over == json.loads(json.dumps(over))
        and made == arm.experiment
    )
