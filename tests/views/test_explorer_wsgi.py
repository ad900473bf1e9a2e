"""The explorer's web server against slow, greedy and malformed clients, and how it ends."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from learnscope.views.explorer import wsgi

go_on = threading.Event()


def application(environ, start_response):
    """Long paths wait for `go_on`; /large answers with more than any socket buffers."""
    path = environ["PATH_INFO"]
    if path.startswith(wsgi._LONG):
        go_on.wait(30)
    body = b"x" * (5 * 10**7 if path == "/large" else 2)
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


@pytest.fixture
def server():
    """A server that has half a second of patience."""
    go_on.clear()
    bound = wsgi.bind(application, "127.0.0.1", 0)
    bound.patience = 0.5
    thread = threading.Thread(target=bound.run, daemon=True)
    thread.start()
    yield bound
    go_on.set()
    bound.stop()
    thread.join(10)
    assert not thread.is_alive()


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def get(server, path="/", **settings):
    """The answer of a GET, and how long it took."""
    begun = time.monotonic()
    asked = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    with contextlib.closing(asked):
        asked.request(settings.pop("method", "GET"), path, **settings)
        answer = asked.getresponse()
        answer.read()
    return answer, time.monotonic() - begun


def dripped(client):
    """Send a byte ten times a second; how long the server puts up with it."""
    begun = time.monotonic()
    client.settimeout(0.1)
    with contextlib.suppress(ConnectionError):
        while time.monotonic() - begun < 10:
            client.sendall(b"a")
            with contextlib.suppress(TimeoutError):
                if not client.recv(1):
                    break
    return time.monotonic() - begun


@pytest.mark.parametrize(
    "start", [b"", b"GET / HTTP/1.1\r\nX: ", b"POST / HTTP/1.1\r\nContent-Length: 999\r\n\r\n"]
)
def test_a_slow_request_is_dropped_while_others_are_served(server, start):
    with connect(server) as slow:
        slow.sendall(start)
        taken = []
        thread = threading.Thread(target=lambda: taken.append(dripped(slow)))
        thread.start()
        answer, seconds = get(server)
        assert answer.status == 200 and seconds < 1
        thread.join()
    assert taken[0] < 5


def test_a_client_that_does_not_read_its_answer_is_dropped(server):
    with connect(server) as stuck:
        stuck.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        until = time.monotonic() + 8
        while not server.channels:
            time.sleep(0.05)
        while server.channels and time.monotonic() < until:
            time.sleep(0.05)
        assert not server.channels


def test_many_idle_connections_do_not_lock_others_out(server, monkeypatch):
    monkeypatch.setattr(wsgi, "_HURRIED", 0.5)
    server.patience = 60.0
    with contextlib.ExitStack() as stack:
        for _ in range(server.adj.connection_limit + 20):
            stack.enter_context(connect(server))
        answer, seconds = get(server)
    assert answer.status == 200 and seconds < 8


def test_long_requests_are_not_cut_and_do_not_delay_quick_ones(server):
    with ThreadPoolExecutor(wsgi._THREADS + 3) as threads:
        long = [threads.submit(get, server, "/live/answer") for _ in range(wsgi._THREADS + 3)]
        time.sleep(2.5)  # well beyond the patience
        assert get(server)[1] < 1 and not any(one.done() for one in long)
        go_on.set()
    assert [one.result()[0].status for one in long] == [200] * len(long)


def test_limits_of_size_and_no_name_of_the_server(server):
    assert get(server, headers={"X": "x" * wsgi._MOST_HEADER})[0].status == 431
    assert get(server, method="POST", body=b"x" * wsgi.MOST_BODY)[0].status == 200
    large = {"Content-Length": str(wsgi.MOST_BODY + 1)}
    assert get(server, method="POST", headers=large)[0].status == 413
    assert get(server)[0].headers["Server"] is None
    with connect(server) as client:
        client.sendall(b"nonsense\r\n\r\n")
        assert b" 400 " in client.recv(1000)


def test_ctrl_c_ends_it_at_once_even_while_it_trains(tmp_path):
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from learnscope.cli import main; main()"  # a background job would ignore the signal
    words = [sys.executable, "-c", code, "explore", "--no-browser", "--port", "0"]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(words, cwd=tmp_path, env=environ, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:  # fmt: skip
        port = int(re.search(r"http://127.0.0.1:(\d+)/", process.stdout.readline()).group(1))
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(f"GET /live/answer HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            time.sleep(0.5)
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=20)
    assert time.monotonic() - begun < 2
    assert (process.returncode, out, errors) == (0, "stopped\n", "")


def test_a_missing_server_is_one_sentence(refuse, monkeypatch):
    for name in [m for m in sys.modules if m.startswith("learnscope.views.explorer")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "waitress", None)
    for words in ("needs waitress, which is not installed", "learnscope[explorer]"):
        refuse("explore", "--no-browser", said=words)
