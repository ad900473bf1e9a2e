"""Programs: what is compiled once; compiled ones on disk, which processes share; and how long XLA
compiles."""

import contextlib
import dataclasses
import functools
import hashlib
import platform
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from learnscope.engine.experiment import Experiment
from learnscope.images.image_cache import cache_folder
from learnscope.part import shape_path

_SHORTEST = 0.05  # seconds: programs that compile faster are not worth a file
_EVENT = "/jax/core/compile/backend_compile_duration"
_QUICKLY = {  # for programs that run once
    "xla_backend_optimization_level": 0,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}


@dataclasses.dataclass(frozen=True)
class Program:
    """The runs of one compilation: an experiment, and the numbers that vary within it.

    `place` is the position on every structural axis; `varying` maps a field to the numeric axis it
    lies on and to its values there.
    """

    experiment: Experiment
    place: dict[str, int] = dataclasses.field(default_factory=dict)
    varying: dict[str, tuple[str, np.ndarray]] = dataclasses.field(default_factory=dict)

    @property
    def dims(self) -> list[float]:
        """The dimensions of its data."""
        data = self.experiment.data
        field = f"data.{shape_path(data)}"
        return list(self.varying[field][1]) if field in self.varying else [float(data.dim)]

    @property
    def strongest(self) -> Experiment:
        """The experiment with the largest value of each number that varies."""
        experiment = self.experiment
        for path, (_, values) in self.varying.items():
            experiment = experiment.replace(path, values[np.argmax(np.abs(values))].item())
        return experiment


@functools.cache
def cache_programs() -> None:
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


@functools.cache
def quickly() -> dict[str, Any]:
    """Options with which XLA compiles quickly, not well: those that the installed version knows."""
    return {name: value for name, value in _QUICKLY.items() if _known(name, value)}


def _known(name: str, value: Any) -> bool:
    try:
        jax.jit(lambda: 0, compiler_options={name: value})()
    except jax.errors.JaxRuntimeError:
        return False
    return True


def computed(function: Callable[[], Any]) -> Any:
    """What a function computes, as NumPy arrays: compiled quickly, not well."""
    cache_programs()
    return jax.device_get(jax.jit(function).lower().compile(quickly())())
