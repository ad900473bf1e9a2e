"""Training on demand, within a budget; the same run is not trained twice."""

import contextlib
import gc
import threading
from collections import OrderedDict
from collections.abc import Iterator

import jax
import xarray as xr

from learnscope.engine.size import run_size
from learnscope.errors import BadInput
from learnscope.lab import Experiment, run
from learnscope.lab.blocks import Plan
from learnscope.lab.progress import duration
from learnscope.views.explorer.live.catalogue import misfit_words

MOST_SECONDS = 20.0
_MOST_BYTES = 5e8
# Seconds for a step of the smallest net, and bytes per second of one core.
_STEP_SECONDS, _BYTES_A_SECOND = 8e-5, 3e9
_MOST_PROGRAMS, _KEPT_BYTES = 48, 2e8
_ELSEWHERE = "`learnscope sweep` has no such limit"


def check_affordable(experiment: Experiment, seeds: int) -> None:
    """Refuse runs that would take too long or too much memory, before anything is allocated."""
    _check_time(experiment.steps * _STEP_SECONDS)
    plan = Plan.of(experiment, None, seeds, "auto", "float32")
    (size,) = plan.sizes
    # Rotated vectors are drawn in all dimensions first.
    drawn = size if plan.coordinates == "compressed" else run_size(experiment, "ambient", "float32")
    needed = max(size.bytes, drawn.bytes) * seeds
    if needed > _MOST_BYTES:
        given = f"{seeds} runs of this take about {needed / 1e9:.3g} GB"
        lower = f"lower the dimension, the sample, the width or the seeds ({_ELSEWHERE})"
        raise BadInput(f"{given}, and a page may take {_MOST_BYTES / 1e9:g} GB: {lower}.")
    _check_time(experiment.steps * _STEP_SECONDS + size.work * seeds / _BYTES_A_SECOND)


def _check_time(seconds: float) -> None:
    if seconds > MOST_SECONDS:
        given = f"this would train for about {duration(seconds)}"
        lower = f"lower the steps, the sample, the width or the seeds ({_ELSEWHERE})"
        raise BadInput(f"{given}, and a page may for {duration(MOST_SECONDS)}: {lower}.")


class Trainer:
    """Trains for pages: equal requests once; old results and programs are dropped."""

    def __init__(self):
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple, xr.Dataset] = OrderedDict()
        self._asked: dict[tuple, tuple[threading.Lock, int]] = {}
        self._programs: set[str] = set()
        self._running = 0
        self._idle = threading.Condition()

    def run(self, experiment: Experiment, seeds: int) -> xr.Dataset:
        """The dataset of an experiment."""
        key = (experiment.to_toml(), seeds)
        with self._alone(key):
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key]
            try:
                check_affordable(experiment, seeds)
                with self._program(experiment, seeds):
                    data = run(experiment, seeds=seeds, progress=False).load()
            except BadInput:
                raise
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise BadInput(misfit_words(experiment, error)) from error
            with self._lock:
                self._kept[key] = data
                total = sum(data.nbytes for data in self._kept.values())
                while len(self._kept) > 1 and total > _KEPT_BYTES:
                    total -= self._kept.popitem(last=False)[1].nbytes
            return data

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
        """Count compiled programs, whose memory JAX never frees. When there are many, drop them all
        as soon as none runs; new requests wait."""
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
