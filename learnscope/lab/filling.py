"""Filling a stored sweep: created empty, then written a box at a time, each wholly or not."""

import contextlib
import os
import platform
import random
import shutil
import threading
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from zarr.codecs import Crc32cCodec
from zarr.errors import ContainsArrayError

from learnscope.errors import BadInput
from learnscope.lab import identity
from learnscope.lab.plan import Box, Plan
from learnscope.lab.relatives import relatives
from learnscope.lab.results import AbstractResults
from learnscope.lab.store import FORMAT, MARK, Folder, chunk_key, told

_CREATING = threading.Lock()
_FILL: Any = {"write_empty_chunks": True}  # so that every chunk of a stored box is a file
_STALE = 600.0  # seconds after which a half-written file's writer is taken for dead


class InStore(AbstractResults):
    """Results that go into a store, and are there the next time."""

    name: str

    def __init__(self, folder: Folder, plan: Plan):
        self.plan, self.folder, self.name = plan, folder, identity.identity(plan)
        if folder.attributes(self.name) is None:
            folder.check_writable()
            self._create_once()
        self.stored = folder.stored(self.name)
        self._check_same()
        self._finished = self.stored.finished()
        self.stored.check_whole(self._finished)
        store = folder.zarr(self.name)
        with self.stored.readable():
            # Of these arrays, not in zarr's settings: other threads share those.
            self._arrays = {
                name: zarr.open_array(store, path=name, mode="r+").with_config(_FILL)
                for name in [*plan.variables, MARK]
            }
        self._relatives = relatives(folder, plan, self.name) if not self._finished.all() else []

    def missing(self) -> list[Box]:
        """Boxes to compute, in any order: two processes then seldom compute the same one."""
        boxes = [box for box in self.plan.boxes if not self._finished[box.region].all()]
        random.SystemRandom().shuffle(boxes)
        return boxes

    def has(self, box: Box) -> bool:
        with self.stored.readable():
            return not np.isnan(np.asarray(self._arrays[MARK][box.region])).any()

    def known(self, box: Box) -> dict[str, np.ndarray] | None:
        found: dict[str, np.ndarray] | None = None
        for relative in self._relatives:
            with contextlib.suppress(BadInput):
                found = relative.fill(box, found)
        return found

    def checkpoint(self, box: Box) -> str | None:
        if not self.folder.is_local:
            return None
        return self.folder.path(".checkpoints", self.name, f"{box.number}.npz")

    def put(self, box: Box, values: dict[str, np.ndarray], seconds: float) -> None:
        marks = np.full(box.shape, seconds / box.runs)
        with told(
            f"the store {self.folder.url} cannot be written", "; what was stored before is whole"
        ):
            for name in self.plan.variables:
                self._arrays[name][box.region] = values[name]
            self._settle(box, list(self.plan.variables))
            self._arrays[MARK][box.region] = marks
            self._settle(box, [MARK])

    def dataset(self) -> xr.Dataset:
        return self.folder.stored(self.name).dataset()

    def log(self, session: dict[str, Any]) -> None:
        """Add to the manifest what a session did. Best effort: results do not depend on it."""
        with contextlib.suppress(Exception):
            attributes = self.folder.stored(self.name).attributes
            manifest = attributes["manifest"]
            manifest["sessions"] = [*manifest["sessions"], session]
            group = zarr.open_group(self.folder.zarr(self.name), mode="r+")
            group.update_attributes({"manifest": manifest})
            self._flush("zarr.json")
            self._tidy()

    def _create_once(self) -> None:
        """Make the empty sweep: where folders can be renamed, wholly or not at all."""
        if not self.folder.is_local:
            self._create(self.name)
            return
        stage = f".creating-{self.name}-{os.getpid()}-{random.SystemRandom().getrandbits(32):08x}"
        self._create(stage)
        try:
            os.rename(self.folder.path(stage), self.folder.path(self.name))
            self._flush("zarr.json")
        except OSError:  # another was faster, or something else stands there
            shutil.rmtree(self.folder.path(stage), ignore_errors=True)

    def _create(self, under: str) -> None:
        """Write the empty sweep, its manifest last. Nothing that is there is written over."""
        plan, store = self.plan, self.folder.zarr(under)
        labels = plan.coords()
        variables = {name: (v.dims, v.shape, v.dtype, v.attributes)
                     for name, v in plan.variables.items()}  # fmt: skip
        note = {"long_name": "computing time, shared by the runs of a box", "units": "s"}
        variables[MARK] = (plan.dims, plan.shape, "float64", note)
        # Filters of warnings belong to all threads: one at a time changes them.
        refusal = told(f"the store {self.folder.url} cannot be written")
        with _CREATING, refusal, warnings.catch_warnings():
            # Zarr calls strings and consolidated metadata unfinished parts of its third format.
            warnings.simplefilter("ignore")
            labels.drop_attrs(deep=False).to_zarr(
                store, mode="a", zarr_format=3, consolidated=False, write_empty_chunks=True
            )
            for name, (dims, shape, dtype, attributes) in variables.items():
                with contextlib.suppress(ContainsArrayError):
                    zarr.create_array(
                        store,
                        name=name,
                        shape=shape,
                        chunks=(*plan.box_shape, *shape[len(plan.shape) :]),
                        dtype=dtype,
                        fill_value=np.nan,
                        compressors=[Crc32cCodec()],
                        dimension_names=dims,
                        attributes=dict(attributes),
                    )
            zarr.consolidate_metadata(store, zarr_format=3)
            if self.folder.attributes(under) is None:
                group = zarr.open_group(store, mode="r+")
                group.update_attributes({**labels.attrs, "manifest": self._manifest()})

    def _manifest(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "id": self.name,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "shape": list(self.plan.shape),
            "box": list(self.plan.box_shape),
            "variables": list(self.plan.variables),
            "labels": list(self.plan.coords().coords),
            "values": identity.axis_values(self.plan),
            "software": identity.software(),
            "machine": machine(),
            "sessions": [],
        }

    def _check_same(self) -> None:
        manifest = self.stored.manifest
        expected = {"box": list(self.plan.box_shape), "variables": list(self.plan.variables),
                    "shape": list(self.plan.shape), "software": identity.software()}  # fmt: skip
        for key, value in expected.items():
            if manifest.get(key) != value:
                raise BadInput(
                    f"the sweep {self.name} in {self.folder.url} was stored by a different version "
                    f"({key} is {manifest.get(key)}, not {value}); it was left as it is."
                )

    def _settle(self, box: Box, names: list[str]) -> None:
        """Have the disk keep what was written, before a mark says that it is there."""
        corner = [p.start // side for p, side in zip(box.region, self.plan.box_shape, strict=True)]
        for name in names:
            self._flush(name, chunk_key(self._arrays[name], corner))

    def _flush(self, *names: str) -> None:
        """Have the disk keep a file and its place in its folder."""
        if not self.folder.is_local:
            return
        path = self.folder.path(self.name, *names)
        for each in (path, os.path.dirname(path)):
            handle = os.open(each, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def _tidy(self) -> None:
        """Remove half-written files that a killed process left."""
        if not self.folder.is_local:
            return
        kept = Path(self.folder.path(".checkpoints", self.name))
        left = [
            *Path(self.folder.path(self.name)).rglob("*.partial"),
            *Path(self.folder.path()).glob(f".creating-{self.name}-*"),
            *kept.glob("*.part"),
        ]
        if self.stored.finished().all():
            left += kept.glob("*.npz")
        for path in left:
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        with contextlib.suppress(OSError):
            kept.rmdir()


def machine() -> dict[str, Any]:
    """What computes: for the manifest."""
    return {"system": platform.system(), "processor": platform.machine(),
            "python": platform.python_version(), "cores": os.cpu_count()}  # fmt: skip
