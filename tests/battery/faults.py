"""Faults of a file system, in this process: kills and power cuts at its operations.

An audit hook sees every operation that changes a folder. A *kill* raises at one of them, and from
then on at each: no `finally` can clean up, as after SIGKILL. What was being written may be cut. A
*power cut* also loses what was not synced: operations are recorded, and replayed in part.
"""

import contextlib
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_watch: Callable[[str, Path, Path | None], None] | None = None
_lock = threading.Lock()


def _place(path: Any, folder: Any = -1) -> Path:
    """The path of an operation, which may be relative to an open folder."""
    base = os.readlink(f"/proc/self/fd/{folder}") if isinstance(folder, int) and folder > 0 else ""
    return Path(base, os.fsdecode(path))


def _audit(event: str, given: tuple[Any, ...]) -> None:
    if _watch is None:
        return
    if event == "open" and not isinstance(given[0], int) and given[2] & _CHANGES:
        _watch("create", _place(given[0]), None)
    elif event in ("os.rename", "os.link"):
        _watch(event[3:], _place(given[0], given[2]), _place(given[1], given[3]))
    elif event in ("os.mkdir", "os.remove", "os.rmdir"):
        _watch(event[3:], _place(given[0], given[-1]), None)


@contextlib.contextmanager
def watching(root: Path, seen: Callable[[str, Path, Path | None], None]) -> Iterator[None]:
    """Call `seen` before every operation below a folder, and for every sync."""
    global _watch
    if not _installed:
        sys.addaudithook(_audit)
        _installed.append(True)
    sync = os.fsync

    def fsync(handle: int) -> None:
        place = Path(os.readlink(f"/proc/self/fd/{handle}"))
        if place.is_relative_to(root):
            with _lock:
                seen("sync", place, None)
        sync(handle)

    def watch(what: str, path: Path, other: Path | None) -> None:
        if path.is_relative_to(root):
            with _lock:
                seen(what, path, other)

    _watch, os.fsync = watch, fsync
    try:
        yield
    finally:
        _watch, os.fsync = None, sync


_installed: list[bool] = []


class Killed(BaseException):
    """The process is gone."""


def killed_at(root: Path, number: int, chance: random.Random, act: Callable[[], Any]) -> bool:
    """Do something below a folder, and be killed at its n-th operation; whether it came to that."""
    count = 0

    def seen(what: str, path: Path, other: Path | None) -> None:
        nonlocal count
        count += 1
        if count < number:
            return
        if (
            count == number
            and what in ("rename", "sync")
            and path.is_file()
            and chance.random() < 0.5
        ):
            os.truncate(path, chance.randrange(path.stat().st_size + 1))  # the write was cut
        raise Killed

    with watching(root, seen):
        try:
            act()
        except Killed:
            return True
    return count >= number


def operations(root: Path, act: Callable[[], Any]) -> int:
    """How many operations something takes."""
    count = 0

    def seen(*_: Any) -> None:
        nonlocal count
        count += 1

    with watching(root, seen):
        act()
    return count


class Disk:
    """What a disk holds below a folder: entries of folders, and contents of files, each either
    synced or not. Operations are recorded by `record`; `cut` makes the folder as it may be after a
    power cut."""

    def __init__(self, root: Path):
        self.root, self.log = root, list[tuple[str, Path, Path | None, bytes | None]]()

    def record(self, act: Callable[[], Any]) -> None:
        """Do something below the (empty) folder, and record it."""

        def seen(what: str, path: Path, other: Path | None) -> None:
            held = path.read_bytes() if what == "sync" and path.is_file() else None
            self.log.append((what, path, other, held))

        with watching(self.root, seen):
            act()

    def cut(self, at: int, chance: random.Random, into: Path) -> None:
        """The folder after a power cut at an operation, in another place. Of what was not synced,
        any part may be there; unsynced files may be empty, cut or filled with zeros."""
        now: dict[Path, dict[str, Any]] = {self.root: {}}  # folders as the process saw them
        disk: dict[int, dict[str, Any]] = {id(now[self.root]): {}}  # as they are synced
        pending: dict[int, list[tuple[str, Any]]] = {}
        keep: list[Any] = []

        def change(path: Path, inode: Any) -> None:
            folder = now[path.parent]
            pending.setdefault(id(folder), []).append((path.name, inode))
            folder[path.name] = inode
            keep.append(inode)
            if inode is None:
                del folder[path.name]

        for what, path, other, held in self.log[:at]:
            if path.parent not in now and path != self.root:
                continue  # it failed
            if what == "create":
                if path.name not in now[path.parent]:
                    change(path, {"data": None})
            elif what == "mkdir":
                if path.name not in now[path.parent]:
                    now[path] = {}
                    disk[id(now[path])] = {}
                    change(path, now[path])
            elif what == "sync" and path in now:
                folder = id(now[path])
                for name, inode in pending.pop(folder, []):
                    disk[folder][name] = inode
            elif what == "sync":
                now[path.parent][path.name]["data"] = held
            elif what in ("rename", "link") and other is not None:
                inode = now[path.parent].get(path.name)
                if inode is None or (what == "link" and other.name in now[other.parent]):
                    continue
                change(other, inode)
                if what == "rename":
                    change(path, None)
                    for old in [old for old in now if old == path or path in old.parents]:
                        now[other / old.relative_to(path)] = now.pop(old)
            elif what in ("remove", "rmdir") and path.name in now.get(path.parent, {}):
                change(path, None)
        for folder, changes in pending.items():
            for name, inode in changes:
                if chance.random() < 0.5:
                    disk[folder][name] = inode
        into.mkdir(parents=True)
        self._write(now[self.root], disk, chance, into)

    def _write(self, folder: Any, disk: dict, chance: random.Random, into: Path) -> None:
        for name, inode in disk[id(folder)].items():
            if inode is None:
                continue
            if id(inode) in disk:
                (into / name).mkdir()
                self._write(inode, disk, chance, into / name)
                continue
            data = inode["data"]
            if data is None:
                data = chance.choice([b"", bytes(40), b"{"])
            (into / name).write_bytes(data)
            os.utime(into / name, (0, 0))  # a machine takes longer to start than a lease lasts
