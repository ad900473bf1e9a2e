"""Computing a block, in any process: draw its runs, train them, say which one fails."""

import dataclasses
import threading
import time
from collections.abc import Callable, Sequence

import jax
import numpy as np

from learnscope.engine import compile, train
from learnscope.engine.coordinates import room
from learnscope.engine.draw import Batches, draw, source_of, traced
from learnscope.errors import why_of
from learnscope.lab.blocks import Runs
from learnscope.lab.checkpoint import Checkpoint

_TRIES = 3
# One program runs at a time in a process, whichever thread asks: two can wait for ever for threads
# of XLA's pool that the other one holds.
_ALONE = threading.Lock()
Advance = Callable[[float], None]


@dataclasses.dataclass(frozen=True)
class Done:
    """The outcome of a block: its values, or the run that failed (if it is known) and why."""

    values: dict[str, np.ndarray] | None = None
    seconds: float = 0.0
    compilations: int = 0
    compile_seconds: float = 0.0
    failed: int | None = None
    why: str = ""
    error: BaseException | None = None


def work_all(task: Sequence[tuple[Runs, str | None]], *advance: Advance) -> list[Done]:
    """Compute several blocks, given as runs and checkpoint."""
    return [work(runs, checkpoint, *advance) for runs, checkpoint in task]


def work(runs: Runs, checkpoint: str | None, advance: Advance | None = None) -> Done:
    """Compute a block's runs. A failure is traced to the run that fails.

    If no run fails alone (memory that others held, say), the block is tried again from its
    checkpoint, `_TRIES` times in all.
    """
    compile.enable()
    started, before = time.perf_counter(), len(compile.compilations())
    file = Checkpoint(checkpoint, runs.digest) if checkpoint is not None else None
    report, counted = advance or (lambda finished: None), list[float]()

    def count(finished: float) -> None:
        counted.append(finished)
        report(finished)

    values = {}
    for tries in range(1, _TRIES + 1):
        counted.clear()
        try:
            values = compute(runs, count, file)
            break
        except InterruptedError:
            raise
        except Exception as error:
            first = _first_failing(runs)
            if first is not None or tries == _TRIES:
                why = why_of(error) + (f" ({tries} times)" if first is None else "")
                return Done(failed=first, why=why, error=error if advance else None)
            report(-sum(counted))  # a block that is tried again counts once
    spent = compile.compilations()[before:]
    return Done(values, time.perf_counter() - started, len(spent), sum(spent))


def compute(
    runs: Runs, advance: Advance = lambda runs: None, checkpoint: Checkpoint | None = None
) -> dict[str, np.ndarray]:
    """All recorded variables, as NumPy arrays (run, step, ...), and `diverged_at`.

    `advance` is called after each segment with the number of runs (or the fraction of one) that it
    amounts to. With a `checkpoint`, long runs continue from the last segment that was saved.
    """
    with _ALONE, jax.enable_x64(runs.precision == "float64"):
        full = runs.take(np.arange(runs.padded).clip(max=runs.size - 1))
        fixed = traced(runs.experiment, runs.precision, runs.coordinates)
        varying = {path: v.astype(runs.precision) for path, v in full.varying.items()}
        drawn = {path: v for path, v in varying.items() if path.startswith(("data.", "net."))}
        batches = Batches(fixed, varying, full.seeds.astype(np.uint32), runs.batch)
        sources = Batches(source_of(fixed), drawn, batches.seeds, runs.batch)
        problem, params = draw(sources, runs.coordinates, room(runs.experiment, runs.coordinates))
        carry = train.start(batches, problem, params)
        segments, recorded_at = train.cut_segments(runs.experiment, runs.segments)
        first, recorded = 0, []
        if checkpoint is not None and (saved := checkpoint.load(carry)) is not None:
            first, carry, recorded = saved
            advance(runs.size * first / len(segments))
        for number in range(first, len(segments)):
            carry, values = train.segment(batches, problem, carry, segments[number])
            recorded.append(jax.device_get(values))
            advance(runs.size / len(segments))
            if checkpoint is not None and number + 1 < len(segments):
                checkpoint.offer(number + 1, carry, recorded)
        variables = {
            name: np.concatenate([values[name] for values in recorded], 1)[: runs.size, recorded_at]
            for name in recorded[0]
        }
        if runs.experiment.record.final:
            last = jax.device_get(train.finals(batches, problem, carry))
            variables |= {name: values[: runs.size] for name, values in last.items()}
        diverged = np.asarray(carry.diverged_at)[: runs.size]
        return variables | {"diverged_at": np.where(diverged < 0, np.nan, diverged)}


def _first_failing(runs: Runs) -> int | None:
    """The first run that fails, by halves; None if none does when tried again."""

    def fails(ids: np.ndarray) -> bool:
        try:
            compute(runs.take(ids))
        except Exception:
            return True
        return False

    ids = np.arange(runs.size)
    while len(ids) > 1:
        half = ids[: len(ids) // 2]
        ids = half if fails(half) else ids[len(half) :]
    return int(ids[0]) if fails(ids) else None
