"""Training on demand, within a budget; the same run is not trained twice."""

import contextlib
import dataclasses
import gc
import threading
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import Future

import jax
import xarray as xr

from learnscope.engine.size import LIMITS, run_size
from learnscope.errors import BadInput
from learnscope.lab import Experiment
from learnscope.lab.blocks import Plan
from learnscope.lab.run import run_plan
from learnscope.part.units import duration
from learnscope.views.explorer.live.catalogue import misfit_words

MOST_SECONDS = 20.0
MOST_DIM = "most_dim"  # of a result's encoding: the largest dimension that fits, see `Affordable`
_MOST_BYTES = 5e8
_STEP_SECONDS = 8e-5  # of the smallest net
_MOST_PROGRAMS, _KEPT_BYTES = 48, 2e8
_ELSEWHERE = "`learnscope sweep` has no such limit"


@dataclasses.dataclass(frozen=True)
class Affordable:
    """A plan of runs that fit a page's time and memory, and the largest dimension in which they
    would, at least (None: all dimensions cost the same)."""

    plan: Plan
    most_dim: float | None


def check_affordable(experiment: Experiment, seeds: int) -> Affordable:
    """A plan that a page can run; others are refused, before anything is allocated."""
    _check_time(experiment.steps * _STEP_SECONDS)
    plan = Plan.of(experiment, None, seeds, "auto", "float32")
    (size,) = plan.sizes
    # Rotated vectors are drawn in all dimensions first.
    drawn = size if plan.coordinates == "compressed" else run_size(experiment, "ambient", "float32")
    needed = max(size.bytes, drawn.bytes) * seeds
    if needed > _MOST_BYTES:
        given = f"{seeds} runs of this take about {needed / 1e9:.3g} GB"
        lower = f"lower the dimension, the sample, the width or the seeds ({_ELSEWHERE})"
        raise BadInput(f"{given}, and a page may use {_MOST_BYTES / 1e9:g} GB: {lower}.")
    seconds = size.work * seeds / LIMITS.speed
    _check_time(experiment.steps * _STEP_SECONDS + seconds)
    if plan.coordinates == "compressed":
        return Affordable(plan, None)
    left = MOST_SECONDS - experiment.steps * _STEP_SECONDS
    return Affordable(plan, float(experiment.data.dim) * min(_MOST_BYTES / needed, left / seconds))


def _check_time(seconds: float) -> None:
    if seconds > MOST_SECONDS:
        given = f"this would train for about {duration(seconds)}"
        lower = f"lower the steps, the sample, the width or the seeds ({_ELSEWHERE})"
        raise BadInput(f"{given}, and a page may train for {duration(MOST_SECONDS)}: {lower}.")


class Trainer:
    """Trains for pages: equal requests once; old results and programs are dropped."""

    def __init__(self):
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple, Future[xr.Dataset]] = OrderedDict()
        self._bytes: dict[tuple, int] = {}  # of the results that are there
        self._programs: set[str] = set()
        self._running = 0
        self._idle = threading.Condition()

    def run(self, experiment: Experiment, seeds: int) -> xr.Dataset:
        """The dataset of an experiment. Equal requests wait for one training."""
        key = (experiment.to_toml(), seeds)
        with self._lock:
            first = key not in self._kept
            answer = self._kept.setdefault(key, Future())
            self._kept.move_to_end(key)
        if first:
            try:
                data = self._trained(experiment, seeds)
            except BaseException as error:
                with self._lock:
                    del self._kept[key]
                answer.set_exception(error)
            else:
                answer.set_result(data)
                self._drop(key, data.nbytes)
        return answer.result()

    def _trained(self, experiment: Experiment, seeds: int) -> xr.Dataset:
        try:
            found = check_affordable(experiment, seeds)
            with self._program(experiment, seeds):
                data = run_plan(found.plan, progress=False)
            data.encoding[MOST_DIM] = found.most_dim  # beside the values, never written with them
            return data
        except BadInput:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadInput(misfit_words(experiment, error)) from error

    def _drop(self, key: tuple, size: int) -> None:
        """Count a new result, and drop those that were asked for longest ago while all together
        take too much memory."""
        with self._lock:
            self._bytes[key] = size
            total = sum(self._bytes.values())
            if total > _KEPT_BYTES:
                for old in [each for each in self._kept if each in self._bytes and each != key]:
                    if total > _KEPT_BYTES:
                        del self._kept[old]
                        total -= self._bytes.pop(old)

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
