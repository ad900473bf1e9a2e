"""Counting compilations and the seconds they take."""

import dataclasses
import threading

import jax

_EVENT = "/jax/core/compile/backend_compile_duration"


@dataclasses.dataclass
class Compilations:
    """How many programs XLA compiled, and for how long, since the process started."""

    count: int = 0
    seconds: float = 0.0

    def since(self, earlier: "Compilations") -> "Compilations":
        return Compilations(self.count - earlier.count, self.seconds - earlier.seconds)


_total = Compilations()
_lock = threading.Lock()
_listening = False


def _listen(event: str, duration: float, **_: object) -> None:
    if event == _EVENT:
        with _lock:
            _total.count += 1
            _total.seconds += duration


def compilations() -> Compilations:
    """The total so far; counting starts with the first call."""
    global _listening
    with _lock:
        if not _listening:
            jax.monitoring.register_event_duration_secs_listener(_listen)  # pyright: ignore
            _listening = True
        return dataclasses.replace(_total)
