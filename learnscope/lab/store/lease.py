"""Leases: who works on which block of a stored sweep, so that several processes share the work.

A lease is a file that names its owner, who touches it every few seconds. One that was not touched
for long, or whose owner is a dead process of this machine, is taken over. Results never depend on
a lease: without one, two processes compute the same block and write the same bytes.
"""

import contextlib
import functools
import hashlib
import os
import socket
import threading
import time
import uuid
from pathlib import Path

_BEAT, _STALE = 5.0, 30.0  # seconds between touches; seconds after which an owner counts as dead
_UNKNOWN = 600.0  # seconds after which the writer of a partial file elsewhere counts as dead


@functools.cache
def _machine() -> str:
    """This machine, this boot, and this container: where process numbers mean the same."""
    facts = [socket.gethostname()]
    with contextlib.suppress(OSError):
        facts.append(Path("/proc/sys/kernel/random/boot_id").read_text())
        facts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("".join(facts).encode()).hexdigest()[:12]


def owner() -> str:
    """A name for this process that others can check."""
    return f"{_machine()}-{os.getpid()}"


def abandoned(path: Path, name: str, stale: float = _UNKNOWN) -> bool:
    """Whether the process of this name, which last touched a file, is gone."""
    machine, _, number = name.partition("-")
    if machine == _machine() and number.isdigit():
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            return True
        except OSError:
            pass
    with contextlib.suppress(OSError):
        return time.time() - path.stat().st_mtime > stale
    return False


def partial(path: Path) -> Path:
    """A name for a file while it is being written."""
    return path.with_name(f"{path.name}.{owner()}.{uuid.uuid4().hex[:8]}.partial")


def clean(files: list[Path]) -> None:
    """Delete the partial files of processes that are gone."""
    for path in files:
        with contextlib.suppress(OSError, IndexError):
            if abandoned(path, path.name.split(".")[-3]):
                path.unlink()


class Leases:
    """The leases of one process on the blocks of a sweep, in a folder of their own."""

    def __init__(self, folder: str):
        self._folder, self._mine = Path(folder), set[Path]()
        self._ended = threading.Event()

    def take(self, block: int) -> bool:
        """Whether the block is ours to compute now: nobody else is at it."""
        path = self._folder / str(block)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            held = self._owner(path)
            if held is not None and held != owner() and not abandoned(path, held, _STALE):
                return False
            new = partial(path)
            new.write_text(owner())
            if held is None:
                with contextlib.suppress(FileExistsError):
                    os.link(new, path)
                new.unlink()
            else:
                os.replace(new, path)
            if self._owner(path) != owner():  # another process was faster
                return False
        except OSError:  # a store where this cannot be done: work without
            return True
        if not self._mine:
            threading.Thread(target=self._beat, daemon=True).start()
        self._mine.add(path)
        return True

    def _owner(self, path: Path) -> str | None:
        with contextlib.suppress(FileNotFoundError):
            return path.read_text(errors="replace")[:80]
        return None

    def give(self, block: int) -> None:
        """Give a lease back."""
        path = self._folder / str(block)
        self._mine.discard(path)
        with contextlib.suppress(OSError):
            if self._owner(path) == owner():
                path.unlink()

    def left(self) -> bool:
        """Whether a process that worked on the sweep has not cleaned up yet."""
        return self._folder.is_dir()

    def end(self) -> None:
        """Give all leases back, and those of dead processes; nothing is left then."""
        self._ended.set()
        clean(list(self._folder.glob("*.partial")))
        for path in self._folder.glob("*"):
            with contextlib.suppress(OSError):
                held = path.read_text(errors="replace")
                if held == owner() or abandoned(path, held, _STALE):
                    path.unlink()
        with contextlib.suppress(OSError):
            self._folder.rmdir()

    def _beat(self) -> None:
        while not self._ended.wait(_BEAT):
            for path in list(self._mine):
                with contextlib.suppress(OSError):
                    os.utime(path)
