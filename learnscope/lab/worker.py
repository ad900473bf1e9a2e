"""Work: the blocks that go to a worker together (`Tasks`), and computing a block in any process:
draw its runs, train them, say which one fails."""

import bisect
import dataclasses
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

import jax
import numpy as np

from learnscope.engine import size, train
from learnscope.engine.draw import Batches, draw, source_of, traced
from learnscope.engine.experiment import room
from learnscope.engine.program import cache_programs, compilations
from learnscope.errors import why_of
from learnscope.lab.blocks import Block, Plan, Runs, joined
from learnscope.lab.checkpoint import Checkpoint

_BLOCK = 0.01  # seconds of a block beside its steps
PROGRAM = 2.0  # seconds to trace and compile a program
_PACE = 0.3  # of nominal seconds are assumed until blocks were timed: no worker is started in vain
_TASK = 1.0  # seconds of work in a task of several blocks
_TRIES = 3
_TRACED = 2  # the try after which the run that fails is looked for
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


class Tasks:
    """The missing blocks of a plan, as they are handed out.

    Seconds follow from the sizes of arrays and the number of steps, corrected by how long blocks
    took that needed no compiling.
    """

    def __init__(self, plan: Plan, missing: list[Block]):
        self._plan, self._waiting = plan, dict[int, deque[Block]]()
        for block in missing:
            self._waiting.setdefault(block.program, deque()).append(block)
        self._cold = set(self._waiting)  # programs of which no block was handed out
        self._compiling = set[int]()  # those of which blocks were, and none is back
        self._each = {program: self._nominal(program) for program in self._waiting}
        self._all = self._waits()
        self._measured, self._expected = 0.0, 0.0

    def _nominal(self, program: int) -> float:
        """Seconds that a block of a program should take: it is padded to whole batches."""
        run, steps = self._plan.sizes[program], self._plan.programs[program].experiment.steps
        batches = -(-math.prod(self._plan.block_shape) // run.batch)
        return _BLOCK + batches * run.seconds(steps)

    @property
    def _pace(self) -> float:
        return self._measured / self._expected if self._expected else _PACE

    def _waits(self) -> float:
        """Nominal seconds of the blocks that were not handed out yet."""
        return sum(len(blocks) * self._each[program] for program, blocks in self._waiting.items())

    @property
    def left(self) -> float:
        """Seconds of work that was not handed out yet, on one core."""
        return self._waits() * self._pace + len(self._cold) * PROGRAM

    @property
    def all(self) -> float:
        """Seconds of all of the work, without compiling."""
        return self._all * self._pace

    @property
    def longest(self) -> float:
        """Seconds of the longest block that was not handed out yet."""
        return max((self._each[program] for program in self._waiting), default=0.0) * self._pace

    def next(self) -> list[Block]:
        """For this process: the next block, program by program in the order of the blocks given."""
        return [self._pop(next(iter(self._waiting)))] if self._waiting else []

    def share(self, workers: int, idle: bool) -> list[Block]:
        """For a worker: blocks of one program, a second of work, less near the end of the sweep.

        Programs take turns, and the first task of each is one block: workers begin with different
        programs, and find each other's compiled ones in the cache. A program that is being compiled
        is not handed out again, except to a worker that would be `idle` otherwise.
        """
        ready = [program for program in self._waiting if program not in self._compiling]
        ready += list(self._waiting) if idle else []
        if not ready:
            return []
        program = ready[0]
        seconds = 0.0 if program in self._cold else min(_TASK, self.left / (2 * workers))
        results = self._plan.sizes[program].recorded * math.prod(self._plan.block_shape)
        most = min(len(self._waiting[program]), size.LIMITS.block_results // results)
        count = max(1, min(most, int(seconds / (self._each[program] * self._pace))))
        task = [self._pop(program) for _ in range(count)]
        if program in self._waiting:  # to the end of the line
            self._waiting[program] = self._waiting.pop(program)
        return task

    def _pop(self, program: int) -> Block:
        block = self._waiting[program].popleft()
        if not self._waiting[program]:
            del self._waiting[program]
        if program in self._cold:
            self._cold.remove(program)
            self._compiling.add(program)
        return block

    def again(self, block: Block) -> None:
        """Take back a block that was handed out in vain, to the end of its program's line."""
        self._waiting.setdefault(block.program, deque()).append(block)
        self._compiling.discard(block.program)

    def back(self, block: Block, done: Done | None = None) -> None:
        """Say that a block is there, and what became of it if it was computed."""
        self._compiling.discard(block.program)
        if done is not None and done.values is not None and not done.compilations:
            self._measured += done.seconds
            self._expected += self._each[block.program]


def work_all(task: Sequence[tuple[Runs, str | None]], *advance: Advance) -> list[Done]:
    """Compute several blocks, given as runs and checkpoint."""
    return [work(runs, checkpoint, *advance) for runs, checkpoint in task]


def work(runs: Runs, checkpoint: str | None, advance: Advance | None = None) -> Done:
    """Compute a block's runs. A block that fails is tried again from its checkpoint, since the
    reason may pass (memory that others held, say); if it fails again, the failure is traced to the
    run that fails. If none does alone, the block is tried `_TRIES` times in all.
    """
    cache_programs()
    started, before = time.perf_counter(), len(compilations())
    file = Checkpoint(checkpoint, runs.digest) if checkpoint is not None else None
    report, counted, tries = advance or (lambda finished: None), list[float](), 0

    def count(finished: float) -> None:
        counted.append(finished)
        report(finished)

    while True:
        counted.clear()
        tries += 1
        try:
            values = compute(runs, count, file)
        except InterruptedError:
            raise
        except Exception as error:
            first = _first_failing(runs) if tries == _TRACED else None
            if first is not None or tries == _TRIES:
                why = why_of(error) + (f" ({tries} times)" if first is None else "")
                return Done(failed=first, why=why, error=error if advance else None)
            report(-sum(counted))  # a block that is tried again counts once
        else:
            spent = compilations()[before:]
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
        segments = train.cut_segments(runs.experiment, runs.segments)
        first, recorded = 0, []
        if checkpoint is not None and (saved := checkpoint.load(carry)) is not None:
            first, carry, recorded = saved
            advance(runs.size * first / len(segments))
        for number in range(first, len(segments)):
            carry, values = train.segment(batches, problem, carry, segments[number])
            kept = segments[number][:, 2] == 1
            recorded.append({name: read[:, kept] for name, read in jax.device_get(values).items()})
            save = checkpoint if number + 1 < len(segments) else None
            try:
                advance(runs.size / len(segments))
            except InterruptedError:
                if save is not None:
                    save.write(number + 1, carry, recorded)
                raise
            if save is not None:
                save.offer(number + 1, carry, recorded)
        variables = joined(recorded)
        if runs.experiment.record.final:
            variables |= jax.device_get(train.finals(batches, problem, carry))
        diverged = np.asarray(carry.diverged_at)
        variables["diverged_at"] = np.where(diverged < 0, np.nan, diverged)
        return {name: values[: runs.size] for name, values in variables.items()}


def _first_failing(runs: Runs) -> int | None:
    """The first run that fails, by halves; None if none does when tried again."""

    def fails(last: int) -> bool:
        try:
            compute(runs.take(np.arange(last + 1)))
        except Exception:
            return True
        return False

    first = bisect.bisect_left(range(runs.size), True, key=fails)
    return first if first < runs.size else None
