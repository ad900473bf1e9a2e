"""Repair of stored sweeps: what is damaged is written anew, or computed by the next run."""

from learnscope.errors import refusing
from learnscope.lab.store.checked import Damaged, is_intact
from learnscope.lab.store.folder import Stored


def repair(stored: Stored) -> str:
    """Check every byte of a sweep, mend it, and say what was done.

    Labels and metadata are rewritten from the manifest. Damaged blocks lose their marks, so that
    the next run computes them.
    """
    folder, name, done, lost = stored.folder, stored.name, [], 0

    def read(key: str) -> bytes | None:
        try:
            return folder.read(name, key)
        except Damaged:  # a bad sector, say
            return b""

    with refusing(f"the store {folder.url} cannot be written"):
        for key, content in stored.files.items():
            if read(key) != content:
                folder.write(name, key, content)
                done.append(f"rewrote {key}")
        blocks = list(stored.block_files())
        for *keys, mark in blocks:
            chunk = read(mark)
            if chunk is not None and not all(is_intact(c) for c in (chunk, *map(read, keys))):
                folder.delete(name, mark)
                lost += 1
    if lost:
        done.append(f"{lost} of {len(blocks)} blocks are damaged: run the sweep again, which "
                    "computes them")  # fmt: skip
    return f"{name}: {', '.join(done) or 'nothing is damaged'}."
