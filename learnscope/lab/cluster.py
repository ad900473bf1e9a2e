"""Where blocks are computed: a thread of this process, processes of this machine (`processes.py`),
or workers of a Dask cluster."""

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from learnscope.errors import BadInput, refuse_value, refusing
from learnscope.lab.processes import (
    RETRIES,
    LocalProcesses,
    check_guard,
    check_software,
    checked,
    cores,
)  # fmt: skip
from learnscope.lab.store.identity import software
from learnscope.lab.worker import Tasks
from learnscope.part.shipped import pack
from learnscope.part.units import duration

_PATIENCE = 10  # seconds to wait for a scheduler
_ALONE = 60  # seconds to wait for a worker if all are lost
# Seconds to start local processes and load a program there; they must save more than that.
_START, _MARGIN = 5.0, 1.5
_SHORT = 2.0  # seconds of a block that this process may take on while they start
_AGAIN = 1 / 4  # of the time spent so far is expected to be spent again, by sweeps to come
_NO_DASK = "a cluster needs Dask, which is not installed: pip install 'learnscope[cluster]'."


class ThisProcess(ThreadPoolExecutor):
    """A thread of this process: XLA computes outside of Python's lock."""

    here, count, coming = True, 1, ()

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
            installed = client.run(software)
        for worker, theirs in installed.items():
            check_software(theirs, f"the worker {worker}")
        self._executor = client.get_executor(pure=False, retries=RETRIES)

    @property
    def count(self) -> int:
        """How many tasks are computed side by side, by now; an error if nobody computes them."""
        kept = "stored runs are intact; run again to resume"
        with refusing(f"the cluster {self._address} was lost", f"; {kept}", (Exception,)):
            threads = sum(self._client.nthreads().values())
        if threads:
            self._seen = time.monotonic()
        elif (waited := time.monotonic() - self._seen) > _ALONE:
            raise BadInput(
                f"the cluster {self._address} has had no worker for {duration(waited)}; {kept}."
            )
        return max(1, threads)

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        return self._executor.submit(checked, software(), pack((function, arguments)))


class LocalWorkers(contextlib.ExitStack):
    """Local processes, started once, and only when there is enough work to pay for it; until they
    are there this process computes. Several sweeps may share them, from several threads.

    `later` is how many times the work of the sweep at hand is still to come after it.
    """

    def __init__(self, count: int, shared: bool = False, later: float = 0.0):
        check_guard()
        super().__init__()
        self._count, self._shared, self._later = count, shared, later
        self._opened, self._said, self._lock = time.perf_counter(), False, threading.Lock()
        self._here = self.enter_context(ThisProcess(1))
        self._processes: LocalProcesses | None = None

    def __str__(self) -> str:
        return str(self._count)

    def expect(self, tasks: Tasks, show: bool) -> ThisProcess | LocalProcesses:
        """Who computes the next tasks of a sweep."""
        with self._lock:
            if self._processes is None:
                seconds = tasks.left + self._later * tasks.all
                if self._shared:
                    seconds += _AGAIN * (time.perf_counter() - self._opened)
                saved = seconds * (1 - 1 / min(self._count, cores()))
                if tasks.left and saved > _MARGIN * _START:
                    self._processes = self.enter_context(LocalProcesses(self._count))
                elif show and not self._said:
                    work = f"about {duration(max(1.0, seconds))} of work"
                    why = "with workers it would take longer"
                    sys.stderr.write(f"learnscope: {work} stays in this process: {why}\n")
                    self._said = True
            if self._processes is None or (self.coming and tasks.longest <= _SHORT):
                return self._here
            return self._processes

    @property
    def coming(self) -> list[Future[Any]]:
        """Workers that are being started."""
        return [] if self._processes is None else self._processes.coming


Pool = ThisProcess | LocalProcesses | DaskWorkers
Workers = Pool | LocalWorkers


def workers(cluster: Any = None) -> contextlib.AbstractContextManager[Workers]:
    """This process (None), a number of local processes, the cluster at an address, or that of a
    `dask.distributed.Client`, which stays open."""
    if cluster is None:
        return ThisProcess(1)
    if isinstance(cluster, LocalWorkers):  # open already
        return contextlib.nullcontext(cluster)
    return LocalWorkers(cluster) if _is_number(cluster) else _connected(cluster)


def opened(cluster: Any, later: float = 0.0) -> contextlib.AbstractContextManager[Any]:
    """A cluster that several sweeps share: local processes are started once, for all of them."""
    if _is_number(cluster):
        return LocalWorkers(cluster, True, later)
    return contextlib.nullcontext(cluster)


def _is_number(cluster: Any) -> bool:
    return isinstance(cluster, int) and not isinstance(cluster, bool) and cluster > 0


@contextlib.contextmanager
def _connected(cluster: Any) -> Iterator[DaskWorkers]:
    """The workers of the cluster at an address, or of a client."""
    try:
        import distributed
    except ImportError:
        raise BadInput(_NO_DASK) from None
    # Dask reports every lost connection; what matters is in our own messages.
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    if isinstance(cluster, str):
        with refusing(f"the cluster {cluster} cannot be reached"):
            client = distributed.Client(cluster, timeout=_PATIENCE, set_as_default=False)
        with client:
            yield DaskWorkers(client, cluster)
    elif isinstance(cluster, distributed.Client):
        yield DaskWorkers(cluster, str(cluster))
    else:
        must = "it must be a number of workers, the address of a scheduler, or a Dask client"
        refuse_value("cluster", cluster, must)
