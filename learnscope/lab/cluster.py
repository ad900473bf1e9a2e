"""Where blocks are computed: threads of this process, or workers of a Dask cluster.

Both are executors in the sense of `concurrent.futures`: `submit` a function, get a future.
"""

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from learnscope.errors import BadInput
from learnscope.lab import identity

_PATIENCE = 10  # seconds to wait for a scheduler
_RECOUNT = 5.0  # seconds between looks at how many workers there are
_RETRIES = 3  # of a block whose worker was lost
_ALONE = threading.Lock()


class Workers(Protocol):
    """An executor, and what is known of it."""

    here: bool  # in this process
    machine: str

    @property
    def count(self) -> int:
        """How many blocks are computed side by side."""
        ...

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]: ...


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def workers(cluster: Any = None) -> Iterator[Workers]:
    """This process's threads (None), so many local processes, the cluster at an address, or that of
    a `dask.distributed.Client`, which stays open."""
    if cluster is None:
        pool = _Thread()
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)
        return
    distributed = _distributed()
    # Dask tells of every lost connection; what matters is told by us.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        if isinstance(cluster, distributed.Client):
            client = cluster
        elif isinstance(cluster, str):
            client = stack.enter_context(_connected(distributed, cluster))
        elif isinstance(cluster, int) and not isinstance(cluster, bool) and cluster > 0:
            client = stack.enter_context(local(cluster))
        else:
            raise BadInput(
                f"cluster = {cluster!r} is not allowed: it must be a number of workers, the "
                "address of a scheduler, or a dask.distributed.Client."
            )
        yield _Dask(client, str(cluster))


class _Thread(ThreadPoolExecutor):
    """A thread of this process: XLA computes outside of Python's lock.

    One program runs at a time, on all cores, whoever else calls `run` in this process: two at a
    time can wait for each other's share of XLA's thread pool for ever (seen with 26 x 26 filters
    and examples, and with twenty visitors of the explorer). Workers have a process each.
    """

    here, machine, count = True, "this process", 1

    def __init__(self):
        super().__init__(1)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        def alone() -> Any:
            with _ALONE:
                return function(*arguments, **named)

        return super().submit(alone)


class _Dask:
    """Workers of a cluster, which may come and go. A block whose worker is lost goes to another."""

    here = False

    def __init__(self, client: Any, machine: str):
        self._client, self.machine = client, machine
        self._count, self._counted = 0, 0.0
        with _reached(machine):
            if not client.nthreads():  # jobs may wait in a queue for hours
                sys.stderr.write(f"learnscope: waiting for a worker of {machine}\n")
                client.wait_for_workers(1)
            found = client.run(_software)
        for worker, software in found.items():
            _check_software(software, f"the worker {worker}")
        self._executor = client.get_executor(pure=False, retries=_RETRIES)

    @property
    def count(self) -> int:
        """How many there are by now."""
        if time.monotonic() - self._counted > _RECOUNT:
            self._count = sum(self._client.nthreads().values())
            self._counted = time.monotonic()
        return max(1, self._count)

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        return self._executor.submit(_checked, _software(), function, *arguments)


def _checked(expected: dict[str, str], function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function where the software is the same: workers may have come since the start."""
    _check_software(expected, "who asked")
    return function(*arguments)


def _check_software(theirs: dict[str, str], who: str) -> None:
    if theirs != _software():
        raise BadInput(
            f"{who} has {_words(theirs)}, and here is {_words(_software())}: "
            "results would depend on who computed them."
        )


def _connected(distributed: Any, address: str) -> Any:
    with _reached(address):
        return distributed.Client(address, timeout=_PATIENCE, set_as_default=False)


@contextlib.contextmanager
def _reached(address: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, TimeoutError) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise BadInput(f"the cluster {address} cannot be reached: {reason}.") from None


@contextlib.contextmanager
def local(count: int) -> Iterator[Any]:
    """A client of so many local processes (spawned: JAX does not survive a fork), each of which
    has its share of the cores to itself."""
    distributed = _distributed()

    class Pinned(distributed.WorkerPlugin):
        def setup(self, worker):
            _pin(int(worker.name), count)

    threads = str(max(1, cores() // count))
    names = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    cluster = distributed.LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # any free port: two clusters may run at once
        silence_logs=logging.CRITICAL,
        env=dict.fromkeys(names, threads),
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        client.register_plugin(Pinned())  # for workers that are started again, too
        yield client


@contextlib.contextmanager
def opened(cluster: Any) -> Iterator[Any]:
    """A cluster that several sweeps share: local processes are started once, for all of them."""
    if isinstance(cluster, int) and not isinstance(cluster, bool) and cluster > 0:
        with local(cluster) as client:
            yield client
    else:
        yield cluster


def _pin(worker: int, count: int) -> None:
    """Keep a worker's threads to its own share of the cores, where the system can.

    XLA hands every small operation to a thread of its pool and spins until it is done: on cores of
    its own that costs nothing, on shared ones it slows all workers several times over.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    mine = sorted(os.sched_getaffinity(0))
    share = max(1, len(mine) // count)
    first = worker * share % len(mine)
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(int(thread), mine[first : first + share])


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise BadInput(
            "a cluster needs Dask, which is not installed: pip install 'learnscope[cluster]'."
        ) from None
    return distributed


def _software() -> dict[str, str]:
    try:
        return {**identity.software(), "jaxlib": version("jaxlib")}
    except PackageNotFoundError:
        return {}


def _words(software: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in software.items())
