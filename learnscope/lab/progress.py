"""What a sweep says: its progress bar, amounts for people, and which runs are not to be trusted."""

import threading
import time
from typing import Any

import xarray as xr
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from learnscope.part.units import duration


class SweepProgress:
    """Counts trainings; shown, if asked for, on standard error of a terminal or below a notebook's
    cell. In the place of `show=True`, a session of several sweeps (`learnscope.evidence.session`)
    adds to the bar what its text says, and its `check` may end the sweep."""

    def __init__(self, trainings: int, there: int, show: Any):
        self._total, self._there, self._cancelled = trainings, there, False
        self._session = None if isinstance(show, bool) else show
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
        text = f"{trainings} training{'s' * (trainings > 1)}"
        text += f", {there} stored before" if there else ""
        self._task = self._bar.add_task(text, total=trainings, completed=there, speed="compiling")
        self._cell = NotebookBar(trainings, text) if show and console.is_jupyter else None

    def __enter__(self) -> "SweepProgress":
        self._bar.start()
        if self._cell is not None:
            self._cell.update(self._there, "compiling")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
        if self._cell is not None:
            took = f"took {duration(time.perf_counter() - self._start)}"
            self._cell.update(self._total, took, last=True)

    def cancel(self) -> None:
        """Make the next `advance`, in any thread, end its work."""
        self._cancelled = True

    def check(self) -> None:
        """Raise an error if the sweep was cancelled, or if its session ends it."""
        if self._cancelled:
            raise InterruptedError("the sweep was cancelled")
        if self._session is not None:
            self._session.check()

    def advance(self, trainings: float) -> None:
        """Count trainings, or fractions of one. Safe to call from several threads."""
        self.check()
        with self._lock:
            self._done += trainings
            done, seconds = self._there + self._done, time.perf_counter() - self._start
            speed = self._done / max(seconds, 1e-9)
            left = f", {duration(max(self._total - done, 0) / max(speed, 1e-12))} left"
            text = f"{speed:.3g} trainings/s{f'; {self._session}' if self._session else left}"
            self._bar.update(self._task, completed=done, speed=text)
            if self._cell is not None:
                self._cell.update(done, text)


class NotebookBar:
    """A bar below a notebook's cell: HTML that is shown again, which needs no widgets."""

    def __init__(self, total: int, text: str):
        self._total, self._text, self._last, self._shown = total, text, -1.0, None

    def update(self, done: float, words: str, last: bool = False) -> None:
        """Show how far it is, at most five times a second (but always the last time)."""
        from IPython.display import HTML, display  # type: ignore[import-not-found]

        if last or time.perf_counter() - self._last > 0.2:
            self._last = time.perf_counter()
            bar = f'<progress value="{done:.3f}" max="{self._total}"></progress>'
            html = HTML(f"{self._text} {bar} {words}")
            if self._shown is None:
                self._shown: Any = display(html, display_id=True)
            else:
                self._shown.update(html)


def divergence(data: xr.Dataset) -> str:
    """How many runs diverged, and at which values of the axes; empty if none did.

    >>> noise, steps = ("noise", [0.5, 1.5]), [[float("nan")] * 2, [7.0, 9.0]]
    >>> divergence(xr.Dataset({"diverged_at": (("noise", "seed"), steps)}, {"noise": noise}))
    '2 of 4 runs diverged, at noise 1.5'
    """
    lost = data["diverged_at"].notnull()
    places = []
    for dim in [dim for dim in lost.dims if dim != "seed"]:
        there = lost.any([other for other in lost.dims if other != dim])
        if not there.all():
            values = data[dim].values[there.values]
            ends = values if len(values) < 4 else [f"{values[0]} to {values[-1]}"]
            places.append(f"{dim} {', '.join(map(str, ends))}")
    at = f", at {'; '.join(places)}" if places else ""
    return f"{int(lost.sum())} of {lost.size} runs diverged{at}" if lost.any() else ""


def at_floor(data: xr.Dataset) -> list[str]:
    """The variables that are within 100 rounding errors of 0 at the last step of some run."""
    floors = {str(n): v.attrs["floor"] for n, v in data.data_vars.items() if "floor" in v.attrs}
    last = data.isel(step=-1, missing_dims="ignore")
    near = {name: (abs(last[name]) < 100 * last[floor]) for name, floor in floors.items()}
    return [name for name, floor in floors.items() if (near[name] & (last[floor] > 0)).any()]
