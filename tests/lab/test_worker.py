"""What a worker does with a block that fails, and with several threads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import learnscope as ls
from learnscope.engine.experiment import obstacle
from learnscope.lab import worker
from learnscope.lab.blocks import Plan
from tests.lab.test_cluster import experiment
from tests.small import refused, run


def runs():
    plan = Plan.of(experiment(), None, 4, "auto", "float32")
    return plan.runs_of(plan.blocks[0])


class Failing:
    """Stands for `compute`: fails so often when progress is asked for, never when it is not."""

    def __init__(self, times):
        self.calls, self.times, self.real = 0, times, worker.compute

    def __call__(self, block, advance=None, checkpoint=None):
        if advance is None:
            return {}
        self.calls += 1
        advance(block.size / 2)
        if self.calls <= self.times:
            raise MemoryError("no room")
        return self.real(block, lambda runs: advance(runs / 2), checkpoint)


@pytest.mark.parametrize(("times", "calls"), [(1, 2), (10**6, 3)])
def test_a_block_that_fails_for_no_run_is_tried_a_few_times(monkeypatch, times, calls):
    failing, counted = Failing(times), []
    monkeypatch.setattr(worker, "compute", failing)
    done = worker.work(runs(), None, counted.append)
    assert failing.calls == calls
    assert (done.values is None) == (times > 3)
    if done.values is None:
        assert done.why == "MemoryError: no room (3 times)" and done.failed is None
    else:  # progress counts every run once
        assert sum(counted) == pytest.approx(4)


def test_a_block_that_fails_once_is_computed_once_more(monkeypatch):
    """No run of it is computed by itself before: the reason is looked for after a second time."""
    sizes, real = [], worker.compute

    def once(block, *given):
        sizes.append(block.size)
        if len(sizes) == 1:
            raise MemoryError("no room")
        return real(block, *given)

    monkeypatch.setattr(worker, "compute", once)
    assert worker.work(runs(), None).values is not None
    assert sizes == [4, 4]


def test_a_run_that_always_fails_is_found_by_halves_after_a_second_try(monkeypatch):
    sizes, real = [], worker.compute

    def failing(block, *given):
        sizes.append(block.size)
        if 2 in block.seeds:
            raise MemoryError("no room")
        return real(block, *given)

    monkeypatch.setattr(worker, "compute", failing)
    assert worker.work(runs(), None).failed == 2
    assert sizes == [4, 4, 3, 2]


def test_a_block_that_always_fails_ends_in_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(worker, "compute", Failing(10**6))
    words = "seed 0 to 3 failed: MemoryError: no room (3 times)"
    refused(lambda: run(experiment(), seeds=4, store=tmp_path), words)


def test_one_worker_of_several_threads_finishes_several_programs():
    """Two programs at a time can wait for each other for ever: one runs at a time in a process."""
    distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    over, found = {"net.width": [1, 2, 3], "data.noise": [0.1, 1.0]}, []
    one = {"n_workers": 1, "threads_per_worker": 4, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(**one) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        sweep = lambda: found.append(run(experiment(), over, seeds=2, cluster=client))  # noqa: E731
        thread = threading.Thread(target=sweep, daemon=True)
        thread.start()
        thread.join(timeout=120)
        assert found, "the sweep did not end in two minutes"
    np.testing.assert_array_equal(found[0].loss, run(experiment(), over, seeds=2).loss)


def test_only_one_thread_computes_at_a_time(monkeypatch):
    inside, most, segment = [], [], worker.train.segment

    def slow(*given):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.05)
        inside.pop()
        return segment(*given)

    monkeypatch.setattr(worker.train, "segment", slow)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: worker.work(runs(), None), range(4)))
    assert most == [1] * 4


def test_the_dimension_of_a_wrapped_model_is_seen():
    inner = ls.data.SignalNoise(dim=1000, train=8, test=4, signal=1.0, noise=1.0)
    wrapped = ls.data.Pruned(inner, removed=0.5, by="random")
    for dims, right in (([500, 1000], "compressed"), ([4, 1000], "ambient")):
        for data, path in ((inner, "data.dim"), (wrapped, "data.data.dim")):
            setting = experiment().replace("data", data)
            assert Plan.of(setting, {path: dims}, 1, "auto", "float32").coordinates == right, path
    assert obstacle(setting, [4.0, 1000.0]) is not None
