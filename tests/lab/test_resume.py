"""Sweeps that are cut short: killed, interrupted, begun twice, failing. Nothing stored is lost."""

import functools
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import equinox as eqx
import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.engine import size
from learnscope.lab.blocks import Plan
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.writer import StoredResults
from tests.small import DESCENT, HERE, AbstractOwnRule, experiment, refused, reported, trusted

BLOCK = 10  # runs
CREATED = 10  # times, by two processes at once: a race of milliseconds is to be met


class _AbstractFailing(AbstractOwnRule):
    basis_dependence = "it fails"  # so that no trial of compression fails before the run does


class _Stumbling(_AbstractFailing):
    """Fails in its first step."""

    def gradient(self, state, problem, key):
        plain = state.gradient(problem.batch(key))
        return eqx.error_if(plain, state.step >= 0, "no way down")


class _Steep(_AbstractFailing):
    """Fails at rates above 1, once it runs."""

    def gradient(self, state, problem, key):
        return eqx.error_if(state.gradient(problem.batch(key)), self.rate > 1, "too steep")


def sweep(blocks=20):
    """A sweep of so many blocks, some tens of milliseconds each."""
    over = {"data.noise": np.linspace(0.1, 1, blocks).tolist()}
    return experiment(steps=2000, every=2000), over, BLOCK


@functools.cache
def uninterrupted(blocks=20):
    return reported(*sweep(blocks))[0]


