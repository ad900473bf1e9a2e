"""`run`: an experiment over axes and seeds, as one labelled dataset."""

import dataclasses
import itertools
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from datetime import UTC, datetime
from typing import Any

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.lab import cache
from learnscope.lab.checkpoint import Checkpoint
from learnscope.lab.cluster import Workers, workers
from learnscope.lab.compilation import compilations
from learnscope.lab.experiment import Experiment
from learnscope.lab.filling import InStore
from learnscope.lab.plan import Box, Plan
from learnscope.lab.progress import SweepProgress, duration
from learnscope.lab.results import AbstractResults, InMemory
from learnscope.lab.store import Folder
from learnscope.lab.sweep import Over
from learnscope.lab.work import Done, why_of, work


def run(
    experiment: Experiment,
    over: Over = None,
    seeds: int | Iterable[int] = 1,
    coordinates: str = "auto",
    precision: str = "float32",
    store: str | os.PathLike[str] | None = None,
    cluster: Any = None,
    progress: bool = True,
    *,
    memory: float = 1e9,
) -> xr.Dataset:
    """Run an experiment for every combination of axis values and every seed.

    `over` maps dotted fields to values: numbers become a batch axis of one program, anything else
    (widths, names, whole rules) a program each; `zipped` fields change together. A seed fixes the
    data and the initial weights whatever the rule and the position in the sweep, so comparisons
    are paired.

    With a `store` (a results folder or a URL) every block of runs is kept as it is done, and the
    dataset reads its values when they are asked for. A sweep that was killed continues, one that is
    there is not run again, and one with more values or seeds runs only those. `cluster` is a
    number of worker processes, the address of a Dask scheduler or a `dask.distributed.Client`;
    None is this process. Neither changes a digit.

    `memory` is the budget in bytes for the runs that this process (or each worker) computes at one
    time; at least a chunk a core is, which is one run, or several small ones of 64 MB together.

    Variables are named after the probes' outputs, dims after the last part of each field; `seed`
    and `step` come with them, and `diverged_at` says where a run left the finite numbers (NaN:
    nowhere).

    >>> import learnscope as ls
    >>> experiment = ls.Experiment(
    ...     data=ls.data.SignalNoise(dim=400, train=20, test=50, signal=1.0, noise=0.5),
    ...     net=ls.nets.PatchCNN(width=10),
    ...     rule=ls.rules.GradientDescent(rate=0.02),
    ...     steps=20,
    ... )
    >>> ls.run(experiment, over={"data.noise": [0.1, 0.5]}, seeds=3, progress=False).loss.shape
    (2, 3, 21)
    """
    return run_and_report(
        experiment, over, seeds, coordinates, precision, store, cluster, progress, memory=memory
    )[0]


@dataclasses.dataclass
class Report:
    """What a call of `run` did: for people, and for the manifest of a stored sweep."""

    trainings: int = 0
    computed: int = 0
    reused: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    compilations: int = 0
    store: str | None = None

    @staticmethod
    def of(reports: "Iterable[Report]") -> "Report":
        """Several as one."""
        total = Report()
        for each in reports:
            for name in ("trainings", "computed", "reused", "seconds", "compile_seconds",
                         "compilations"):  # fmt: skip
                setattr(total, name, getattr(total, name) + getattr(each, name))
        return total

    def __str__(self) -> str:
        there = self.trainings - self.computed
        told = [f"{self.computed} trainings in {duration(self.seconds)}"]
        if self.computed:
            told[0] += f" ({self.computed / max(self.seconds, 1e-9):.3g} a second)"
            told.append(f"of which {self.compile_seconds:.1f} s compiling")
        if there:
            told.append(f"{there} were stored before")
        return ", ".join(told)


def run_and_report(
    experiment: Experiment,
    over: Over = None,
    seeds: int | Iterable[int] = 1,
    coordinates: str = "auto",
    precision: str = "float32",
    store: str | os.PathLike[str] | None = None,
    cluster: Any = None,
    progress: bool = True,
    *,
    memory: float = 1e9,
) -> tuple[xr.Dataset, Report]:
    """`run`, and a report of what it took."""
    if isinstance(memory, bool) or not isinstance(memory, int | float) or not memory > 0:
        raise BadInput(f"memory = {memory!r} is not allowed: it must be above 0 (bytes).")
    cache.enable()
    started, before = time.perf_counter(), compilations()
    plan = Plan.of(experiment, over, seeds, coordinates, precision)
    results = InMemory(plan) if store is None else InStore(Folder(store), plan)
    report = Report(plan.runs, store=results.name)
    missing = results.missing()
    report.reused = plan.runs - sum(box.runs for box in missing)
    if missing:
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            with workers(cluster) as pool:
                _fill(results, missing, pool, memory, report, progress)
        finally:
            spent = compilations().since(before)
            report.seconds = time.perf_counter() - started
            report.compilations += spent.count
            report.compile_seconds += spent.seconds
            facts = dataclasses.asdict(report) | {"begun": begun, "workers": str(cluster)}
            results.log({key: value for key, value in facts.items() if key != "store"})
    return results.dataset(), report


