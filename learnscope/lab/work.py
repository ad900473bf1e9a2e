"""What a thread or a worker does: compute a block, or say which of its runs fails."""

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from learnscope.errors import BadInput
from learnscope.lab import cache
from learnscope.lab.checkpoint import Checkpoint
from learnscope.lab.compilation import compilations
from learnscope.lab.engine import Block, compute


@dataclasses.dataclass(frozen=True)
class Done:
    """What computing a block gave: its values, or the run that failed and why."""

    values: dict[str, np.ndarray] | None = None
    seconds: float = 0.0
    compilations: int = 0
    compile_seconds: float = 0.0
    failed: int = 0
    why: str = ""
    error: BaseException | None = None


def work(
    block: Block, checkpoint: str | None, advance: Callable[[float], None] | None = None
) -> Done:
    """Compute a block, wherever this is called. A failure is traced to the run that fails."""
    cache.enable()
    kept = Checkpoint(checkpoint) if checkpoint is not None else None
    told = advance or (lambda runs: None)
    started, before = time.perf_counter(), compilations()
    try:
        values = compute(block, told, kept)
    except InterruptedError:
        raise
    except Exception as error:
        first = _first_failing(block)
        if first is None:  # it went away: memory that others held, say
            return work(block, None)
        return Done(failed=first, why=why_of(error), error=error if advance else None)
    spent = compilations().since(before)
    return Done(values, time.perf_counter() - started, spent.count, spent.seconds)


def _first_failing(block: Block) -> int | None:
    """The first run of a block that fails, by halves; None if none does when tried again."""
    ids = np.arange(block.size)
    while len(ids) > 1:
        half = ids[: len(ids) // 2]
        ids = half if _fails(block.take(half)) else ids[len(half) :]
    return int(ids[0]) if _fails(block.take(ids)) else None


def _fails(block: Block) -> bool:
    try:
        compute(block)
    except Exception:
        return True
    return False


def why_of(error: BaseException) -> str:
    text = str(error) if isinstance(error, BadInput) else f"{type(error).__name__}: {error}"
    lines = [line for line in text.splitlines() if line.strip()] or [type(error).__name__]
    # Equinox puts stacks before what it has to say.
    return lines[-1 if "stack outside of JIT" in lines[0] else 0].strip().rstrip(".")
