"""Tasks: the blocks that go to a worker together, and how long they will take."""

import math
from collections import deque

from learnscope.engine import size
from learnscope.lab.blocks import Block, Plan
from learnscope.lab.worker import Done

# Bytes that a core passes over in a second; seconds of the least step, and of a block beside steps.
_SPEED, _STEP, _BLOCK = 3e9, 5e-6, 0.01
_PROGRAM = 2.0  # seconds to trace and compile a program
_PACE = 0.3  # of such seconds are assumed until blocks were timed: no worker is started in vain
_TASK = 1.0  # seconds of work in a task of several blocks


class Tasks:
    """The missing blocks of a plan, as they are handed out.

    Seconds follow from the sizes of arrays and the number of steps, corrected by how long blocks
    took that needed no compiling.
    """

    def __init__(self, plan: Plan, missing: list[Block]):
        self._plan, self._waiting = plan, dict[int, deque[tuple[int, Block]]]()
        for place, block in enumerate(missing):
            self._waiting.setdefault(block.program, deque()).append((place, block))
        self._cold = set(self._waiting)  # programs of which no block was handed out
        self._compiling = set[int]()  # those of which blocks were, and none is back
        self._each = {program: self._nominal(program) for program in self._waiting}
        self._all = self._left = sum(len(q) * self._each[p] for p, q in self._waiting.items())
        self._measured, self._expected = 0.0, 0.0

    def _nominal(self, program: int) -> float:
        """Seconds that a block of a program should take: it is padded to whole batches."""
        run, steps = self._plan.sizes[program], self._plan.programs[program].experiment.steps
        batches = -(-math.prod(self._plan.block_shape) // run.batch)
        return _BLOCK + batches * max(run.work * run.batch / _SPEED, steps * _STEP)

    def _fits(self, program: int, blocks: int) -> bool:
        """Whether the results of so many blocks may be sent at once."""
        each = self._plan.sizes[program].recorded * math.prod(self._plan.block_shape)
        return blocks * each <= size.LIMITS.block_results

    @property
    def _pace(self) -> float:
        return self._measured / self._expected if self._expected else _PACE

    @property
    def left(self) -> float:
        """Seconds of work that was not handed out yet, on one core."""
        if not self._waiting:
            return 0.0
        return self._left * self._pace + len(self._cold) * _PROGRAM

    @property
    def all(self) -> float:
        """Seconds of all of the work, without compiling."""
        return self._all * self._pace

    def next(self) -> list[Block]:
        """For this process: the next block, in the order in which they were given."""
        if not self._waiting:
            return []
        return [self._pop(min(self._waiting, key=lambda program: self._waiting[program][0][0]))]

    def share(self, workers: int, idle: bool) -> list[Block]:
        """For a worker: blocks of one program, a second of work, less near the end of the sweep.

        Programs take turns, and the first task of each is one block: workers begin with different
        programs, and find each other's compiled ones in the cache. A program that is being compiled
        is not handed out again, except to a worker that would be `idle` otherwise.
        """
        ready = [program for program in self._waiting if program not in self._compiling]
        if not ready and not idle:
            return []
        program = next(iter(ready or self._waiting), None)
        if program is None:
            return []
        limit = 0.0 if program in self._cold else min(_TASK, self.left / (2 * workers))
        task, each = [self._pop(program)], self._each[program] * self._pace
        while program in self._waiting and (more := len(task) + 1) * each <= limit:
            if not self._fits(program, more):
                break
            task.append(self._pop(program))
        if program in self._waiting:  # to the end of the line
            self._waiting[program] = self._waiting.pop(program)
        return task

    def _pop(self, program: int) -> Block:
        _, block = self._waiting[program].popleft()
        if not self._waiting[program]:
            del self._waiting[program]
        if program in self._cold:
            self._cold.remove(program)
            self._compiling.add(program)
        self._left -= self._each[program]
        return block

    def again(self, block: Block) -> None:
        """Take back a block that was handed out in vain, to the end of the line."""
        last = 1 + max((place for line in self._waiting.values() for place, _ in line), default=0)
        self._waiting.setdefault(block.program, deque()).append((last, block))
        self._compiling.discard(block.program)
        self._left += self._each[block.program]

    def back(self, block: Block, done: Done | None = None) -> None:
        """Say that a block is there, and what became of it if it was computed."""
        self._compiling.discard(block.program)
        if done is not None and done.values is not None and not done.compilations:
            self._measured += done.seconds
            self._expected += self._each[block.program]
