"""Quick computations of a study beside its sweeps, such as maps and scores of images."""

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any

import xarray as xr

from learnscope.errors import BadInput
from learnscope.lab.run import Report


@dataclasses.dataclass(frozen=True)
class FunctionSweep:
    """A function of a few settings that returns a dataset, computed anew every time. Anything that
    takes longer than seconds should be an experiment, which is stored and can be continued."""

    function: Callable[..., xr.Dataset]
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def run(self, **settings: Any) -> xr.Dataset:
        start = time.perf_counter()
        data = self.function(**self.settings)
        data.attrs.setdefault("precision", "float64")  # NumPy's
        return Report(seconds=time.perf_counter() - start).on(data)

    def plans(self, precision: str | None) -> list[Any]:
        return []

    def keeps_axes(self, changes: Mapping[str, list[Any]]) -> bool:
        return not changes

    def override(
        self, changes: Mapping[str, list[Any]], seeds: int | None = None
    ) -> "FunctionSweep":
        if changes:
            raise BadInput(f"{', '.join(changes)} cannot be changed: nothing is trained here.")
        return self
