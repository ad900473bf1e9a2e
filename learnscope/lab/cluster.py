"""Where blocks are computed: threads of this process, or workers of a Dask cluster.

Both are executors in the sense of `concurrent.futures`: `submit` a function, get a future.
"""

import contextlib
import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from learnscope.errors import BadInput
from learnscope.lab import identity

_PATIENCE = 10  # seconds to wait for a scheduler
_RETRIES = 3  # of a block whose worker was lost


class Workers(Protocol):
    """An executor, and what is known of it."""

    count: int  # of blocks that are computed side by side
    here: bool  # in this process
    machine: str

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]: ...


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def workers(cluster: Any = None) -> Iterator[Workers]:
    """This process's threads (None), so many local processes, the cluster at an address, or that of
    a `dask.distributed.Client`, which stays open."""
    if cluster is None:
        pool = _Threads(cores())
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
            client = stack.enter_context(_local(distributed, cluster))
        else:
            raise BadInput(
                f"cluster = {cluster!r} is not allowed: it must be a number of workers, the "
                "address of a scheduler, or a dask.distributed.Client."
            )
        yield _Dask(client, str(cluster))


class _Threads(ThreadPoolExecutor):
    """Threads of this process: XLA computes outside of Python's lock."""

    here, machine = True, "this process"

    def __init__(self, count: int):
        super().__init__(count)
        self.count = count


class _Dask:
    """Workers of a cluster. A block whose worker is lost goes to another."""

    here = False

    def __init__(self, client: Any, machine: str):
        self._client, self.machine = client, machine
        with _reached(machine):
            client.wait_for_workers(1, timeout=_PATIENCE)
            found = client.run(_software)
            self.count = sum(client.nthreads().values())
        for worker, software in found.items():
            if software != _software():
                raise BadInput(
                    f"the worker {worker} has {_words(software)}, and here is "
                    f"{_words(_software())}: results would depend on who computed them."
                )
        self._executor = client.get_executor(pure=False, retries=_RETRIES)

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        return self._executor.submit(function, *arguments)


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
def _local(distributed: Any, count: int) -> Iterator[Any]:
    """Local processes (spawned: JAX does not survive a fork) that share the cores evenly."""
    threads = str(max(1, cores() // count))
    names = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    cluster = distributed.LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
        env=dict.fromkeys(names, threads),
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


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
