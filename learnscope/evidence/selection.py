"""Selecting a part of a dataset by labels, and the words for it."""

import math
from collections.abc import Mapping
from typing import Any

import xarray as xr

_NEAREST = {"method": "nearest"}


class Unanswered(Exception):
    """A question that the datasets cannot answer, in one sentence."""


def chosen(values: xr.DataArray, where: Mapping[str, Any]) -> xr.DataArray:
    """A selection by labels, which must not be empty."""
    for dim, wanted in where.items():
        near: dict[str, Any] = {} if isinstance(wanted, str | list | slice) else _NEAREST
        try:
            values = values.sel({dim: wanted}, **near)
        except (KeyError, ValueError, TypeError):
            raise Unanswered(f"the sweep has no {words({dim: wanted})[2:]}") from None
        if near and not math.isclose(values[dim].item(), float(wanted), rel_tol=1e-6):  # type: ignore[arg-type]
            raise Unanswered(f"the sweep has no {dim} = {wanted:g}")
        values = values.drop_vars(dim) if values[dim].ndim == 0 else values
    if values.size == 0:
        raise Unanswered(f"nothing was recorded at{words(where)[1:]}")
    return values


def words(where: Mapping[str, Any]) -> str:
    """A selection as text."""
    parts = []
    for dim, wanted in where.items():
        if isinstance(wanted, slice):
            ends = [("≥", wanted.start), ("≤", wanted.stop)]
            parts += [f"{dim} {sign} {end:g}" for sign, end in ends if end is not None]
        elif isinstance(wanted, list):
            parts.append(" or ".join(map(str, wanted)))
        else:
            parts.append(wanted if isinstance(wanted, str) else f"{dim} = {wanted:g}")
    return f", {', '.join(parts)}" if parts else ""
