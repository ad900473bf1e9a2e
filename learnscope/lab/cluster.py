"""Where blocks are computed: a thread of this process, or workers of a Dask cluster."""

import ast
import contextlib
import importlib.util
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from learnscope.errors import BadInput, refuse_value, refusing
from learnscope.lab.progress import duration
from learnscope.lab.store import identity
from learnscope.lab.worker import Tasks
from learnscope.part.shipped import Packed, pack, unpack

_PATIENCE = 10  # seconds to wait for a scheduler
_ALONE = 60  # seconds to wait for a worker if all are lost
_RETRIES = 3  # of a task whose worker was lost
# Seconds to start local processes and load a program there; they must save more than that.
_START, _MARGIN = 8.0, 1.5
_SHORT = 2.0  # seconds of a block that this process may take on while they start
_AGAIN = 1 / 4  # of the time spent so far is expected to be spent again, by sweeps to come
_NO_DASK = "a cluster needs Dask, which is not installed: pip install 'learnscope[cluster]'."


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ThisProcess(ThreadPoolExecutor):
    """A thread of this process: XLA computes outside of Python's lock."""

    here, count, coming = True, 1, ()

    def expect(self, *_: object) -> "ThisProcess":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Not after Ctrl-C: what is running may take long.
        self.shutdown(wait=kind is not KeyboardInterrupt, cancel_futures=True)


class DaskWorkers:
    """Workers of a cluster, which may come and go. A task whose worker is lost goes to another."""

    here, coming = False, ()

    def __init__(self, client: Any, address: str):
        self._client, self._address, self._seen = client, address, time.monotonic()
        with refusing(f"the cluster {address} cannot be reached"):
            if not client.nthreads():  # jobs may wait in a queue for hours
                sys.stderr.write(f"learnscope: waiting for a worker of {address}\n")
                client.wait_for_workers(1)
            installed = client.run(_software)
        for worker, software in installed.items():
            _check_software(software, f"the worker {worker}")
        self._executor = client.get_executor(pure=False, retries=_RETRIES)

    @property
    def count(self) -> int:
        """How many tasks are computed side by side, by now; an error if nobody computes them."""
        kept = "what was stored is whole; run again to go on"
        with refusing(f"the cluster {self._address} was lost", f"; {kept}", (Exception,)):
            threads = sum(self._client.nthreads().values())
        if threads:
            self._seen = time.monotonic()
        elif (waited := time.monotonic() - self._seen) > _ALONE:
            raise BadInput(
                f"the cluster {self._address} has had no worker for {duration(waited)}; {kept}."
            )
        return max(1, threads)

    def expect(self, *_: object) -> "DaskWorkers":
        return self

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        return self._executor.submit(_checked, _software(), pack((function, arguments)))


class LocalWorkers:
    """Local processes, started once, and only when there is enough work to pay for it; until they
    are there this process computes. Several sweeps may share them, from several threads.

    `later` is how many times the work of the sweep at hand is still to come after it.
    """

    def __init__(self, count: int, shared: bool = False, later: float = 0.0):
        if importlib.util.find_spec("distributed") is None:
            raise BadInput(_NO_DASK)
        _check_guard()
        self._count, self._shared, self._later = count, shared, later
        self._opened, self._said = time.perf_counter(), False
        self._lock, self._stack = threading.Lock(), contextlib.ExitStack()
        self._pool: ThisProcess | DaskWorkers = self._stack.enter_context(ThisProcess(1))
        self._thread = ThreadPoolExecutor(1)
        self._starting: Future[DaskWorkers] | None = None

    def __str__(self) -> str:
        return str(self._count)

    def __enter__(self) -> "LocalWorkers":
        return self

    def __exit__(self, kind: type[BaseException] | None, *failure: Any) -> None:
        self._thread.shutdown(wait=kind is not KeyboardInterrupt)
        self._stack.__exit__(kind, *failure)

    def expect(self, tasks: Tasks, show: bool) -> ThisProcess | DaskWorkers:
        """Who computes the next tasks of a sweep."""
        with self._lock:
            if self._starting is None:
                seconds = tasks.left + self._later * tasks.all
                if self._shared:
                    seconds += _AGAIN * (time.perf_counter() - self._opened)
                saved = seconds * (1 - 1 / min(self._count, cores()))
                if tasks.left and saved > _MARGIN * _START:
                    self._starting = self._thread.submit(self._started)
                elif show and not self._said:
                    work = f"about {duration(max(1.0, seconds))} of work"
                    why = "with workers it would take longer"
                    sys.stderr.write(f"learnscope: {work} stays in this process: {why}\n")
                    self._said = True
            if self._starting and (self._starting.done() or tasks.longest > _SHORT):
                self._pool = self._starting.result()
            return self._pool

    @property
    def coming(self) -> tuple[Future[DaskWorkers], ...]:
        """Workers that are being started."""
        return (self._starting,) if self._starting and self._pool.here else ()

    def _started(self) -> DaskWorkers:
        return DaskWorkers(self._stack.enter_context(local(self._count)), str(self))


