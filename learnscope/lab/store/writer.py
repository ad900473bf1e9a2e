"""Writing a stored sweep: created empty, then written a block at a time, each wholly or not."""

import base64
import contextlib
import json
import os
import platform
import random
import shutil
import threading
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from zarr.codecs import Crc32cCodec
from zarr.storage import MemoryStore

from learnscope.errors import BadInput, refusing
from learnscope.lab.blocks import Block, KnownRuns, Plan, blank
from learnscope.lab.store import identity
from learnscope.lab.store.checked import MARK, Damaged, digest
from learnscope.lab.store.folder import FORMAT, Folder, Stored
from learnscope.lab.store.lease import Leases, clean
from learnscope.lab.store.reuse import reusable

_CREATING = threading.Lock()
_FILL: Any = {"write_empty_chunks": True}  # so that every chunk of a stored block is a file
_SAVED = ".checkpoints"


class StoredResults:
    """Results that go into a store; the methods are those of `MemoryResults`."""

    def __init__(self, folder: Folder, plan: Plan, called: str = ""):
        self.plan, self.folder, self._values = plan, folder, identity.axis_values(plan)
        self._called = called  # in lists, if the sweep is new
        self.name = identity.identity(plan, self._values)
        self._leases = Leases(folder.path(".leases", self.name)) if folder.is_local else None
        try:
            if folder.document(self.name) is None:
                self._create()
            self._open()
        except Damaged:
            if folder.begun(self.name):
                raise
            self._create()  # nothing is lost
            self._open()
        reused = not self._finished.all()
        self._others = reusable(folder, plan, self.name, self._values) if reused else []

    def _open(self) -> None:
        self.stored = self.folder.stored(self.name)
        manifest = self.stored.manifest
        for key, value in self._layout().items():
            if manifest.get(key) != value:
                raise BadInput(
                    f"the sweep {self.name} in {self.folder.url} was stored by a different version "
                    f"({key} is {manifest.get(key)}, not {value}); it was left as it is."
                )
        seeds = np.asarray(self.stored.array("seed")[...]).tolist()
        if (manifest["id"], manifest["values"], seeds) != (
            self.name, self._values, list(self.plan.seeds)
        ):  # fmt: skip
            raise BadInput(f"{self.folder.path(self.name)} holds another sweep, "
                           f"{manifest['id']}; it was left as it is.")  # fmt: skip
        self._finished = self.stored.finished()
        self.stored.check_whole(self._finished)
        # Of these arrays, not in zarr's settings: other threads share those.
        self._arrays = {
            name: self.stored.array(name, read_only=False).with_config(_FILL)
            for name in [*self.plan.variables, MARK]
        }

    def missing(self) -> list[Block]:
        """The blocks to compute, shuffled: two processes then seldom want the same one. Those that
        were begun come first."""
        blocks = [block for block in self.plan.blocks if not self._finished[block.region].all()]
        random.SystemRandom().shuffle(blocks)
        saved = Path(self.folder.path(_SAVED, self.name))
        begun = {path.stem for path in saved.glob("*.npz")} if self.folder.is_local else ()
        return sorted(blocks, key=lambda block: str(block.number) not in begun)

    def known(self, block: Block) -> KnownRuns | None:
        with self.stored.readable():
            if not np.isnan(np.asarray(self._arrays[MARK][block.region])).any():
                return None
        known = self.plan.blank(block)
        for other in self._others:
            with contextlib.suppress(BadInput):
                other.fill(block, known)
        return known

    def take(self, block: Block) -> bool:
        return self._leases is None or self._leases.take(block.number)

    def give(self, block: Block) -> None:
        if self._leases is not None:
            self._leases.give(block.number)

    def checkpoint(self, block: Block) -> str | None:
        if not self.folder.is_local:
            return None
        return self.folder.path(_SAVED, self.name, f"{block.number}.npz")

    def put(self, block: Block, values: dict[str, np.ndarray], seconds: float) -> None:
        values = values | {MARK: np.full(block.shape, seconds / block.runs)}
        what = f"the store {self.folder.url} cannot be written"
        with refusing(what, "; runs stored before are intact"):
            for name, array in self._arrays.items():  # the mark last
                array[block.region] = values[name]
        if (checkpoint := self.checkpoint(block)) is not None:
            with contextlib.suppress(OSError):
                os.unlink(checkpoint)

    def dataset(self) -> xr.Dataset:
        """The stored runs under the names that this plan gives to its values: names are no part of
        a sweep's identity, and whoever stored it first may have chosen others."""
        data, asked = self.folder.stored(self.name).dataset(), self.plan.coords()
        named = {name: asked[name] for axis in self.plan.axes for name in axis.coords()
                 if not np.array_equal(asked[name].values, data[name].values)}  # fmt: skip
        return data.assign_coords(named).assign_attrs(asked.attrs) if named else data

    @property
    def made(self) -> str:
        """When the runs that are there were computed, and by which version: of this sweep, or of
        those that it copies from."""
        sweeps = [self.stored, *(other.stored for other in self._others)]
        sessions = [s for each in sweeps for s in each.manifest["sessions"] if s["computed"]]
        last = max(sessions, key=lambda session: session["begun"], default=None)
        return "" if last is None else f"computed {last['begun'][:10]} at {last.get('at', '?')}"

    def log(self, session: dict[str, Any]) -> None:
        """Add a session to the manifest, if possible: results do not depend on it."""
        with contextlib.suppress(Exception):
            document = self.folder.stored(self.name).document
            document["attributes"]["manifest"]["sessions"].append(session)
            self._write(document, ["zarr.json"])

    def _write(self, document: dict[str, Any], keys: list[str] | None = None) -> None:
        document["attributes"]["manifest"]["digest"] = digest(document)
        files = Stored(self.folder, self.name, document).files
        for key in keys or files:
            self.folder.write(self.name, key, files[key])

    def _create(self) -> None:
        """Write the empty sweep, its manifest last: a sweep without one does not exist."""
        if self.folder.is_local:
            place = Path(self.folder.path())
            disk = next(path for path in (place, *place.parents) if path.exists())
            self.plan.check_fits(shutil.disk_usage(disk).free, self.folder.url)
        plan, labels, held = self.plan, self.plan.coords(), {}
        note = {"long_name": "computing time, shared by the runs of a block", "units": "s"}
        mark = blank(plan.dims, plan.shape, "float64", note)
        store = MemoryStore(held)
        # All threads share the filters of warnings: one at a time changes them.
        with _CREATING, warnings.catch_warnings():
            # Zarr calls strings and consolidated metadata unfinished parts of its third format.
            warnings.simplefilter("ignore")
            labels.drop_attrs(deep=False).to_zarr(
                store, zarr_format=3, consolidated=False, write_empty_chunks=True
            )
            chunks = {key: held[key].to_bytes() for key in held if not key.endswith("zarr.json")}
            for name, variable in {**plan.variables, MARK: mark}.items():
                zarr.create_array(
                    store,
                    name=name,
                    shape=variable.shape,
                    chunks=(*plan.block_shape, *variable.shape[len(plan.shape) :]),
                    dtype=variable.dtype,
                    fill_value=np.nan,
                    compressors=[Crc32cCodec()],
                    dimension_names=map(str, variable.dims),
                    attributes=variable.attrs,
                )
            zarr.consolidate_metadata(store, zarr_format=3)
        manifest = self._layout() | {
            "format": FORMAT,
            "id": self.name,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "labels": {key: base64.b64encode(chunk).decode() for key, chunk in chunks.items()},
            "values": self._values,
            "machine": {"system": platform.system(), "processor": platform.machine(),
                        "python": platform.python_version(), "cores": os.cpu_count()},
            "sessions": [],
            "called": self._called,
        }  # fmt: skip
        document = json.loads(held["zarr.json"].to_bytes())
        document["attributes"] |= labels.attrs | {"manifest": manifest}
        with refusing(f"the store {self.folder.url} cannot be written"):
            self._write(document)

    def _layout(self) -> dict[str, Any]:
        """The entries of the manifest in which a stored sweep must agree with the plan."""
        return {
            "block": list(self.plan.block_shape),
            "variables": list(self.plan.variables),
            "shape": list(self.plan.shape),
            "software": identity.software(),
        }

    def tidy(self) -> None:
        """Remove files that a killed process left, and (last) give leases back."""
        if self._leases is None:
            return
        sweep, checkpoints = (Path(self.folder.path(*at, self.name)) for at in ((), (_SAVED,)))
        clean(list(sweep.glob("*.partial")))
        self.folder.tidy()
        if not self._leases.left():  # nobody has worked on it since
            return
        clean([*sweep.rglob("*.partial"), *checkpoints.glob("*.partial")])
        with contextlib.suppress(OSError, BadInput):
            if self.stored.finished().all():
                shutil.rmtree(checkpoints)
        self._leases.end()
