"""Workers: the same digits as without, lost workers, failing blocks, and bad addresses."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.engine import size
from learnscope.lab import cluster as here
from learnscope.lab import worker
from learnscope.lab.blocks import Plan
from learnscope.lab.cluster import DaskWorkers, LocalWorkers, workers
from learnscope.lab.processes import LocalProcesses
from learnscope.lab.store import identity
from learnscope.lab.worker import work_all
from tests import small
from tests.small import refused

distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")
# Dask leaves sockets and event loops for the garbage collector when a worker is killed.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def experiment(steps=30):
    data = {"train": 4, "test": 20, "noise": 1.0}
    return small.experiment(small.DESCENT, steps, 1, small.probes("Loss TestAccuracy"), data)


OVER = {"net.width": [2, 3], "data.noise": np.linspace(0.1, 2, 60)}


@pytest.fixture(scope="module")
def client():
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(**settings, silence_logs=50, env={"NPROC": "1"}) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def processes():
    with LocalProcesses(2) as pool:
        wait(pool.coming)
        yield pool


def swept(setting, **more):
    return small.run(setting, OVER, seeds=4, **more)


@pytest.fixture(scope="module")
def alone():
    return swept(experiment())


def test_a_cluster_changes_no_digit(client, alone):
    xr.testing.assert_identical(swept(experiment(), cluster=client), alone)


def asked(processes, function, *arguments):
    """What every worker answers."""
    return [f.result() for f in [processes.submit(function, *arguments) for _ in range(2)]]


def test_the_threads_of_workers_do_not_fight(processes):
    assert asked(processes, os.getenv, "NPROC") == [str(max(1, here.cores() // 2))] * 2
    mine = asked(processes, os.sched_getaffinity, 0)
    assert here.cores() < 2 or not mine[0] & mine[1]


@pytest.fixture
def started(processes, monkeypatch):
    """Local processes that were started before: how often they were asked for."""
    times = []

    @contextlib.contextmanager
    def counted(count):
        times.append(count)
        yield processes

    monkeypatch.setattr(here, "LocalProcesses", counted)
    monkeypatch.setattr(here, "cores", lambda: 2)
    return times


@pytest.fixture
def sent(monkeypatch):
    """The number of blocks in every task that goes to a worker."""
    listed = []
    for kind in (LocalProcesses, DaskWorkers):

        def counted(self, function, work, *more, submit=kind.submit):
            listed.append(len(work))
            return submit(self, function, work, *more)

        monkeypatch.setattr(kind, "submit", counted)
    return listed


STAYS = "of work stays in this process: with workers it would take longer\n"


def test_small_work_stays_in_this_process_and_says_so(started, sent, alone, capsys):
    found = ls.run(experiment(), OVER, 4, cluster=2)
    assert capsys.readouterr().err == f"learnscope: about 4 s {STAYS}"
    xr.testing.assert_identical(found, alone)
    swept(experiment(), cluster=2)  # quietly
    assert capsys.readouterr().err == "" and not started and not sent


def test_large_work_goes_to_workers(started, sent, alone, monkeypatch, capsys):
    monkeypatch.setattr(size, "LIMITS", size.Limits(step=0.1))
    found = ls.run(experiment(), OVER, 4, cluster=2)
    assert started == [2] and sent and capsys.readouterr().err == ""
    xr.testing.assert_identical(found, alone)


def test_work_that_turns_out_large_goes_to_workers(started, sent, alone, monkeypatch):
    """As soon as a block without compiling has shown it."""
    # So little that any clock shows more.
    monkeypatch.setattr(size, "LIMITS", size.Limits(speed=1e30, step=1e-9))
    monkeypatch.setattr(worker, "_BLOCK", 1e-9)
    monkeypatch.setattr(worker, "PROGRAM", 0.0)
    monkeypatch.setattr(here, "_START", 0.01)
    xr.testing.assert_identical(swept(experiment(), cluster=2), alone)
    assert started == [2] and 0 < sum(sent) < len(Plan.of(experiment(), OVER, 4).blocks)


def test_a_client_of_the_user_is_always_used(client, started, sent, capsys):
    ls.run(experiment(), seeds=2, cluster=client)
    assert sent == [1] and not started and STAYS not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("left", "whole", "later", "spent", "pays"),
    [
        (14, 14, 0, 0, False),
        (16, 16, 0, 0, True),
        (0, 100, 3, 0, False),  # nothing is left to hand out
        (7, 7, 3, 0, True),
        (3, 3, 3, 0, False),
        (3, 3, 0, 30, False),
        (3, 3, 0, 60, True),
    ],
)
def test_workers_start_when_what_they_save_pays(started, left, whole, later, spent, pays):
    with LocalWorkers(2, shared=True, later=later) as pool:
        pool._opened -= spent
        for longest in (0.1, 0.1, 10.0):  # which one does not begin before they are there
            found = pool.expect(SimpleNamespace(left=left, all=whole, longest=longest), False)
        assert found.here != pays
    assert started == [2] * pays


def test_this_process_computes_while_workers_start(started, sent, alone, monkeypatch):
    """A block that they wait for is computed here: they are there when it is."""
    blocks, coming = [], Future()
    left = property(lambda _: [] if coming.done() else [coming])
    monkeypatch.setattr(LocalProcesses, "coming", left)

    def submit(self, function, work, *more):
        blocks.append(len(work))
        future = ThreadPoolExecutor.submit(self, function, work, *more)
        future.add_done_callback(lambda _: coming.done() or coming.set_result(None))
        return future

    monkeypatch.setattr(here.ThisProcess, "submit", submit)
    monkeypatch.setattr(here, "_START", 0.01)
    xr.testing.assert_identical(swept(experiment(), cluster=2), alone)
    assert started == [2] and sent and blocks


def bounded(**more):
    setting = experiment(steps=3), {"data.signal": (0.1, 100.0)}, {"data.noise": [0.5, 1.0]}
    return ls.boundary(*setting, at=0.8, of="test_accuracy", seeds=4, tolerance=0.1, **more)


def test_a_boundary_starts_its_workers_once(started, sent, monkeypatch, capsys):
    expected = bounded(progress=False)
    xr.testing.assert_identical(bounded(cluster=2), expected)
    assert not started and capsys.readouterr().err.count(STAYS) == 1  # of all rounds
    monkeypatch.setattr(here, "_START", -1.0)
    xr.testing.assert_identical(bounded(cluster=2), expected)
    assert started == [2] and len(sent) > 4


def test_small_blocks_share_a_task_and_are_tried_alone_if_it_is_lost(client, sent, monkeypatch):
    monkeypatch.setattr(size, "LIMITS", size.Limits(block_runs=4))
    expected = swept(experiment())
    xr.testing.assert_identical(swept(experiment(), cluster=client), expected)
    assert max(sent) > 5 and sum(sent) == 120 and len(sent) < 60
    submit = DaskWorkers.submit

    def lossy(self, function, work, *more):
        if len(work) == 1:
            return submit(self, function, work, *more)
        lost = Future()
        lost.set_exception(RuntimeError("its worker was lost"))
        return lost

    monkeypatch.setattr(DaskWorkers, "submit", lossy)
    xr.testing.assert_identical(swept(experiment(), cluster=client), expected)


def test_the_digest_of_the_code_is_not_taken_for_every_task(client, sent, monkeypatch):
    """It takes a tenth of a second, which is more than most blocks take."""
    taken, digest = [], identity.code_digest
    monkeypatch.setattr(identity, "code_digest", lambda of: taken.append(1) or digest(of))
    swept(experiment(), cluster=client)
    assert len(sent) > 5 and len(taken) <= 1


def test_a_worker_finds_what_another_compiled(client):
    def found(runs):
        import jax

        events = []
        jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
        (done,) = work_all([(runs, None)])
        kinds = ("/jax/compilation_cache/cache_hits", "/jax/compilation_cache/cache_misses")
        return [done.values is not None, *map(events.count, kinds)]

    plan = Plan.of(experiment(steps=37).replace("net.width", 5), None, 7)
    given = {"runs": plan.runs_of(plan.blocks[0]), "pure": False}
    first, second = (client.submit(found, workers=[w], **given).result() for w in client.nthreads())
    assert first[0] and second[0]
    assert second[1] >= max(1, first[2])  # the first one may have found those of an earlier test


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
    long = experiment(steps=1500)
    stored = swept(long, cluster=client, store=tmp_path / "s")
    thread.join()
    assert killed, "nothing was running when a worker was to be killed"
    xr.testing.assert_identical(stored.load(), swept(long))


def test_a_killed_process_is_started_again(processes, alone):
    """Its task is given to it again; one that always kills it ends in a sentence."""
    before = set(asked(processes, os.getpid))
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    after = set(asked(processes, os.getpid))
    assert len(after) == 2 and not before & after
    with pytest.raises(RuntimeError, match="its worker was lost 4 times"):
        processes.submit(os._exit, 1).result()
    with pytest.raises(ls.BadInput, match="ZeroDivisionError"):
        processes.submit(divmod, 1, 0).result()
    assert len(asked(processes, os.getpid)) == 2


def test_workers_end_with_their_pool_and_with_their_parent():
    for end in ("pool.__exit__()", "os._exit(9)"):
        program = f"""
