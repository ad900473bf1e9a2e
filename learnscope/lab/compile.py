"""Compiled programs: a cache that processes share, and a count of what XLA compiles."""

import contextlib
import dataclasses
import functools
import hashlib
import platform
from pathlib import Path

import jax

from learnscope.images.image_cache import cache_folder

_SHORTEST = 0.05  # seconds: programs that compile faster are not worth a file
_EVENT = "/jax/core/compile/backend_compile_duration"


def folder() -> Path | None:
    """The cache folder, $LEARNSCOPE_CACHE or the user's own; None if that is `off`.

    Programs are for the processor that compiled them, so each kind has a folder of its own.
    """
    base = cache_folder()
    return None if base is None else base / f"programs-{_processor()}"


@functools.cache
def enable() -> None:
    """Cache compiled programs, unless the user has chosen a folder of JAX's own (or `off`)."""
    chosen = folder()
    if chosen is None or jax.config.values.get("jax_compilation_cache_dir"):
        return
    with contextlib.suppress(OSError):  # a home that cannot be written to: compile every time
        chosen.mkdir(parents=True, exist_ok=True)
        jax.config.update("jax_compilation_cache_dir", str(chosen))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", _SHORTEST)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def _processor() -> str:
    """A digest of the processor's kind and abilities."""
    text = platform.machine() + platform.processor()
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        names = ("model name", "flags", "Features", "CPU part")
        text += "".join(sorted({line for line in lines if line.startswith(names)}))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@dataclasses.dataclass(frozen=True)
class Compilations:
    """How many programs XLA compiled, and for how many seconds."""

    count: int
    seconds: float

    def since(self, earlier: "Compilations") -> "Compilations":
        return Compilations(self.count - earlier.count, self.seconds - earlier.seconds)


@functools.cache
def _durations() -> list[float]:
    """The duration of every compilation from now on; appending is safe in all threads."""
    durations: list[float] = []

    def listen(event: str, duration: float, **_: object) -> None:
        if event == _EVENT:
            durations.append(duration)

    jax.monitoring.register_event_duration_secs_listener(listen)  # pyright: ignore
    return durations


def compilations() -> Compilations:
    """The total so far; counting starts with the first call."""
    listed = tuple(_durations())
    return Compilations(len(listed), sum(listed))
