"""Results: arrays with every axis, seed and step in its place, labelled as an xarray.Dataset."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from learnscope.lab.engine import Size, recorded_steps
from learnscope.lab.experiment import Experiment
from learnscope.lab.sweep import Axis, Group, labels
from learnscope.probes import Output

_DIVERGED = Output("first step at which a parameter was not finite", "step")


class Results:
    """Space for all runs of a sweep. Groups whose arrays are smaller leave NaN beside them."""

    def __init__(
        self,
        groups: Sequence[Group],
        sizes: Sequence[Size],
        axes: Sequence[Axis],
        seeds: Sequence[int],
        precision: str,
    ):
        self.axes, self.seeds = list(axes), list(seeds)
        self.steps = np.unique(np.concatenate([recorded_steps(g.experiment) for g in groups]))
        self.outputs = _outputs([group.experiment for group in groups])
        lead = (*(axis.size for axis in axes), len(seeds))
        inner: dict[str, tuple[int, ...]] = {}
        for size in sizes:
            for name, shape in size.outputs.items():
                known = inner.get(name, shape)
                inner[name] = tuple(np.maximum(known, shape).astype(int).tolist())
        order = list(self.outputs)
        self.arrays = {
            name: np.full((*lead, len(self.steps), *shape), np.nan, precision)
            for name, shape in sorted(inner.items(), key=lambda item: order.index(item[0]))
        }
        self.arrays["diverged_at"] = np.full(lead, np.nan)

    def put(
        self, group: Group, place: dict[str, np.ndarray], values: dict[str, np.ndarray]
    ) -> None:
        """Store runs of a group: `place` gives each run's position on its numeric axes and seed."""
        lead = tuple(place.get(axis.dim, group.place.get(axis.dim)) for axis in self.axes)
        lead = (*lead, place["seed"])
        steps = np.searchsorted(self.steps, recorded_steps(group.experiment))
        for name, array in values.items():
            if name == "diverged_at":
                self.arrays[name][lead] = array
                continue
            inner = tuple(slice(size) for size in array.shape[2:])
            for column, step in enumerate(steps):
                self.arrays[name][(*lead, step, *inner)] = array[:, column]

    def dataset(self) -> xr.Dataset:
        """The arrays with dims, coordinates, long names and units."""
        dims = [axis.dim for axis in self.axes]
        variables = {}
        for name, array in self.arrays.items():
            output = self.outputs[name]
            own = () if name == "diverged_at" else ("step", *output.dims)
            attributes = {"long_name": output.long_name, "units": output.unit}
            variables[name] = ((*dims, "seed", *own), array, attributes)
        coords: dict = {"seed": self.seeds, "step": ("step", self.steps, {"units": "step"})}
        for axis in self.axes:
            for position, path in enumerate(axis.fields):
                name = axis.dim if position == 0 else path
                coords[name] = (axis.dim, labels(axis, path), {"field": path})
        return xr.Dataset(variables, coords)


def _outputs(experiments: Sequence[Experiment]) -> dict[str, Output]:
    outputs = {"diverged_at": _DIVERGED}
    for experiment in experiments:
        for probe in experiment.probes:
            outputs |= probe.outputs
    return outputs
