"""What cannot be done is refused in one sentence, before anything is allocated or stored."""

import dataclasses
import importlib
import itertools
import resource
import time
from types import SimpleNamespace

import numpy as np
import pytest

import learnscope as ls
from learnscope.cli import cost
from learnscope.engine import size
from learnscope.lab.blocks import Plan
from learnscope.lab.progress import SweepProgress
from learnscope.lab.store import writer
from learnscope.lab.worker import compute
from tests.small import NOISE, experiment, refused, reported


@pytest.mark.parametrize("seeds", [2**31, 10**400, range(2**31), itertools.count()], ids=str)
def test_too_many_seeds(seeds):
    refused(lambda: ls.run(experiment(), seeds=seeds), "too many seeds: 10,000,000 are allowed")


def test_too_many_runs_recorded_steps_or_entries_of_an_array(monkeypatch):
    over = dict.fromkeys(("data.noise", "rule.rate"), range(1, 10_001))
    refused(lambda: ls.run(experiment(), over, seeds=2), "too many runs")
    monkeypatch.setattr(size, "machine_memory", lambda: 16e9)
    long = experiment(every=1).replace("steps", 2**31 - 2)
    refused(lambda: ls.run(long), "would record 2,147,483,646 steps")
    many = lambda train: ls.data.ClassNoise(50, 5, train, test=5, signal=1.0)  # noqa: E731
    refused(lambda: many(2**30), "at most 10,000,000")
    noise = experiment(net={"classes": 5}, probes=[ls.probes.Loss()]).replace("data", many(10**7))
    refused(lambda: ls.run(noise), "one run needs about")
    for coordinates in ("ambient", "rotate"):
        far = experiment().replace("data.dim", 10**12)
        refused(
            lambda far=far, c=coordinates: ls.run(far, coordinates=c), "one run needs more than"
        )


def test_a_long_axis_is_checked_in_no_time():
    values = np.linspace(0.1, 1, 200_000)
    start = time.process_time()
    plan = Plan.of(experiment(), {"data.noise": values}, 1)
    assert max(plan.block_shape) <= 512
    assert time.process_time() - start < 20
    values[77_777] = -1
    refused(lambda: Plan.of(experiment(), {"data.noise": values}, 1), "noise = -1.0 is not allowed")
    dims = np.arange(10, 20_010).astype(float)
    dims[777] += 0.5
    refused(lambda: Plan.of(experiment(), {"data.dim": dims}, 1), "dim = 787.5 is not allowed")


@pytest.mark.parametrize("points", [10**6, pytest.param(10**7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("stored", [False, True])
def test_a_very_long_axis_gives_its_first_block_soon(points, stored, monkeypatch, tmp_path):
    """In processor time, compiling included, and in memory that the values themselves take."""
    start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seen = []

    def stop(self, runs):
        seen.append(runs)
        raise InterruptedError

    monkeypatch.setattr(SweepProgress, "advance", stop)
    setting = dataclasses.replace(experiment(steps=2), record=ls.Record(every=2, start=False))
    with pytest.raises(InterruptedError):
        over = {"data.noise": np.linspace(0.1, 1, points)}
        ls.run(setting, over, progress=False, store=tmp_path / "store" if stored else None)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # kB
    # What is stored is also written down and sealed: 10^7 values within a minute or so.
    assert seen and time.process_time() - start < 15 + (6e-6 if stored else 3e-6) * points
    assert used < 400e3 + 0.15 * points


def test_results_beyond_memory_or_disk(monkeypatch, tmp_path):
    words = r"the results of 6 runs take .*, and there are 10 bytes in "
    reported(experiment(), NOISE, seeds=2, store=tmp_path / "stored")
    monkeypatch.setattr(writer.shutil, "disk_usage", lambda path: SimpleNamespace(free=10))
    new = tmp_path / "new"
    refused(lambda: reported(experiment(), NOISE, seeds=2, store=new), match=words + str(new))
    assert not new.exists()
    # What is stored needs no more room.
    reported(experiment(), NOISE, seeds=2, store=tmp_path / "stored")
    running = importlib.import_module("learnscope.lab.run")  # lab.run is the function
    monkeypatch.setattr(running, "machine_memory", lambda: 10)
    refused(lambda: reported(experiment(), NOISE, seeds=2), match=words + "memory")


def test_small_sweeps_are_neither_timed_nor_announced(monkeypatch):
    monkeypatch.setattr(cost, "_slower", None)
    cost.announce([(Plan.of(experiment(), NOISE, 3), 1)], None, pytest.fail, False)


@pytest.mark.parametrize("every", [10, 10_000])
def test_the_estimate_is_about_right(every):
    planned = Plan.of(experiment(steps=10_000, every=every), None, 1)
    runs = planned.runs_of(planned.blocks[0])
    compute(runs)
    start = time.perf_counter()
    compute(runs)
    seconds = time.perf_counter() - start
    guess = cost.nominal([(planned, 1)]) * cost._slower(planned)
    assert seconds / 10 < guess < 10 * seconds  # the machine may be busy
