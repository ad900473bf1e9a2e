"""Workers: the same digits as without, lost workers, failing blocks, and bad addresses."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.lab.cluster import local, workers

distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")

# Dask leaves sockets and event loops for the garbage collector when a worker is killed.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def experiment(**changes):
    return ls.Experiment(
        data=ls.data.SignalNoise(dim=100, train=4, test=20, signal=1.0, noise=1.0),
        net=ls.nets.PatchCNN(width=2),
        rule=ls.rules.GradientDescent(rate=0.1),
        probes=[ls.probes.Loss(), ls.probes.TestAccuracy()],
        **({"steps": 30} | changes),
    )


OVER = {"net.width": [2, 3], "data.noise": np.linspace(0.1, 2, 60)}


@pytest.fixture(scope="module")
def client():
    with local(2) as client:
        yield client


@pytest.fixture(scope="module")
def alone():
    return ls.run(experiment(), OVER, seeds=4, progress=False)


def test_workers_change_no_digit(client, alone):
    xr.testing.assert_identical(
        ls.run(experiment(), OVER, seeds=4, cluster=client, progress=False), alone
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 4])
def test_nor_does_their_number(count, alone):
    xr.testing.assert_identical(
        ls.run(experiment(), OVER, seeds=4, cluster=count, progress=False), alone
    )


def test_a_killed_worker_changes_nothing(client, alone, tmp_path):
    """Killed while it computes: the block goes to another, and the nanny starts a new worker."""
    killed = []

    def kill():
        for _ in range(400):
            time.sleep(0.02)
            busy = [w for w, tasks in client.processing().items() if tasks]
            if busy:
                pids = client.run(os.getpid, workers=busy[:1])
                os.kill(next(iter(pids.values())), signal.SIGKILL)
                killed.append(busy[0])
                return

    thread = threading.Thread(target=kill)
    thread.start()
    long = experiment(steps=3000)
    stored = ls.run(long, OVER, seeds=4, cluster=client, store=tmp_path / "s", progress=False)
    thread.join()
    assert killed, "nothing was running when a worker was to be killed"
    xr.testing.assert_identical(stored.load(), ls.run(long, OVER, seeds=4, progress=False))


def test_threads_of_workers_do_not_fight(client):
    found = client.run(lambda: os.environ["NPROC"])
    assert set(found.values()) == {str(max(1, len(os.sched_getaffinity(0)) // 2))}


@pytest.mark.parametrize("cluster", [0, -1, True, 2.5, []])
def test_what_is_no_cluster_is_refused(cluster):
    with pytest.raises(ls.BadInput, match="it must be a number of workers"):
        ls.run(experiment(), cluster=cluster, progress=False)


def test_an_unreachable_scheduler_is_one_sentence(monkeypatch):
    monkeypatch.setattr("learnscope.lab.cluster._PATIENCE", 1)
    with pytest.raises(ls.BadInput, match=r"tcp://127\.0\.0\.1:9 cannot be reached"):
        ls.run(experiment(), cluster="tcp://127.0.0.1:9", progress=False)
    with pytest.raises(ls.BadInput, match="nonsense"):
        ls.run(experiment(), cluster="nonsense://here", progress=False)


def test_other_software_on_a_worker_is_refused(client, monkeypatch):
    monkeypatch.setattr(
        "learnscope.lab.cluster.version", lambda name: "0.0.1" if name == "jaxlib" else "?"
    )
    with pytest.raises(ls.BadInput, match=r"jaxlib 0\.0\.1"), workers(client):
        pass


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ls.BadInput, match=r"pip install 'learnscope\[cluster\]'"):
        ls.run(experiment(), cluster=2, progress=False)
