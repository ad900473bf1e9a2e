"""`run`: an experiment over axes and seeds, as one labelled dataset."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.lab import coordinates as coords
from learnscope.lab.compilation import compilations
from learnscope.lab.engine import Block, Size, compute, run_size
from learnscope.lab.experiment import Experiment
from learnscope.lab.progress import SweepProgress
from learnscope.lab.results import Results
from learnscope.lab.sweep import Axis, Group, Over, axes, check_names, groups, labels, seed_list

PRECISIONS = ("float32", "float64")


def run(
    experiment: Experiment,
    over: Over = None,
    seeds: int | Iterable[int] = 1,
    coordinates: str = "auto",
    precision: str = "float32",
    *,
    progress: bool = True,
    memory: float = 1e9,
) -> xr.Dataset:
    """Run an experiment for every combination of axis values and every seed.

    `over` maps dotted fields to values: numbers become a batch axis of one program, anything else
    (widths, names, whole rules) a program each; `zipped` fields change together. A seed fixes the
    data and the initial weights whatever the rule and the position in the sweep, so comparisons
    are paired. `memory` is the budget in bytes for the runs computed at one time; at least a chunk
    a core is, which is one run, or several small ones of 64 MB together.

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
    if precision not in PRECISIONS:
        raise BadInput(
            f"precision = {precision!r} is not allowed: it must be one of {', '.join(PRECISIONS)}."
        )
    if not isinstance(experiment, Experiment):
        raise BadInput(f"experiment = {experiment!r} is not allowed: it must be an Experiment.")
    if isinstance(memory, bool) or not isinstance(memory, int | float) or not memory > 0:
        raise BadInput(f"memory = {memory!r} is not allowed: it must be above 0 (bytes).")
    found, listed = axes(over), seed_list(seeds)
    chosen, parts = _plan(experiment, found, coordinates)
    check_names(found, experiment)
    before = compilations()
    sizes = [run_size(group.experiment, chosen, precision) for group in parts]
    _check_room(sizes, chosen)
    results = Results(parts, sizes, found, listed, precision)
    runs = [len(listed) * group.size for group in parts]
    steps = sum(n * group.experiment.steps for n, group in zip(runs, parts, strict=True))
    with SweepProgress(sum(runs), steps, progress) as bar:
        for group, size in zip(parts, sizes, strict=True):
            share = memory / _threads()
            blocks = _blocks(group, listed, chosen, precision, size.chunk, size.block(share), bar)
            for place, values in blocks:
                results.put(group, place, values)
    spent = compilations().since(before)
    return results.dataset().assign_attrs(
        experiment=experiment_text(experiment),
        over=json.dumps({path: labels(axis, path) for axis in found for path in axis.fields}),
        coordinates_used=chosen,
        precision=precision,
        learnscope=version("learnscope"),
        jax=version("jax"),
        compilations=spent.count,
        compile_seconds=round(spent.seconds, 3),
    )


def _check_room(sizes: Sequence[Size], chosen: str) -> None:
    """Say so, before anything is computed, if one run cannot fit this machine."""
    if not hasattr(os, "sysconf"):
        return
    room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    needed = max(size.bytes for size in sizes)
    if needed > room:
        raise BadInput(
            f"one run needs about {needed / 1e9:.3g} GB in {chosen} coordinates, "
            f"and this machine has {room / 1e9:.3g} GB."
        )


def experiment_text(experiment: Experiment) -> str:
    """The experiment as TOML, or as it prints if it holds code."""
    try:
        return experiment.to_toml()
    except BadInput:
        return repr(experiment)


def _plan(experiment: Experiment, found: Sequence[Axis], asked: str) -> tuple[str, list[Group]]:
    """Coordinates for the whole sweep, and its groups in them."""
    trial = groups(experiment, found, ambient=False)
    chosen = coords.choose(asked, trial)
    return chosen, trial if chosen == "compressed" else groups(experiment, found, ambient=True)


def _threads() -> int:
    """How many blocks are computed side by side: one a core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _blocks(
    group: Group,
    seeds: Sequence[int],
    chosen: str,
    precision: str,
    chunk: int,
    largest: int,
    bar: SweepProgress,
) -> Iterator[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """Where the runs of each block belong, and their values; blocks are computed side by side."""
    shape = group.shape
    total = len(seeds) * group.size
    positions = np.unravel_index(np.arange(total), [*shape.values(), len(seeds)])
    at = dict(zip([*shape, "seed"], positions, strict=True))
    size = _even(total, chunk, largest)

    def work(start: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        # The last block is filled up with its last run, so that all have one shape: one program.
        ids = np.arange(start, start + size).clip(max=total - 1)
        varying = {path: values[at[dim][ids]] for path, (dim, values) in group.varying.items()}
        chosen_seeds = np.asarray(seeds)[at["seed"][ids]]
        block = Block(group.experiment, varying, chosen_seeds, chosen, precision, chunk)
        kept = min(size, total - start)
        values = compute(block, lambda steps: bar.advance(steps * kept // size))
        return (
            {dim: index[ids[:kept]] for dim, index in at.items()},
            {name: array[:kept] for name, array in values.items()},
        )

    starts = range(0, total, size)
    if len(starts) == 1:
        yield work(0)
        return
    pool = ThreadPoolExecutor(_threads())
    try:
        yield from pool.map(work, starts)
    except BaseException:
        bar.cancel()  # blocks that are running end with their segment
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _even(total: int, chunk: int, largest: int) -> int:
    """Runs a block: whole chunks, no more than the largest, shared out evenly over the cores."""
    chunks = -(-total // chunk)
    blocks = max(-(-chunks * chunk // largest), min(_threads(), chunks))
    return chunk * -(-chunks // blocks)
