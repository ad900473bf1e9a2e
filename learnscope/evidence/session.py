"""A session: several sweeps that are run one after the other, perhaps in limited time."""

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Iterator

from rich.console import Console

from learnscope.part.units import duration


class OutOfTime(InterruptedError):
    """The time that was given is over; what was computed is stored."""


@dataclasses.dataclass
class Session:
    """The costs of some sweeps (in seconds, without compiling), and when they must end. In the
    place of `progress=True` it adds to every bar which sweep this is, and the time left for all."""

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


@contextlib.contextmanager
def status(quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """A line of the terminal that is said anew again and again; None elsewhere."""
    line = Console(stderr=True, quiet=quiet)
    if quiet or not line.is_terminal:
        yield None
        return
    with line.status("") as shown:
        yield shown.update
