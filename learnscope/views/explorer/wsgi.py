"""The web server: Waitress, with a limit on everything that a client can make it wait for or hold.

Waitress reads and writes in one thread and computes in others, so a slow client holds a connection
but no thread. By itself it would let a client that sends a byte now and then keep its connection
for ever; `Server.maintenance` does not.
"""

import contextlib
import logging
import socket
from collections.abc import Callable
from typing import Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from learnscope.errors import BadInput

MOST_BODY = 10**6  # bytes of a request's body
_MOST_HEADER = 2**16
_MOST_CONNECTIONS = 100
_THREADS = 8  # for quick requests, and as many for long ones
# These train or trace: they never delay the others.
_LONG = ("/live/answer", "/live/weights", "/live/kinds", "/sweeps/names",
         "/export/")  # fmt: skip
_PATIENCE, _HURRIED = 30.0, 2.0  # seconds to wait for a client; if all connections are taken
_ANSWER = 20  # factor on that time for receiving a whole answer that makes progress


class _Channel(HTTPChannel):
    """A connection; `since` is when it began to wait for its client."""

    since = 0.0


class Server(TcpWSGIServer):
    """An application on a bound socket: `run` serves until `stop` (from any thread) or Ctrl+C."""

    channel_class = _Channel
    patience = _PATIENCE
    stopped = False

    def __init__(self, application: Callable[..., Any], sock: socket.socket):
        self.quick, self.long = ThreadedTaskDispatcher(), ThreadedTaskDispatcher()
        self.polled: dict[int, Any] = {}  # every socket by its number
        self.port: int = sock.getsockname()[1]
        limits = Adjustments(
            max_request_header_size=_MOST_HEADER, max_request_body_size=MOST_BODY + 1,
            connection_limit=_MOST_CONNECTIONS, cleanup_interval=1, log_socket_errors=False,
            ident="",
        )  # fmt: skip
        where = (sock.family, sock.type, sock.proto, sock.getsockname())
        super().__init__(application, self.polled, True, sock, self.quick, limits, where,
                         bind_socket=False)  # fmt: skip

    @property
    def channels(self) -> list[_Channel]:
        """The open connections."""
        return [each for each in self.polled.values() if isinstance(each, _Channel)]

    def add_task(self, task: Any) -> None:
        path = getattr(task.requests[0], "path", "")  # a malformed request has none
        (self.long if path.startswith(_LONG) else self.quick).add_task(task)

    def maintenance(self, now: float) -> None:
        """Drop clients that are too slow to send a request or to receive an answer."""
        limit = _HURRIED if self.in_connection_overflow else self.patience
        for channel in self.channels:
            if channel.requests or not channel.since:
                channel.since = now
            waited = now - channel.since
            if channel.total_outbufs_len:
                waited = max(waited / _ANSWER, now - max(channel.since, channel.last_activity))
            if waited > limit and channel.socket is not None:
                channel.will_close = True
                with contextlib.suppress(OSError):  # wakes the loop even if nothing can be sent
                    channel.socket.shutdown(socket.SHUT_RDWR)

    def run(self) -> bool:
        """Serve until the end, waiting for no request: return whether one is still computed."""
        for pool in (self.quick, self.long):
            pool.set_thread_count(_THREADS)
        with contextlib.suppress(KeyboardInterrupt):
            while not self.stopped:
                wasyncore.loop(1, True, self.polled, count=1)
        busy = any(channel.requests for channel in self.channels)
        for pool in (self.quick, self.long):
            pool.set_thread_count(0)
        wasyncore.close_all(self.polled)
        return busy

    def stop(self) -> None:
        self.stopped = True
        with contextlib.suppress(OSError):  # it has ended in the meantime
            self.pull_trigger()


def bind(application: Callable[..., Any], host: str, port: int) -> Server:
    """A server on a port; 0 takes any that is free."""
    logging.getLogger("waitress").setLevel(logging.ERROR)
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except (OSError, OverflowError) as error:
        sock.close()
        reason = getattr(error, "strerror", None) or error
        choose = "choose another with --port (0 takes any that is free)"
        raise BadInput(f"port {port} of {host} cannot be used: {reason}; {choose}.") from None
    return Server(application, sock)
