"""`compare`: two results of `run`, seed by seed where the seeds' draws are the same. One of them
may be a file with numbers of your own."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from learnscope.errors import BadInput, refuse_value, why_of
from learnscope.evidence.statistics import reach
from learnscope.lab.last import after_last_step
from learnscope.lab.origin import origins


def compare(
    result: xr.Dataset, other: xr.Dataset | str | Path, of: str | None = None, level: float = 0.95
) -> xr.Dataset:
    """The mean of `result` minus that of `other` after the last step, with an interval.

    Both have a `seed` dim; all other dims must agree, with their values. If a seed stands for the
    same draw in both (the same data model and net, drawn in the same coordinates, in single or
    double precision), differences are taken seed by seed, and the attribute `paired` is 1.
    Otherwise the interval is that of independent samples (Welch), `paired` is 0, and `why` says
    why. Values that are the same for every seed have no interval: its ends are NaN. No draw is left
    out: where one diverged (is NaN), so is the difference.

    `other` may be a CSV file with numbers from elsewhere: a column `seed`, a column for each
    further dim of the result, and columns named as its variables, such as `test_accuracy`. With a
    column `step`, the last step counts. Such seeds are never the draws of `run`.

    >>> import learnscope as ls
    >>> data = ls.data.SignalNoise(dim=50, train=4, test=99, signal=1.0, noise=0.5)
    >>> experiment = ls.Experiment(data, ls.nets.PatchCNN(4), ls.rules.GradientDescent(0.1), 9)
    >>> plain, slow = (ls.run(experiment.replace("rule.rate", r), seeds=3) for r in (0.1, 0.01))
    >>> compare(plain, slow, of="loss").attrs["paired"]
    1
    """
    if isinstance(other, str | Path):
        other = read_table(other, result)
    for name, data in (("result", result), ("other", other)):
        if not isinstance(data, xr.Dataset) or "seed" not in data.dims:
            refuse_value(name, type(data).__name__, "it must be a result of run with a dim 'seed'")
    shared = [str(v) for v in result.data_vars if v in other and "seed" in result[v].dims]
    names = [v for v in shared if v != "diverged_at" and not v.startswith("final_")]
    if of is not None:
        if of not in names:
            refuse_value("of", of, f"both results record {', '.join(names)}")
        names = [of]
    why = _unpaired(result, other)
    seeds = np.intersect1d(result["seed"], other["seed"])
    if why is None and len(seeds) < 2:
        why = "they share fewer than two seeds"
    variables: dict[str, Any] = {}
    for name in names:
        one, two = (after_last_step(data[name]) for data in (result, other))
        _check_alike(name, one, two)
        if why is None:
            gap = one.sel(seed=seeds) - two.sel(seed=seeds)
            mean, error, freedom = _mean(gap), _error(gap), len(seeds) - 1
        else:
            mean = _mean(one) - _mean(two)
            a, b = _error(one) ** 2, _error(two) ** 2
            error = np.sqrt(a + b)
            freedom = (a + b) ** 2 / (a**2 / (one.seed.size - 1) + b**2 / (two.seed.size - 1))
        half = (error * reach(freedom, level)).where(error > 0)
        label = one.attrs.get("long_name", name)
        variables[name] = mean.assign_attrs(long_name=f"difference of {label}")
        variables[f"{name}_low"] = mean - half
        variables[f"{name}_high"] = mean + half
    attributes = {"paired": int(why is None), "level": level}
    return xr.Dataset(variables, attrs=attributes | ({} if why is None else {"why": why}))


def read_table(file: str | Path, like: xr.Dataset) -> xr.Dataset:
    """A CSV file as a result with the axes of another one: its columns are dims or variables."""
    try:
        table = pd.read_csv(file)
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read: {why_of(error)}.") from None
    dims = [str(column) for column in table if column == "step" or column in like.dims]
    if "seed" not in dims:
        raise BadInput(f"{file} must have a column 'seed'; it has {', '.join(map(str, table))}.")
    for column in table.columns.difference(dims):
        if not pd.api.types.is_numeric_dtype(table[column]):
            raise BadInput(f"{file} is not allowed: column '{column}' must have numbers only.")
    if table.duplicated(dims).any():
        raise BadInput(f"{file} has several rows with the same {', '.join(dims)}.")
    read = table.set_index(dims).to_xarray()
    axes = {dim: like[dim] for dim in dims if dim not in ("seed", "step")}
    for dim, values in axes.items():
        if not np.isin(values, read[dim]).all():
            raise BadInput(
                f"{file} must have rows with {dim} = {', '.join(map(str, values.data))}."
            )
    if len(table) != np.prod(list(read.sizes.values())):
        raise BadInput(f"{file} must have a row for every combination of {', '.join(dims)}.")
    return read.sel(axes).assign_attrs(draw=f"those of {Path(file).name}")


def _check_alike(name: str, one: xr.DataArray, two: xr.DataArray) -> None:
    """Refuse variables of which not every value has a partner: xarray would leave out the rest."""
    if set(one.dims) != set(two.dims):
        raise BadInput(f"'{name}' has dims {one.dims} and {two.dims}: select one setting.")
    for dim in (str(dim) for dim in one.dims if dim != "seed"):
        named = dim in one.coords and dim in two.coords
        here, there = (np.sort(v[dim]) if named else v.sizes[dim] for v in (one, two))
        if not np.array_equal(here, there):
            raise BadInput(
                f"'{name}' has {dim} = {here} here and {there} there: select what both have."
            )


def _mean(values: xr.DataArray) -> xr.DataArray:
    return values.mean("seed", skipna=False)


def _error(values: xr.DataArray) -> xr.DataArray:
    spread = values.std("seed", ddof=1, skipna=False)
    return spread / np.sqrt(values.sizes["seed"])


def _unpaired(result: xr.Dataset, other: xr.Dataset) -> str | None:
    """Why a seed does not stand for the same draw in both results, or None if it does."""
    draws = [data.attrs.get("draw", "unknown") for data in (result, other)]
    if draws[0] != draws[1] or "unknown" in draws:
        return f"seeds were drawn in different ways ({draws[0]}; {draws[1]})"
    try:  # as tables: parts of a user's own may not be there
        one, two = (
            {arm: (tomllib.loads(each.text), set(each.over)) for arm, each in arms.items()}
            for arms in (origins(result.attrs), origins(other.attrs))
        )
    except ValueError:
        return "a result does not say what it was drawn from"
    if one.keys() != two.keys():
        return "they have different arms"
    for arm, (table, over) in one.items():
        for slot in ("data", "net"):
            if table.get(slot) != two[arm][0].get(slot):
                return f"they have a different {slot}"
        if any(path.split(".")[0] in ("data", "net") for path in over ^ two[arm][1]):
            return "one sweeps fields of data or net that the other does not"
    return None
