"""Checkpoints: a long run that was cut short continues where it was, to the same bits."""

import io
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.engine import size, train
from learnscope.lab import checkpoint, worker
from learnscope.lab.blocks import Plan
from learnscope.lab.checkpoint import Checkpoint
from tests import small
from tests.small import DESCENT, HERE, reported, run

MOMENTUM = ls.rules.GradientDescent(rate=0.3, options={"momentum": 0.9})
SEGMENTS = 25


def experiment(rule=MOMENTUM, **data):
    return small.experiment(rule, steps=96, every=4, data=data)


def path_in(folder):
    """Where a store keeps its checkpoints."""
    return folder / ".checkpoints" / "name" / "0.npz"


def leaves(tree):
    return [np.asarray(jax.random.key_data(leaf) if is_key(leaf) else leaf)
            for leaf in jax.tree.leaves(tree)]  # fmt: skip


def is_key(leaf):
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def assert_same(left, right):
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def segments(monkeypatch):
    """Runs of many segments, counted."""
    counted, segment = SimpleNamespace(count=0), train.segment

    def count(*given):
        counted.count += 1
        return segment(*given)

    monkeypatch.setattr(size, "LIMITS", size.Limits(segment_work=1.0, segments=SEGMENTS))
    monkeypatch.setattr(train, "segment", count)
    return counted


STATE = {
    "params": jnp.arange(6, dtype=jnp.float32).reshape(2, 3) / 7,
    "step": jnp.asarray([3, 4], jnp.int32),
    "key": jax.random.split(jax.random.key(1), 2),
    "flag": jnp.asarray(True),
    "name": "not an array",
}
RECORDED = [{"loss": np.array([[0.3]], np.float32)}, {"loss": np.array([[0.2]], np.float32)}]


def blank(tree):
    """The same structure with other numbers in it."""
    other = lambda leaf: leaf[::-1] if leaf.ndim else ~leaf  # noqa: E731
    return jax.tree.map(lambda leaf: leaf if isinstance(leaf, str) else other(leaf), tree)


def test_a_checkpoint_keeps_a_state_and_what_was_recorded(tmp_path):
    file = Checkpoint(path_in(tmp_path), every=0.0)
    assert file.load(STATE) is None
    file.offer(7, STATE, RECORDED)
    segment, restored, recorded = Checkpoint(path_in(tmp_path)).load(blank(STATE))
    assert segment == 7
    (table,) = recorded
    assert table.keys() == {"loss"}
    assert_same([table["loss"]], [np.array([[0.3, 0.2]], np.float32)])
    arrays = {name: leaf for name, leaf in STATE.items() if name != "name"}
    assert_same(leaves({name: restored[name] for name in arrays}), leaves(arrays))
    assert restored["name"] == "not an array"
    # Keys are keys again, and draw the same.
    assert is_key(restored["key"])
    draw = jax.vmap(lambda key: jax.random.uniform(key, (3,)))
    np.testing.assert_array_equal(draw(restored["key"]), draw(STATE["key"]))


