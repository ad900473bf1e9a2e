"""Where blocks are computed: a thread of this process, or workers of a Dask cluster."""

import ast
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from learnscope.errors import BadInput, refuse_value, refusing
from learnscope.lab.store import identity
from learnscope.part.shipped import Packed, pack, unpack

_PATIENCE = 10  # seconds to wait for a scheduler
_RETRIES = 3  # of a block whose worker was lost


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ThisProcess(ThreadPoolExecutor):
    """A thread of this process: XLA computes outside of Python's lock."""

    here, count = True, 1

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Not after Ctrl-C: what is running may take long.
        self.shutdown(wait=kind is not KeyboardInterrupt, cancel_futures=True)


class DaskWorkers:
    """Workers of a cluster, which may come and go. A block whose worker is lost goes to another."""

    here = False

    def __init__(self, client: Any, address: str):
        self._client = client
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
        """How many blocks are computed side by side, by now."""
        return max(1, sum(self._client.nthreads().values()))

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        return self._executor.submit(_checked, _software(), pack((function, arguments)))


Workers = ThisProcess | DaskWorkers


@contextlib.contextmanager
def workers(cluster: Any = None) -> Iterator[Workers]:
    """This process (None), a number of local processes, the cluster at an address, or that of a
    `dask.distributed.Client`, which stays open."""
    if cluster is None:
        with ThisProcess(1) as pool:
            yield pool
        return
    distributed = _distributed()
    # Dask reports every lost connection; what matters is in our own messages.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with opened(cluster) as client, contextlib.ExitStack() as stack:
        if isinstance(client, str):
            with refusing(f"the cluster {client} cannot be reached"):
                client = distributed.Client(client, timeout=_PATIENCE, set_as_default=False)
            stack.enter_context(client)
        elif not isinstance(client, distributed.Client):
            must = "it must be a number of workers, the address of a scheduler, or a Dask client"
            refuse_value("cluster", cluster, must)
        yield DaskWorkers(client, str(cluster))


@contextlib.contextmanager
def opened(cluster: Any) -> Iterator[Any]:
    """A cluster that several sweeps share: local processes are started once, for all of them."""
    if isinstance(cluster, int) and not isinstance(cluster, bool) and cluster > 0:
        with local(cluster) as client:
            yield client
    else:
        yield cluster


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
        except BaseException:
            # As of Dask: connections will be lost. Nothing else is: only this process writes.
            logging.getLogger("asyncio").setLevel(logging.CRITICAL)
            for nanny in cluster.workers.values():
                nanny.auto_restart = False
                with contextlib.suppress(AttributeError, OSError):
                    os.kill(nanny.process.pid, signal.SIGKILL)
            raise


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
        raise BadInput(
            "a cluster needs Dask, which is not installed: pip install 'learnscope[cluster]'."
        ) from None
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
