"""Compiled programs: a cache that processes share, and how long XLA compiles."""

import contextlib
import functools
import hashlib
import platform

import jax

from learnscope.images.image_cache import cache_folder

_SHORTEST = 0.05  # seconds: programs that compile faster are not worth a file
_EVENT = "/jax/core/compile/backend_compile_duration"


@functools.cache
def enable() -> None:
    """Cache compiled programs, unless the user has chosen a folder of JAX's own (or `off`).

    Programs are for the processor that compiled them, so each kind has a folder of its own.
    """
    base = cache_folder()
    if base is None or jax.config.values.get("jax_compilation_cache_dir"):
        return
    chosen = base / f"programs-{_processor()}"
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


@functools.cache
def compilations() -> list[float]:
    """The seconds of every compilation since the first call: one list for all threads, which
    grows."""
    durations: list[float] = []

    def listen(event: str, duration: float, **_: object) -> None:
        if event == _EVENT:
            durations.append(duration)

    jax.monitoring.register_event_duration_secs_listener(listen)  # pyright: ignore
    return durations