def _fill(
    results: AbstractResults,
    missing: list[Box],
    pool: Workers,
    memory: float,
    report: Report,
    show: bool,
) -> None:
    """Compute the missing boxes, side by side, and put each in its place as soon as it is there."""
    plan, failures = results.plan, []
    stored = results.name is not None
    share = memory / pool.count if pool.here else memory
    there = plan.runs - sum(box.runs for box in missing)
    with SweepProgress(plan.runs, there, show) as bar:
        ordered = missing if pool.here else _in_turns(missing)
        tasks = _tasks(results, ordered, pool, share, bar, report)
        running: dict[Future[Done], tuple[Box, dict | None]] = {}
        try:
            while True:
                # Twice as many as are computed, so that none who computes has to wait.
                room = max(0, 2 * pool.count - len(running))
                for future, box, known in itertools.islice(tasks, room):
                    running[future] = (box, known)
                if not running:
                    break
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    box, known = running.pop(future)
                    done = _outcome(future)
                    if done.values is None:
                        failures.append((box, done))
                        if not stored:
                            raise _failed(plan, failures, stored)
                        continue
                    _put(results, box, known, done)
                    new = box.runs if known is None else int((~known["known"]).sum())
                    report.computed += new
                    if not pool.here:
                        report.compile_seconds += done.compile_seconds
                        report.compilations += done.compilations
                        bar.advance(new)
        except BaseException:
            bar.cancel()  # threads end with their segment
            for future in running:
                future.cancel()
            raise
    if failures:
        raise _failed(plan, failures, stored)


def _in_turns(boxes: list[Box]) -> list[Box]:
    """A box of every program, then a second of each, ...: workers begin with different programs,
    and later find each other's compiled ones in the cache."""
    seen: Counter[int] = Counter()
    turns = []
    for box in boxes:
        turns.append((seen[box.group], len(turns), box))
        seen[box.group] += 1
    return [box for _, _, box in sorted(turns, key=lambda turn: turn[:2])]


def _tasks(
    results: AbstractResults,
    missing: list[Box],
    pool: Workers,
    memory: float,
    bar: SweepProgress,
    report: Report,
) -> Iterator[tuple[Future[Done], Box, dict[str, np.ndarray] | None]]:
    """Submit boxes as they are asked for; those that need no computing are put on the way."""
    plan = results.plan
    for box in missing:
        if results.has(box):  # another process was faster
            report.reused += box.runs
            bar.advance(box.runs)
            continue
        known = results.known(box)
        held = None if known is None else known["known"]
        if held is not None:
            bar.advance(int(held.sum()))
            report.reused += int(held.sum())
            if held.all():
                assert known is not None
                results.put(box, known, 0.0)
                continue
        block = plan.block(box, memory, None if held is None else ~held.ravel())
        advance = (bar.advance,) if pool.here else ()
        yield pool.submit(work, block, results.checkpoint(box), *advance), box, known


def _put(
    results: AbstractResults, box: Box, known: dict[str, np.ndarray] | None, done: Done
) -> None:
    assert done.values is not None
    if known is None:
        values = results.plan.place(box, done.values)
    else:
        values = {name: array for name, array in known.items() if name != "known"}
        ids = np.flatnonzero(~known["known"].ravel())
        everything = {
            name: np.zeros((box.runs, *array.shape[1:]), array.dtype)
            for name, array in done.values.items()
        }
        for name, array in done.values.items():
            everything[name][ids] = array
        fresh = results.plan.place(box, everything)
        for name, array in values.items():
            array[~known["known"]] = fresh[name][~known["known"]]
    results.put(box, values, done.seconds)
    checkpoint = results.checkpoint(box)
    if checkpoint is not None:
        Checkpoint(checkpoint).clear()


def _outcome(future: Future[Done]) -> Done:
    """What a future gave; a worker that was lost too often is a failure of its block."""
    try:
        return future.result()
    except (InterruptedError, KeyboardInterrupt):
        raise
    except Exception as error:
        return Done(failed=-1, why=why_of(error))


def _failed(plan: Plan, failures: list[tuple[Box, Done]], stored: bool) -> BaseException:
    """Which setting failed, in one sentence; or the error itself, with its traceback, if it was
    raised in this process and nothing was stored."""
    box, done = failures[0]
    where = plan.words(box, done.failed if done.failed >= 0 else None)
    if done.error is not None and not stored:
        done.error.add_note(f"This was the run at {where}.")
        return done.error
    more = f" ({len(failures)} of {len(plan.boxes)} blocks failed)" if len(failures) > 1 else ""
    after = "; the other blocks are stored" if stored else ""
    failed = BadInput(f"the run at {where} failed: {done.why}{more}{after}.")
    failed.__cause__ = done.error
    return failed
