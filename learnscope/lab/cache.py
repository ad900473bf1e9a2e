"""A persistent compilation cache, shared by processes and workers on machines of one kind."""

import functools
import hashlib
import platform
from pathlib import Path

import jax

from learnscope.data.kept import cache_folder

_SHORTEST = 0.05  # seconds: programs that compile faster are not worth a file


def folder() -> Path | None:
    """Where programs are kept: $LEARNSCOPE_CACHE, or the user's cache folder; None if it is `off`.

    Programs are for the processor that compiled them, so each kind has a folder of its own.
    """
    base = cache_folder()
    if base is None:
        return None
    return base / f"programs-{_processor()}"


@functools.cache
def enable() -> None:
    """Keep compiled programs, unless the user has chosen a folder of JAX's own (or `off`)."""
    chosen = folder()
    if chosen is None or jax.config.values.get("jax_compilation_cache_dir"):
        return
    try:
        chosen.mkdir(parents=True, exist_ok=True)
    except OSError:  # a home that cannot be written to: compile every time
        return
    jax.config.update("jax_compilation_cache_dir", str(chosen))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", _SHORTEST)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def _processor() -> str:
    """A digest of the processor's kind and abilities."""
    text = platform.machine() + platform.processor()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            keep = ("model name", "flags", "Features", "CPU part")
            text += "".join(sorted({line for line in lines if line.startswith(keep)}))
    except OSError:
        pass
    return hashlib.sha256(text.encode()).hexdigest()[:8]
