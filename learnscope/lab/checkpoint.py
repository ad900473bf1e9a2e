"""Checkpoints inside a block: a long run continues where it was, to the bit.

A block's problem and starting point are drawn again from its seeds. The file holds the rest: the
state after a segment, and what was recorded up to there.
"""

import contextlib
import dataclasses
import io
import time
import zipfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from learnscope.lab.store.checked import write_whole

_EVERY = 30.0  # seconds
Recorded = list[dict[str, np.ndarray]]


@dataclasses.dataclass
class Saved:
    """A block before its next segment."""

    segment: int
    leaves: list[np.ndarray]
    recorded: Recorded

    def into(self, like: Any) -> Any:
        """The saved state, in the shape of a fresh one."""
        old, structure = jax.tree.flatten(like)
        saved = iter(self.leaves)
        return jax.tree.unflatten(
            structure, [_restored(leaf, next(saved)) if _is_array(leaf) else leaf for leaf in old]
        )


class Checkpoint:
    """One file, replaced as a whole; `offer` writes it if the last one is old enough.

    `runs` is the digest of its runs: a file of others is not read.
    """

    def __init__(self, path: str | Path, runs: str = "", every: float | None = None):
        self.path, self.runs, self._last = Path(path), runs, time.monotonic()
        self.every = _EVERY if every is None else every

    def load(self) -> Saved | None:
        """The saved block, or None: a checkpoint that cannot be read only costs time."""
        try:
            with open(self.path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
                tables = {name: arrays[name] for name in arrays.files}
            segment, leaves, recorded = tables["counts"].tolist()
            if str(tables["runs"]) != self.runs:
                return None
        except (OSError, TypeError, KeyError, ValueError, EOFError, zipfile.BadZipFile):
            return None
        values: Recorded = [{} for _ in range(recorded)]
        for key, array in tables.items():
            number, _, name = key.removeprefix("recorded").partition("/")
            if name:
                values[int(number)][name] = array
        return Saved(segment, [tables[f"leaf{i}"] for i in range(leaves)], values)

    def offer(self, segment: int, carry: Any, recorded: Recorded) -> None:
        """Save a state, unless one was saved just before."""
        # A worker elsewhere may not see the results folder that the file is to be in.
        if time.monotonic() - self._last < self.every or not self.path.parents[2].is_dir():
            return
        leaves = [_plain(leaf) for leaf in jax.tree.leaves(carry) if _is_array(leaf)]
        tables = {f"leaf{i}": leaf for i, leaf in enumerate(leaves)}
        for i, values in enumerate(recorded):
            tables |= {f"recorded{i}/{name}": value for name, value in values.items()}
        tables["runs"] = np.array(self.runs)
        tables["counts"] = np.array([segment, len(leaves), len(recorded)])
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, **tables)
        with contextlib.suppress(OSError):  # a run does not stop because it cannot be resumed
            write_whole(self.path, content.getvalue(), self.path.parents[2])
        self._last = time.monotonic()

    def clear(self) -> None:
        """Delete the file."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray)


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _restored(like: Any, saved: np.ndarray) -> Any:
    if not _is_key(like):
        return saved
    return jax.random.wrap_key_data(jnp.asarray(saved), impl=jax.random.key_impl(like))