Workers = ThisProcess | DaskWorkers | LocalWorkers


@contextlib.contextmanager
def workers(cluster: Any = None) -> Iterator[Workers]:
    """This process (None), a number of local processes, the cluster at an address, or that of a
    `dask.distributed.Client`, which stays open."""
    if cluster is None:
        with ThisProcess(1) as pool:
            yield pool
    elif isinstance(cluster, LocalWorkers):
        yield cluster
    elif _is_number(cluster):
        with LocalWorkers(cluster) as pool:
            yield pool
    else:
        with _connected(cluster) as client:
            yield DaskWorkers(client, str(cluster))


@contextlib.contextmanager
def opened(cluster: Any, later: float = 0.0) -> Iterator[Any]:
    """A cluster that several sweeps share: local processes are started once, for all of them."""
    if _is_number(cluster):
        with LocalWorkers(cluster, True, later) as pool:
            yield pool
    else:
        yield cluster


def _is_number(cluster: Any) -> bool:
    return isinstance(cluster, int) and not isinstance(cluster, bool) and cluster > 0


@contextlib.contextmanager
def _connected(cluster: Any) -> Iterator[Any]:
    """A client of the cluster at an address, or the client that was given."""
    distributed = _distributed()
    if isinstance(cluster, str):
        with refusing(f"the cluster {cluster} cannot be reached"):
            client = distributed.Client(cluster, timeout=_PATIENCE, set_as_default=False)
        with client:
            yield client
    elif isinstance(cluster, distributed.Client):
        yield cluster
    else:
        must = "it must be a number of workers, the address of a scheduler, or a Dask client"
        refuse_value("cluster", cluster, must)


@contextlib.contextmanager
def local(count: int) -> Iterator[Any]:
    """A client of local processes (spawned: JAX does not survive a fork), each with cores of its
    own."""
    distributed = _distributed()
    _check_guard()

    class Pinned(distributed.WorkerPlugin):
        def setup(self, worker):
            _pin(int(worker.name), count)

    threads = str(max(1, cores() // count))
    names = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    with distributed.LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # any free port: two clusters may run at once
        silence_logs=logging.CRITICAL,
        env=dict.fromkeys(names, threads),
    ) as cluster:
        try:
            with distributed.Client(cluster, set_as_default=False) as client:
                client.register_plugin(Pinned())  # for workers that are started again, too
                yield client
        finally:
            # Closing takes Dask two seconds. Nothing is lost: only this process writes.
            logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # connections will be lost
            for nanny in cluster.workers.values():
                nanny.auto_restart = False
                with contextlib.suppress(AttributeError, OSError):
                    os.kill(nanny.process.pid, signal.SIGKILL)


def _check_guard() -> None:
    """Refuse a script that would start worker processes from its top level: each of them imports
    the script first, and would start processes of its own."""
    script = sys.modules.get("__main__")
    path = getattr(script, "__file__", None)
    if path is None or not Path(path).is_file():  # a notebook, or `python -c`
        return
    if getattr(script, "__spec__", None) is not None and Path(path).name == "__main__.py":
        return  # `python -m package`, which workers do not import
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals is vars(script) and frame.f_code.co_name == "<module>":
            line = frame.f_lineno
            for node in ast.parse(Path(path).read_bytes()).body:
                guarded = isinstance(node, ast.If) and "__name__" in ast.dump(node.test)
                if node.lineno <= line <= (node.end_lineno or node.lineno) and not guarded:
                    raise BadInput(
                        f"line {line} of {Path(path).name} starts worker processes, which import "
                        'this file first: put it below `if __name__ == "__main__":`.'
                    )
        frame = frame.f_back


def _pin(worker: int, count: int) -> None:
    """Keep a worker's threads to cores of its own, where the system can.

    XLA hands every small operation to a thread of its pool and spins until it is done: on cores of
    its own that costs nothing, on shared ones it slows all workers several times over.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    mine = sorted(os.sched_getaffinity(0))
    each = max(1, len(mine) // count)
    first = worker * each % len(mine)
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(int(thread), mine[first : first + each])


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise BadInput(_NO_DASK) from None
    # Dask reports every lost connection; what matters is in our own messages.
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed


def _checked(expected: dict[str, str], packed: Packed) -> Any:
    """Call a function where the software is the same: workers may have come since the start."""
    _check_software(expected, "who asked")
    function, arguments = unpack(packed)
    return function(*arguments)


def _check_software(theirs: dict[str, str], who: str) -> None:
    ours = _software()
    if theirs != ours:
        words = [", ".join(f"{name} {v}" for name, v in each.items()) for each in (theirs, ours)]
        raise BadInput(
            f"{who} has {words[0]}, and here is {words[1]}: "
            "results would depend on who computed them."
        )


def _software() -> dict[str, str]:
    try:
        return {**identity.software(), "jaxlib": version("jaxlib")}
    except PackageNotFoundError:
        return {}
