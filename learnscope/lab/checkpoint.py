"""Checkpoints inside a block: a long run continues where it was, to the bit.

A block's problem and starting point are drawn again from its seeds. The file holds the rest: the
state after a segment, and what was recorded up to there.
"""

import contextlib
import io
import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from learnscope.lab.blocks import Recorded, joined
from learnscope.lab.store.checked import write_whole

_EVERY = 30.0  # seconds


class Checkpoint:
    """One file, replaced as a whole; `offer` writes it if the last one is old enough.

    `runs` is the digest of its runs: a file of others is not read.
    """

    def __init__(self, path: str | Path, runs: str = "", every: float | None = None):
        self.path, self.runs, self._last = Path(path), runs, time.monotonic()
        self.every = _EVERY if every is None else every

    def load(self, fresh: Any) -> tuple[int, Any, Recorded] | None:
        """The next segment, the saved state in the shape of a fresh one, and what was recorded;
        or None: a checkpoint that cannot be read only costs time."""
        try:
            with open(self.path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
                tables = {name: arrays[name] for name in arrays.files}
            segment = int(tables["segment"])
            if str(tables["runs"]) != self.runs:
                return None
        except Exception:  # whatever a damaged archive makes Python raise
            return None
        recorded = {key[9:]: table for key, table in tables.items() if key.startswith("recorded/")}
        leaves, structure = jax.tree.flatten(fresh)
        for i, leaf in enumerate(leaves):
            if eqx.is_array(leaf):
                leaves[i] = tables[f"leaf{i}"]
            if _is_key(leaf):
                words = jnp.asarray(leaves[i])
                leaves[i] = jax.random.wrap_key_data(words, impl=jax.random.key_impl(leaf))
        return segment, jax.tree.unflatten(structure, leaves), [recorded]

    def offer(self, segment: int, carry: Any, recorded: Recorded) -> None:
        """Save a state, unless one was saved just before."""
        if time.monotonic() - self._last >= self.every:
            self.write(segment, carry, recorded)

    def write(self, segment: int, carry: Any, recorded: Recorded) -> None:
        """Save a state."""
        # A worker elsewhere may not see the results folder that the file is to be in.
        if not self.path.parents[2].is_dir():
            return
        leaves = [jax.random.key_data(x) if _is_key(x) else x for x in jax.tree.leaves(carry)]
        tables = {f"leaf{i}": np.asarray(x) for i, x in enumerate(leaves) if eqx.is_array(x)}
        tables |= {f"recorded/{name}": values for name, values in joined(recorded).items()}
        tables["runs"], tables["segment"] = np.array(self.runs), np.array(segment)
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, **tables)
        with contextlib.suppress(OSError):  # a run does not stop because it cannot be resumed
            write_whole(self.path, content.getvalue(), self.path.parents[2])
        self._last = time.monotonic()


def _is_key(leaf: Any) -> bool:
    return eqx.is_array(leaf) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
