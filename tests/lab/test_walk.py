"""One `ls.run` visits few modules, and the page on the architecture names them all."""

import sys
import threading
from pathlib import Path

import jax

import learnscope as ls
from learnscope.engine import law, size, trial
from tests.small import NOISE, experiment, run

PACKAGE = Path(ls.__file__).parent
ROOMS = tuple(str(PACKAGE / room) for room in ("engine", "lab"))
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
MOST = 12  # in two rooms, beside `experiment.py`, which defines what is run


def walk():
    """The modules of both rooms that a run visits which finds no trace of an earlier one."""
    jax.clear_caches()
    size._size_of.cache_clear()
    setting, visited = experiment(), set()

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOMS) and code.co_name != "<module>":
            path = Path(code.co_filename).relative_to(PACKAGE)
            visited.add("/".join(path.parts[1:]))

    before = sys.getprofile()
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        run(setting, NOISE)
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return visited - {"experiment.py"}


def test_one_run_visits_few_modules(tried):
    trial._tried.cache_clear()
    law.differing.cache_clear()
    first, visited = walk(), walk()
    assert {"run.py", "worker.py", "train.py"} <= visited
    assert len(visited) <= MOST, sorted(visited)
    assert first - visited == {"law.py"}  # of the trial, once per process
    page = PAGE.read_text()
    assert not [name for name in first if f"`{name}`" not in page]
