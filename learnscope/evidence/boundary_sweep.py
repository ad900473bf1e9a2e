"""Phase boundaries that a study runs beside its sweeps."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from learnscope.evidence.quantity import Quantity, computed
from learnscope.lab import Experiment
from learnscope.lab.blocks import Plan
from learnscope.lab.boundary import boundary, first_plan
from learnscope.lab.sweep import Axis, field_kind


@dataclasses.dataclass(frozen=True)
class BoundarySweep:
    """A boundary to run in a study: where `of` crosses `at` along `x`, for values of `y`."""

    experiment: Experiment
    x: Mapping[str, tuple[float, float]]
    y: Mapping[str, Sequence[float]] | Axis
    at: float
    of: str
    seeds: int | Sequence[int]

    def run(self, **settings: Any) -> xr.Dataset:
        line = (self.x, self.y, self.at, self.of, self.seeds)
        found = boundary(self.experiment, *line, **settings)
        found.attrs["precision"] = settings.get("precision", "float32")
        return found

    def plans(self, precision: str | None) -> list[tuple[Plan, float]]:
        """An approximate plan of the runs, to estimate their cost."""
        given = {} if precision is None else {"precision": precision}
        return [first_plan(self.experiment, self.x, self.y, self.seeds, **given)]

    def keeps_axes(self, changes: Mapping[str, list[Any]]) -> bool:
        """Whether figures still fit: every changed field has one value, and is no axis."""
        fields = self.y.fields if isinstance(self.y, Axis) else self.y
        return all(len(v) == 1 and p not in (*self.x, *fields) for p, v in changes.items())

    def override(
        self, changes: Mapping[str, list[Any]], seeds: int | None = None
    ) -> "BoundarySweep":
        """The boundary with fields set."""
        experiment = self.experiment
        for path, values in changes.items():
            field_kind(experiment, path)
            experiment = experiment.replace(path, values[0])
        return dataclasses.replace(
            self, experiment=experiment, seeds=self.seeds if seeds is None else seeds
        )


def boundary_exponent() -> Quantity:
    """The exponent of a `BoundarySweep`, with its bootstrap error over the seeds."""

    def read(data: xr.Dataset) -> xr.DataArray:
        found = {"error": data.attrs["exponent_error"], "draws": data.attrs["seeds"]}
        return xr.DataArray(data.attrs["exponent"], attrs=found)

    return computed("exponent of the boundary", read)
