"""A progress bar for sweeps: share done, trainings a second, time left."""

import threading
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn


class SweepProgress:
    """Counts trainings; shown on standard error if asked for and there is a terminal."""

    def __init__(self, trainings: int, there: int, show: bool):
        self._total, self._there, self._cancelled = trainings, there, False
        self._done, self._start, self._lock = 0.0, time.perf_counter(), threading.Lock()
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[speed]}"),
            console=console,
            disable=not (show and console.is_terminal),
            transient=True,
        )

    def __enter__(self) -> "SweepProgress":
        self._bar.start()
        text = f"{self._total} training{'s' if self._total > 1 else ''}"
        text += f", {self._there} stored before" if self._there else ""
        self._task = self._bar.add_task(
            text, total=self._total, completed=self._there, speed="compiling"
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def cancel(self) -> None:
        """Have the next `advance`, of whichever thread, end its work."""
        self._cancelled = True

    def advance(self, trainings: float) -> None:
        """Tell of trainings done (or parts of one). Safe to call from several threads."""
        if self._cancelled:
            raise InterruptedError("the sweep was cancelled")
        with self._lock:
            self._done += trainings
            seconds = max(time.perf_counter() - self._start, 1e-9)
            speed = self._done / seconds
            left = (self._total - self._there - self._done) / max(speed, 1e-12)
            self._bar.update(
                self._task,
                completed=self._there + self._done,
                speed=f"{speed:.3g} trainings/s, {duration(max(left, 0))} left",
            )


def duration(seconds: float) -> str:
    """Seconds for people.

    >>> duration(3.2), duration(75), duration(7300), duration(200_000)
    ('3 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    whole = round(seconds)
    for unit, size, smaller, part in (
        ("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1),
    ):  # fmt: skip
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // part} {smaller}"
    return f"{whole} s"
