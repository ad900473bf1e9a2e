"""`run`: an experiment over axes and seeds, as one labelled dataset."""

import dataclasses
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from datetime import UTC, datetime
from typing import Any

import numpy as np
import xarray as xr

from learnscope.engine.experiment import Experiment
from learnscope.engine.size import machine_memory
from learnscope.errors import BadInput, why_of
from learnscope.lab.blocks import Block, KnownRuns, Plan
from learnscope.lab.cluster import LocalWorkers, Pool, Workers, workers
from learnscope.lab.progress import SweepProgress, at_floor, divergence
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.writer import StoredResults
from learnscope.lab.sweep import Over
from learnscope.lab.worker import Done, Tasks, work_all
from learnscope.part.code import command, commit, versions
from learnscope.part.units import duration

# Seconds between two looks at what other processes compute, and at whether workers are there.
_POLL, _LOOK = 0.1, 5.0


def run(
    experiment: Experiment,
    over: Over = None,
    seeds: int | Iterable[int] = 1,
    coordinates: str = "auto",
    precision: str = "float32",
    store: str | os.PathLike[str] | None = None,
    cluster: Any = None,
    progress: bool = True,
) -> xr.Dataset:
    """Run an experiment for every combination of axis values and every seed.

    `over` maps dotted fields to values. Numbers become a batch axis of one program; anything else
    (a width, a name, a whole rule) needs one program per value. `zipped` fields change together. A
    seed fixes the data and the initial weights; nothing else about a sweep changes them, so
    comparisons are paired.

    With a `store` (a results folder or a URL), every block of runs is stored when it is done, and
    the dataset reads values when they are needed. A sweep that was killed continues; a stored one
    is not run again; with more values or seeds, only the new runs are computed. `cluster` is a
    number of worker processes, the address of a Dask scheduler or a `dask.distributed.Client`
    (None: this process computes). Neither changes a digit. `report_of(result)` has counts and
    times.

    Variables are named after the probes' outputs, dims after the last part of each field, `seed`
    and `step`. `diverged_at` is the first step at which a run was not finite (NaN: never).

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
    plan = Plan.of(experiment, over, seeds, coordinates, precision)
    data = run_plan(plan, store, cluster, progress)
    if progress:
        report, rounding = report_of(data), ", ".join(at_floor(data))
        reused = report.reuse if report.reused else ""
        floor = f"{rounding} is rounding error in some runs (see the floor of a variable)"
        for sentence in filter(None, (reused, divergence(data), floor if rounding else "")):
            sys.stderr.write(f"learnscope: {sentence}\n")
    return data


def run_plan(
    plan: Plan, store: Any = None, cluster: Any = None, progress: Any = True,
    name: str = "",
) -> xr.Dataset:  # fmt: skip
    """The dataset of a plan; the caller says what was reused. `name` is what a new sweep is called
    in lists: no part of its identity."""
    started = time.perf_counter()
    results = MemoryResults(plan) if store is None else StoredResults(Folder(store), plan, name)
    report = Report(plan.runs, store=results.name)
    missing = results.missing()
    report.reused = plan.runs - sum(block.runs for block in missing)
    report.made = results.made
    begun = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        if missing:
            with workers(cluster) as crew, SweepProgress(plan.runs, report.reused, progress) as bar:
                _Filling(results, missing, report, bar).run(crew, bool(progress))
    finally:
        if missing:
            report.seconds = time.perf_counter() - started
            facts = {"begun": begun, "workers": str(cluster), "command": command()}
            facts |= {"at": commit() or versions()["learnscope"]} | dataclasses.asdict(report)
            results.log({name: facts[name] for name in facts if name not in ("store", "made")})
        results.tidy()
    return report.on(results.dataset())


@dataclasses.dataclass
class Report:
    """What a call of `run` did, to be shown and for the manifest of a stored sweep."""

    trainings: int = 0
    computed: int = 0
    reused: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    compilations: int = 0
    store: str | None = None
    made: str = ""  # when reused runs were computed, and by which version

    @staticmethod
    def of(reports: "Iterable[Report]") -> "Report":
        """The sum of several reports."""
        listed, names = list(reports), [f.name for f in dataclasses.fields(Report)][:-2]
        sums: Any = {name: sum(getattr(each, name) for each in listed) for name in names}
        made = next((each.made for each in listed if each.reused and each.made), "")
        return Report(**sums, made=made)

    @property
    def reuse(self) -> str:
        """What came from the store."""
        made = f", {self.made}" if self.made else ""
        return f"reused {self.trainings - self.computed} of {self.trainings} runs{made}"

    def on(self, data: xr.Dataset) -> xr.Dataset:
        """Attach this report to a dataset, beside its values: it is never written with them."""
        data.encoding["report"] = self
        return data

    def __str__(self) -> str:
        words = [f"{self.computed} trainings in {duration(self.seconds)}"]
        if self.computed:
            words[0] += f" ({self.computed / max(self.seconds, 1e-9):.3g} a second)"
            words.append(f"of which {self.compile_seconds:.1f} s compiling")
        if self.trainings > self.computed:
            words.append(self.reuse)
        return ", ".join(words)


def report_of(data: xr.Dataset) -> Report:
    """What a result of `run` (or of `boundary`, or of a study's sweep) took."""
    return data.encoding.get("report") or Report()


class MemoryResults:
    """Room for all runs of a plan in this process's memory, filled block by block.

    `StoredResults` has the same methods; `name` is how to find results again.
    """

    name: str | None = None
    made = ""

    def __init__(self, plan: Plan):
        plan.check_fits(machine_memory(), "memory")
        self.plan, named = plan, plan.variables.items()
        room = {name: v.copy(data=np.full(v.shape, np.nan, v.dtype)) for name, v in named}
        self._data = plan.coords().assign(room)

    def missing(self) -> list[Block]:
        """The blocks that are not there yet, in the order in which to compute them."""
        return list(self.plan.blocks)

    def known(self, block: Block) -> KnownRuns | None:
        """The runs of a block that need not be computed; None if all of it is there by now."""
        return self.plan.blank(block)

    def take(self, block: Block) -> bool:
        """Whether a block is ours to compute: no other process is at it."""
        return True

    def give(self, block: Block) -> None:
        """Say that a block is no longer being computed here."""

    def checkpoint(self, block: Block) -> str | None:
        """The file for checkpoints of a block, if there can be one."""

    def put(self, block: Block, values: dict[str, np.ndarray], seconds: float) -> None:
        """Store a whole block, which took so many seconds."""
        for name, array in values.items():
            self._data[name].values[block.region] = array

    def tidy(self) -> None:
        """Clean up after a run, and after earlier ones that were killed."""

    def log(self, session: dict[str, Any]) -> None:
        """Note what a session did; memory keeps no log."""

    def dataset(self) -> xr.Dataset:
        """The labelled arrays."""
        return self._data


Results = MemoryResults | StoredResults


class _Filling:
    """A sweep that is being computed: each block is stored as soon as it is there."""

    def __init__(self, results: Results, missing: list[Block], report: Report, bar: SweepProgress):
        self.results, self.report, self.bar = results, report, bar
        self.tasks = Tasks(results.plan, missing)
        # Blocks on their way, with their runs that are known, and who computes them.
        self.running = dict[Future[list[Done]], tuple[list[tuple[Block, KnownRuns]], Pool]]()
        self.failures = list[tuple[Block, Done]]()
        self.elsewhere = list[Block]()  # at another process

    def run(self, crew: Workers, show: bool) -> None:
        """Compute the missing blocks."""
        try:
            while True:
                self.bar.check()
                choice = isinstance(crew, LocalWorkers)
                self.submit(crew.expect(self.tasks, show) if choice else crew)
                if not self.running and not self.elsewhere:
                    break
                if not self.running:  # what is left is being computed by other processes
                    time.sleep(_POLL)
                either: list[Future[Any]] = [*self.running, *crew.coming]
                for future in wait(either, _LOOK, FIRST_COMPLETED).done:
                    if future in self.running:
                        self.collect(future)
        except BaseException:
            self.bar.cancel()  # threads end with their segment
            for future in self.running:
                future.cancel()
            raise
        if self.failures:
            raise self._failed()

    def submit(self, pool: Pool) -> None:
        """Submit tasks: twice as many as there are workers, so that no worker waits."""
        count = pool.count
        while self.elsewhere:
            self.tasks.again(self.elsewhere.pop())
        while len(self.running) < 2 * count:
            idle = len(self.running) < count
            blocks = self.tasks.next() if pool.here else self.tasks.share(count, idle)
            if not blocks:
                return
            unknown = [(block, known) for block in blocks if (known := self._known(block))]
            if unknown:
                self._send(unknown, pool)

    def _known(self, block: Block) -> KnownRuns | None:
        """The runs of a block that need no computing; None if there is nothing to do here now."""
        if not self.results.take(block):
            self.elsewhere.append(block)
            return None
        known = self.results.known(block)
        there = block.runs if known is None else int(known.mask.sum())
        self.report.reused += there
        if there:
            self.bar.advance(there)
        if there < block.runs:
            return known
        if known is not None:  # else another process was faster
            self.results.put(block, known.values, 0.0)
        self.results.give(block)
        self.tasks.back(block)
        return None

    def _send(self, blocks: list[tuple[Block, KnownRuns]], pool: Pool) -> None:
        plan, checkpoint = self.results.plan, self.results.checkpoint
        work = [(plan.runs_of(b, ~known.mask), checkpoint(b)) for b, known in blocks]
        advance = (self.bar.advance,) if pool.here else ()
        self.running[pool.submit(work_all, work, *advance)] = blocks, pool

    def collect(self, future: Future[list[Done]]) -> None:
        """Store what a task has computed."""
        blocks, pool = self.running.pop(future)
        try:
            outcomes = future.result()
        except InterruptedError:
            raise
        except Exception as error:  # workers were lost, too often
            if len(blocks) > 1:  # which block is to blame?
                for each in blocks:
                    self._send([each], pool)
                return
            outcomes = [Done(why=why_of(error))]
        for (block, known), done in zip(blocks, outcomes, strict=True):
            self.tasks.back(block, done)
            self.report.compile_seconds += done.compile_seconds
            self.report.compilations += done.compilations
            if done.values is None:
                self.failures.append((block, done))
                if self.results.name is None:
                    raise self._failed()
            else:
                self.results.plan.place(block, known, done.values)
                self.results.put(block, known.values, done.seconds)
                computed = int((~known.mask).sum())
                self.report.computed += computed
                if not pool.here:
                    self.bar.advance(computed)
            self.results.give(block)

    def _failed(self) -> BaseException:
        """One sentence that names the failed setting; or the error itself, with its traceback, if
        it was raised in this process and nothing was stored."""
        plan, stored, (block, done) = self.results.plan, self.results.name, self.failures[0]
        where = plan.words(block, done.failed)
        if done.error is not None and not stored:
            done.error.add_note(f"This was the run at {where}.")
            return done.error
        many = f" ({len(self.failures)} of {len(plan.blocks)} blocks failed)"
        more = many * (len(self.failures) > 1) + "; the other blocks are stored" * bool(stored)
        failed = BadInput(f"the run at {where} failed: {done.why}{more}.")
        failed.__cause__ = done.error
        return failed