@pytest.fixture
def start():
    """Do something in a process of its own: see the end of this file."""
    children = []

    def started(*words):
        child = subprocess.Popen(
            [sys.executable, __file__, *map(str, words)],
            env=os.environ | {"PYTHONPATH": str(HERE)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        children.append(child)
        return child

    yield started
    for child in children:
        child.kill()
        child.communicate()


def marks(folder):
    """The blocks that are there, with what would change if one were written again."""
    found = {}
    for file in folder.glob("*/seconds/c/*/*"):
        if not file.name.endswith(".partial"):
            fact = file.stat()
            found[str(file)] = fact.st_ino, fact.st_mtime_ns
    return found


def wait_for_marks(child, folder, number):
    deadline = time.monotonic() + 60
    while len(marks(folder)) < number and child.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(size, "LIMITS", size.Limits(block_runs=BLOCK))


def kill_and_resume(start, folder, kills, blocks):
    """Kill a sweep again and again, while it stores and at its start, then let it finish."""
    chance = random.Random(kills)
    expected, kept = uninterrupted(blocks), marks(folder)
    for kill in range(kills):
        child = start("run", folder, blocks)
        if kill % 5 == 4:
            time.sleep(chance.uniform(0.3, 2.0))
        else:
            wait_for_marks(child, folder, len(kept) + chance.randint(1, 4))
            time.sleep(chance.uniform(0, 0.05))
        assert child.poll() is None, "it ended before it was killed"
        child.kill()
        child.communicate()
        assert kept.items() <= marks(folder).items()
        kept = marks(folder)
    assert 0 < len(kept) < blocks
    stored, report = reported(*sweep(blocks), store=folder)
    assert (report.computed, report.reused) == (BLOCK * (blocks - len(kept)), BLOCK * len(kept))
    xr.testing.assert_identical(stored, expected)
    # No block was written again once it was there.
    assert kept.items() <= marks(folder).items()
    assert len(marks(folder)) == blocks


def test_a_sweep_that_was_interrupted_and_killed_resumes(start, tmp_path):
    child = start("run", tmp_path, 20)
    wait_for_marks(child, tmp_path, 3)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode != 0 and "KeyboardInterrupt" in errors
    assert 3 <= len(marks(tmp_path)) < 15
    kill_and_resume(start, tmp_path, kills=1, blocks=20)


@pytest.mark.slow
def test_a_sweep_survives_twenty_kills(start, tmp_path):
    kill_and_resume(start, tmp_path, kills=20, blocks=140)


class _Cut(RuntimeError):
    pass


def cut_after(patch, writes):
    """Have the store die after so many writes; returns what was written."""
    written, write = [], Folder.write

    def counted(self, name, key, content):
        if len(written) == writes:
            raise _Cut
        written.append(key)
        write(self, name, key, content)

    patch.setattr(Folder, "write", counted)
    return written


def test_creating_a_sweep_may_be_cut_anywhere(tmp_path):
    plan = Plan.of(experiment(), {"rule": [DESCENT, _Steep(rate=0.1)]}, 3, "auto", "float32")
    expected = StoredResults(Folder(tmp_path / "whole"), plan).dataset().load()
    for writes in itertools.count():
        folder = Folder(tmp_path / str(writes))
        with pytest.MonkeyPatch.context() as patch:
            cut_after(patch, writes)
            try:
                StoredResults(folder, plan)
            except _Cut:
                pass
            else:
                break  # that was all of them
        results = StoredResults(folder, plan)
        assert len(results.missing()) == len(plan.blocks)
        xr.testing.assert_identical(results.dataset().load(), expected)
    assert writes > 10


def test_storing_a_box_may_be_cut_anywhere(tmp_path):
    plan = Plan.of(experiment(), {"data.noise": [0.1, 0.2]}, BLOCK, "auto", "float32")
    first, second = plan.blocks
    draw = np.random.default_rng(0)
    values = {name: draw.normal(size=(1, *variable.shape[1:])).astype(variable.dtype)
              for name, variable in plan.variables.items()}  # fmt: skip
    folder = Folder(tmp_path)
    StoredResults(folder, plan).put(first, values, 1.0)
    needed = len(values) + 1
    for writes in range(needed + 1):
        with pytest.MonkeyPatch.context() as patch:
            results = StoredResults(folder, plan)
            written = cut_after(patch, writes)
            if writes < needed:
                with pytest.raises(_Cut):
                    results.put(second, values, 1.0)
            else:
                results.put(second, values, 1.0)
        assert len(written) == writes
        # A block is there when its mark is, which is written last.
        whole = writes == needed
        assert StoredResults(folder, plan).missing() == ([] if whole else [second])
        assert (StoredResults(folder, plan).known(second) is None) == whole
        data = ls.load(results.name, tmp_path)
        assert data.attrs.get("missing_runs", 0) == (0 if whole else BLOCK)
        for name, array in values.items():
            np.testing.assert_array_equal(data[name].isel(noise=[0]), array)
            if whole:
                np.testing.assert_array_equal(data[name].isel(noise=[1]), array)


def test_two_processes_may_work_on_one_sweep(start, tmp_path):
    children = [start("both", tmp_path, 10, number) for number in range(2)]
    ended = [(*child.communicate(timeout=100), child.returncode) for child in children]
    for _, errors, code in ended:
        assert code == 0, errors
    # Created by both.
    for place in range(CREATED):
        folder = tmp_path / f"created-{place}"
        (name,) = Folder(folder).ids()
        assert ls.load(name, folder).attrs["missing_runs"] == 10 * BLOCK
    # Run by both.
    assert sum(int(output) for output, _, _ in ended) == 10 * BLOCK
    stored, report = reported(*sweep(10), store=tmp_path / "run")
    assert report.computed == 0
    xr.testing.assert_identical(stored, uninterrupted(10))


def test_a_failing_box_does_not_cost_the_others(tmp_path):
    over = {"rule": [DESCENT, _Stumbling(rate=0.3)], "data.noise": [0.1, 0.2]}
    words = "the run at rule = _Stumbling, data.noise = 0.1, seed 4 failed: "
    words += ".*no way down; the other blocks are stored."
    with pytest.raises(ls.BadInput, match=f"^{words}$") as caught:
        reported(experiment(), over, seeds=[4, 5], store=tmp_path)
    assert isinstance(caught.value.__cause__, RuntimeError)
    (name,) = Folder(tmp_path).ids()
    loaded = ls.load(name, tmp_path)
    assert loaded.attrs["missing_runs"] == 4
    assert loaded.loss.sel(rule="_Stumbling").isnull().all()
    noises = {"data.noise": [0.1, 0.2]}
    alone, _ = reported(experiment(), noises, seeds=[4, 5], coordinates="ambient")
    xr.testing.assert_equal(loaded.sel(rule="GradientDescent", drop=True).load(), alone)
    # Again: only what failed is tried.
    refused(lambda: reported(experiment(), over, seeds=[4, 5], store=tmp_path), "rule = _Stumbling")


def test_many_failing_boxes_do_not_cost_the_others(tmp_path, monkeypatch):
    # More of them than are begun at a time, and before the others.
    missing = StoredResults.missing
    in_order = lambda self: sorted(missing(self), key=lambda block: block.number)  # noqa: E731
    monkeypatch.setattr(StoredResults, "missing", in_order)
    rules = {"rule": [*(_Stumbling(rate=rate) for rate in (0.1, 0.2, 0.3)), DESCENT]}
    sweep = lambda: reported(experiment(), rules, seeds=2, store=tmp_path)  # noqa: E731
    refused(sweep, "(3 of 4 blocks failed)")
    (name,) = Folder(tmp_path).ids()
    loaded = ls.load(name, tmp_path)
    assert loaded.isel(rule=-1).loss.notnull().all()
    assert loaded.attrs["missing_runs"] == 2 * 3


def test_the_run_that_fails_is_named(tmp_path):
    over = {"data.noise": [0.1], "rule.rate": [0.1, 0.2, 2.0]}
    steep = experiment(_Steep(rate=0.1))
    with pytest.raises(ls.BadInput, match=r"seed 7 failed: .*; the other blocks") as caught:
        reported(steep, over, seeds=[7, 8, 9], store=tmp_path)
    assert "the run at data.noise = 0.1, rule.rate = 2.0, seed 7" in str(caught.value)


def test_a_failure_in_memory_is_the_error_itself():
    over = {"rule": [DESCENT, _Stumbling(rate=0.3)], "data.noise": [0.1, 0.2]}
    with pytest.raises(RuntimeError, match="no way down") as caught:
        reported(experiment(), over, seeds=[4, 5])
    words = "This was the run at rule = _Stumbling, data.noise = 0.1, seed 4."
    assert caught.value.__notes__[-1] == words


def create(folder, blocks, number):
    """Create a sweep again and again, each time at the same moment as another process does."""
    plan, errors = Plan.of(*sweep(blocks), "auto", "float32"), []
    for place in range(CREATED):
        (folder / f"ready-{place}-{number}").touch()
        while len(list(folder.glob(f"ready-{place}-*"))) < 2:
            time.sleep(0.0005)
        try:
            StoredResults(Folder(folder / f"created-{place}"), plan)
        except Exception as error:  # the other one is to go on
            errors.append(repr(error))
    if errors:
        sys.exit("\n".join(errors))


def main(what, place, blocks, *number):
    # Whoever started us may have had it ignored, as shells do for what runs in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(os, "sched_setaffinity"):  # many cores would be done before they are killed
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    size.LIMITS = size.Limits(block_runs=BLOCK)
    trusted()
    if what == "both":
        create(Path(place), int(blocks), *number)
        place = f"{place}/run"
    print(reported(*sweep(int(blocks)), store=place)[1].computed)


if __name__ == "__main__":
    main(*sys.argv[1:])
