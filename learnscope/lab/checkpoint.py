"""Checkpoints inside a block: a long run continues where it was, to the bit.

A block's problem and starting point are drawn again from its seeds; what cannot be drawn again is
kept: the values of finished pieces, and of the piece at work the state after a segment and what was
recorded up to there.
"""

import contextlib
import dataclasses
import os
import time
import zipfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_EVERY = 30.0  # seconds


@dataclasses.dataclass
class Kept:
    """A block in the middle: finished pieces, and the piece at work before its next segment."""

    done: list[dict[str, np.ndarray]]
    segment: int
    leaves: list[np.ndarray]
    recorded: list[dict[str, np.ndarray]]

    def into(self, like: Any) -> Any:
        """The kept state, in the shape of a fresh one."""
        old, structure = jax.tree.flatten(like)
        kept = iter(self.leaves)
        return jax.tree.unflatten(
            structure, [_restored(leaf, next(kept)) if _is_array(leaf) else leaf for leaf in old]
        )


class Checkpoint:
    """One file, replaced as a whole; `offer` writes it if the last one is old enough."""

    def __init__(self, path: str | Path, every: float = _EVERY):
        self.path, self.every, self._last = Path(path), every, time.monotonic()
        self.runs = ""  # which runs it is of

    def load(self) -> Kept | None:
        """What was kept, or None: a checkpoint that cannot be read only costs its run's time."""
        try:
            with open(self.path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
                tables = {name: arrays[name] for name in arrays.files}
            pieces, segment, leaves, recorded = tables["counts"].tolist()
            if str(tables["runs"]) != self.runs:
                return None
        except (OSError, TypeError, KeyError, ValueError, EOFError, zipfile.BadZipFile):
            return None
        return Kept(
            [_group(tables, f"done{i}") for i in range(pieces)],
            segment,
            [tables[f"leaf{i}"] for i in range(leaves)],
            [_group(tables, f"recorded{i}") for i in range(recorded)],
        )

    def offer(
        self,
        done: list[dict[str, np.ndarray]],
        segment: int,
        carry: Any,
        recorded: list[dict[str, np.ndarray]],
    ) -> None:
        """Keep a state, unless one was kept just before."""
        # A worker elsewhere may not see the results folder that the file is to be in.
        if time.monotonic() - self._last < self.every or not self.path.parents[2].is_dir():
            return
        leaves = [_plain(leaf) for leaf in jax.tree.leaves(carry) if _is_array(leaf)]
        tables = {f"leaf{i}": leaf for i, leaf in enumerate(leaves)}
        for i, values in enumerate(done):
            tables |= {f"done{i}/{name}": value for name, value in values.items()}
        for i, values in enumerate(recorded):
            tables |= {f"recorded{i}/{name}": value for name, value in values.items()}
        tables["runs"] = np.array(self.runs)
        tables["counts"] = np.array([len(done), segment, len(leaves), len(recorded)])
        part = self.path.with_suffix(f".{os.getpid()}.part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(part, "wb") as file:
                np.savez(file, allow_pickle=False, **tables)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self.path)
        except OSError:  # a run does not stop because it cannot be resumed
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        self._last = time.monotonic()

    def clear(self) -> None:
        """Forget what was kept."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def _group(tables: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    start = f"{prefix}/"
    return {name.removeprefix(start): v for name, v in tables.items() if name.startswith(start)}


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray)


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _restored(like: Any, kept: np.ndarray) -> Any:
    if not _is_key(like):
        return kept
    return jax.random.wrap_key_data(jnp.asarray(kept), impl=jax.random.key_impl(like))
