"""The examples that an accuracy is counted over."""

import functools
import tomllib
from typing import Any

import xarray as xr

from learnscope.errors import BadInput
from learnscope.lab.origin import origins


def examples_of(data: xr.Dataset, name: str) -> int:
    """The examples (or tasks) of one draw that an accuracy is counted over; 1, the draw, if nobody
    knows."""
    field = name.removesuffix("_accuracy")
    try:
        tables = [_data_of(arm.text) for arm in origins(data.attrs).values()]
        return min(
            int(t[f"{field}_per_class"] * t["classes"] if f"{field}_per_class" in t
                else t[field if field in t else f"{field}_tasks"]) for t in tables
        )  # fmt: skip
    except (BadInput, KeyError, TypeError, ValueError):
        return 1


@functools.lru_cache(maxsize=1024)  # every claim, and every null of it, asks again
def _data_of(text: str) -> dict[str, Any]:
    return tomllib.loads(text)["data"]
