"""A run that is interrupted ends at once, and keeps what it stored."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.test_cli import EXPERIMENT


@pytest.mark.parametrize("how", ["SIGINT", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_ctrl_c_does_not_wait_for_workers(tmp_path, how):
    """One box is stored soon; the others would take hours. Being ended is as good as Ctrl-C."""
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from learnscope.cli import main\nif __name__ == '__main__': main()\n"
    )
    (tmp_path / "main.py").write_text(code)
    (tmp_path / "small.toml").write_text(EXPERIMENT)
    words = ("steps=5,2000000000", "record.every=100000000", "--workers", "2", "--yes", "--quiet")
    command = [sys.executable, "main.py", "sweep", "small.toml", *words]
    given = {"cwd": tmp_path, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    child = subprocess.Popen(command, **given)
    try:
        while not list(tmp_path.glob("learnscope-results/*/seconds/c/*/*")):
            assert child.poll() is None, child.communicate()
            time.sleep(0.05)
        time.sleep(2)
        start = time.monotonic()
        os.killpg(child.pid, getattr(signal, how))
        _, err = child.communicate(timeout=60)
        assert time.monotonic() - start < 4
    finally:
        child.kill()
    assert child.returncode == 130
    assert err == "learnscope: interrupted; stored runs are intact; run again to resume.\n"
