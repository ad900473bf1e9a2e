"""What cannot be done is refused in one sentence, before anything is allocated or stored."""

import importlib
import itertools
import time
from types import SimpleNamespace

import pytest

import learnscope as ls
from learnscope.cli import cost
from learnscope.engine import size
from learnscope.lab.blocks import Plan
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
    noise = ls.data.ClassNoise(classes=5, dim=50, train_per_class=2**30, test=5, signal=1.0)
    refused(lambda: ls.run(experiment(net={"classes": 5}).replace("data", noise)), "too large")


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
    guess = cost._nominal([(planned, 1)]) * cost._slower(planned)
    assert seconds / 10 < guess < 10 * seconds  # the machine may be busy
