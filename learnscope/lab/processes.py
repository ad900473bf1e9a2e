"""Worker processes of this machine, each with cores of its own.

A thread waits for each of them. One that is lost is started again, and gets its task once more.
"""

import ast
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from learnscope.errors import BadInput, why_of
from learnscope.lab.store.identity import software
from learnscope.part.shipped import Packed, pack, unpack

RETRIES = 3  # of a task whose worker was lost
# JAX does not survive a fork once it has computed. A server that only imports it is forked: the
# imports, most of what a start costs, are done once for all workers.
_METHOD = "forkserver" if sys.platform == "linux" else "spawn"
_THREADS = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalProcesses(ThreadPoolExecutor):
    """Processes that compute tasks. All are started at once; `coming` are not there yet."""

    here = False

    def __init__(self, count: int):
        super().__init__(count)
        self.count, self._closed = count, threading.Event()
        self._workers = [_Worker(number, count, self._closed) for number in range(count)]
        self._free = SimpleQueue[_Worker]()
        for worker in self._workers:
            self._free.put(worker)
        self._first = [self.submit(os.getpid) for _ in self._workers]

    @property
    def coming(self) -> list[Future[Any]]:
        return [future for future in self._first if not future.done()]

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        return super().submit(self._ask, (software(), pack((function, arguments))))

    def _ask(self, call: Any) -> Any:
        worker = self._free.get()
        try:
            for _ in range(1 + RETRIES):
                with contextlib.suppress(EOFError, OSError):
                    return worker.ask(call)
                worker.kill()
                if self._closed.is_set():
                    raise InterruptedError("the workers were ended")
            raise RuntimeError(f"its worker was lost {1 + RETRIES} times")
        finally:
            self._free.put(worker)

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        for worker in self._workers:  # nothing is lost: only this process writes
            worker.kill()
        self.shutdown(wait=False, cancel_futures=True)


class _Worker:
    """A process at the other end of a pipe."""

    def __init__(self, number: int, count: int, closed: threading.Event):
        self._number, self._count, self._closed = number, count, closed
        self._process: Any = None

    def ask(self, call: Any) -> Any:
        """The answer of the process, which is started if there is none; `EOFError` or `OSError` if
        it is lost."""
        if self._process is None:
            context: Any = multiprocessing.get_context(_METHOD)
            context.set_forkserver_preload([__name__])
            self._pipe, theirs = context.Pipe()
            threads = dict.fromkeys(_THREADS, str(max(1, cores() // self._count)))
            given = (theirs, self._number, self._count, {**os.environ, **threads})
            process = context.Process(target=_serve, args=given, daemon=True)
            process.start()  # waits for the imports
            theirs.close()
            self._process = process
        if self._closed.is_set():  # while it started
            raise EOFError
        self._pipe.send(call)
        answer, error = self._pipe.recv()
        if error is not None:
            raise BadInput(error)
        return answer

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


def _serve(pipe: Connection, number: int, count: int, environment: dict[str, str]) -> None:
    """Answer calls in a worker process, until the pipe is closed or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends workers
    os.environ.update(environment)  # the server's may be older
    _pin(number, count)
    parent: Any = multiprocessing.parent_process()
    end = lambda: wait([parent.sentinel]) and os._exit(1)  # noqa: E731
    threading.Thread(target=end, daemon=True).start()  # with the parent
    with contextlib.suppress(EOFError, OSError):
        while True:
            try:
                answer = checked(*pipe.recv()), None
            except (EOFError, OSError):
                raise
            except Exception as error:
                answer = None, why_of(error)
            pipe.send(answer)


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


def checked(expected: dict[str, str], packed: Packed) -> Any:
    """Call a function where the software is the same: workers may have come since the start."""
    check_software(expected, "who asked")
    function, arguments = unpack(packed)
    return function(*arguments)


def check_software(theirs: dict[str, str], who: str) -> None:
    ours = software()
    if theirs != ours:
        words = [", ".join(f"{name} {v}" for name, v in each.items()) for each in (theirs, ours)]
        raise BadInput(
            f"{who} has {words[0]}, and here is {words[1]}: "
            "results would depend on who computed them."
        )


def check_guard() -> None:
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