def test_a_checkpoint_is_kept_only_so_often(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("learnscope.lab.checkpoint.time.monotonic", lambda: now[0])
    file = Checkpoint(path_in(tmp_path), every=30.0)
    kept = []
    for segment, moment in enumerate([101, 129, 131, 132, 160, 161.5, 300]):
        now[0] = moment
        file.offer(segment, STATE, RECORDED)
        found = file.load(STATE)
        kept.append(None if found is None else found[0])
    assert kept == [None, None, 2, 2, 2, 5, 6]
    assert [file.name for file in path_in(tmp_path).parent.iterdir()] == ["0.npz"]


def test_a_checkpoint_that_cannot_be_read_is_ignored(tmp_path):
    path, plain = path_in(tmp_path), io.BytesIO()
    Checkpoint(path, every=0.0).offer(7, STATE, RECORDED)
    whole = path.read_bytes()
    np.save(plain, np.arange(3))
    cut, changed = whole[:-100], whole[:200] + bytes(200) + whole[400:]
    for damaged in (cut, changed, plain.getvalue(), b"", b"mine"):
        path.write_bytes(damaged)
        assert Checkpoint(path).load(STATE) is None
    np.savez(path, numbers=np.arange(3))
    assert Checkpoint(path).load(STATE) is None


def test_a_checkpoint_that_cannot_be_written_stops_nothing(tmp_path):
    (tmp_path / ".checkpoints").write_text("in the way")
    Checkpoint(path_in(tmp_path), every=0.0).offer(1, STATE, RECORDED)
    # Nor is a results folder made where there is none: a worker elsewhere does not see it.
    Checkpoint(path_in(tmp_path / "elsewhere"), every=0.0).offer(1, STATE, RECORDED)
    assert [file.name for file in tmp_path.iterdir()] == [".checkpoints"]


def runs_of(setting, precision="float32"):
    plan = Plan.of(setting, {"rule.rate": [0.1, 0.3]}, 3, "auto", precision)
    (block,) = plan.blocks
    return plan.runs_of(block)


def interrupted(block, checkpoint, segments):
    """Compute a block until the end of a segment, counted from 1."""
    counted = []

    def advance(runs):
        counted.append(runs)
        if len(counted) == segments:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        worker.compute(block, advance, checkpoint)


def next_segment(file):
    with np.load(file.path) as arrays:
        return arrays["segment"]


BOTH = [(experiment(), "float32"), (experiment(DESCENT, batch=2), "float64")]


@pytest.mark.parametrize(("setting", "precision"), BOTH, ids=["momentum", "batches"])
def test_an_interrupted_block_continues(tmp_path, segments, setting, precision):
    block = runs_of(setting, precision=precision)
    expected = worker.compute(block)
    assert segments.count == block.segments == SEGMENTS
    file = Checkpoint(path_in(tmp_path), block.digest, every=0.0)
    # Twice: the second time from what was kept of a resumed run.
    for stop, kept in ((10, 10), (5, 14)):
        interrupted(block, file, stop)
        assert next_segment(file) == kept
    segments.count = 0
    counted = []
    values = worker.compute(block, counted.append, file)
    assert segments.count == SEGMENTS - 14
    assert values.keys() == expected.keys()
    assert_same([values[name] for name in expected], list(expected.values()))
    # All runs are told of, those that were kept included.
    assert sum(counted) == pytest.approx(block.size)


def test_a_checkpoint_of_other_runs_is_not_continued(tmp_path, segments):
    # A block may have other runs to compute the next time: another sweep came, or went.
    runs = runs_of(experiment())
    first, second = (runs.take(np.arange(*ends)) for ends in ((0, 2), (2, 4)))
    expected = worker.compute(second)
    interrupted(first, Checkpoint(path_in(tmp_path), first.digest, every=0.0), 10)
    values = worker.compute(second, checkpoint=Checkpoint(path_in(tmp_path), second.digest))
    assert_same([values[name] for name in expected], list(expected.values()))


def test_a_stored_run_that_was_killed_continues(tmp_path, segments):
    environ = os.environ | {"PYTHONPATH": str(HERE)}
    child = subprocess.Popen([sys.executable, __file__, str(tmp_path)], env=environ)
    try:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".checkpoints/*/*.npz")):
            assert child.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.5)  # about five segments
        assert child.poll() is None, "it ended before it was killed"
    finally:
        child.kill()
        child.wait()
    stored, report = reported(experiment(batch=2), store=tmp_path)
    assert 0 < segments.count < SEGMENTS - 1
    assert report.computed == 1
    assert not list(tmp_path.glob(".checkpoints/*/*"))
    xr.testing.assert_identical(stored, run(experiment(batch=2)))


if __name__ == "__main__":
    segment = train.segment

    def slow_segment(*given):
        time.sleep(0.1)
        return segment(*given)

    size.LIMITS = size.Limits(segment_work=1.0, segments=SEGMENTS)
    train.segment, checkpoint._EVERY = slow_segment, 0.0
    small.trusted()
    run(experiment(batch=2), store=sys.argv[1])
