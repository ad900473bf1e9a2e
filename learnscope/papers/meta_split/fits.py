"""Exponents of the study, with intervals over seeds."""

import numpy as np
import xarray as xr

_LEAST = 8  # tasks; with fewer, nothing separates yet


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """The slope of the least-squares line."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    good = np.isfinite(x) & np.isfinite(y)
    if good.sum() < 2:
        return float("nan")
    u, v = x[good] - x[good].mean(), y[good]
    return float((u * v).sum() / (u * u).sum())


def loss_exponents(losses: xr.DataArray) -> np.ndarray:
    r"""c of $L = \exp(-b K^c)$ for every seed, from dims (tasks, seed): the slope of
    $\log(-\log L)$ in $\log K$, over K of at least 8.

    >>> import numpy as np, xarray as xr
    >>> tasks = np.array([8, 16, 32])
    >>> table = np.exp(-0.5 * tasks**0.7)[:, None] * np.ones(2)
    >>> loss_exponents(xr.DataArray(table, {"tasks": tasks}, ("tasks", "seed"))).round(6).tolist()
    [0.7, 0.7]
    """
    kept = losses.sel(tasks=losses.tasks >= min(_LEAST, int(losses.tasks.max())))
    kept = losses if kept.sizes["tasks"] < 2 else kept
    x = np.log(kept.tasks.values.astype(float))
    small = np.clip(kept.transpose("seed", "tasks").values, 1e-300, 1 - 1e-9)
    return np.array([slope(x, np.log(-np.log(row))) for row in small])


def power_exponents(values: xr.DataArray) -> np.ndarray:
    """c of v = b K^c for every seed, from dims (tasks, seed)."""
    x = np.log(values.tasks.values.astype(float))
    rows = np.clip(values.transpose("seed", "tasks").values, 1e-300, None)
    return np.array([slope(x, np.log(row)) for row in rows])


def decay_exponents(values: xr.DataArray) -> np.ndarray:
    """The power of time with which values fall in the second half of a run, for every seed."""
    late = values.isel(step=slice(values.sizes["step"] // 2, None))
    x = np.log(np.maximum(late.step.values.astype(float), 1))
    rows = np.clip(late.transpose("seed", "step").values, 1e-300, None)
    return np.array([slope(x, np.log(row)) for row in rows])
