"""Training on demand: within a budget, and not twice."""

import contextlib
import gc
import threading
from collections import OrderedDict
from collections.abc import Iterator

import jax
import xarray as xr

from learnscope.errors import BadInput
from learnscope.lab import Experiment, run
from learnscope.lab.engine import run_size
from learnscope.lab.plan import Plan
from learnscope.lab.progress import duration
from learnscope.part import allowed_kind
from learnscope.views.explorer.live.catalogue import SLOTS
from learnscope.views.explorer.live.state import State, settable

MOST_SECONDS = 20.0
_MOST_COUNT = 10**6  # of anything that sizes an array, before any array is thought of
_MOST_BYTES = 5e8
# A step of the smallest net takes this long, and a core passes over so many bytes a second.
_STEP_SECONDS, _BYTES_A_SECOND = 8e-5, 3e9
_MOST_PROGRAMS, _KEPT_BYTES = 48, 2e8
_ELSEWHERE = "`learnscope sweep` has no such limit"


def check_affordable(state: State) -> None:
    """Say so, before anything is allocated, if a run would take too long or too much memory."""
    experiment = state.experiment
    for slot in SLOTS:
        part = getattr(experiment, slot)
        for name, value in settable(part):
            if allowed_kind(part, name) != "count" or value is None:
                continue
            largest = max(value) if isinstance(value, tuple) else value
            if largest > _MOST_COUNT:
                raise BadInput(
                    f"{slot}.{name} = {largest} is too large for a page: at most {_MOST_COUNT} "
                    f"({_ELSEWHERE})."
                )
    _check_time(experiment.steps * _STEP_SECONDS)
    plan = Plan.of(experiment, None, state.seeds, "auto", "float32")
    (size,) = plan.sizes
    # What is rotated is drawn in all its dimensions first.
    drawn = size if plan.coordinates == "compressed" else run_size(experiment, "ambient", "float32")
    needed = max(size.bytes, drawn.bytes) * state.seeds
    if needed > _MOST_BYTES:
        raise BadInput(
            f"{state.seeds} runs of this take about {needed / 1e9:.3g} GB, and a page may take "
            f"{_MOST_BYTES / 1e9:g} GB: lower the dimension, the sample, the width or the seeds "
            f"({_ELSEWHERE})."
        )
    _check_time(experiment.steps * _STEP_SECONDS + size.work * state.seeds / _BYTES_A_SECOND)


def _check_time(seconds: float) -> None:
    if seconds > MOST_SECONDS:
        raise BadInput(
            f"this would train for about {duration(seconds)}, and a page may for "
            f"{duration(MOST_SECONDS)}: lower the steps, the sample, the width or the seeds "
            f"({_ELSEWHERE})."
        )


class Trainer:
    """Runs what pages ask for. Two visitors who ask for the same wait for one run; results and
    programs of long ago are given up."""

    def __init__(self):
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple, xr.Dataset] = OrderedDict()
        self._asked: dict[tuple, tuple[threading.Lock, int]] = {}
        self._programs: set[str] = set()
        self._running = 0
        self._idle = threading.Condition()

    def run(self, state: State, seeds: int | None = None) -> xr.Dataset:
        """The state's dataset, of its seeds or of so many."""
        count = state.seeds if seeds is None else seeds
        key = (state.experiment.to_toml(), count)
        with self._alone(key):
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key]
            check_affordable(state)
            with self._program(state.experiment, count):
                found = run(state.experiment, seeds=count, progress=False).load()
            with self._lock:
                self._kept[key] = found
                while len(self._kept) > 1 and sum(d.nbytes for d in self._kept.values()) > (
                    _KEPT_BYTES
                ):
                    self._kept.popitem(last=False)
            return found

    @contextlib.contextmanager
    def _alone(self, key: tuple) -> Iterator[None]:
        """One at a time for the same key."""
        with self._lock:
            lock, waiting = self._asked.get(key, (threading.Lock(), 0))
            self._asked[key] = lock, waiting + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, waiting = self._asked.pop(key)
                if waiting > 1:
                    self._asked[key] = lock, waiting - 1

    @contextlib.contextmanager
    def _program(self, experiment: Experiment, seeds: int) -> Iterator[None]:
        """Counts compiled programs, each of which takes memory that JAX keeps for ever. When there
        are many, all are given up as soon as none runs; whoever comes meanwhile waits."""
        key = f"{jax.tree.structure(experiment)} {seeds}"
        with self._idle:
            if key not in self._programs and len(self._programs) >= _MOST_PROGRAMS:
                self._idle.wait_for(lambda: self._running == 0)
                if len(self._programs) >= _MOST_PROGRAMS:
                    self._programs.clear()
                    jax.clear_caches()
                    gc.collect()
            self._programs.add(key)
            self._running += 1
        try:
            yield
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()
