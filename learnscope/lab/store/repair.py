"""Repair of stored sweeps: what is damaged is written anew, or computed by the next run."""

import numpy as np

from learnscope.errors import refusing
from learnscope.lab.store.checked import MARK, Damaged, is_intact
from learnscope.lab.store.folder import Stored, chunk_key


def repair(stored: Stored) -> str:
    """Check every byte of a sweep, mend it, and say what was done.

    Labels and metadata are rewritten from the manifest. Damaged blocks lose their marks, so that
    the next run computes them.
    """
    folder, name = stored.folder, stored.name

    def read(key: str) -> bytes | None:
        try:
            return folder.read(name, key)
        except Damaged:  # a bad sector, say
            return b""

    with refusing(f"the store {folder.url} cannot be written"):
        wrong = [key for key, content in stored.files.items() if read(key) != content]
        for key in wrong:
            folder.write(name, key, stored.files[key])
        arrays = {n: stored.array(n) for n in (MARK, *stored.manifest["variables"])}
        blocks, lost = list(np.ndindex(arrays[MARK].cdata_shape)), 0
        for corner in blocks:
            keys = [f"{n}/{chunk_key(array, corner)}" for n, array in arrays.items()]
            files = [read(key) for key in keys]
            if files[0] is not None and not all(f is not None and is_intact(f) for f in files):
                folder.delete(name, keys[0])
                lost += 1
    done = [f"rewrote {key}" for key in wrong]
    if lost:
        done.append(f"{lost} of {len(blocks)} blocks are damaged: run the sweep again, which "
                    "computes them")  # fmt: skip
    return f"{name}: {', '.join(done) or 'nothing is damaged'}."
