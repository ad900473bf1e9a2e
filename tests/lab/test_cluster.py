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
from tests import small

distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")
# Dask leaves sockets and event loops for the garbage collector when a worker is killed.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def experiment(steps=30):
    data = {"train": 4, "test": 20, "noise": 1.0}
    return small.experiment(small.DESCENT, steps, 1, small.probes("Loss TestAccuracy"), data)


OVER = {"net.width": [2, 3], "data.noise": np.linspace(0.1, 2, 60)}


@pytest.fixture(scope="module")
def client():
    with local(2) as client:
        yield client


def swept(setting, **more):
    return small.run(setting, OVER, seeds=4, **more)


@pytest.fixture(scope="module")
def alone():
    return swept(experiment())


def test_workers_change_no_digit_and_their_threads_do_not_fight(client, alone):
    xr.testing.assert_identical(swept(experiment(), cluster=client), alone)
    found = client.run(lambda: os.environ["NPROC"])
    assert set(found.values()) == {str(max(1, len(os.sched_getaffinity(0)) // 2))}


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 4])
def test_nor_does_their_number(count, alone):
    xr.testing.assert_identical(swept(experiment(), cluster=count), alone)


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
    stored = swept(long, cluster=client, store=tmp_path / "s")
    thread.join()
    assert killed, "nothing was running when a worker was to be killed"
    xr.testing.assert_identical(stored.load(), swept(long))


def test_what_is_no_cluster_is_refused(monkeypatch):
    monkeypatch.setattr("learnscope.lab.cluster._PATIENCE", 1)
    must = "it must be a number of workers"
    for cluster, words in [(wrong, must) for wrong in (0, -1, True, 2.5, [])] + [
        ("tcp://127.0.0.1:9", "tcp://127.0.0.1:9 cannot be reached"),
        ("nonsense://here", "nonsense"),
    ]:
        small.refused(lambda c=cluster: small.run(experiment(), cluster=c), words)
    monkeypatch.setitem(sys.modules, "distributed", None)
    small.refused(lambda: small.run(experiment(), cluster=2), "pip install 'learnscope[cluster]'")


def test_other_software_on_a_worker_is_refused(client, monkeypatch):
    versions = {"jaxlib": "0.0.1"}
    monkeypatch.setattr("learnscope.lab.cluster.version", lambda name: versions.get(name, "?"))
    with pytest.raises(ls.BadInput, match=r"jaxlib 0\.0\.1"), workers(client):
        pass
