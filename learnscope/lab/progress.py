"""A progress bar for sweeps: share done, trainings a second, time left."""

import threading
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


class SweepProgress:
    """Counts steps of all runs; shown on standard error if asked for and there is a terminal."""

    def __init__(self, trainings: int, steps: int, show: bool):
        self._steps, self._trainings, self._cancelled = steps, trainings, False
        self._done, self._start, self._lock = 0, time.perf_counter(), threading.Lock()
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not (show and console.is_terminal),
            transient=True,
        )

    def __enter__(self) -> "SweepProgress":
        self._bar.start()
        plural = "s" if self._trainings > 1 else ""
        text = f"{self._trainings} training{plural}"
        self._task = self._bar.add_task(text, total=self._steps, speed="compiling")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def cancel(self) -> None:
        """Have the next `advance`, of whichever thread, end its work."""
        self._cancelled = True

    def advance(self, steps: int) -> None:
        """Tell of steps taken, of all runs together. Safe to call from several threads."""
        if self._cancelled:
            raise InterruptedError("the sweep was cancelled")
        with self._lock:
            self._done += steps
            seconds = max(time.perf_counter() - self._start, 1e-9)
            speed = self._done / self._steps * self._trainings / seconds
            self._bar.update(self._task, completed=self._done, speed=f"{speed:.3g} trainings/s")
