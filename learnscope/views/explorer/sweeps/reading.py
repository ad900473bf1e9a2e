"""Reading stored sweeps for a page: by identity only, lazily, and within a budget."""

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput, unknown
from learnscope.lab import Experiment
from learnscope.lab.origin import origin
from learnscope.lab.store.folder import Folder, Stored
from learnscope.lab.store.identity import unpacked
from learnscope.lab.sweep import changed
from learnscope.part import plain as serial
from learnscope.views.explorer.plots import largest

# Bytes that one picture may read (a second or two), and hold.
_MOST_READ, _MOST_HELD = 2e9, 3e8


@dataclasses.dataclass(frozen=True)
class Opened:
    """A snapshot of a stored sweep: lazily read arrays, and which runs exist."""

    stored: Stored
    data: xr.Dataset
    finished: xr.DataArray

    @staticmethod
    def of(folder: Folder, name: str, check: bool = False) -> "Opened":
        """The sweep of an identity that the folder lists; `check` checks all its files."""
        stored = folder.stored(Opened.listed(folder, name))
        with stored.readable():
            finished = stored.finished()
            if check:
                stored.check_whole(finished)
            data = stored.opened(finished)
            return Opened(stored, data, xr.DataArray(finished, dims=data.diverged_at.dims))

    @staticmethod
    def listed(folder: Folder, name: str) -> str:
        """The identity, if the folder lists it: no path is made from anything else."""
        if name not in folder.ids():
            raise BadInput(f"there is no sweep '{name[:40]}' in {folder.url}.")
        return name

    @property
    def dims(self) -> list[str]:
        """The axes, and `seed`."""
        return [str(dim) for dim in self.finished.dims]

    @property
    def axes(self) -> list[str]:
        return [dim for dim in self.dims if dim != "seed"]

    @property
    def variables(self) -> list[str]:
        """The recorded variables, then the step at which a run diverged."""
        names = [str(name) for name in self.data.data_vars]
        return sorted(names, key=lambda name: name == "diverged_at")

    def own(self, of: str) -> dict[str, int]:
        """The dims that only this variable has, with their sizes."""
        shared = (*self.dims, "step")
        return {str(d): n for d, n in self.data[of].sizes.items() if d not in shared}

    def read(self, of: str, at: Mapping[str, int]) -> xr.DataArray:
        """A variable at positions of some of its dims, if that is not too large for a page."""
        if of not in self.variables:
            raise unknown("variable of this sweep", of, self.variables)
        variable = self.data[of]
        at = {dim: i for dim, i in at.items() if dim in variable.dims}
        chunks = variable.encoding.get("chunks") or variable.shape
        sides = zip(variable.dims, variable.shape, chunks, strict=True)
        # Chunks are read as a whole.
        needed = variable.dtype.itemsize * math.prod(c if d in at else n for d, n, c in sides)
        held = self._held(of, at)
        if needed > _MOST_READ or held > _MOST_HELD:
            given = f"{of} here is {needed / 1e9:.3g} GB to read and {held / 1e9:.3g} GB to hold"
            most = f"at most {_MOST_READ / 1e9:g} and {_MOST_HELD / 1e9:g}"
            choose = "choose single values of other axes, or one component"
            raise BadInput(f"{given}, too much for a page ({most}): {choose}.")
        with self.stored.readable():
            return variable.isel(at).compute()

    def _held(self, of: str, at: Mapping[str, int]) -> int:
        """Bytes of a variable at positions of some dims."""
        variable = self.data[of]
        sizes = (n for dim, n in variable.sizes.items() if dim not in at)
        return variable.dtype.itemsize * math.prod(sizes)

    def cells(
        self, of: str, at: Mapping[str, int], keep: tuple[str, ...], part: tuple[int, ...] | None
    ) -> tuple[xr.DataArray, xr.DataArray]:
        """A variable and whether its runs exist, with dims `keep` and `run` (the other dims without
        a position in `at`); the component at `part`, or the largest."""
        own = self.own(of)
        at = dict(at) | (dict(zip(own, part, strict=True)) if part is not None else {})
        values = self.read(of, at)
        left = [dim for dim in own if dim in values.dims]
        if left:
            rest = [dim for dim in values.dims if dim not in left]
            flat = values.transpose(*rest, *left).values
            flat = flat.reshape(*flat.shape[: len(rest)], -1)
            values = xr.DataArray(largest(flat), dims=rest, attrs=values.attrs)
        there = self.finished.isel({d: i for d, i in at.items() if d in self.dims})
        runs = [dim for dim in there.dims if dim not in keep]

        def shaped(given: xr.DataArray) -> xr.DataArray:
            array = given.transpose(*keep, *runs).values
            array = array.reshape(*array.shape[: len(keep)], -1)
            return xr.DataArray(array, dims=(*keep, "run"), attrs=given.attrs)

        return shaped(values), shaped(there)

    def trajectories(self, at: Mapping[str, int]) -> tuple[xr.Dataset, list[str]]:
        """All variables of the runs at some positions, with dims `seed` (one per run) and `step`;
        and the names of those too large for a page."""
        there = self.finished.isel(dict(at))
        mask = there.values.ravel()
        variables: dict[str, Any] = {}
        too_large = []
        for name in self.variables:
            if "step" not in self.data[name].dims:
                continue
            if self._held(name, at) + sum(a.nbytes for _, a, _ in variables.values()) > _MOST_HELD:
                too_large.append(name)
                continue
            values = self.read(name, at).transpose(*there.dims, "step", ...)
            array = values.values.reshape(-1, *values.shape[there.ndim :])[mask]
            dims = ("seed", *values.dims[there.ndim :])
            variables[name] = (dims, array, values.attrs)
        return xr.Dataset(variables, coords={"step": self.data.step.values}), too_large

    def experiment(self, at: Mapping[str, int]) -> Experiment:
        """The experiment at some positions of axes; an error if it holds code."""
        with self.stored.readable():
            made = origin(self.data.attrs)
            experiment, listed = made.experiment, list(made.over)
            changes: dict[str, Any] = {}
            for dim, i in at.items():
                if dim != "seed":
                    own = [c for c in self.data.coords.values() if c.dims == (dim,)]
                    coords = {str(c.attrs.get("field")): c for c in own}
                    values = json.loads(unpacked(self.stored.manifest["values"][dim])[i])
                    paths = [path for path in listed if path in coords]
                    changes |= {path: _value(path, value, coords[path].dtype)
                                for path, value in zip(paths, values, strict=True)}  # fmt: skip
            return changed(experiment, changes)


def _value(path: str, value: Any, dtype: np.dtype) -> Any:
    """A swept value: a part from its canonical form (see `lab/identity`), others as they are."""
    if isinstance(value, float) and np.issubdtype(dtype, np.integer):
        return int(value)
    base = Experiment.slots.get(path)
    return value if base is None else serial.part(base, _plain(value), path)


def _plain(value: Any) -> Any:
    if isinstance(value, dict) and {"kind", "code", "fields"} <= value.keys():
        fields = {name: _plain(v) for name, v in value["fields"].items() if v is not None}
        return {"kind": value["kind"]} | fields
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value
