"""What a sweep says: its progress bar, amounts for people, and which runs are not to be trusted."""

import dataclasses
import math
import threading
import time
from typing import Any

import xarray as xr
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn


class OutOfTime(InterruptedError):
    """The time that was given is over; what was computed is stored."""


@dataclasses.dataclass
class Session:
    """Several sweeps that are run one after the other: their costs (in seconds, without compiling),
    and when they must end. In the place of `progress=True` it adds to every bar which sweep this
    is, and the time left for all."""

    costs: list[float]
    deadline: float = math.inf  # of `time.monotonic`
    show: bool = True
    at: int = 0
    _more: float = 0.0  # seconds beyond its cost that a sweep took, on average
    _saved: float = 0.0  # seconds below their costs that sweeps took, thanks to stored runs
    _begun: float = dataclasses.field(default_factory=time.monotonic)

    def __bool__(self) -> bool:
        return self.show

    def next(self) -> None:
        """Go on to the next sweep, whose overhead will be that of those before."""
        now = time.monotonic()
        beyond = now - self._begun - self.costs[self.at]
        self._saved += max(0.0, -beyond)
        if now - self._begun > 1.0:
            self._more += (max(0.0, beyond) - self._more) / (self.at + 1)
        self._begun, self.at = now, self.at + 1

    def left(self) -> float:
        """Seconds to the end of all sweeps, or of the time that was given."""
        now = time.monotonic()
        known = sum(self.costs[: self.at])
        share = 1.0 - self._saved / known if known else 1.0  # of a cost that is to be expected
        here, *later = [cost * share + self._more for cost in self.costs[self.at :]] or [0.0]
        here, later = here - (now - self._begun), sum(later)
        return max(0.0, min(max(0.0, here) + later, self.deadline - now))

    def __str__(self) -> str:
        return f"sweep {self.at + 1} of {len(self.costs)}, about {duration(self.left())} left"

    def check(self) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfTime("the time that was given is over")


class SweepProgress:
    """Counts trainings; shown, if asked for, on standard error of a terminal or below a notebook's
    cell."""

    def __init__(self, trainings: int, there: int, show: bool | Session):
        self._total, self._there, self._cancelled = trainings, there, False
        self._session = show if isinstance(show, Session) else None
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
        """Raise an error if the sweep was cancelled, or if the time of its session is over."""
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


def amount(size: float) -> str:
    """Bytes for people.

    >>> amount(1.7e4), amount(3.21e9), amount(4e14)
    ('17 kB', '3.21 GB', '400 TB')
    """
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:,.3g} {unit}"
    return f"{size:.0f} bytes"


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
