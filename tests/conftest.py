"""What every test runs under: strict shapes, and float64 where a test asks for it."""

import functools
import gc
import inspect
import itertools
import sys
from pathlib import Path

import jax
import pytest

from learnscope.cli import main
from learnscope.engine import trial

# Files of a minute or so: begun last, one of them would run alone at the end.
_LONG = ("tests/conformance", "tests/rules", "tests/journeys", "tests/test_pages", "tests/lab",
         "tests/engine")  # fmt: skip


gc.disable()  # while all is imported


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not item.nodeid.startswith(_LONG))


def pytest_collection_finish():
    """What was imported stays: Python need not look through it for garbage again and again. Nor
    need it look so often: traces make many objects and few cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def strict_shapes():
    """A (3,) array added to a (4, 3) one is an error: such promotions hide missing axes.

    Set for the whole process, since `run` computes blocks in threads of its own, which a context
    manager would not reach.
    """
    before = jax.config.jax_numpy_rank_promotion
    jax.config.update("jax_numpy_rank_promotion", "raise")
    yield
    jax.config.update("jax_numpy_rank_promotion", before)


@pytest.fixture(scope="session", autouse=True)
def parts_are_trusted():
    """Compression of shipped parts and of those in tests is tried where a test asks for it
    (`tried`), not in every test again: a trial takes half a second. Parts in files that tests write
    are tried as users' are."""
    objection = trial.objection

    @functools.wraps(objection)
    def trusting(experiment, coordinates):
        parts = (experiment.data, experiment.net, experiment.rule, *experiment.probes)
        own = any(not type(part).__module__.startswith(("learnscope.", "tests.")) for part in parts)
        return objection(experiment, coordinates) if own else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial, "objection", trusting)
        yield


@pytest.fixture
def tried(monkeypatch):
    """Whatever would be compressed is tried before."""
    monkeypatch.setattr(trial, "objection", inspect.unwrap(trial.objection))


_tests = itertools.count(1)
_MAPS = Path("/proc/self/maps")
_MOST_MAPS = 25_000


@pytest.fixture(autouse=True)
def few_programs():
    """Every program that JAX compiles takes a few memory maps, of which Linux allows a process
    65,530; beyond that it dies. So programs are given up when there are many."""
    yield
    if next(_tests) % 50 == 0 and _MAPS.exists():
        with _MAPS.open("rb") as lines:
            many = sum(1 for _ in lines) > _MOST_MAPS
        if many:
            jax.clear_caches()
            gc.collect()


@pytest.fixture
def float64():
    """Double precision, for this test only."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Call the command line in a folder of its own; returns exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["learnscope", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        said = capsys.readouterr()
        return stopped.value.code, said.out, said.err

    return run


@pytest.fixture
def refuse(call):
    """A call that gets one sentence, with these words in it, and writes nothing."""

    def check(*words, said, out="results"):
        code, printed, err = call(*words)
        assert code == 2 and printed == "", err
        assert err.startswith("learnscope: ") and err.count("\n") == 1 and said in err, err
        assert not list(Path(out).rglob("*.*"))

    return check


def pytest_terminal_summary(terminalreporter):
    """Print what the battery of faults found."""
    reports = terminalreporter.getreports("passed")
    lines = [
        text for report in reports for name, text in report.user_properties if name == "battery"
    ]
    if lines:
        terminalreporter.section("battery")
        terminalreporter.line("\n".join(lines))
