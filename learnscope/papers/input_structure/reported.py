"""The numbers of the paper's Tables 1 to 5, and the same numbers from our sweeps."""

from typing import Literal, NamedTuple

import numpy as np
import xarray as xr

from learnscope.papers.input_structure.experiments import FREE, NETWORK, NTK, ONE, RANDOM, TWO

_ORDER = (NETWORK, NTK, RANDOM, ONE, TWO, NETWORK + FREE)
What = Literal["train", "test", "balanced", "cosine"]


class Row(NamedTuple):
    """One method in one table: accuracies in per cent, and the largest cosine (none: not given)."""

    table: str
    where: str
    method: str
    value: float | None
    train: float
    test: float
    cosine: float | None


# Tables as printed: where, the value that is varied, and three lines of six numbers.
_PRINTED: tuple[tuple[str, float | None, str, str, str], ...] = (
    ("Table 1", None, "100.0 84.0 74.7 51.3 100.0 100.0",
     "100.0 86.4 76.0 52.2 100.0 52.0", "0.997 NA 0.114 0.848 0.997 0.253"),
    ("Table 2", None, "100.0 100.0 76.4 44.1 100.0 100.0",
     "100.0 100.0 73.2 41.0 100.0 100.0", "1.00 NA 0.153 0.901 0.994 0.965"),
    ("Table 3, d = 100", 100, "100.0 83.1 78.9 53.0 100.0 100.0",
     "100.0 81.5 78.3 51.1 100.0 51.0", "1.000 NA 0.354 0.967 1.000 0.331"),
    ("Table 3, d = 2000", 2000, "100.0 75.6 80.0 50.22 100.0 100.0",
     "100.0 75.4 77.0 50.01 100.0 52.5", "0.998 NA 0.056 0.560 0.998 0.309"),
    ("Table 4, ratio 0.8", 0.8, "100.0 62.9 72.7 78.3 100.0 100.0",
     "100.0 82.7 70.4 75.7 100.0 61.7", "0.999 NA 0.293 0.950 0.999 0.218"),
    ("Table 4, ratio 0.9", 0.9, "100.0 84.0 73.6 92.3 100.0 100.0",
     "100.0 81.7 72.4 89.2 100.0 71.8", "0.997 NA 0.296 0.956 0.997 0.286"),
    ("Table 5, n = 25000", 25_000, "100.0 84.0 78.6 50.6 100.0 100",
     "100.0 84.1 74.7 50.0 100.0 50.2", "0.997 NA 0.105 0.851 0.997 0.230"),
    ("Table 5, n = 10000", 10_000, "100.0 73.9 71.6 50.7 100.0 100.0",
     "100.0 75.0 74.3 50.3 100.0 52.2", "0.995 NA 0.096 0.974 0.994 0.176"),
)  # fmt: skip


def _rows(table: str) -> list[Row]:
    return [
        Row(table, where, method, value, float(a), float(b), None if c == "NA" else float(c))
        for where, value, *lines in _PRINTED
        if where.partition(",")[0] == f"Table {table[-1]}"
        for method, a, b, c in zip(_ORDER, *(line.split() for line in lines), strict=True)
    ]


TABLES = {f"table{number}": _rows(f"table{number}") for number in range(1, 6)}

# The cosine of One Step by dimension (Tables 1 and 3).
ONE_STEP_COSINE = {100: 0.967, 500: 0.848, 2000: 0.560}
_NAMES = {
    "train": "train_accuracy",
    "test": "test_accuracy",
    "balanced": "balanced_accuracy",
    "cosine": "cosine_max",
}


def measured(data: xr.Dataset, row: Row, what: What | str) -> np.ndarray:
    """Our numbers for a row, one per seed: accuracies in per cent."""
    one = data[_NAMES[what]].isel(step=-1)
    if row.table in ("table4", "table5"):
        one = one.sel(learner=f"{row.method} | {row.value:g}")
    elif row.value is not None:
        one = one.sel(learner=row.method, dim=row.value)
    else:
        one = one.sel(learner=row.method)
    return one.values.ravel() * (1 if what == "cosine" else 100)
