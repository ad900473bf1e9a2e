"""A ResNet that is killed at random moments and continues: the same bits as one undisturbed run."""

import contextlib
import os
import random
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.engine import size, train
from learnscope.lab import checkpoint, worker
from learnscope.lab.blocks import Plan
from learnscope.lab.checkpoint import Checkpoint
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.writer import StoredResults
from tests.small import HERE, experiment, reported, trusted

SEGMENTS, _LONG = 12, 1200


def residual(steps=12):
    """ResNet(2) with momentum, batches and running averages: all that a checkpoint must hold."""
    return ls.Experiment(
        data=ls.data.Images("digits", train=24, test=8, batch=4),
        net=ls.nets.ResNet(filters=2),
        rule=ls.rules.GradientDescent(rate=0.05, options={"momentum": 0.9}),
        steps=steps,
        probes=[ls.probes.Loss(), ls.probes.TestAccuracy()],
        record=ls.Record(every=3),
    )


class Killed(BaseException):
    """As a process ends: nothing is saved on the way."""


@pytest.fixture
def finely(monkeypatch):
    monkeypatch.setattr(size, "LIMITS", size.Limits(segment_work=1.0, segments=SEGMENTS))


def test_kills_between_random_steps_change_no_bit(tmp_path, finely, monkeypatch):
    plan = Plan.of(residual(), None, 1)
    runs, segment = plan.runs_of(plan.blocks[0]), train.segment
    expected = worker.compute(runs)
    chance, left, kills = random.Random(0), [0], 0

    def mortal(*given):
        left[0] -= 1
        if left[0] < 0:
            raise Killed
        return segment(*given)

    monkeypatch.setattr(train, "segment", mortal)
    place, values = tmp_path / ".checkpoints" / "sweep" / "0.npz", None
    while values is None:
        left[0] = chance.randint(1, 2)
        with contextlib.suppress(Killed):
            values = worker.compute(runs, checkpoint=Checkpoint(place, runs.digest, every=0.0))
        kills += values is None
    assert kills >= 2
    assert values.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(values[name], array)


def test_what_was_begun_is_continued_first(tmp_path, monkeypatch):
    monkeypatch.setattr(size, "LIMITS", size.Limits(block_runs=1, batch_runs=1))
    plan = Plan.of(experiment(), {"data.noise": [0.1 * k for k in range(1, 9)]}, 1)
    results = StoredResults(Folder(tmp_path), plan)
    file = Checkpoint(results.checkpoint(plan.blocks[5]), every=0.0)
    file.offer(1, {"x": np.zeros(3)}, [{"loss": np.zeros((1, 1))}])
    assert results.missing()[0].number == 5


def test_no_segment_of_a_long_run_is_long():
    for hours in (0.1, 10.0):
        run = size.Size({}, {}, 1, 1, 3600 * hours * size.LIMITS.speed / 10)
        assert run.seconds(1) / run.segments <= 7.3  # nominal seconds; checkpoints follow


def newest(folder):
    return max((p.stat().st_mtime_ns for p in folder.glob(".checkpoints/*/*.npz")), default=0)


@pytest.mark.slow
def test_a_residual_net_survives_kills_at_random_times(tmp_path, monkeypatch):
    monkeypatch.setattr(size, "LIMITS", size.Limits(segment_work=1.0, segments=100))
    expected, _ = reported(residual(_LONG), seeds=2)
    chance, inside = random.Random(1), 0
    for kill in range(6):
        environ = os.environ | {"PYTHONPATH": str(HERE)}
        child = subprocess.Popen([sys.executable, __file__, str(tmp_path)], env=environ)
        before = newest(tmp_path)
        while kill and newest(tmp_path) == before and child.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 2.0))
        inside += child.poll() is None and newest(tmp_path) > 0
        child.kill()
        child.wait()
    assert inside >= 3, "it was never killed inside a run"
    stored, _ = reported(residual(_LONG), seeds=2, store=tmp_path)
    xr.testing.assert_identical(stored.load(), expected)


if __name__ == "__main__":
    checkpoint._EVERY = 0.2
    size.LIMITS = size.Limits(segment_work=1.0, segments=100)
    trusted()
    reported(residual(_LONG), seeds=2, store=sys.argv[1])