import os, time
from learnscope.lab.processes import LocalProcesses
if __name__ == "__main__":
    pool = LocalProcesses(2)
    [future.result() for future in pool.coming]
    print(*(f.result() for f in [pool.submit(os.getpid) for _ in range(2)]), flush=True)
    pool.submit(time.sleep, 600)
    {end}
"""
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
        )
        pids = [int(word) for word in done.stdout.split()]
        assert len(pids) == 2, done.stderr
        limit = time.monotonic() + 30
        while alive := [pid for pid in pids if os.path.exists(f"/proc/{pid}")]:
            assert time.monotonic() < limit, alive
            time.sleep(0.1)


def test_what_is_no_cluster_is_refused(monkeypatch):
    monkeypatch.setattr("learnscope.lab.cluster._PATIENCE", 1)
    must = "it must be a number of workers"
    for cluster, words in [(wrong, must) for wrong in (0, -1, True, 2.5, [])] + [
        ("tcp://127.0.0.1:9", "tcp://127.0.0.1:9 cannot be reached"),
        ("nonsense://here", "nonsense"),
    ]:
        small.refused(lambda c=cluster: small.run(experiment(), cluster=c), words)
    monkeypatch.setitem(sys.modules, "distributed", None)
    there = "tcp://127.0.0.1:9"
    refused(lambda: small.run(experiment(), cluster=there), "pip install 'learnscope[cluster]'")


def test_other_software_on_a_worker_is_refused(client, monkeypatch):
    monkeypatch.setattr("learnscope.lab.processes.software", lambda: {"jaxlib": "0.0.1"})
    with pytest.raises(ls.BadInput, match=r"jaxlib 0\.0\.1"), workers(client):
        pass


class _Lost:
    """A client whose workers, or whose scheduler, are gone."""

    def __init__(self, error=None):
        self.error, self.there = error, {"worker": 1}

    def nthreads(self):
        if self.error is not None and not self.there:
            raise self.error
        return self.there

    def run(self, function):
        return {}

    def get_executor(self, **settings):
        return None


def test_a_lost_cluster_is_said_in_a_sentence(monkeypatch):
    monkeypatch.setattr(here, "_ALONE", 0.05)
    client = _Lost()
    workers = DaskWorkers(client, "tcp://there")
    assert workers.count == 1
    client.there = {}
    assert workers.count == 1  # another one may come
    time.sleep(0.1)
    refused(lambda: workers.count, "the cluster tcp://there has had no worker for", "are intact")
    client.error = OSError("timed out")
    refused(lambda: workers.count, "the cluster tcp://there was lost: timed out", "are intact")
