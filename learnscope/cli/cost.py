"""What commands will cost, announced before they start if it takes long."""

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from learnscope.engine.experiment import Record
from learnscope.engine.size import Size, machine_memory
from learnscope.errors import BadInput
from learnscope.lab.blocks import Plan, Plans, nominal
from learnscope.lab.processes import cores
from learnscope.lab.store import identity
from learnscope.lab.store.checked import MARK
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.reuse import reusable
from learnscope.lab.sweep import Axis, Program
from learnscope.lab.worker import PROGRAM, compute
from learnscope.part.units import amount, duration

LONG, LIMIT = 60.0, 86_400.0  # seconds: longer is announced; longer needs a yes
_SHORT, _SHARE = 1.0, 1 / 500  # nominal seconds, and share of a budget, not worth a measurement
_TRIAL = 0.05  # such seconds between two looks at the clock


def announce(
    plans: Plans, store: str | None, say: Callable[[str], None], yes: bool, workers: int = 1
) -> None:
    """Say what long sweeps will take; beyond a limit, ask for a yes."""
    for plan, _ in plans:
        plan.check_fits(machine_memory(), "memory")  # commands draw what they compute
    if store is not None and nominal(plans) > LONG / 4:
        folder = Folder(store)
        plans = [(p, times * _missing(p, folder, related=True).mean()) for p, times in plans]
    total, seconds, slower = nominal(plans), 0.0, 0.0
    if total <= LONG / 4:
        return
    for each in sorted(plans, key=lambda each: -nominal([each])):
        if not slower or nominal([each]) > total / 5:
            slower = _slower(each[0])
        compiling = PROGRAM * len(each[0].programs) * (each[1] > 0)
        seconds += (nominal([each]) * slower + compiling) / min(workers, cores())
    runs = round(sum(plan.runs * times for plan, times in plans))
    size = amount(sum(plan.bytes * times for plan, times in plans))
    words = f"about {duration(seconds)} on this machine: {runs:,} trainings, {size}"
    if seconds > LIMIT and not yes:
        raise BadInput(f"this would take {words} of results; more than a day needs --yes.")
    if seconds > LONG:
        say(f"{words} of results.")


def measured(
    sweeps: list[Plans], store: str, budget: float, say: Callable[[str], None], workers: int = 1
) -> list[float]:
    """Seconds that each of some sweeps will still take, by what its stored runs took, or by a few
    steps of every long arm, for a tenth of the budget at most. Others are as slow as those are in
    the middle."""
    folder, ratios, found, begun = Folder(store), [], [], time.monotonic()
    for number, plans in enumerate(sweeps, 1):
        say(f"measuring {number} of {len(sweeps)} sweeps")
        for plan, times in plans:
            missing = _missing(plan, folder)
            expected = nominal([(plan, times * missing.mean())])
            ratio = None if expected == 0 else _stored_ratio(plan, folder, missing)
            late = time.monotonic() - begun > budget / 10
            if ratio is None and expected > max(_SHORT, _SHARE * budget) and not late:
                ratio = _slower(plan)
            ratios += [] if ratio is None else [ratio]
            found.append((number, expected, ratio, len(plan.programs) * bool(missing.any())))
    middle = float(np.median(ratios)) if ratios else 1.0
    side = min(workers, cores())
    return [sum(expected * (ratio or middle) + cold * PROGRAM
                for of, expected, ratio, cold in found if of == number) / side
            for number in range(1, len(sweeps) + 1)]  # fmt: skip


def _stored_ratio(plan: Plan, folder: Folder, missing: np.ndarray) -> float | None:
    """Seconds of stored runs for each nominal one; None if there are none."""
    if missing.all():
        return None
    took = np.asarray(folder.stored(identity.identity(plan)).array(MARK)[...])[~missing]
    return float(took.mean()) * plan.runs / nominal([(plan, 1)])


def _missing(plan: Plan, folder: Folder, related: bool = False) -> np.ndarray:
    """The runs that a store does not hold (if `related`, nor do its other sweeps), as a mask."""
    name, missing = identity.identity(plan), np.ones(plan.shape, bool)
    if folder.document(name) is not None:
        missing = ~folder.stored(name).finished()
    for other in reusable(folder, plan, name) if related else []:
        missing &= ~other.held
    return missing


def _batch(program: Program, size: Size) -> float:
    return size.seconds(program.experiment.steps)


def _slower(plan: Plan) -> float:
    """Seconds by the clock for each nominal one: one batch is drawn and trained for a few steps."""
    program, size = max(zip(plan.programs, plan.sizes, strict=True), key=lambda b: _batch(*b))
    experiment, expected = program.experiment, _batch(program, size)
    steps, every = experiment.steps, experiment.record.every
    few = max(1, min(steps // 3, int(_TRIAL / expected * steps)))
    few, between = (few - few % every, every) if every < few else (few, 3 * few)
    over = [Axis(axis.dim, {path: given[:1] for path, given in axis.fields.items()})
            for axis in plan.axes if axis.dim not in program.place]  # fmt: skip
    try:
        short = experiment.replace("record", Record(between, start=False))
        short = short.replace("steps", min(3 * few, steps))
        trial = Plan.of(short, over, size.batch, plan.coordinates, plan.precision)
        runs = trial.runs_of(trial.blocks[0])
        runs = dataclasses.replace(runs, batch=size.batch, padded=size.batch, segments=3)
        compute(runs)  # compiles
        times = [time.perf_counter()]
        compute(runs, lambda runs: times.append(time.perf_counter()))
    except Exception:  # whatever it is, the run itself will say it
        return 1.0
    first, second, third = np.diff(times)[:3]
    record = max(0.0, third - second) * (steps // every + 1 if between > every else 0)
    return (max(0.0, first - second) + second * steps / few + record) / expected
